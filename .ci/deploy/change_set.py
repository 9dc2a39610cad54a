"""Change sets: what SAM proposes, what of it would be lost, and its execution."""

import datetime
import fnmatch
import os
import pathlib
import subprocess
import sys

import boto3
import botocore.exceptions
import stacks
from environments import CONFIG

# Each release has its own, and the one before is deleted when nothing refers to it any more.
REPLACED_BY_EVERY_RELEASE = {"AWS::CloudWatch::Alarm", "AWS::Lambda::Version", "AWS::Lambda::LayerVersion"}
# Resources whose data cannot be recovered.
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


def propose(environment, parameters, template):
    """The name of a new change set, with the code in S3."""
    sam = [str(pathlib.Path(sys.executable).with_name("sam")), "deploy", "--no-execute-changeset", "--no-progressbar"]
    sam += ["--config-file", str(pathlib.Path(CONFIG).resolve()), "--config-env", environment.name]
    # With another place of the code, versions of functions are other resources, and the former ones are retained. SAM would
    # have CloudFormation replace, and so delete, the version of a function whose code has not changed.
    sam += ["--s3-prefix", parameters["Release"]]
    sam += ["--template-file", template] if template else []
    # Writing and reading it as YAML would take seconds.
    sam += ["--use-json"] if template and template.endswith(".json") else []
    # SAM takes an empty value only in quotes.
    sam += ["--parameter-overrides", *(f'{name}="{value}"' for name, value in parameters.items())]
    if subprocess.run(sam, check=False, env=os.environ | {"SAM_CLI_TELEMETRY": "0"}).returncode:
        sys.exit("!!  there is no change set, for the reason above; nothing was changed")
    sets = boto3.client("cloudformation").list_change_sets(StackName=environment.stack)["Summaries"]
    proposed = [change_set for change_set in sets if change_set["ExecutionStatus"] == "AVAILABLE"]
    return max(proposed, key=lambda change_set: change_set["CreationTime"])["ChangeSetName"]


def is_accepted(stack, change_set, allowed):
    """Whether a change set loses nothing but what `allowed` names. Deletes it otherwise."""
    # Before CloudFormation acts: the stack policy refuses a replacement only in the middle of a release.
    cloudformation = boto3.client("cloudformation")
    pages = cloudformation.get_paginator("describe_change_set").paginate(StackName=stack, ChangeSetName=change_set)
    changes = [change["ResourceChange"] for page in pages for change in page["Changes"]]
    refused = [change for change in changes if is_destructive(change) and not is_allowed(change, allowed)]
    if not refused:
        print(f"ok  {len(changes)} changes, and no loss that is not allowed", flush=True)
        return True
    cloudformation.delete_change_set(StackName=stack, ChangeSetName=change_set)
    for change in refused:
        verb = "removes" if change["Action"] == "Remove" else "replaces"
        print(f"!!  the change set {verb} {change['LogicalResourceId']} ({change['ResourceType']})", file=sys.stderr)
    print("Nothing was changed. To proceed, name each with --allow.", file=sys.stderr)
    return False


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


def is_executed(stack, change_set):
    """Executes a change set. Returns whether it has succeeded; otherwise, CloudFormation has taken it back."""
    cloudformation = boto3.client("cloudformation")
    waiter = "stack_update_complete" if stacks.describe(stack) else "stack_create_complete"
    began = datetime.datetime.now(datetime.UTC)
    # SAM cannot execute a change set that it has made before, and does not know this setting: otherwise, versions
    # of a release that fails would remain, and --back could choose one.
    cloudformation.execute_change_set(StackName=stack, ChangeSetName=change_set, RetainExceptOnCreate=True)
    try:
        cloudformation.get_waiter(waiter).wait(StackName=stack, WaiterConfig=WAIT)
    except botocore.exceptions.WaiterError:
        for event in cloudformation.describe_stack_events(StackName=stack)["StackEvents"]:
            if event["Timestamp"] >= began and event["ResourceStatus"].endswith("FAILED"):
                print(f"!!  {event['LogicalResourceId']}: {event.get('ResourceStatusReason')}", file=sys.stderr)
        status = cloudformation.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"]
        print(f"!!  the stack {stack} is {status}: the release has not happened", file=sys.stderr)
        return False
    print(f"ok  the stack {stack} runs the release", flush=True)
    return True
