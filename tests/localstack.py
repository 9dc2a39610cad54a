"""The main story through the service with LocalStack behind it: table, stream, bucket, SES, rules and queues are LocalStack's.

Run by `tests/run localstack`, which starts LocalStack's runtime with the data stack; AWS_ENDPOINT_URL says where that is.
"""

import base64
import json
import os
import re
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

import boto3
from story import done, eventually, png, put, video_is_converted

STACK = "interviews-local"
ENDPOINT = os.environ["AWS_ENDPOINT_URL"]
PASSWORD = "correct horse battery"
DOCUMENT = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"


class Api:
    """The sender of this Authorization."""

    def __init__(self, base, authorization=None):
        self.base = base
        self.authorization = authorization

    def send(self, method, path, body=None):
        """An answer; `path` may be a reference."""
        headers = {"Content-Type": "application/json"}
        if self.authorization:
            headers["Authorization"] = self.authorization
        data = None if body is None else json.dumps(body).encode()
        address = self.base + path.removeprefix(self.base)
        with urllib.request.urlopen(urllib.request.Request(address, data, headers, method=method)) as answer:
            return json.load(answer)

    def get(self, path):
        return self.send("GET", path)

    def post(self, path, body):
        return self.send("POST", path, body)

    def patch(self, path, body=None):
        return self.send("PATCH", path, body)

    def log_in(self, company, username, password):
        login = {"company": company, "username": username, "password": password}
        return Api(self.base, "Token " + self.post("/api-token-auth/", login)["token"])


def client(service):
    known = {"region_name": "eu-central-1", "aws_access_key_id": "test", "aws_secret_access_key": "test"}
    return boto3.client(service, endpoint_url=ENDPOINT, **known)


def fetch(address):
    with urllib.request.urlopen(address) as answer:
        return answer.headers["Content-Type"], answer.read()


def candidate_is_invited(owner):
    evaluator = owner.get("/whoami/")["resource"]["resource_uri"]
    fields = {"name": "Engineer", "evaluators": [evaluator], "team_evaluation": 1}
    project = owner.post("/companies/demo/projects/", fields)["resource_uri"]
    owner.patch(project + "status/", {"status": "40-running"})
    deadline = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 86400))
    grace = {"first_name": "Grace", "last_name": "Hopper", "email": "grace@mail.example", "deadline": deadline}
    uri = owner.post(project + "candidates/", grace)["resource_uri"]
    owner.patch(uri + "status/advance/")
    found = owner.get("/companies/demo/search/?q=hopp")
    assert [row["resource_uri"] for row in found] == [uri], found
    done("a project runs, a candidate is invited, and found")
    return project, uri


def files_are_kept(owner, candidate):
    shown = owner.patch(candidate, {"photo": "data:image/png;base64," + base64.b64encode(png()).decode()})
    kind, photo = fetch(shown["photo"])
    assert kind == "image/png" and photo.startswith(b"\x89PNG"), kind
    done("a photo lies in LocalStack's bucket and is fetched by a signed URL")

    announcement = {"field": "cv", "content_type": "application/pdf", "size": len(DOCUMENT)}
    announced = owner.post(candidate + "uploads/", announcement)
    put(announced, DOCUMENT)
    eventually(lambda: owner.get(announced["resource_uri"])["status"] == "successful")
    assert fetch(owner.get(candidate)["cv"])[1] == DOCUMENT
    done("a CV that is put into the bucket is taken in: S3's event, LocalStack's rule, the function's queue")


def candidate_begins(api, candidate):
    def mails():
        with urllib.request.urlopen(f"{ENDPOINT}/_aws/ses") as answer:
            sent = json.load(answer)["messages"]
        return [mail for mail in sent if "grace@mail.example" in json.dumps(mail["Destination"])]

    mail = eventually(mails)[0]
    done("the table's stream starts the outbox, which sends the invitation by LocalStack's SES")
    key = re.search(r"/register/([A-Za-z0-9_-]+)", json.dumps(mail))[1]
    own = Api(api.base, "ActivationKey " + key)
    own.patch(candidate, {"password": PASSWORD})
    own.patch(candidate + "status/advance/")
    own = api.log_in("demo", "grace@mail.example", PASSWORD)
    assert own.patch(candidate + "status/advance/")["status"] == "interviewing"
    done("by the key in it the candidate registers, logs in and begins")


