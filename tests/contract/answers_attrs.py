"""Answers of a later release, read by the client that openapi-python-client has generated.

The arguments are the file with the answers and the folder in which the generated package `client` is.
"""

import importlib
import json
import pkgutil
import re
import sys
from pathlib import Path

import httpx

file, folder = sys.argv[1:]
sys.path.insert(0, folder)

import client.api
from client import Client, models

TOMORROW = "a_value_of_tomorrow"


def count(value):
    """How often the value that nobody knows is in another."""
    if isinstance(value, dict):
        return sum(map(count, value)) + sum(map(count, value.values()))
    return sum(map(count, value)) if isinstance(value, list) else value == TOMORROW


def written(parsed):
    return [one.to_dict() for one in parsed] if isinstance(parsed, list) else parsed.to_dict()


packages = pkgutil.walk_packages(client.api.__path__, "client.api.")
modules = {package.name.rsplit(".", 1)[1]: package.name for package in packages}
answers = json.loads(Path(file).read_text(encoding="utf-8"))
for answer in answers:
    body = answer["body"]
    if "operation" in answer:
        name = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", answer["operation"]).lower()
        module = importlib.import_module(modules[name])
        response = httpx.Response(answer["status"], json=body)
        parsed = module._parse_response(client=Client("http://localhost", raise_on_unexpected_status=True), response=response)
    else:
        parsed = getattr(models, answer["schema"]).from_dict(body)
    assert count(written(parsed)) == count(body), answer
print(f"the client of openapi-python-client has read {len(answers)} answers with values that it does not know")
