"""The drift of a stack from its template, and the part of it that commands of this tool have made."""

import sys
import time

import boto3
import stacks
import versions
from problems import Problem

LED_BACK = """\
`.ci/deploy/run --forward {}` points them to the deployed release again; the next release does so as well."""
SEVERAL_RELEASES = """\
Neither --back nor a release leaves this. `.ci/deploy/run --forward {}` points all to the deployed release."""
STOPPED = """\
A restore stops functions; functions/RESTORING.md says when it lets them run again, and by which command."""
BY_HAND = """\
If it should stay, put it into the template or .samconfig.toml. If not, take it back, as functions/OPERATIONS.md says under "Drift": a
release corrects only what it changes."""
# Properties that this tool sets besides the template: where aliases lead, and the executions of functions during a restore.
SET_BY_COMMANDS = {
    "AWS::Lambda::Alias": ("/FunctionVersion", "/RoutingConfig"),
    "AWS::Lambda::Function": ("/ReservedConcurrentExecutions",),
}
SECONDS_BETWEEN_QUESTIONS = 2
# The names of what holds secrets, which are not printed.
SECRET = (*versions.SECRETS, "OriginCustomHeaders", "X-Origin-Secret")


def problems(environment):
    described = stacks.describe(environment.stack)
    if described["StackStatus"].endswith("IN_PROGRESS"):
        yield from stacks.problems(environment, described)
        return
    yield from of_aliases(environment, stacks.parameters_of(described)["Release"])
    stopped = stopped_functions(environment.stack)
    if stopped:
        yield Problem(f"Reserved for no execution, as a restore does it: {', '.join(sorted(stopped))}", STOPPED, False)
    yield from of_resources(environment.stack, stopped)


def of_aliases(environment, deployed):
    """CloudFormation is not asked: it does not know which version belongs to which release."""
    functions, former = boto3.client("lambda"), {}
    for function, (alias, published) in versions.published(environment.stack).items():
        live = functions.get_alias(FunctionName=function, Name=alias)
        release = published.get(int(live["FunctionVersion"]), "a version without release")
        if live.get("RoutingConfig", {}).get("AdditionalVersionWeights"):
            yield Problem(f"{function} shares its requests between two versions", SEVERAL_RELEASES.format(environment.name))
        elif release != deployed:
            former.setdefault(release, []).append(function)
    if len(former) == 1:
        [(release, led)] = former.items()
        what = f"{len(led)} aliases lead to the release {release} instead of {deployed}, as --back does it"
        yield Problem(what, LED_BACK.format(environment.name), False)
    for release, led in sorted(former.items()) if len(former) > 1 else ():
        what = f"{', '.join(led)}: the alias leads to the release {release}, others to another than {deployed}"
        yield Problem(what, SEVERAL_RELEASES.format(environment.name))


def stopped_functions(stack):
    functions = boto3.client("lambda")
    names = stacks.resources(stack, "AWS::Lambda::Function")
    reserved = {name: functions.get_function_concurrency(FunctionName=name) for name in names}
    return {name for name, setting in reserved.items() if setting.get("ReservedConcurrentExecutions") == 0}


def of_resources(stack, stopped):
    """The drift that CloudFormation finds, by the properties that the template sets."""
    found = [drift for drift in detected(stack) if drift["StackResourceDriftStatus"] in ("IN_SYNC", "MODIFIED", "DELETED")]
    for drift in found:
        what = f"{drift['LogicalResourceId']} ({drift['ResourceType']})"
        if drift["StackResourceDriftStatus"] == "DELETED":
            yield Problem(f"{what} is gone", BY_HAND)
        if drift["StackResourceDriftStatus"] != "MODIFIED":
            continue
        differences = [one for one in drift["PropertyDifferences"] if not is_set_by_command(drift, one, stopped)]
        if differences:
            yield Problem("\n    ".join([f"{what} was changed", *map(shown, differences)]), BY_HAND)
    compared, all_of_stack = len(found), len(stacks.resources(stack))
    print(f"ok  {compared} of {all_of_stack} resources are compared; CloudFormation does not know the drift of the others", flush=True)


def is_set_by_command(drift, difference, stopped):
    path, kind = difference["PropertyPath"], drift["ResourceType"]
    if not path.startswith(SET_BY_COMMANDS.get(kind, ())):
        return False
    return kind == "AWS::Lambda::Alias" or drift["PhysicalResourceId"] in stopped


def shown(difference):
    path = difference["PropertyPath"]
    text = f"{path}: {difference.get('ExpectedValue')} in the template, {difference.get('ActualValue')} in fact"
    # Also those inside of larger values.
    return f"{path}: it holds a secret" if any(name in text for name in SECRET) else text


def detected(stack):
    cloudformation = boto3.client("cloudformation")
    identifier = cloudformation.detect_stack_drift(StackName=stack)["StackDriftDetectionId"]
    while True:
        status = cloudformation.describe_stack_drift_detection_status(StackDriftDetectionId=identifier)
        if status["DetectionStatus"] != "DETECTION_IN_PROGRESS":
            break
        time.sleep(SECONDS_BETWEEN_QUESTIONS)
    if status["DetectionStatus"] != "DETECTION_COMPLETE":
        sys.exit(f"!!  the drift is not known: {status.get('DetectionStatusReason')}")
    page = cloudformation.describe_stack_resource_drifts(StackName=stack)
    yield from page["StackResourceDrifts"]
    while token := page.get("NextToken"):
        page = cloudformation.describe_stack_resource_drifts(StackName=stack, NextToken=token)
        yield from page["StackResourceDrifts"]
