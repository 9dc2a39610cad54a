"""The main story through a deployed stack: gateway, real binaries, table, stream, schedule, bus, queue; and releases: an
update, one that fails, and some that are refused.

Run by `tests/run deployed`, which deploys template.yaml to an emulator; AWS_ENDPOINT_URL says where that is.
"""

import base64
import contextlib
import hashlib
import hmac
import json
import os
import pathlib
import re
import subprocess
import tempfile
import urllib.request

import boto3
from canary import failing_version_is_found, program_opens_no_socket
from drift import drift_is_told, tags_reach_resources
from handbook import handbook_is_executed
from receiver import receiving
from releases import (
    account_is_checked,
    domain_is_checked,
    exchanged_build_is_refused,
    failed_creation_is_found,
    failing_release_rolls_back,
    first_release_with_exports_is_not_taken_back,
    live_setting,
    losses_are_refused,
    placeholders_are_refused,
    release_from_a_former_one,
    release_is_taken_back,
    roles_for_releases_are_created,
    update_replaces_nothing,
    wrong_places_are_refused,
)
from restore import table_is_restored
from routes import slash_routes_are_one_release
from stack import (
    PASSWORD,
    STACK,
    Api,
    in_seconds,
    log_in,
    mails_to,
    operate,
    outputs,
    physical_ids,
    published,
    put_event,
)
from story import answer_is_recorded, done, eventually, png, put, video_is_converted


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
    question = owner.post(project + "questions/", {"text": "Which bug are you proud of?"})["resource_uri"]
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

    video_is_played(answer_is_recorded(owner, own, uri, question))
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


@contextlib.contextmanager
def variables(functions, values):
    """Has deployed functions run with these variables beside those of the template, and takes it back."""
    client, names = boto3.client("lambda"), physical_ids()
    live = {names[function]: client.get_alias(FunctionName=names[function], Name="live") for function in functions}
    for name in live:
        version = published(name, values).rpartition(":")[2]
        client.update_alias(FunctionName=name, Name="live", FunctionVersion=version)
    yield
    for name, alias in live.items():
        client.update_alias(FunctionName=name, Name="live", FunctionVersion=alias["FunctionVersion"])


def webhook_gets_events(owner, project):
    with receiving() as (address, deliveries):
        status, _, answer = owner.send("POST", "/companies/acme/webhooks/", {"url": address})
        assert status == 400 and answer["url"], answer
        done("the deployed functions send nothing to this computer")

        # Not by the template, which cannot allow it.
        with variables(["EventsFunction", "WebhookSenderFunction"], {"OUTGOING_TARGETS": "loopback"}):
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


def starts_retention():
    """Starts the function, as the schedule does every five minutes, on the night of the company's next run."""
    names, now = physical_ids(), {"S": in_seconds(0)}
    boto3.client("dynamodb").update_item(
        TableName=names["Table"],
        Key={"pk": {"S": "COMPANY#acme"}, "sk": {"S": "RETENTION#RUN"}},
        UpdateExpression="SET #work.due_at = :now, due_at = :now",
        ExpressionAttributeNames={"#work": "work"},
        ExpressionAttributeValues={":now": now},
    )
    answer = boto3.client("lambda").invoke(FunctionName=names["RetentionFunction"] + ":live", Payload=b"{}")
    text = answer["Payload"].read().decode()
    assert "FunctionError" not in answer, text
    return json.loads(text)


def retention_erases(owner, project):
    policy = {"days": 7, "request_days": 0, "notice_days": 90}
    shown = owner.expect(200, "PUT", "/companies/acme/retention/", policy)
    assert shown["days"] == 7 and shown["next_run_at"], shown
    summary = starts_retention()
    assert (summary["runs"], summary["failed"]) == (1, 0), summary
    run = owner.get("/companies/acme/retention/")["last_run"]
    assert run["erased"] == 0 and run["soon"] == run["looked_at"] > 0, run
    done("by the company's retention a run finds who will soon be due, and erases nobody too early")

    uri = owner.post(project + "candidates/", {"first_name": "Brief", "last_name": "Visit"})["resource_uri"]
    owner.expect(200, "PUT", uri + "erasure-request/")
    summary = starts_retention()
    assert summary["requested"] == 1, summary
    assert owner.send("GET", uri)[0] == 404
    feed = "/companies/acme/events/?type=candidate.erased&resource=" + uri
    erased = eventually(lambda: owner.get(feed)["objects"])
    assert erased[0]["data"]["reason"] == "requested", erased
    owner.expect(204, "DELETE", "/companies/acme/retention/")
    done("and carries out a request for erasure, of which the feed tells")


