"""A restore of a deployed stack to a moment before a deletion, a creation and a logout, at which a recording waited."""

import base64
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading
import time
import urllib.request

import boto3
from stack import PASSWORD, Api, in_seconds, log_in, mails_to, operate, physical_ids
from story import done, eventually, film, png, take_is_recorded

# Seconds for which functions may run in this restore, which waits for them.
BRIEF = 20


def fill(table, numbers, text):
    """Puts items of a kind that the service does not know, for the restore to have something to do."""
    with boto3.resource("dynamodb").Table(table).batch_writer() as writer:
        for number in numbers:
            writer.put_item(Item={"pk": f"REHEARSAL#{number}", "sk": "ITEM", "text": text * 500})


@contextlib.contextmanager
def brief_functions(names):
    """Has the live versions of functions run for a few seconds at most, and takes it back."""
    client = boto3.client("lambda")
    timeouts = {name: client.get_function_configuration(FunctionName=name)["Timeout"] for name in names}
    timeouts = {name: timeout for name, timeout in timeouts.items() if timeout > BRIEF}
    live = {name: client.get_alias(FunctionName=name, Name="live")["FunctionVersion"] for name in timeouts}
    for name, timeout in timeouts.items():
        client.update_function_configuration(FunctionName=name, Timeout=BRIEF)
        version = client.publish_version(FunctionName=name)["Version"]
        client.update_function_configuration(FunctionName=name, Timeout=timeout)
        client.update_alias(FunctionName=name, Name="live", FunctionVersion=version)
    yield
    for name, version in live.items():
        client.update_alias(FunctionName=name, Name="live", FunctionVersion=version)


@contextlib.contextmanager
def reservations_of(name):
    """The executions that a function reserves meanwhile, looked at again and again."""
    client, seen, has_ended = boto3.client("lambda"), set(), threading.Event()

    def look():
        while not has_ended.wait(0.2):
            seen.add(client.get_function_concurrency(FunctionName=name).get("ReservedConcurrentExecutions"))

    looking = threading.Thread(target=look)
    looking.start()
    yield seen
    has_ended.set()
    looking.join()


class Recording:
    """An answer that is recorded, and not converted while the rule is off that starts conversions."""

    def __init__(self, owner, project):
        self.owner, self.events = owner, boto3.client("events")
        self.rule = physical_ids()["VideoConversionFunctionVideoCreated"]
        address = "recorder@mail.example"
        person = {"first_name": "Recorder", "last_name": "Restored", "email": address, "deadline": in_seconds(86400)}
        uri = owner.post(project + "candidates/", person)["resource_uri"]
        owner.patch(uri + "status/advance/")
        key = re.search(r"/register/([A-Za-z0-9_-]+)", eventually(lambda: mails_to(address))[0]["BodyText"])[1]
        own = Api("ActivationKey " + key)
        own.patch(uri, {"password": PASSWORD})
        own.patch(uri + "status/advance/")
        own = log_in("acme", address)
        own.patch(uri + "status/advance/")
        self.events.disable_rule(Name=self.rule)
        question = owner.get(project + "questions/")["objects"][0]["resource_uri"]
        self.answer, self.take = take_is_recorded(own, uri, question, film())

    def is_converted(self):
        return self.owner.get(self.answer)["status"] == "successful"

    def convert(self):
        """Has it converted, by the marker that starts that."""
        company, project, candidate, question, number = re.fullmatch(
            r".*/companies/(.*)/projects/(.*)/candidates/(.*)/answers/(.*)/takes/(.*)/", self.take
        ).groups()
        self.events.enable_rule(Name=self.rule)
        marker = f"uploads/conversions/{company}/{project}/{candidate}/{question}/{number}"
        boto3.client("s3").put_object(Bucket=physical_ids()["MediaBucket"], Key=marker)
        eventually(self.is_converted)

    def watch(self):
        _, headers, _ = Api().send("GET", self.owner.get(self.answer)["streams"]["mp4"])
        with urllib.request.urlopen(headers["Location"]) as film:
            assert film.headers["Content-Type"] == "video/mp4", film.headers


