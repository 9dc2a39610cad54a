"""The main story through the API, in a company of its own: log in, write, read, delete.

Lambda runs it after each deployment and, where AlarmEmail is set, every five minutes. Before a release with a canary gets any
traffic, CodeDeploy runs it against the new versions of the functions, once for each function that changes, all at once; then it
also has the new version of `video-conversion` convert a clip. It fails at the first answer that is not the expected one.
"""

import contextlib
import http.client
import json
import os
import time
import traceback
import urllib.parse

import boto3
import botocore.config

COMPANY, OWNER = "probe", "probe"
# SES's simulator accepts these mails and delivers none.
MAILBOX = "success+{}@simulator.amazonses.com"
DAY = 86400
# No run lasts that long: what one has left is not another's that is still running.
LEFT_OVER_AFTER = 600
# Seconds for an answer of a new version, and, at the end, for telling CodeDeploy of the outcome.
ANSWERED_WITHIN, RESERVE = 29, 10
# Seconds within which a search must find a new candidate. The index follows the table, mostly within milliseconds, and a run
# that comes too soon must not fail a release.
FOUND_WITHIN = 5
# The function that answers an address, by the last of these words in it.
FUNCTIONS = {
    "companies": "companies",
    "customers": "customers",
    "projects": "projects",
    "candidates": "candidates",
    "videos": "videos",
    "criteria": "evaluations",
    "questions": "evaluations",
    "interview": "interviews",
    "events": "events",
    "search": "search",
}


class Unexpected(Exception):
    """An answer that is not the expected one."""


def functions_client(attempts):
    """A client of Lambda that tries so often, waiting in between, if it is throttled."""
    retries = {"mode": "standard", "total_max_attempts": attempts}
    config = botocore.config.Config(read_timeout=ANSWERED_WITHIN, retries=retries)
    return boto3.client("lambda", config=config)


