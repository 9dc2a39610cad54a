"""The main story through the API, in a company of its own: log in, write, read, delete.

Lambda runs it after each deployment, and every five minutes where AlarmEmail is set. It fails at the first answer
that is not the expected one.
"""

import contextlib
import http.client
import json
import os
import time
import urllib.parse

COMPANY, OWNER = "probe", "probe"
# SES's simulator accepts these mails and delivers none.
MAILBOX = "success+{}@simulator.amazonses.com"
DAY = 86400
# No run lasts that long: what one has left is not another's that is still running.
LEFT_OVER_AFTER = 600


class Unexpected(Exception):
    """An answer that is not the expected one."""


class Api:
    """The API for the sender of this Authorization."""

    def __init__(self, base, authorization=None):
        self.base = base
        self.authorization = authorization

    def send(self, expected, method, path, body=None):
        """The body of an answer; `path` may be a reference."""
        address = urllib.parse.urlsplit(self.base + path.removeprefix(self.base))
        headers = {"Content-Type": "application/json"}
        if self.authorization:
            headers["Authorization"] = self.authorization
        connection = connect(address.netloc, headers)
        data = None if body is None else json.dumps(body)
        connection.request(method, address.path + (f"?{address.query}" if address.query else ""), data, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status == 308:
            return self.send(expected, method, answer.headers["Location"], body)
        if answer.status != expected:
            # Neither the body of a request, which may hold a password, nor that of a success, which may hold a token.
            shown = text[:500] if answer.status >= 400 else "another success"
            raise Unexpected(f"{method} {path}: {answer.status} instead of {expected}: {shown}")
        return json.loads(text) if text else None

    def log_in(self, username, password):
        login = {"company": COMPANY, "username": username, "password": password}
        return Api(self.base, "Token " + self.send(200, "POST", "/api-token-auth/", login)["token"])


def connect(host, headers):
    """A connection to the API; where AWS is an emulator, to its gateway, which finds the API by the host's first label."""
    emulator = os.environ.get("AWS_ENDPOINT_URL")
    if emulator:
        headers["Host"] = host.split(".")[0] + ".execute-api.localhost"
        return http.client.HTTPConnection(urllib.parse.urlsplit(emulator).netloc, timeout=30)
    return http.client.HTTPSConnection(host, timeout=30)


def story(base, password):
    """Runs the story and returns its steps with their milliseconds."""
    steps = {}
    began = time.monotonic()

    def step(name):
        nonlocal began
        now = time.monotonic()
        steps[name] = round((now - began) * 1000)
        began = now

    owner = Api(base).log_in(OWNER, password)
    assert owner.send(200, "GET", "/whoami/")["kind"] == "customer"
    step("log in")
    project = running_project(owner)
    now = time.time_ns()
    for found in owner.send(200, "GET", project + "candidates/")["objects"]:
        if int(found["last_name"][1:]) < now - LEFT_OVER_AFTER * 10**9:
            owner.send(204, "DELETE", found["resource_uri"])
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
        found = owner.send(200, "GET", f"/companies/{COMPANY}/search/?q=p{moment}")
        assert [row["resource_uri"] for row in found] == [candidate], f"search found {len(found)} candidates"
        step("read and search")
        interview_begins(base, invited, password)
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
    project = owner.send(201, "POST", f"/companies/{COMPANY}/projects/", {"name": "Probe"})["resource_uri"]
    owner.send(200, "PATCH", project + "status/", {"status": "40-running"})
    return project


def interview_begins(base, candidate, password):
    """What the person does who is invited, by the key in the invitation."""
    uri = candidate["resource_uri"]
    invited = Api(base, "ActivationKey " + candidate["activation_key"])
    invited.send(200, "PATCH", uri, {"password": password})
    invited.send(200, "PATCH", uri + "status/advance/")
    own = Api(base).log_in(candidate["email"], password)
    assert own.send(200, "PATCH", uri + "status/advance/")["status"] == "interviewing"


def handler(_event, _context):
    return story(os.environ["BASE_URL"], os.environ["PROBE_PASSWORD"])
