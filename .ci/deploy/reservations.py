"""The executions that the template reserves for functions."""

import json
import pathlib

from cfnlint.decode.cfn_yaml import loads


def reservations(template, parameters):
    """The reserved executions by the logical ids of functions, with these values of parameters; else, their defaults."""
    template = json.loads(json.dumps(loads(pathlib.Path(template).read_text(encoding="utf-8"))))
    values = {name: parameter.get("Default") for name, parameter in template["Parameters"].items()} | parameters
    if values["ReserveConcurrency"] != "true":
        return {}
    properties = {name: resource.get("Properties", {}) for name, resource in template["Resources"].items()}
    key = "ReservedConcurrentExecutions"
    reserved = {name: held[key]["Fn::If"][1] for name, held in properties.items() if key in held}
    return {name: int(values[one["Ref"]] if isinstance(one, dict) else one) for name, one in reserved.items()}
