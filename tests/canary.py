"""A release that fails: the probe refuses it before it gets traffic, and the alarms of the template that take a release back are
on for it, and off for the release before. The emulator has neither CodeDeploy nor metric math, so this invokes what CodeDeploy
invokes, and evaluates the alarms over the log lines that CloudWatch makes metrics of.
"""

import json
import operator
import os
import pathlib
import re
import tempfile
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import boto3
from receiver import receiving
from releases import live_setting
from stack import ENDPOINT, STACK, TEMPLATE, physical_ids, published
from story import done

FAILING = "failing/20261108T100000Z"


# So many functions have a canary, and so many deployments a release.
DEPLOYMENTS = 16


def invoke(client, function, event):
    answer = client.invoke(FunctionName=function, Payload=json.dumps(event).encode())
    return json.load(answer["Payload"]), "FunctionError" in answer


def before_traffic(client, versions, deployments):
    """What the probe tells CodeDeploy about these versions of some functions and the published ones of all others, asked for
    several deployments at once, as by a release."""
    probe = physical_ids()["ProbeFunction"]
    before = client.get_function_configuration(FunctionName=probe)["Environment"]["Variables"]
    hooks = [{"DeploymentId": f"d-{n}", "LifecycleEventHookExecutionId": f"hook-{n}"} for n in range(deployments)]
    with receiving() as (address, told), ThreadPoolExecutor(deployments) as pool:
        variables = before | versions | {"AWS_ENDPOINT_URL_CODEDEPLOY": address}
        client.update_function_configuration(FunctionName=probe, Environment={"Variables": variables})
        # CodeDeploy names the function, not a version of it.
        for answer, has_failed in pool.map(lambda hook: invoke(client, probe, hook), hooks):
            assert not has_failed, answer
        client.update_function_configuration(FunctionName=probe, Environment={"Variables": before})
        statuses = [json.loads(told.get(timeout=10)[1]) for _ in hooks]
    told_of = {(each["deploymentId"], each["lifecycleEventHookExecutionId"]) for each in statuses}
    assert told_of == {(hook["DeploymentId"], hook["LifecycleEventHookExecutionId"]) for hook in hooks}, statuses
    return {each["status"] for each in statuses}


