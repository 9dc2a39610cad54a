"""The main story through a deployed stack: gateway, real binaries, table, stream, schedule, bus, queue; and an update.

Run by `tests/run deployed`, which deploys template.yaml to an emulator; AWS_ENDPOINT_URL says where that is.
"""

import base64
import hmac
import http.client
import json
import os
import re
import subprocess
import time
import urllib.request

import boto3
from receiver import receiving
from story import done, eventually, png, put, video_is_converted

STACK = "interviews-local"
ENDPOINT = os.environ["AWS_ENDPOINT_URL"]
PASSWORD = "correct horse battery"


def outputs():
    stack = boto3.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"][0]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


def physical_ids():
    """What the stack's resources are called: a new name is another resource."""
    pages = boto3.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=STACK)
    found = (resource for page in pages for resource in page["StackResourceSummaries"])
    return {resource["LogicalResourceId"]: resource["PhysicalResourceId"] for resource in found}


class Api:
    """Whoever sends this Authorization."""

    def __init__(self, authorization=None):
        self.base = outputs()["BaseUrl"]
        self.authorization = authorization

    def send(self, method, path, body=None):
        """Status, headers and body of an answer; `path` may be a reference. Redirects are followed, method and all."""
        path = path.removeprefix(self.base)
        # The gateway is found by the first label of the host.
        api = re.match(r"https://(\w+)\.execute-api\.", self.base)[1]
        headers = {"Host": f"{api}.execute-api.localhost", "Content-Type": "application/json"}
        if self.authorization:
            headers["Authorization"] = self.authorization
        connection = http.client.HTTPConnection(ENDPOINT.removeprefix("http://"))
        connection.request(method, f"/api/v3{path}", None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status == 308:
            return self.send(method, answer.headers["Location"], body)
        return answer.status, answer.headers, json.loads(text) if text else None

    def get(self, path):
        return self.expect(200, "GET", path)

    def post(self, path, body):
        return self.expect(201, "POST", path, body)

    def patch(self, path, body=None):
        return self.expect(200, "PATCH", path, body)

    def expect(self, expected, method, path, body=None):
        status, _, answer = self.send(method, path, body)
        assert status == expected, f"{method} {path}: {status} {answer}"
        return answer


def log_in(company, username):
    login = {"company": company, "username": username, "password": PASSWORD}
    return Api("Token " + Api().expect(200, "POST", "/api-token-auth/", login)["token"])


def operate(command):
    payload = json.dumps(command).encode()
    answer = boto3.client("lambda").invoke(FunctionName=outputs()["AdminFunctionName"], Payload=payload)
    text = answer["Payload"].read().decode()
    assert "FunctionError" not in answer, text
    return json.loads(text)


def put_event(kind, detail):
    entry = {
        "EventBusName": outputs()["PlatformBusName"],
        "Source": "interview.platform",
        "DetailType": kind,
        "Detail": json.dumps(detail),
    }
    answer = boto3.client("events").put_events(Entries=[entry])
    assert answer["FailedEntryCount"] == 0, answer


def mails_to(address):
    with urllib.request.urlopen(f"{ENDPOINT}/_ministack/ses/messages") as answer:
        mails = (mail for mails in json.load(answer)["messages"].values() for mail in mails)
        return [mail for mail in mails if address in mail["To"]]


def in_seconds(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))


def operator_creates_company():
    owner = {"first_name": "Ada", "last_name": "Byron", "username": "ada", "email": "ada@acme.example"}
    command = {"command": "create-company", "company": "acme", "name": "Acme", "owner": owner | {"password": PASSWORD}}
    operate(command)
    assert operate({"command": "recount", "company": "acme"})["recount"]["drift"] == []
    done("the operator's function creates a company, and counts it")
    return log_in("acme", "ada")


def gateway_answers(owner):
    assert owner.get("/whoami/")["kind"] == "customer"
    assert owner.get("/companies/acme")["name"] == "Acme"
    status, headers, answer = owner.send("GET", "/nothing/")
    assert (status, answer["code"]) == (404, "not_found") and headers["X-Request-Id"], answer
    status, _, answer = Api().send("GET", "/companies/acme/projects/")
    assert status == 401, answer
    document = Api().get("/openapi.json")
    assert document["openapi"] == "3.1.0" and document["servers"][0]["url"] == owner.base, document["servers"]
    done("the gateway leads to the functions, with and without final slash, and to JSON where there is no route")