class Gateway:
    """Sends requests like a client."""

    def request(self, method, address, headers, body):
        """Status and text of the answer."""
        connection = self.connect(address.netloc, headers)
        connection.request(method, address.path + (f"?{address.query}" if address.query else ""), body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def connect(self, host, headers):
        """A connection to the API; where AWS is an emulator, to its gateway, which finds the API by the host's first label."""
        emulator = os.environ.get("AWS_ENDPOINT_URL")
        if emulator:
            headers["Host"] = host.split(".")[0] + ".execute-api.localhost"
            return http.client.HTTPConnection(urllib.parse.urlsplit(emulator).netloc, timeout=30)
        return http.client.HTTPSConnection(host, timeout=30)


class NewVersions:
    """Invokes the versions that a release has published, as the gateway would invoke what an alias leads to."""

    def __init__(self, seconds):
        """`seconds` is how long the story may take."""
        self.until = time.monotonic() + seconds
        self.functions = functions_client(1)

    def try_conversion(self):
        """Has `video-conversion` convert a clip of its own: programs that fail would fail on recordings."""
        # One run for each function of a release, more than may convert at once.
        functions = functions_client(5)
        version = os.environ["VIDEO_CONVERSION_VERSION"]
        try:
            answer = functions.invoke(FunctionName=version, Payload=b'{"check": "programs"}')
        except functions.exceptions.TooManyRequestsException:
            # Recordings of the former version, perhaps for hours: no reason to keep a release back. Before its first recording,
            # each execution of the function tries the programs itself.
            print(f"{version} is busy, and was not tried", flush=True)
            return
        if "FunctionError" in answer:
            raise Unexpected(f"{version} has failed: {json.dumps(json.load(answer['Payload']))[:500]}")

    def request(self, method, address, headers, body):
        """Status and text of the answer."""
        if time.monotonic() > self.until:
            raise Unexpected(f"{method} {address.path}: no time is left")
        # As a distribution does, which alone knows it.
        secret = os.environ.get("ORIGIN_SECRETS", "").split(",")[0]
        event = {
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": address.path,
            "rawQueryString": address.query,
            "headers": headers | ({"X-Origin-Secret": secret} if secret else {}),
            "body": body or "",
            "isBase64Encoded": False,
            "requestContext": {
                "domainName": address.netloc,
                "http": {"method": method, "path": address.path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1"},
                "requestId": f"probe-{time.time_ns()}",
                "routeKey": "$default",
                "stage": "$default",
            },
        }
        words = [word for word in address.path.split("/") if word in FUNCTIONS]
        function = FUNCTIONS[words[-1]] if words else "auth"
        version = os.environ[f"{function.upper()}_VERSION"]
        answer = self.functions.invoke(FunctionName=version, Payload=json.dumps(event).encode())
        result = json.load(answer["Payload"])
        if "FunctionError" in answer:
            raise Unexpected(f"{method} {address.path}: {version} has failed: {json.dumps(result)[:500]}")
        return result["statusCode"], result.get("body") or ""


class Api:
    """The API for the sender of this Authorization."""

    def __init__(self, way, authorization=None):
        self.way = way
        self.base = os.environ["BASE_URL"]
        self.authorization = authorization

    def send(self, expected, method, path, body=None):
        """The body of an answer; `path` may be a reference. A redirect is unexpected too: not every client follows it."""
        address = urllib.parse.urlsplit(self.base + path.removeprefix(self.base))
        headers = {"Content-Type": "application/json"}
        if self.authorization:
            headers["Authorization"] = self.authorization
        data = None if body is None else json.dumps(body)
        status, text = self.way.request(method, address, headers, data)
        if status not in (expected if isinstance(expected, tuple) else (expected,)):
            # Neither the body of a request, which may hold a password, nor that of a success, which may hold a token.
            shown = text[:500] if status >= 400 else "another success"
            if status == 308:
                shown = "the gateway does not match this address with its final slash"
            raise Unexpected(f"{method} {path}: {status} instead of {expected}: {shown}")
        return json.loads(text) if text else None

    def log_in(self, username, password):
        login = {"company": COMPANY, "username": username, "password": password}
        return Api(self.way, "Token " + self.send(200, "POST", "/api-token-auth/", login)["token"])


def story(way, password):
    """Runs the story and returns its steps with their milliseconds."""
    steps = {}
    began = time.monotonic()

    def step(name):
        nonlocal began
        now = time.monotonic()
        steps[name] = round((now - began) * 1000)
        began = now

    owner = Api(way).log_in(OWNER, password)
    assert owner.send(200, "GET", "/whoami/")["kind"] == "customer"
    step("log in")
    project = running_project(owner)
    now = time.time_ns()
    for found in owner.send(200, "GET", project + "candidates/")["objects"]:
        if int(found["last_name"][1:]) < now - LEFT_OVER_AFTER * 10**9:
            # Another run may do the same.
            owner.send((204, 404), "DELETE", found["resource_uri"])
    step("prepare a project")

    moment = str(now)
    name = {"first_name": "Probe", "last_name": "P" + moment, "email": MAILBOX.format(moment)}
    deadline = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + DAY))
    candidate = owner.send(201, "POST", project + "candidates/", name | {"deadline": deadline})["resource_uri"]
    try:
        owner.send(200, "PATCH", candidate + "status/advance/")
        step("invite a candidate")
        invited = owner.send(200, "GET", candidate)
        assert invited["status"] == "invited", invited["status"]
        found = search(owner, "p" + moment)
        assert [row["resource_uri"] for row in found] == [candidate], f"search found {len(found)} candidates"
        # So that each function behind the API has answered something.
        owner.send(200, "GET", f"/companies/{COMPANY}/")
        for collection in ("customers", "videos", "events"):
            owner.send(200, "GET", f"/companies/{COMPANY}/{collection}/?page_size=1")
        owner.send(200, "GET", project + "criteria/")
        step("read and search")
        interview_begins(way, invited, password)
        step("register and begin")
    except Exception:
        with contextlib.suppress(Exception):
            owner.send(204, "DELETE", candidate)
        raise
    owner.send(204, "DELETE", candidate)
    owner.send(404, "GET", candidate)
    owner.send(204, "POST", "/api-token-invalidate/")
    owner.send(401, "GET", "/whoami/")
    step("delete and log out")
    return steps