def owner_exports(owner):
    """Has the owner request an archive, and downloads some of it."""
    export = owner.expect(202, "POST", "/companies/acme/exports/", {})["resource_uri"]
    answer = boto3.client("lambda").invoke(FunctionName=physical_ids()["ExportWriterFunction"] + ":live", Payload=b"{}")
    text = answer["Payload"].read().decode()
    assert "FunctionError" not in answer and json.loads(text)["written"] == 1, text
    shown = owner.get(export)
    assert shown["status"] == "successful" and shown["progress"]["media"] > 0, shown
    for file in [*shown["files"], *owner.get(shown["media"])["objects"]]:
        with urllib.request.urlopen(file["url"]) as body:
            assert hashlib.sha256(body.read()).hexdigest() == file["sha256"], file
    eventually(lambda: [one for one in mails_to("ada@acme.example") if "export" in one["BodyText"] and "ready" in one["BodyText"]])
    done("an owner requests an archive of the company, gets a mail, and downloads it with all media")


def company_moves(owner):
    """Has the programs of operators export the company and take it in again, under another name."""
    client = boto3.client("lambda")
    name = physical_ids()["EventsFunction"]
    settings = client.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    endpoints = {f"AWS_ENDPOINT_URL_{one}": os.environ["AWS_ENDPOINT_URL"] for one in ("S3", "DYNAMODB")}
    environment = os.environ | settings | endpoints | {"AWS_REGION": os.environ["AWS_DEFAULT_REGION"]}

    def run(program, *arguments):
        command = [f"target/debug/{program}", *map(str, arguments)]
        return json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout)

    with tempfile.TemporaryDirectory() as folder:
        archive = pathlib.Path(folder) / "archive"
        exported = run("export-company", "acme", archive)
        imported = run("import-company", archive, "--accept-key", "--as", "moved")
    assert exported["media"] > 0 and imported["records"] == exported["records"], (exported, imported)
    assert operate({"command": "recount", "company": "moved"})["recount"]["drift"] == []
    Api().expect(202, "POST", "/api-password-reset/", {"company": "moved", "username": "ada"})
    mails = eventually(lambda: [one["BodyText"] for one in mails_to("ada@acme.example") if "/reset-password/" in one["BodyText"]])
    key = re.search(r"/reset-password/([\w.~-]+)", mails[0])[1]
    Api().expect(204, "POST", "/api-password-reset/confirm/", {"key": key, "password": PASSWORD})
    there = log_in("moved", "ada")
    before, after = (one.get(f"/companies/{company}/projects/")["meta"]["total_count"] for one, company in ((owner, "acme"), (there, "moved")))
    assert before == after, (before, after)
    label = {"text": "Moved"}
    refused = there.expect(409, "POST", "/companies/moved/labels/", label)
    assert refused["code"] == "company_not_started", refused
    assert not imported["is_started"] and run("start-company", "moved") == {"company": "moved", "was_started": False}
    there.expect(201, "POST", "/companies/moved/labels/", label)
    done("the programs of operators export a company, take it in and start it, and its owner gets in by a new password")


def bad_event_is_kept():
    sqs = boto3.client("sqs")
    # The function's second try would come after three minutes.
    queue = physical_ids()["PlatformQueue"]
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"VisibilityTimeout": "1"})
    put = put_event("interview.completed", {"candidate": "unknown"})
    dead_letters = outputs()["PlatformDeadLettersUrl"]
    message = eventually(lambda: sqs.receive_message(QueueUrl=dead_letters).get("Messages"))[0]
    event = json.loads(message["Body"])
    assert (event["id"], event["detail"]) == (put, {"candidate": "unknown"}), event
    done("an event that makes no sense ends as a dead letter, under its own identifier")


def logs_are_metrics():
    found = boto3.client("logs").filter_log_events(logGroupName=f"/aws/lambda/{STACK}-requests", filterPattern="")
    lines = [json.loads(event["message"]) for event in found["events"] if event["message"].startswith('{"_aws"')]
    assert lines and all("acme" not in json.dumps(line["route"]) for line in lines), found["events"][:3]
    assert {line["release"] for line in lines} == {live_setting("RELEASE")}, lines[0]
    done("requests leave log lines that are metrics by route and by release")


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
    retention_erases(owner, project)
    owner_exports(owner)
    company_moves(owner)
    bad_event_is_kept()
    logs_are_metrics()
    failing_version_is_found(owner)
    program_opens_no_socket()
    update_replaces_nothing(owner, candidate)
    tags_reach_resources()
    drift_is_told()
    release_is_taken_back(owner, candidate)
    release_from_a_former_one()
    first_release_with_exports_is_not_taken_back()
    failing_release_rolls_back(owner, candidate)
    slash_routes_are_one_release(owner)
    table_is_restored(owner, project, candidate)
    exchanged_build_is_refused()
    losses_are_refused()
    placeholders_are_refused()
    roles_for_releases_are_created()
    wrong_places_are_refused()
    failed_creation_is_found()
    account_is_checked()
    domain_is_checked()
    handbook_is_executed()


if __name__ == "__main__":
    main()
