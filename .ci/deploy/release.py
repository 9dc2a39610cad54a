"""Releases the stack of an environment. Run by .ci/deploy/run, which explains the arguments."""

import argparse
import datetime
import fnmatch
import json
import pathlib
import subprocess
import sys
import tomllib

import account
import boto3
import botocore.exceptions
import cost
import restore

CONFIG, TEMPLATE = ".samconfig.toml", "template.yaml"
# Each release has its own, and the one before is deleted when nothing leads to it any more.
REPLACED_BY_EVERY_RELEASE = {"AWS::Lambda::Version", "AWS::Lambda::LayerVersion"}
# What would be lost with them cannot be had again.
HOLDING_DATA = {
    "AWS::DynamoDB::Table",
    "AWS::Events::EventBus",
    "AWS::Logs::LogGroup",
    "AWS::S3::Bucket",
    "AWS::SQS::Queue",
    "AWS::SecretsManager::Secret",
}
# A canary takes ten minutes, and a rollback less.
WAIT = {"Delay": 5, "MaxAttempts": 720}


def arguments(environments):
    parser = argparse.ArgumentParser(prog=".ci/deploy/run")
    parser.add_argument("environment", choices=environments)
    parser.add_argument("parameters", nargs="*", metavar="NAME=VALUE")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--probe", action="store_true")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--restore", metavar="MOMENT")
    parser.add_argument("--restored", metavar="TABLE")
    parser.add_argument("--allow", action="append", default=[], metavar="ID")
    parser.add_argument("--template", metavar="FILE")
    given = parser.parse_intermixed_args()
    if given.restored and not given.restore:
        parser.error("--restored needs --restore")
    return given


def main():
    with open(CONFIG, "rb") as file:
        environments = tomllib.load(file)
    given = arguments([name for name in environments if name != "version"])
    config = environments[given.environment]["deploy"]["parameters"]
    stack = config["stack_name"]
    if given.probe:
        return probe(stack)
    if given.restore:
        return restore.Restore(stack, given.restore).run(given.restored) or probe(stack)
    overrides = [*config.get("parameter_overrides", []), *given.parameters]
    parameters = dict(override.split("=", 1) for override in overrides)
    if given.cost:
        return cost.show(parameters)
    if not is_ready(parameters):
        return 1
    if given.check:
        return 0
    change_set = propose(given.environment, stack, [*overrides, f"Release={name_of_release()}"], given.template)
    # Before CloudFormation acts: the stack policy refuses a replacement only in the middle of a release.
    changes = changes_of(stack, change_set)
    refused = [change for change in changes if is_destructive(change) and not is_allowed(change, given.allow)]
    if refused:
        boto3.client("cloudformation").delete_change_set(StackName=stack, ChangeSetName=change_set)
        for change in refused:
            verb = "removes" if change["Action"] == "Remove" else "replaces"
            print(f"!!  the change set {verb} {change['LogicalResourceId']} ({change['ResourceType']})", file=sys.stderr)
        print("Nothing was changed. To proceed, name each with --allow.", file=sys.stderr)
        return 1
    print(f"ok  {len(changes)} changes, and no loss that is not allowed", flush=True)
    return execute(stack, change_set) or probe(stack)


def is_ready(parameters):
    """Whether the account has what the stack needs. Prints what it lacks."""
    problems = list(account.problems(parameters, TEMPLATE))
    for problem in problems:
        print(f"{'!!' if problem.is_fatal else '--'}  {problem.what}\n{problem.remedy}", file=sys.stderr)
    if any(problem.is_fatal for problem in problems):
        return False
    print("ok  the account has what a deployment needs", flush=True)
    return True


def name_of_release():
    """The revision and the time: another name for each deployment."""
    describe = ["git", "describe", "--always", "--dirty", "--tags"]
    revision = subprocess.run(describe, capture_output=True, check=False, text=True).stdout.strip() or "unknown"
    return f"{revision}/{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%SZ}"