def running_project(owner):
    projects = owner.send(200, "GET", f"/companies/{COMPANY}/projects/?status=40-running")["objects"]
    if projects:
        return projects[0]["resource_uri"]
    settings = {"name": "Probe", "interview_platform": "builtin"}
    project = owner.send(201, "POST", f"/companies/{COMPANY}/projects/", settings)["resource_uri"]
    owner.send(201, "POST", project + "questions/", {"text": "Why us?"})
    owner.send(200, "PATCH", project + "status/", {"status": "40-running"})
    return project


def search(owner, words):
    until = time.monotonic() + FOUND_WITHIN
    while True:
        found = owner.send(200, "GET", f"/companies/{COMPANY}/search/?q={words}")
        if found or time.monotonic() > until:
            return found
        time.sleep(0.2)


def interview_begins(way, candidate, password):
    """What the person does who is invited, by the key in the invitation."""
    uri = candidate["resource_uri"]
    invited = Api(way, "ActivationKey " + candidate["activation_key"])
    invited.send(200, "PATCH", uri, {"password": password})
    invited.send(200, "PATCH", uri + "status/advance/")
    own = Api(way).log_in(candidate["email"], password)
    assert own.send(200, "PATCH", uri + "status/advance/")["status"] == "interviewing"
    assert len(own.send(200, "GET", uri + "interview/")["missing"]) == 1


def report_mail_quota(namespace):
    """Logs how much of the mails that SES sends for the account in 24 hours is used up, as a metric. SES has none of it, and
    raises the quota by itself, so that no parameter could hold it."""
    quota = boto3.client("sesv2").get_account()["SendQuota"]
    # -1 is no limit.
    if quota["Max24HourSend"] > 0:
        metric = {"Name": "mail_quota_percent", "Unit": "Percent"}
        metrics = [{"Namespace": namespace, "Dimensions": [[]], "Metrics": [metric]}]
        directive = {"Timestamp": time.time_ns() // 10**6, "CloudWatchMetrics": metrics}
        percent = 100 * quota["SentLast24Hours"] / quota["Max24HourSend"]
        print(json.dumps({"_aws": directive, "mail_quota_percent": percent}), flush=True)


def approve(deployment, hook, seconds):
    """Tells CodeDeploy, within `seconds`, whether the new versions may get traffic."""
    try:
        versions = NewVersions(seconds - ANSWERED_WITHIN - RESERVE)
        versions.try_conversion()
        steps = story(versions, os.environ["PROBE_PASSWORD"])
        # The release says that this has called the new versions: it comes with their names.
        print(json.dumps({"release": os.environ["RELEASE"], "steps": steps}), flush=True)
        status = "Succeeded"
    except Exception:  # noqa: BLE001
        # CodeDeploy waits an hour for an answer, so every failure is reported. The call takes no reason; the log has it.
        traceback.print_exc()
        status = "Failed"
    boto3.client("codedeploy").put_lifecycle_event_hook_execution_status(
        deploymentId=deployment, lifecycleEventHookExecutionId=hook, status=status
    )
    return status


def handler(event, context):
    if "LifecycleEventHookExecutionId" in event:
        seconds = context.get_remaining_time_in_millis() / 1000
        return approve(event["DeploymentId"], event["LifecycleEventHookExecutionId"], seconds)
    steps = story(Gateway(), os.environ["PROBE_PASSWORD"])
    # Only where there are metrics at all.
    if namespace := os.environ.get("METRICS_NAMESPACE"):
        report_mail_quota(namespace)
    return steps
