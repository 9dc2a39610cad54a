"""The versions of the functions. Requests and events reach them by the aliases; each release publishes one of each function,
with its name as the description."""

import sys

import boto3
import botocore.exceptions
import stacks

# Of each function: the live one and four to go back to.
KEPT = 5
# Variables with values of secrets, several separated by commas. .ci/expand-template checks that these are all.
SECRETS = ("ORIGIN_SECRETS", "PROBE_PASSWORD")
# The function without which erasures leave archives alone.
EXPORTS = "ExportWriterFunction"
EXPORTS_ARE_NEW = """\
!!  Exports are new in the release {release}. Under the one before, people who are erased would stay in archives.
Nothing was changed: fix the fault and release."""


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
    """Points all aliases to the newest release before the deployed one that every function has. Returns whether there is one, and it
    knows of exports."""
    older = {}
    for function, (alias, versions) in published(stack).items():
        newest = max((number for number, release in versions.items() if release == deployed), default=0)
        former = {release: number for number, release in reversed(versions.items()) if number < newest}
        if former or not newest:
            older[function] = alias, former
        elif function == stacks.name_of(stack, EXPORTS):
            print(EXPORTS_ARE_NEW.format(release=deployed), file=sys.stderr)
            return False
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


def with_former_secrets(function, alias):
    """The numbers of a function's versions that hold a secret which the live one has another value of."""
    functions = boto3.client("lambda")
    live = secrets_of(functions.get_function_configuration(FunctionName=function, Qualifier=alias))
    pages = functions.get_paginator("list_versions_by_function").paginate(FunctionName=function)
    for version in (version for page in pages for version in page["Versions"]):
        held = secrets_of(version)
        # Without a value to compare with, such as after OriginSecret was emptied, nothing was replaced.
        if version["Version"] != "$LATEST" and any(live[name] and held[name] - live[name] for name in SECRETS):
            yield int(version["Version"])


def secrets_of(configuration):
    """The secrets that a version holds, by the names of their variables."""
    variables = configuration.get("Environment", {}).get("Variables", {})
    return {name: set(filter(None, variables.get(name, "").split(","))) for name in SECRETS}


def delete_old(stack):
    """Deletes all but the newest versions of each function, and those that hold a replaced secret: every user who may read a
    version's settings can read the secret there. Versions that cannot be deleted are reported: the release is live by then."""
    functions, deleted = boto3.client("lambda"), 0
    for function, (alias, versions) in published(stack).items():
        former = set(with_former_secrets(function, alias))
        if former:
            print(f"--  {len(former)} versions of {function} hold a replaced secret, and are deleted", flush=True)
        for number in sorted({*list(versions)[KEPT:], *former}):
            try:
                functions.delete_function(FunctionName=function, Qualifier=str(number))
                deleted += 1
            except botocore.exceptions.ClientError as error:
                print(f"--  version {number} of {function} stays: {error}", file=sys.stderr)
    print(f"ok  up to {KEPT} versions of each function are kept, {deleted} older ones are deleted", flush=True)