def bus_completes(owner, candidate):
    detail = json.dumps({"candidate": candidate})
    entry = {"EventBusName": f"{STACK}-platform", "Source": "interview.platform"}
    entry |= {"DetailType": "interview.completed", "Detail": detail}
    client("events").put_events(Entries=[entry])
    eventually(lambda: owner.get(candidate)["status"] == "interviewed")
    done("an event on LocalStack's bus completes the interview")


def dead_letter_is_redriven(candidate, evaluator):
    """While the service is stopped, in the place of a function that fails."""
    sqs = client("sqs")
    queue, dead_letters = (sqs.get_queue_url(QueueName=name)["QueueUrl"] for name in queue_names())
    detail = json.dumps({"candidate": candidate, "customer": evaluator, "completed": True})
    entry = {"EventBusName": f"{STACK}-platform", "Source": "interview.platform"}
    client("events").put_events(Entries=[entry | {"DetailType": "evaluation.recorded", "Detail": detail}])
    for _ in range(3):
        (message,) = eventually(lambda: sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=1).get("Messages"))
        sqs.change_message_visibility(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0)
    assert "Messages" not in sqs.receive_message(QueueUrl=queue)
    looked_at = eventually(lambda: sqs.receive_message(QueueUrl=dead_letters, VisibilityTimeout=0).get("Messages"))
    assert looked_at[0]["Body"] == message["Body"], looked_at
    arns = {"SourceArn": arn(dead_letters), "DestinationArn": arn(queue)}
    sqs.start_message_move_task(**arns)
    moves = eventually(lambda: sqs.list_message_move_tasks(SourceArn=arns["SourceArn"])["Results"])
    assert [move["ApproximateNumberOfMessagesToMove"] for move in moves] == [1], moves
    done("an event on which the function failed three times is a dead letter, and moved back to the queue")


def is_evaluated(owner, candidate):
    eventually(lambda: owner.get(candidate)["evaluation_status"] == "completed")
    done("the service applies what it could not while it was stopped")


def queue_names():
    """The queue of platform events, and that of its dead letters."""
    resources = client("cloudformation").describe_stack_resources(StackName=STACK)["StackResources"]
    urls = {resource["LogicalResourceId"]: resource["PhysicalResourceId"] for resource in resources}
    return [urls[name].rsplit("/", 1)[1] for name in ("PlatformQueue", "PlatformDeadLetters")]


def arn(queue):
    return client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]


def main_story(api, owner):
    project, candidate = candidate_is_invited(owner)
    files_are_kept(owner, candidate)
    candidate_begins(api, candidate)
    bus_completes(owner, candidate)
    video_is_converted(owner, "demo", project)
    return candidate


def data_is_kept(owner):
    (kept,) = owner.get("/companies/demo/projects/")["objects"]
    assert kept["candidates_count"] == 1, kept


def main():
    command, port = ["target/debug/embedded", "--aws", ENDPOINT, "--ready-json", "--port"], "0"
    for run in ("the service starts on the data stack", "and starts again, with another owner for the company there"):
        with tempfile.TemporaryFile() as log:
            service = subprocess.Popen([*command, port], stdout=subprocess.PIPE, stderr=log)
            try:
                ready = json.loads(service.stdout.readline())
                # The same again, because references in events hold it.
                port = str(urllib.parse.urlsplit(ready["base_url"]).port)
                api = Api(ready["base_url"])
                owner = api.log_in(ready["company"], ready["username"], ready["password"])
                done(run)
                if ready["username"] == "demo":
                    candidate = main_story(api, owner)
                    evaluator = owner.get("/whoami/")["resource"]["resource_uri"]
                else:
                    is_evaluated(owner, candidate)
                    data_is_kept(owner)
            except BaseException:
                log.seek(0)
                print(log.read().decode()[-4000:])
                raise
            finally:
                service.terminate()
                service.wait()
        if ready["username"] == "demo":
            dead_letter_is_redriven(candidate, evaluator)


if __name__ == "__main__":
    main()
