"""The executions that the template reserves for functions."""

import pathlib

import yaml
from samtranslator.yaml_helper import intrinsics_multi_constructor


class Loader(yaml.CSafeLoader):
    """Reads intrinsic functions such as !Ref as well. The linter, which also does, takes half a second to be imported."""


Loader.add_multi_constructor("!", intrinsics_multi_constructor)


def reservations(template, parameters):
    """The reserved executions by the logical ids of functions, with these values of parameters; else, their defaults."""
    template = yaml.load(pathlib.Path(template).read_text(encoding="utf-8"), Loader)
    values = {name: parameter.get("Default") for name, parameter in template["Parameters"].items()} | parameters
    if values["ReserveConcurrency"] != "true":
        return {}
    properties = {name: resource.get("Properties", {}) for name, resource in template["Resources"].items()}
    key = "ReservedConcurrentExecutions"
    reserved = {name: held[key]["Fn::If"][1] for name, held in properties.items() if key in held}
    return {name: int(values[one["Ref"]] if isinstance(one, dict) else one) for name, one in reserved.items()}