def interview(owner):
    evaluator = owner.get("/whoami/")["resource"]["resource_uri"]
    fields = {"name": "Engineer", "evaluators": [evaluator], "team_evaluation": 1}
    project = owner.post("/companies/acme/projects/", fields)["resource_uri"]
    owner.patch(project + "status/", {"status": "40-running"})
    grace = {"first_name": "Grace", "last_name": "Hopper", "email": "grace@mail.example", "deadline": in_seconds(86400)}
    uri = owner.post(project + "candidates/", grace)["resource_uri"]
    owner.patch(uri + "status/advance/")
    done("a project runs and a candidate is invited")

    mail = eventually(lambda: mails_to("grace@mail.example"))[0]
    done("the table's stream starts the outbox, which sends the invitation")
    key = re.search(r"/register/([A-Za-z0-9_-]+)", mail["BodyText"])[1]
    own = Api("ActivationKey " + key)
    own.patch(uri, {"password": PASSWORD})
    own.patch(uri + "status/advance/")
    own = log_in("acme", "grace@mail.example")
    assert own.patch(uri + "status/advance/")["status"] == "interviewing"
    done("by the key in it the candidate registers, logs in and begins")

    put_event("interview.completed", {"candidate": uri})
    eventually(lambda: owner.get(uri)["status"] == "interviewed")
    put_event("evaluation.recorded", {"candidate": uri, "customer": evaluator, "completed": True})
    eventually(lambda: owner.get(project)["evaluated_candidates_count"] == 1)
    done("events on the stack's bus complete the interview and evaluate it")
    return project, uri


def photo_is_kept(owner, candidate):
    shown = owner.patch(candidate, {"photo": "data:image/png;base64," + base64.b64encode(png()).decode()})
    status, headers, _ = Api().send("GET", shown["photo"])
    assert status == 302, status
    with urllib.request.urlopen(headers["Location"]) as answer:
        assert answer.headers["Content-Type"] == "image/png" and answer.read().startswith(b"\x89PNG")
    done("a photo lies in the bucket and is fetched by a signed URL")

    announcement = {"field": "photo", "content_type": "image/png", "size": len(png())}
    announced = owner.post(candidate + "uploads/", announcement)
    put(announced, png())
    eventually(lambda: owner.get(announced["resource_uri"])["status"] == "successful")
    done("what a client puts into the bucket starts the function that looks at it")


def video_is_played(video):
    for address, kind in ((video["streams"]["mp4"], "video/mp4"), (video["thumb"], "image/jpeg")):
        status, headers, _ = Api().send("GET", address)
        assert status == 302, f"{address}: {status}"
        with urllib.request.urlopen(headers["Location"]) as answer:
            assert answer.headers["Content-Type"] == kind, answer.headers
    done("its renditions are fetched by signed URLs")


def search_finds(owner, candidate):
    found = owner.get("/companies/acme/search/?q=hopp")
    assert [row["resource_uri"] for row in found] == [candidate], found
    done("search finds the candidate")


def feed_tells(owner, candidate):
    def evaluated():
        page = owner.get("/companies/acme/events/?page_size=100&resource=" + candidate)
        types = [name for event in page["objects"] for name in event["types"]]
        return types if "candidate.evaluated" in types else None

    types = eventually(evaluated)
    expected = ["created", "invited", "updated", "confirmed", "interviewing", "interviewed", "evaluated"]
    assert types[:7] == ["candidate." + name for name in expected], types
    history = owner.get(candidate + "events/")["objects"]
    assert [event["data"]["version"] for event in history] == list(range(1, len(history) + 1)), history
    done("the stream has events numbered, and the feed tells what has happened to the candidate")


def set_variables(function, variables):
    """Changes the environment of a deployed function, beside what the template sets."""
    functions, name = boto3.client("lambda"), physical_ids()[function]
    before = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    functions.update_function_configuration(FunctionName=name, Environment={"Variables": before | variables})