def propose(environment, stack, overrides, template):
    """The name of a new change set, with the code in S3."""
    sam = [str(pathlib.Path(sys.executable).with_name("sam")), "deploy", "--no-execute-changeset", "--no-progressbar"]
    sam += ["--config-file", str(pathlib.Path(CONFIG).resolve()), "--config-env", environment]
    sam += ["--template-file", template] if template else []
    if subprocess.run([*sam, "--parameter-overrides", *overrides], check=False).returncode:
        sys.exit("!!  there is no change set, for the reason above; nothing was changed")
    sets = boto3.client("cloudformation").list_change_sets(StackName=stack)["Summaries"]
    proposed = [change_set for change_set in sets if change_set["ExecutionStatus"] == "AVAILABLE"]
    return max(proposed, key=lambda change_set: change_set["CreationTime"])["ChangeSetName"]


def changes_of(stack, change_set):
    described = boto3.client("cloudformation").get_paginator("describe_change_set")
    pages = described.paginate(StackName=stack, ChangeSetName=change_set)
    return [change["ResourceChange"] for page in pages for change in page["Changes"]]


def is_destructive(change):
    """Whether a change replaces a resource, or removes or might replace one that holds data. For others, `Conditional`
    stands for values that do not change, such as the ARN of a function whose code changes."""
    if change["ResourceType"] in REPLACED_BY_EVERY_RELEASE:
        return False
    if change["ResourceType"] in HOLDING_DATA:
        return change["Action"] == "Remove" or change.get("Replacement") in ("True", "Conditional")
    return change.get("Replacement") == "True"


def is_allowed(change, patterns):
    return any(fnmatch.fnmatchcase(change["LogicalResourceId"], pattern) for pattern in patterns)


def execute(stack, change_set):
    cloudformation = boto3.client("cloudformation")
    is_new = cloudformation.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"] == "REVIEW_IN_PROGRESS"
    if not is_new:
        protect(stack)
    began = datetime.datetime.now(datetime.UTC)
    cloudformation.execute_change_set(StackName=stack, ChangeSetName=change_set)
    try:
        waiter = cloudformation.get_waiter("stack_create_complete" if is_new else "stack_update_complete")
        waiter.wait(StackName=stack, WaiterConfig=WAIT)
    except botocore.exceptions.WaiterError:
        for event in cloudformation.describe_stack_events(StackName=stack)["StackEvents"]:
            if event["Timestamp"] >= began and event["ResourceStatus"].endswith("FAILED"):
                print(f"!!  {event['LogicalResourceId']}: {event.get('ResourceStatusReason')}", file=sys.stderr)
        status = cloudformation.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"]
        print(f"!!  the stack {stack} is {status}: the release has not happened", file=sys.stderr)
        return 1
    if is_new:
        protect(stack)
    print(f"ok  the stack {stack} runs the release, protected against deletion and replacement of its data", flush=True)
    return 0


def protect(stack):
    """Refuses changes that would lose data: the stack's deletion, and the replacement of table and buckets."""
    cloudformation = boto3.client("cloudformation")
    policy = pathlib.Path(__file__).with_name("stack-policy.json").read_text(encoding="utf-8")
    cloudformation.set_stack_policy(StackName=stack, StackPolicyBody=policy)
    cloudformation.update_termination_protection(StackName=stack, EnableTerminationProtection=True)


def probe(stack):
    """Runs the main story in the deployed service, and creates the company for it if this is its first run."""
    cloudformation, functions = boto3.client("cloudformation"), boto3.client("lambda")
    described = cloudformation.describe_stacks(StackName=stack)["Stacks"][0]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in described["Outputs"]}
    password = boto3.client("secretsmanager").get_secret_value(SecretId=outputs["ProbePasswordArn"])["SecretString"]
    owner = {"first_name": "Probe", "last_name": "Probe", "username": "probe", "password": password}
    owner["email"] = "success+owner@simulator.amazonses.com"
    command = {"command": "create-company", "company": "probe", "name": "Probe", "owner": owner}
    for function, event in ((outputs["AdminFunctionName"], command), (outputs["ProbeFunctionArn"], {})):
        answer = functions.invoke(FunctionName=function, Payload=json.dumps(event).encode())
        text = answer["Payload"].read().decode()
        if "FunctionError" in answer:
            print(f"!!  {function}: {text}", file=sys.stderr)
            print("The release is live. Deploy the last good one if this does not pass by itself.", file=sys.stderr)
            return 1
    print(f"ok  the probe passes, in milliseconds: {text}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