def table_is_restored(owner, project, candidate):
    """Restores to a moment before a deletion, a creation and a logout, at which a recording waited for its conversion."""
    names = physical_ids()
    # By the operator, after an earlier restore.
    boto3.client("lambda").put_function_concurrency(
        FunctionName=names["RetentionFunction"], ReservedConcurrentExecutions=0
    )
    # The restore stops all functions but those that serve it, and waits for the longest of each kind.
    serving, erasing = ("AdminFunction", "ProbeFunction"), names["RetentionFunction"]
    stopped = [name for logical_id, name in names.items() if logical_id.endswith("Function") and logical_id not in serving]
    with brief_functions(stopped), reservations_of(erasing) as reserved:
        restore(owner, project, candidate)
    assert reserved == {0}, reserved
    done("the table is as it was, but deleted people and ended sessions are not back; retention was off and stays so")


def restore(owner, project, candidate):

    def create(name):
        return owner.post(project + "candidates/", {"first_name": name, "last_name": "Restored"})["resource_uri"]

    def sequence():
        return owner.get("/companies/acme/events/?before=latest&page_size=1")["meta"]["latest"]

    def photo():
        _, headers, _ = Api().send("GET", owner.get(candidate)["photo"])
        with urllib.request.urlopen(headers["Location"]) as answer:
            return answer.read()

    leaver, left, before, portrait = create("Leaver"), log_in("acme", "ada"), owner.get(candidate), photo()
    table = physical_ids()["Table"]
    fill(table, range(2000), "a")
    recording = Recording(owner, project)
    # Files have times to the second.
    time.sleep(1)
    moment = in_seconds(0)
    time.sleep(1)
    # The emulator restores the present, whatever moment it is asked for.
    names = {"SourceTableName": table, "TargetTableName": f"{table}-restored"}
    boto3.client("dynamodb").restore_table_to_point_in_time(
        **names, UseLatestRestorableTime=True, GlobalSecondaryIndexOverride=[]
    )

    fill(table, range(1600, 2400), "b")
    recording.convert()
    owner.expect(204, "DELETE", leaver)
    newcomer = create("Newcomer")
    another = "data:image/png;base64," + base64.b64encode(png(b"\xff\0\0")).decode()
    owner.patch(candidate, {"phone": "+49 30 1234567", "photo": another})
    assert photo() != portrait
    left.expect(204, "POST", "/api-token-invalidate/")
    # Later events than the latest one would leave a gap in the feed, which readers wait for.
    eventually(lambda: "candidate.erased" in json.dumps(owner.get("/companies/acme/events/?before=latest&page_size=50")))
    arrived, latest = log_in("acme", "ada"), sequence()
    # Of an earlier run that was stopped, with another table of this name.
    shutil.rmtree(pathlib.Path("target/restore", names["TargetTableName"]), ignore_errors=True)
    command = [".ci/deploy/run", "--restore", moment, "local", "--restored", names["TargetTableName"]]
    # Built with the functions, instead of the release that is built for a real table.
    environment = os.environ | {"RESTORE_TABLE": "target/debug/restore-table"}
    run = subprocess.run(
        command, check=False, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert run.returncode == 0, run.stdout
    print(run.stdout, end="", flush=True)
    assert f"RetentionFunction, ExportWriterFunction, VideoConversionFunction, which may run for {BRIEF} s, have ended" in run.stdout
    assert "1 recordings that were not converted at the moment wait for it again" in run.stdout
    eventually(recording.is_converted)
    recording.watch()

    # Each answer has another URL of the photo.
    after = owner.get(candidate) | {"photo": before["photo"]}
    assert after == before, (before, after)
    assert photo() == portrait
    for gone in (leaver, newcomer):
        owner.expect(404, "GET", gone)
    assert left.send("GET", "/whoami/")[0] == 401 and arrived.get("/whoami/")["kind"] == "customer"
    assert sequence() >= latest, (sequence(), latest)
    assert operate({"command": "recount", "company": "acme"})["recount"]["drift"] == []
    alarms = boto3.client("cloudwatch").describe_alarms()["MetricAlarms"]
    assert all(alarm["ActionsEnabled"] for alarm in alarms), alarms
    assert not pathlib.Path("target/restore", names["TargetTableName"]).exists()
    following = create("Following")
    new = "/companies/acme/events/?page_size=100&after=" + str(latest)
    eventually(lambda: following in json.dumps(owner.get(new)["objects"]))

    def erased():
        events = owner.get(new + "&type=candidate.erased")["objects"]
        return [(event["data"]["resource_uri"], event["data"]["reason"]) for event in events]

    eventually(lambda: erased() == [(leaver, "restored")])
