"""Releases the stack of an environment. Run by .ci/deploy/run, which explains the arguments."""

import argparse
import datetime
import subprocess
import sys

import account
import change_set
import drift
import environments
import probe
import restore
import stacks
import versions
from problems import report

TEMPLATE = "template.yaml"
PROBE_FAILS = """\
The release is live. `.ci/deploy/run --back {}` points all functions to the release before, if this does not pass by itself."""


def arguments(names):
    parser = argparse.ArgumentParser(prog=".ci/deploy/run")
    parser.add_argument("environment", choices=names)
    parser.add_argument("parameters", nargs="*", metavar="NAME=VALUE")
    for flag in ("--configure", "--check", "--create", "--drift", "--back", "--forward", "--probe", "--protect"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--restore", metavar="MOMENT")
    parser.add_argument("--restored", metavar="TABLE")
    parser.add_argument("--allow", action="append", default=[], metavar="ID")
    parser.add_argument("--template", metavar="FILE")
    given = parser.parse_intermixed_args()
    if given.restored and not given.restore:
        parser.error("--restored needs --restore")
    if any("=" not in parameter for parameter in given.parameters):
        parser.error("parameters have the form NAME=VALUE")
    return given


def main():
    known = environments.load()
    given = arguments(known)
    environment = known[given.environment]
    if given.configure:
        return 0 if environments.configure(given.environment, environments.parameters(given.parameters)) else 1
    if report(environment.problems()):
        return 1
    described = stacks.describe(environment.stack)
    if given.check:
        return 0 if is_ready(environment, given, described) else 1
    if not described and not given.create:
        print(f"!!  there is no stack {environment.stack} in this account. To create it, add --create", file=sys.stderr)
        return 1
    if given.drift:
        return 1 if report(drift.problems(environment)) else 0
    if given.protect:
        return stacks.protect(environment.stack)
    if given.probe:
        return 0 if probe.passes(environment.stack) else 1
    if given.restore:
        restored = restore.Restore(environment.stack, given.restore).run(given.restored)
        return restored or (0 if probe.passes(environment.stack) else 1)
    if given.back or given.forward:
        return 0 if is_led(environment, given, described) else 1
    return 0 if is_ready(environment, given, described) and is_released(environment, given, described) else 1


def is_ready(environment, given, described):
    """Whether account and stack are ready for a release. Prints what they lack."""
    # A release keeps the deployed values of parameters that it does not set.
    deployed = stacks.parameters_of(described) if described else {}
    parameters = deployed | environment.overrides | environments.parameters(given.parameters)
    found = list(stacks.problems(environment, described)) if described else []
    found += account.problems(parameters, TEMPLATE, environment)
    if report(found):
        return False
    print("ok  the account has what a deployment needs", flush=True)
    return True


def is_released(environment, given, described):
    stack = environment.stack
    parameters = environment.overrides | environments.parameters(given.parameters)
    parameters["Release"] = name_of_release()
    if not described:
        # Otherwise, a creation that fails could not delete the table, and would have to be cleared away by hand.
        if not is_applied(environment, parameters | {"DeletionProtection": "false"}, given):
            return False
        stacks.protect(stack)
    # The probe needs it before the new versions get traffic; it is missing after a creation that was interrupted. A failure
    # stops nothing: it may be what this release corrects.
    probe.create_company(stack)
    if not is_applied(environment, parameters | {"DeletionProtection": "true"}, given):
        return False
    versions.delete_old(stack)
    if not probe.passes(stack):
        print(PROBE_FAILS.format(environment.name), file=sys.stderr)
        return False
    report(stacks.unconfirmed(stack))
    return True


def is_applied(environment, parameters, given):
    stack, proposed = environment.stack, change_set.propose(environment, parameters, given.template)
    return change_set.is_accepted(stack, proposed, given.allow) and change_set.is_executed(stack, proposed)


def is_led(environment, given, described):
    """Whether all aliases lead to the release before the deployed one, or to the deployed one again, and that works."""
    if described["StackStatus"].endswith("IN_PROGRESS"):
        return not report(stacks.problems(environment, described))
    deployed = stacks.parameters_of(described)["Release"]
    lead = versions.lead_back if given.back else versions.lead_forward
    return lead(environment.stack, deployed) and probe.passes(environment.stack)


def name_of_release():
    """The revision and the time: another name for each deployment."""
    describe = ["git", "describe", "--always", "--dirty", "--tags"]
    revision = subprocess.run(describe, capture_output=True, check=False, text=True).stdout.strip() or "unknown"
    return f"{revision}/{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%SZ}"


if __name__ == "__main__":
    sys.exit(main())
