"""What CloudFormation has of a stack: its state, parameters, resources and protection."""

import pathlib

import boto3
import botocore.exceptions
from problems import Problem

POLICY = pathlib.Path(__file__).with_name("stack-policy.json")

UNDER_WAY = """\
Wait for it. `aws cloudformation cancel-update-stack --stack-name {stack}` takes back a release that hangs."""
ROLLBACK_HAS_FAILED = """\
Mend what its events name and run `aws cloudformation continue-update-rollback --stack-name {stack}`."""
CREATION_HAS_FAILED = """\
Nothing holds data yet: `aws cloudformation delete-stack --stack-name {stack}`, then create it again."""
NOT_RELEASABLE = {
    "CREATE_FAILED": CREATION_HAS_FAILED,
    "DELETE_FAILED": "Its events name what was not deleted.",
    "ROLLBACK_COMPLETE": CREATION_HAS_FAILED,
    "ROLLBACK_FAILED": CREATION_HAS_FAILED,
    "UPDATE_FAILED": "`aws cloudformation rollback-stack --stack-name {stack}` takes back what has failed.",
    "UPDATE_ROLLBACK_FAILED": ROLLBACK_HAS_FAILED,
}
NOT_PROTECTED = """\
Run `.ci/deploy/run --protect {environment}` with your own credentials: releases may not change the protection."""
NOT_CONFIRMED = """\
Until the link in AWS's mail is opened, the address gets no alarms. The link expires after days; for another mail, run
`aws sns subscribe --protocol email --topic-arn {topic} --notification-endpoint ADDRESS`."""


def describe(stack):
    """The stack as CloudFormation has it; None if it does not exist, or if nothing but a change set does."""
    try:
        (described,) = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
    except botocore.exceptions.ClientError as error:
        if "does not exist" in str(error):
            return None
        raise
    return None if described["StackStatus"] == "REVIEW_IN_PROGRESS" else described


def parameters_of(described):
    return {parameter["ParameterKey"]: parameter["ParameterValue"] for parameter in described["Parameters"]}


def outputs_of(described):
    return {output["OutputKey"]: output["OutputValue"] for output in described["Outputs"]}


def all_resources(stack):
    pages = boto3.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=stack)
    return (resource for page in pages for resource in page["StackResourceSummaries"])


def resources(stack, kind=None):
    """The physical names of the stack's resources, of one type or of all."""
    return [found["PhysicalResourceId"] for found in all_resources(stack) if kind in (None, found["ResourceType"])]


def name_of(stack, logical_id):
    """The physical name of a resource; None if the stack does not have it."""
    names = {found["LogicalResourceId"]: found["PhysicalResourceId"] for found in all_resources(stack)}
    return names.get(logical_id)


def problems(environment, described):
    stack, status = environment.stack, described["StackStatus"]
    if status.endswith("IN_PROGRESS"):
        yield Problem(f"The stack {stack} is {status}: another deployment is under way", UNDER_WAY.format(stack=stack))
    elif status in NOT_RELEASABLE:
        yield Problem(f"The stack {stack} is {status}", NOT_RELEASABLE[status].format(stack=stack))
    elif not is_protected(described):
        remedy = NOT_PROTECTED.format(environment=environment.name)
        yield Problem(f"The stack {stack} is not protected against deletion and replacement of its data", remedy, False)
    yield from unconfirmed(stack)


def unconfirmed(stack):
    """Problems of the topics of alarms without a confirmed subscription, or with one that is pending."""
    if not parameters_of(describe(stack)).get("AlarmEmail"):
        return
    sns = boto3.client("sns")
    for topic in resources(stack, "AWS::SNS::Topic"):
        attributes = sns.get_topic_attributes(TopicArn=topic)["Attributes"]
        if int(attributes["SubscriptionsPending"]) or not int(attributes["SubscriptionsConfirmed"]):
            yield Problem(f"A subscription of {topic} is not confirmed", NOT_CONFIRMED.format(topic=topic), False)


def is_protected(described):
    policy = boto3.client("cloudformation").get_stack_policy(StackName=described["StackName"]).get("StackPolicyBody")
    return described["EnableTerminationProtection"] and policy == POLICY.read_text(encoding="utf-8")


def protect(stack):
    """Refuses changes that would lose data: the stack's deletion, and the replacement of table and buckets."""
    cloudformation = boto3.client("cloudformation")
    cloudformation.set_stack_policy(StackName=stack, StackPolicyBody=POLICY.read_text(encoding="utf-8"))
    cloudformation.update_termination_protection(StackName=stack, EnableTerminationProtection=True)
    print(f"ok  the stack {stack} is protected against deletion and replacement of its data", flush=True)
