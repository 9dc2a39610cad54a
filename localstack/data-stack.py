"""Creates or updates the data stack at an endpoint, from the template as SAM expands it.

Usage: data-stack.py URL EXPANDED. Functions are not there: a rule's events go to a queue named after the function that
they would start, from which `localstack/run --aws` takes them.
"""

import contextlib
import json
import sys

import boto3
import botocore.exceptions
import yaml

STACK = "interviews-local"
# `localstack/run --aws` expects this name.
MAILS = f"{STACK}-mails"
NAMES = {"Table": {"TableName": STACK}, "MediaBucket": {"BucketName": f"{STACK}-media"}}
# The sender's domain. Verifying an address would need a mail to be read.
SENDERS = ["localhost.example", "example.com"]
KINDS = {
    "AWS::DynamoDB::Table",
    "AWS::Events::EventBus",
    "AWS::Events::Rule",
    "AWS::S3::Bucket",
    "AWS::S3::BucketPolicy",
    "AWS::SecretsManager::Secret",
    "AWS::SQS::Queue",
    "AWS::SQS::QueuePolicy",
}


def main(url, expanded):
    with open(expanded, encoding="utf-8") as file:
        template = yaml.safe_load(file)
    body = json.dumps(data_stack(template))
    cloudformation = boto3.client("cloudformation", endpoint_url=url)
    change = {
        "StackName": STACK,
        "TemplateBody": body,
        "Parameters": [{"ParameterKey": "MailSender", "ParameterValue": "interviews@localhost.example"}],
    }
    try:
        deploy(cloudformation, change)
    except botocore.exceptions.WaiterError:
        for event in cloudformation.describe_stack_events(StackName=STACK)["StackEvents"]:
            if event["ResourceStatus"].endswith("FAILED"):
                print(event["LogicalResourceId"], event.get("ResourceStatusReason"), file=sys.stderr)
        sys.exit(f"the stack was not deployed to {url}")
    mails(url)
    for resource in cloudformation.describe_stack_resources(StackName=STACK)["StackResources"]:
        print(f"{resource['ResourceType']:24} {resource['PhysicalResourceId']}")


def deploy(cloudformation, change):
    """Creates the stack. Updates it if it exists, once an earlier run has created it."""
    try:
        cloudformation.create_stack(**change)
    except cloudformation.exceptions.AlreadyExistsException:
        wait(cloudformation, "stack_create_complete")
        try:
            cloudformation.update_stack(**change)
        except botocore.exceptions.ClientError as error:
            if "No updates are to be performed" not in str(error):
                raise
        else:
            wait(cloudformation, "stack_update_complete")
    else:
        wait(cloudformation, "stack_create_complete")


def wait(cloudformation, state):
    cloudformation.get_waiter(state).wait(StackName=STACK, WaiterConfig={"Delay": 1})


def mails(url):
    """What the stack says of SES, which LocalStack's CloudFormation does not know."""
    ses = boto3.client("ses", endpoint_url=url)
    with contextlib.suppress(ses.exceptions.ConfigurationSetAlreadyExistsException):
        ses.create_configuration_set(ConfigurationSet={"Name": MAILS})
    for domain in SENDERS:
        ses.verify_domain_identity(Domain=domain)


def named(value):
    """The same with the configuration set's name wherever the template refers to it."""
    if isinstance(value, list):
        return [named(item) for item in value]
    if isinstance(value, dict):
        return MAILS if value == {"Ref": "MailConfiguration"} else {k: named(v) for k, v in value.items()}
    return value


def function_of(template, alias):
    return template["Resources"][alias["Ref"]]["Properties"]["FunctionName"]["Ref"]


def queue_names(template):
    """Names of the template's queues after the functions that read them."""
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::Lambda::EventSourceMapping":
            source = properties["EventSourceArn"]["Fn::GetAtt"][0]
            if template["Resources"][source]["Type"] == "AWS::SQS::Queue":
                yield source, {"QueueName": f"{STACK}-{function_of(template, properties['FunctionName'])}"}


def data_stack(template):
    names = NAMES | dict(queue_names(template))
    resources = {}
    for name, resource in template["Resources"].items():
        properties = resource.get("Properties", {})
        if resource["Type"] not in KINDS or "ScheduleExpression" in properties:
            continue
        properties = resource["Properties"] = named(properties)
        properties.update(names.get(name, {}))
        if name == "MediaBucket":
            # The page comes from the local run, on a port that is not known here; there is no Api to name.
            properties["CorsConfiguration"]["CorsRules"][0]["AllowedOrigins"] = ["*"]
        for target in properties.get("Targets", []):
            if "Fn::GetAtt" in target["Arn"]:
                # A queue of the template, which the name below leads to.
                continue
            function = function_of(template, target["Arn"])
            queue = f"{function}Events"
            resources[queue] = {
                "Type": "AWS::SQS::Queue",
                "Properties": {
                    "QueueName": f"{STACK}-{function}",
                    # A function's timeout and number of tries.
                    "VisibilityTimeout": 900,
                    "RedrivePolicy": {"deadLetterTargetArn": target["DeadLetterConfig"]["Arn"], "maxReceiveCount": 3},
                },
            }
            target["Arn"] = {"Fn::GetAtt": [queue, "Arn"]}
        resources[name] = resource
    kept = {name: template[name] for name in ("AWSTemplateFormatVersion", "Parameters", "Conditions")}
    return {**kept, "Resources": resources}


if __name__ == "__main__":
    main(*sys.argv[1:])