def webhook_gets_events(owner, project):
    with receiving() as (address, deliveries):
        status, _, answer = owner.send("POST", "/companies/acme/webhooks/", {"url": address})
        assert status == 400 and answer["url"], answer
        done("the deployed functions send nothing to this computer")

        # Not by the template, which cannot allow it.
        for function in ("EventsFunction", "WebhooksFunction"):
            set_variables(function, {"WEBHOOK_TARGETS": "any"})
        webhook = owner.post("/companies/acme/webhooks/", {"url": address, "types": ["candidate.created"]})
        candidate = owner.post(project + "candidates/", {"first_name": "Ada", "last_name": "Byron"})["resource_uri"]
        headers, body = deliveries.get(timeout=60)
    event = json.loads(body)
    assert (event["data"]["resource_uri"], event["id"]) == (candidate, headers["webhook-id"]), body
    key = base64.b64decode(webhook["secret"].removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}"
    signature = base64.b64encode(hmac.digest(key, signed.encode(), "sha256")).decode()
    assert headers["webhook-signature"] == f"v1,{signature}", headers
    uri = webhook["resource_uri"]
    delivery = eventually(lambda: owner.get(uri + "deliveries/")["objects"])[0]
    assert (delivery["outcome"], delivery["event"]) == ("delivered", event["id"]), delivery
    assert owner.send("DELETE", uri)[0] == 204
    done("with leave to do so, a webhook gets a signed event of the feed, and shows its delivery")


def deadline_passes(owner, project):
    late = {"first_name": "Late", "last_name": "Comer", "email": "late@mail.example", "deadline": in_seconds(3)}
    uri = owner.post(project + "candidates/", late)["resource_uri"]
    owner.patch(uri + "status/advance/")
    eventually(lambda: owner.get(uri)["status"] == "expired")
    done("the schedule expires a deadline that has passed")


def bad_event_is_kept():
    # As the bus starts the function, which the emulator's bus does without regard for failures.
    event = {"id": "odd", "source": "interview.platform", "detail-type": "interview.completed"}
    event |= {"time": in_seconds(0), "detail": {"candidate": "nobody"}}
    function = physical_ids()["PlatformEventsFunction"]
    boto3.client("lambda").invoke(FunctionName=function, InvocationType="Event", Payload=json.dumps(event).encode())
    queue, sqs = outputs()["PlatformDeadLettersUrl"], boto3.client("sqs")
    message = eventually(lambda: sqs.receive_message(QueueUrl=queue).get("Messages"))[0]
    assert "nobody" in message["Body"], message
    done("an event that makes no sense ends in the dead-letter queue")


def logs_are_metrics():
    found = boto3.client("logs").filter_log_events(logGroupName=f"/aws/lambda/{STACK}-projects", filterPattern="")
    lines = [json.loads(event["message"]) for event in found["events"] if event["message"].startswith('{"_aws"')]
    assert lines and all("acme" not in json.dumps(line["route"]) for line in lines), found["events"][:3]
    done("requests leave log lines that are metrics by route")


def update_replaces_nothing(owner, candidate):
    before = physical_ids()
    update = ["localstack/deploy-to-ministack", "--update", "SessionIdleMinutes=60"]
    updated = subprocess.run(update, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert updated.returncode == 0, updated.stdout
    stack = boto3.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"][0]
    assert stack["StackStatus"] == "UPDATE_COMPLETE", stack
    after = physical_ids()
    assert after == before, {name: (before.get(name), after.get(name)) for name in before | after}
    auth = boto3.client("lambda").get_function_configuration(FunctionName=after["AuthFunction"])
    assert auth["Environment"]["Variables"]["SESSION_IDLE_MINUTES"] == "60"
    assert owner.get(candidate)["status"] == "interviewed"
    done(f"an update changes a setting, replaces none of {len(after)} resources and loses no data")


def main():
    owner = operator_creates_company()
    gateway_answers(owner)
    project, candidate = interview(owner)
    photo_is_kept(owner, candidate)
    video_is_played(video_is_converted(owner, "acme", project))
    search_finds(owner, candidate)
    feed_tells(owner, candidate)
    webhook_gets_events(owner, project)
    deadline_passes(owner, project)
    bad_event_is_kept()
    logs_are_metrics()
    update_replaces_nothing(owner, candidate)


if __name__ == "__main__":
    main()
