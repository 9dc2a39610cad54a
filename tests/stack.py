"""A deployed stack as the tests see it: its names, its API, its operator, its bus and its mails."""

import http.client
import json
import os
import pathlib
import re
import time
import urllib.request

import boto3

STACK = "interviews-local"
ENDPOINT = os.environ["AWS_ENDPOINT_URL"]
PASSWORD = "correct horse battery"
# What localstack/package has written.
TEMPLATE = pathlib.Path("target/deploy/template.json")


def outputs():
    stack = boto3.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"][0]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


def physical_ids():
    """What the stack's resources are called: a new name is another resource. Every release has versions of functions and of the
    layer of its own, and alarms."""
    pages = boto3.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=STACK)
    found = (resource for page in pages for resource in page["StackResourceSummaries"])
    passing = ("AWS::CloudWatch::Alarm", "AWS::Lambda::Version", "AWS::Lambda::LayerVersion")
    lasting = (resource for resource in found if resource["ResourceType"] not in passing)
    return {resource["LogicalResourceId"]: resource["PhysicalResourceId"] for resource in lasting}


class Api:
    """The sender of this Authorization."""

    def __init__(self, authorization=None):
        self.base = outputs()["BaseUrl"]
        self.authorization = authorization

    def send(self, method, path, body=None):
        """Status, headers and body of an answer; `path` may be a reference."""
        path = path.removeprefix(self.base)
        # The gateway is found by the first label of the host.
        api = re.match(r"https://(\w+)\.execute-api\.", self.base)[1]
        headers = {"Host": f"{api}.execute-api.localhost", "Content-Type": "application/json"}
        if self.authorization:
            headers["Authorization"] = self.authorization
        connection = http.client.HTTPConnection(ENDPOINT.removeprefix("http://"))
        connection.request(method, f"/api/v3{path}", None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, json.loads(text) if text else None

    def get(self, path):
        return self.expect(200, "GET", path)

    def post(self, path, body):
        return self.expect(201, "POST", path, body)

    def patch(self, path, body=None):
        return self.expect(200, "PATCH", path, body)

    def expect(self, expected, method, path, body=None):
        status, _, answer = self.send(method, path, body)
        assert status == expected, f"{method} {path}: {status} {answer}"
        return answer


def log_in(company, username):
    login = {"company": company, "username": username, "password": PASSWORD}
    return Api("Token " + Api().expect(200, "POST", "/api-token-auth/", login)["token"])


def operate(command):
    payload = json.dumps(command).encode()
    answer = boto3.client("lambda").invoke(FunctionName=outputs()["AdminFunctionName"], Payload=payload)
    text = answer["Payload"].read().decode()
    assert "FunctionError" not in answer, text
    return json.loads(text)


def published(name, values):
    """The ARN of a new version of a function, with these variables beside those that it has."""
    client = boto3.client("lambda")
    before = client.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    client.update_function_configuration(FunctionName=name, Environment={"Variables": before | values})
    arn = client.publish_version(FunctionName=name)["FunctionArn"]
    client.update_function_configuration(FunctionName=name, Environment={"Variables": before})
    return arn


def put_event(kind, detail):
    entry = {
        "EventBusName": outputs()["PlatformBusName"],
        "Source": "interview.platform",
        "DetailType": kind,
        "Detail": json.dumps(detail),
    }
    answer = boto3.client("events").put_events(Entries=[entry])
    assert answer["FailedEntryCount"] == 0, answer
    return answer["Entries"][0]["EventId"]


def mails_to(address):
    with urllib.request.urlopen(f"{ENDPOINT}/_ministack/ses/messages") as answer:
        mails = (mail for mails in json.load(answer)["messages"].values() for mail in mails)
        return [mail for mail in mails if address in mail["To"]]


def in_seconds(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))
