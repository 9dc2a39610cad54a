"""The main story, run in the deployed service."""

import json
import sys

import boto3
import stacks


def passes(stack):
    """Runs the probe, and creates the company for it if this is its first run. Returns whether it has passed."""
    functions, outputs = boto3.client("lambda"), stacks.outputs_of(stacks.describe(stack))
    password = boto3.client("secretsmanager").get_secret_value(SecretId=outputs["ProbePasswordArn"])["SecretString"]
    owner = {"first_name": "Probe", "last_name": "Probe", "username": "probe", "password": password}
    owner["email"] = "success+owner@simulator.amazonses.com"
    command = {"command": "create-company", "company": "probe", "name": "Probe", "owner": owner}
    for function, event in ((outputs["AdminFunctionName"], command), (outputs["ProbeFunctionArn"], {})):
        answer = functions.invoke(FunctionName=function, Payload=json.dumps(event).encode())
        text = answer["Payload"].read().decode()
        if "FunctionError" in answer:
            print(f"!!  {function}: {text}", file=sys.stderr)
            return False
    print(f"ok  the probe passes, in milliseconds: {text}", flush=True)
    return True
