"""A restore of a deployed stack to a moment before a deletion, a creation and a logout."""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import time
import urllib.request

import boto3
from stack import Api, in_seconds, log_in, operate, physical_ids
from story import done, eventually, png


def fill(table, numbers, text):
    """Puts items of a kind that the service does not know, for the restore to have something to do."""
    with boto3.resource("dynamodb").Table(table).batch_writer() as writer:
        for number in numbers:
            writer.put_item(Item={"pk": f"REHEARSAL#{number}", "sk": "ITEM", "text": text * 500})


def table_is_restored(owner, project, candidate):
    """Restores to a moment before a deletion, a creation and a logout."""

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
    fill(table, range(5000), "a")
    # Files have times to the second.
    time.sleep(1)
    moment = in_seconds(0)
    time.sleep(1)
    # The emulator restores the present, whatever moment it is asked for.
    names = {"SourceTableName": table, "TargetTableName": f"{table}-restored"}
    boto3.client("dynamodb").restore_table_to_point_in_time(
        **names, UseLatestRestorableTime=True, GlobalSecondaryIndexOverride=[]
    )

    fill(table, range(4000, 6000), "b")
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
    # Nothing is erased by rules of the moment.
    functions = boto3.client("lambda")
    function_names = [function["FunctionName"] for function in functions.list_functions(MaxItems=100)["Functions"]]
    retention = [name for name in function_names if "RetentionFunction" in name]
    reserved = [functions.get_function_concurrency(FunctionName=name).get("ReservedConcurrentExecutions") for name in retention]
    assert reserved == [0], (retention, reserved)
    following = create("Following")
    new = "/companies/acme/events/?page_size=100&after=" + str(latest)
    eventually(lambda: following in json.dumps(owner.get(new)["objects"]))

    def erased():
        events = owner.get(new + "&type=candidate.erased")["objects"]
        return [(event["data"]["resource_uri"], event["data"]["reason"]) for event in events]

    eventually(lambda: erased() == [(leaver, "restored")])
    done("the table is as it was, but deleted people and ended sessions are not back")
