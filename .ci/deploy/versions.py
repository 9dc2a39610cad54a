"""The versions of the functions. Requests and events reach them by the aliases; each release publishes one of each function,
with its name as the description."""

import sys

import boto3
import botocore.exceptions
import stacks

# Of each function: the live one and four to go back to.
KEPT = 5


def published(stack):
    """By function, its alias and the releases of its versions by their numbers, the newest first."""
    functions = boto3.client("lambda")
    found = {}
    for arn in stacks.resources(stack, "AWS::Lambda::Alias"):
        function, alias = arn.split(":")[-2:]
        pages = functions.get_paginator("list_versions_by_function").paginate(FunctionName=function)
        versions = {one["Version"]: one["Description"] for page in pages for one in page["Versions"]}
        numbers = sorted((int(number) for number in versions if number != "$LATEST"), reverse=True)
        found[function] = alias, {number: versions[str(number)] for number in numbers}
    return found


def lead_back(stack, deployed):
    """Points all aliases to the newest release before the deployed one that every function has. Returns whether there is one."""
    older = {}
    for function, (alias, versions) in published(stack).items():
        newest = max((number for number, release in versions.items() if release == deployed), default=0)
        former = {release: number for number, release in reversed(versions.items()) if number < newest}
        if former or not newest:
            older[function] = alias, former
        else:
            print(f"--  {function} is new in the release {deployed}, and stays", flush=True)
    common = set.intersection(*(set(former) for _, former in older.values())) if older else set()
    if not common:
        for function, (_, former) in sorted(older.items()):
            print(f"!!  {function} has versions of: {', '.join(former) or 'no former release'}", file=sys.stderr)
        print("All functions have no former release in common. Nothing was changed: deploy a former tag.", file=sys.stderr)
        return False
    # All functions have them in the same order.
    _, former = next(iter(older.values()))
    release = max(common, key=former.get)
    lead({function: (alias, former[release]) for function, (alias, former) in older.items()}, release)
    return True


def lead_forward(stack, deployed):
    """Points all aliases to the release that CloudFormation has deployed. Returns whether all functions have it."""
    targets = {}
    for function, (alias, versions) in published(stack).items():
        newest = max((number for number, release in versions.items() if release == deployed), default=0)
        if not newest:
            print(f"!!  {function} has no version of {deployed}. Nothing was changed: deploy again.", file=sys.stderr)
            return False
        targets[function] = alias, newest
    lead(targets, deployed)
    return True


def lead(targets, release):
    functions = boto3.client("lambda")
    for function, (alias, number) in targets.items():
        # Without weights, so that all requests go there.
        routing = {"AdditionalVersionWeights": {}}
        functions.update_alias(FunctionName=function, Name=alias, FunctionVersion=str(number), RoutingConfig=routing)
    print(f"ok  {len(targets)} aliases lead to the release {release}", flush=True)


def delete_old(stack):
    """Deletes all but the newest versions of each function. What fails is reported: the release is live by then."""
    functions, deleted = boto3.client("lambda"), 0
    for function, (_, versions) in published(stack).items():
        for number in list(versions)[KEPT:]:
            try:
                functions.delete_function(FunctionName=function, Qualifier=str(number))
                deleted += 1
            except botocore.exceptions.ClientError as error:
                print(f"--  version {number} of {function} stays: {error}", file=sys.stderr)
    print(f"ok  {KEPT} versions of each function are kept, {deleted} older ones are deleted", flush=True)
