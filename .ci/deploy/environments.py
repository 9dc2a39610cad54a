"""The environments of .samconfig.toml, and whether the operator's credentials lead to the chosen one."""

import json
import re
import sys
import tomllib
from dataclasses import dataclass

import boto3
from problems import Problem, report

CONFIG = ".samconfig.toml"
NOT_PINNED = """\
If that is where {name} belongs, set this in .samconfig.toml, so that no credentials for another account release to it:
[{name}.account]
id = "{account}"
region = "{region}\""""
ELSEWHERE = """\
Use credentials for account {account} and AWS_DEFAULT_REGION={region}, which .samconfig.toml has in [{name}.account]."""


@dataclass
class Environment:
    """A stack and where it belongs."""

    name: str
    stack: str
    # Values of the template's parameters.
    overrides: dict
    account: str
    region: str

    def problems(self):
        """The credentials lead to another account or region than the environment's, or it has none yet."""
        account = boto3.client("sts").get_caller_identity()["Account"]
        region = boto3.session.Session().region_name
        found = f"these credentials lead to account {account} in {region}"
        if not self.account or not self.region:
            remedy = NOT_PINNED.format(name=self.name, account=account, region=region)
            yield Problem(f"{self.name} has no account and region yet; {found}", remedy)
        elif (account, region) != (self.account, self.region):
            remedy = ELSEWHERE.format(name=self.name, account=self.account, region=self.region)
            yield Problem(f"{found}, which is not {self.name}", remedy)


def load(path=CONFIG):
    """The environments by their names. Exits if the rights of one stack's roles would reach another stack."""
    with open(path, "rb") as file:
        tables = {name: table for name, table in tomllib.load(file).items() if isinstance(table, dict)}
    found = {}
    for name, table in tables.items():
        config = table["deploy"]["parameters"]
        overrides = parameters(config.get("parameter_overrides", []))
        found[name] = Environment(name, config["stack_name"], overrides, table["account"]["id"], table["account"]["region"])
    for one in found.values():
        for other in found.values():
            # .ci/deploy/role.yaml grants rights on everything whose name begins with the stack's name and a hyphen.
            if other is not one and f"{other.stack}-".startswith(f"{one.stack}-"):
                sys.exit(f"!!  the stack name {one.stack} is a prefix of {other.stack}: rename one")
    return found


def configure(name, given, path=CONFIG):
    """Writes the account and region of the credentials, and these parameters, into an environment of the file. Returns whether the
    environment belongs there."""
    environment = load(path)[name]
    account = boto3.client("sts").get_caller_identity()["Account"]
    region = boto3.session.Session().region_name
    if not region:
        sys.exit("!!  no region is set: AWS_DEFAULT_REGION names it")
    if environment.account and (environment.account, environment.region) != (account, region):
        return not report(environment.problems())
    # By lines, because that keeps the comments.
    table, lines, left = "", [], dict(given)
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("["):
                table = line.strip(" []\n")
            if table == f"{name}.account":
                line = re.sub(r'^(id|region) = .*', lambda key: f'{key[1]} = "{account if key[1] == "id" else region}"', line)
            if table == f"{name}.deploy.parameters":
                named = re.match(r'    "(\w+)=', line)
                if named and named[1] in left:
                    line = setting(named[1], left.pop(named[1]))
                if line == "]\n":
                    lines += [setting(key, value) for key, value in left.items()]
            lines.append(line)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(lines)
    print(f"ok  {name} belongs to account {account} in {region}", flush=True)
    return True


def setting(name, value):
    """A line of the file. JSON's texts are TOML's too."""
    return f"    {json.dumps(f'{name}={value}')},\n"


def parameters(overrides):
    """The values in texts such as NAME=VALUE by name."""
    return dict(override.split("=", 1) for override in overrides)