def conversion_with(folder, name, script):
    """A version of video-conversion that finds a script in the place of a program."""
    program = pathlib.Path(folder, name)
    program.write_text(f"#!/bin/bash\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    variables = {"PATH": f"{folder}:{os.environ['PATH']}", "RELEASE": FAILING}
    return published(physical_ids()["VideoConversionFunction"], variables)


def program_opens_no_socket():
    """A program that a file has taken over. That it reads no credentials needs another user than the emulator's, root."""
    emulator = urllib.parse.urlsplit(ENDPOINT).netloc.replace(":", "/")
    with tempfile.TemporaryDirectory() as folder:
        script = f"echo >/dev/tcp/{emulator} && touch {folder}/opened\ntouch {folder}/tried\nexit 1"
        version = conversion_with(folder, "ffprobe", script)
        answer, has_failed = invoke(boto3.client("lambda"), version, {"check": "programs"})
        assert has_failed and pathlib.Path(folder, "tried").exists(), answer
        assert not pathlib.Path(folder, "opened").exists()
    done("a program in the place of ffprobe opens no socket")


def request_to(client, version):
    """A request as the gateway sends it to what an alias leads to."""
    path = "/api/v3/companies/acme/projects/"
    context = {"http": {"method": "GET", "path": path, "sourceIp": "127.0.0.1"}, "requestId": "canary", "stage": "$default"}
    headers = {"Authorization": "Token " + "x" * 40}
    event = {"version": "2.0", "rawPath": path, "rawQueryString": "", "headers": headers, "requestContext": context}
    return invoke(client, version, event | {"routeKey": "$default", "isBase64Encoded": False})[0]["statusCode"]


def log_lines(group):
    pages = boto3.client("logs").get_paginator("filter_log_events").paginate(logGroupName=f"/aws/lambda/{STACK}-{group}")
    texts = (event["message"] for page in pages for event in page["events"])
    return [json.loads(text) for text in texts if text.startswith("{")]


def metrics_of_lines():
    """The values of each metric: of the embedded ones, and of those that the template's filters make."""
    found = {}
    for line in log_lines("requests") + log_lines("events"):
        for directive in line.get("_aws", {}).get("CloudWatchMetrics", []):
            for names in directive["Dimensions"]:
                dimensions = tuple((name, line[name]) for name in names)
                for metric in directive["Metrics"]:
                    key = (directive["Namespace"], metric["Name"], dimensions)
                    found.setdefault(key, []).append(line[metric["Name"]])
    resources = json.loads(TEMPLATE.read_text(encoding="utf-8"))["Resources"].values()
    for resource in resources:
        if resource["Type"] != "AWS::Logs::MetricFilter" or resource["Properties"]["LogGroupName"] != {"Ref": "EventLogs"}:
            continue
        pattern = resource["Properties"]["FilterPattern"]
        [made] = resource["Properties"]["MetricTransformations"]
        for line in log_lines("events"):
            if matches(line, pattern):
                dimensions = tuple((each["Key"], line[each["Value"][2:]]) for each in made.get("Dimensions", []))
                found.setdefault((STACK, made["MetricName"], dimensions), []).append(float(made["MetricValue"]))
    return found


def matches(line, pattern):
    """Whether a log line matches a pattern of a metric filter: comparisons that are joined by &&."""
    comparisons = [re.fullmatch(r"\$\.(\w+) (=|!=|>=) (.+)", each) for each in pattern[2:-2].split(" && ")]
    compare = {"=": operator.eq, "!=": operator.ne, ">=": operator.ge}
    return all(
        field in line and compare[operation](line[field], json.loads(wanted))
        for field, operation, wanted in (comparison.groups() for comparison in comparisons)
    )


def is_on(alarm, release, metrics):
    """Whether an alarm of the template is on for a release: all lines of this short test are of one period."""
    alarm = json.loads(TEMPLATE.read_text(encoding="utf-8"))["Resources"][alarm]
    statistics = {
        "Sum": sum,
        "SampleCount": len,
        "p85.6": lambda values: sorted(values)[int(len(values) * 0.856)],
    }
    [expression] = [metric["Expression"] for metric in alarm["Metadata"]["Metrics"] if "Expression" in metric]
    data = {}
    for metric in alarm["Metadata"]["Metrics"]:
        if "MetricStat" in metric:
            watched, stat = metric["MetricStat"]["Metric"], metric["MetricStat"]["Stat"]
            values = None
            # Metrics of AWS itself have no data here.
            if watched["Namespace"] == {"Ref": "AWS::StackName"}:
                assert watched["Dimensions"] == [{"Name": "release", "Value": {"Ref": "Release"}}], watched
                values = metrics.get((STACK, watched["MetricName"], (("release", release),)))
            data[metric["Id"]] = statistics[stat](values) if values else None
    if expression == "SUM(FILL(METRICS(), 0))":
        value = sum(each or 0 for each in data.values())
    else:
        condition, then, otherwise = re.fullmatch(r"IF\((.*), (.*), (.*)\)", expression).groups()
        if None in data.values():
            # TreatMissingData
            return False
        chosen = then if calculated(condition, data) else otherwise
        value = calculated(chosen, data)
    assert alarm["Properties"]["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
    return value >= alarm["Properties"]["Threshold"]


def calculated(expression, data):
    """A product, a quotient, a comparison or a number of a metric expression."""
    words = [data.get(word, word) for word in expression.split()]
    match words:
        case [number]:
            return float(number)
        case [left, ">=", right]:
            return float(left) >= float(right)
        case [factor, "*", left, "/", right]:
            return float(factor) * float(left) / float(right)
    raise AssertionError(f"cannot calculate {expression}")


def failing_version_is_found(owner):
    client, names, before = boto3.client("lambda"), physical_ids(), live_setting("RELEASE")
    assert before_traffic(client, {}, DEPLOYMENTS) == {"Succeeded"}
    failing = published(names["ProjectsFunction"], {"TABLE_NAME": "missing", "RELEASE": FAILING})
    assert before_traffic(client, {"PROJECTS_VERSION": failing}, 1) == {"Failed"}
    done(f"the probe approves of the published versions, {DEPLOYMENTS} times at once, and refuses one that cannot read the table")

    with tempfile.TemporaryDirectory() as folder:
        crashing = conversion_with(folder, "ffmpeg", "kill -SEGV $$")
        assert before_traffic(client, {"VIDEO_CONVERSION_VERSION": crashing}, 1) == {"Failed"}
    done("the probe refuses a version whose ffmpeg crashes")

    # What others do must not take a release back: a malformed event has reached the release before.
    statuses = [request_to(client, failing) for _ in range(5)]
    assert min(statuses) >= 500, statuses
    for _ in range(45):
        owner.get("/companies/acme/projects/")
    events = published(names["PlatformEventsFunction"], {"TABLE_NAME": "missing", "RELEASE": FAILING})
    uri = owner.get("/companies/acme/projects/")["objects"][0]["resource_uri"] + "candidates/01ARZ3NDEKTSV4RRFFQ69G5FAV/"
    detail = {"candidate": uri}
    body = {"id": "canary", "source": "interview.platform", "detail-type": "interview.completed", "detail": detail}
    body["time"] = "2026-11-08T10:00:00Z"
    invoke(client, events, {"Records": [{"messageId": "canary", "body": json.dumps(body)}]})

    metrics = metrics_of_lines()
    for alarm in ("ReleaseFailuresAlarm", "ReleaseEventFailuresAlarm"):
        assert is_on(alarm, FAILING, metrics), f"{alarm} does not take the failing release back"
        assert not is_on(alarm, before, metrics), f"{alarm} takes the release before back"
    assert not is_on("ReleaseLatencyAlarm", before, metrics)
    done("its failures take it back, and neither these nor another team's malformed event the release before")
