"""The main story, run in the deployed service."""

import json
import sys

import boto3
import stacks


def create_company(stack):
    """Creates the company of the probe, unless it exists. Returns whether that has worked."""
    outputs = stacks.outputs_of(stacks.describe(stack))
    password = boto3.client("secretsmanager").get_secret_value(SecretId=outputs["ProbePasswordArn"])["SecretString"]
    owner = {"first_name": "Probe", "last_name": "Probe", "username": "probe", "password": password}
    owner["email"] = "success+owner@simulator.amazonses.com"
    command = {"command": "create-company", "company": "probe", "name": "Probe", "owner": owner}
    return invoke(outputs["AdminFunctionName"], command) is not None


def passes(stack):
    """Runs the probe. Returns whether it has passed."""
    text = create_company(stack) and invoke(stacks.outputs_of(stacks.describe(stack))["ProbeFunctionArn"], {})
    if text:
        print(f"ok  the probe passes, in milliseconds: {text}", flush=True)
    return bool(text)


def invoke(function, event):
    """The answer of a function as text; None if it has failed, which this prints."""
    answer = boto3.client("lambda").invoke(FunctionName=function, Payload=json.dumps(event).encode())
    text = answer["Payload"].read().decode()
    if "FunctionError" in answer:
        print(f"!!  {function}: {text}", file=sys.stderr)
        return None
    return text
