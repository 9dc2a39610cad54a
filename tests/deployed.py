"""The main story through a deployed stack: gateway, real binaries, table, stream, schedule, bus, queue; and releases: an
update, one that fails, and some that are refused.

Run by `tests/run deployed`, which deploys template.yaml to an emulator; AWS_ENDPOINT_URL says where that is.
"""

import base64
import contextlib
import hmac
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.request

import boto3
import botocore.exceptions
from receiver import receiving
from story import done, eventually, png, put, video_is_converted

STACK = "interviews-local"
ENDPOINT = os.environ["AWS_ENDPOINT_URL"]
PASSWORD = "correct horse battery"
# What localstack/package has written.
TEMPLATE = pathlib.Path("target/deploy/template.json")


def outputs():
    stack = boto3.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"][0]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


def physical_ids():
    """What the stack's resources are called: a new name is another resource. Every release has versions of its own."""
    pages = boto3.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=STACK)
    found = (resource for page in pages for resource in page["StackResourceSummaries"])
    lasting = (resource for resource in found if resource["ResourceType"] != "AWS::Lambda::Version")
    return {resource["LogicalResourceId"]: resource["PhysicalResourceId"] for resource in lasting}


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
    return answer["Entries"][0]["EventId"]


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


@contextlib.contextmanager
def variables(functions, values):
    """Has deployed functions run with these variables beside those of the template, and takes it back."""
    client, names = boto3.client("lambda"), physical_ids()
    live = {names[function]: client.get_alias(FunctionName=names[function], Name="live") for function in functions}
    for name in live:
        before = client.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
        client.update_function_configuration(FunctionName=name, Environment={"Variables": before | values})
        version = client.publish_version(FunctionName=name)["Version"]
        client.update_alias(FunctionName=name, Name="live", FunctionVersion=version)
        client.update_function_configuration(FunctionName=name, Environment={"Variables": before})
    yield
    for name, alias in live.items():
        client.update_alias(FunctionName=name, Name="live", FunctionVersion=alias["FunctionVersion"])


def webhook_gets_events(owner, project):
    with receiving() as (address, deliveries):
        status, _, answer = owner.send("POST", "/companies/acme/webhooks/", {"url": address})
        assert status == 400 and answer["url"], answer
        done("the deployed functions send nothing to this computer")

        # Not by the template, which cannot allow it.
        with variables(["EventsFunction", "WebhooksFunction"], {"WEBHOOK_TARGETS": "any"}):
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
    sqs = boto3.client("sqs")
    # The function's second try would come after three minutes.
    queue = physical_ids()["PlatformQueue"]
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"VisibilityTimeout": "1"})
    put = put_event("interview.completed", {"candidate": "nobody"})
    dead_letters = outputs()["PlatformDeadLettersUrl"]
    message = eventually(lambda: sqs.receive_message(QueueUrl=dead_letters).get("Messages"))[0]
    event = json.loads(message["Body"])
    assert (event["id"], event["detail"]) == (put, {"candidate": "nobody"}), event
    done("an event that makes no sense ends as a dead letter, under its own identifier")


def logs_are_metrics():
    found = boto3.client("logs").filter_log_events(logGroupName=f"/aws/lambda/{STACK}-projects", filterPattern="")
    lines = [json.loads(event["message"]) for event in found["events"] if event["message"].startswith('{"_aws"')]
    assert lines and all("acme" not in json.dumps(line["route"]) for line in lines), found["events"][:3]
    done("requests leave log lines that are metrics by route")


def deploy(*arguments, changed=None):
    """Exit status and output of functions/admin/deploy/run, with a change of the template."""
    template = json.loads(TEMPLATE.read_text(encoding="utf-8"))
    if changed:
        changed(template["Resources"])
    altered = TEMPLATE.with_name("altered.json")
    altered.write_text(json.dumps(template), encoding="utf-8")
    command = ["functions/admin/deploy/run", "local", "--template", altered, *arguments]
    run = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return run.returncode, run.stdout


def stack_status():
    return boto3.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"][0]["StackStatus"]


def live_setting(name):
    """A setting of the version of a function that requests reach."""
    function = physical_ids()["AuthFunction"]
    live = boto3.client("lambda").get_function_configuration(FunctionName=function, Qualifier="live")
    return live["Environment"]["Variables"][name]


def update_replaces_nothing(owner, candidate):
    before, release = physical_ids(), live_setting("RELEASE")
    update = ["localstack/deploy-to-ministack", "--update", "SessionIdleMinutes=60"]
    updated = subprocess.run(update, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert (updated.returncode, stack_status()) == (0, "UPDATE_COMPLETE"), updated.stdout
    assert "ok  the probe passes" in updated.stdout, updated.stdout
    after = physical_ids()
    assert after == before, {name: (before.get(name), after.get(name)) for name in before | after}
    assert live_setting("SESSION_IDLE_MINUTES") == "60" and live_setting("RELEASE") != release
    assert owner.get(candidate)["status"] == "interviewed"
    done(f"an update changes a setting, replaces none of {len(after)} resources and loses no data; the probe passes")


def failing_release_rolls_back(owner, candidate):
    def publishes_twice(resources):
        version = {"FunctionName": {"Ref": "AuthFunction"}}
        resources["Again"] = {"Type": "AWS::Lambda::Version", "DependsOn": "AuthFunctionAliaslive", "Properties": version}

    before, release = physical_ids(), live_setting("RELEASE")
    status, output = deploy("SessionIdleMinutes=30", changed=publishes_twice)
    assert (status, stack_status()) == (1, "UPDATE_ROLLBACK_COMPLETE"), output
    assert "Again: " in output and "the release has not happened" in output, output
    assert (live_setting("SESSION_IDLE_MINUTES"), live_setting("RELEASE"), physical_ids()) == ("60", release, before)
    assert owner.get(candidate)["status"] == "interviewed"
    done("a release that fails after the functions have changed is rolled back, and loses no data")


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
    boto3.client("dynamodb").restore_table_to_point_in_time(**names, UseLatestRestorableTime=True)

    fill(table, range(4000, 6000), "b")
    owner.expect(204, "DELETE", leaver)
    newcomer = create("Newcomer")
    another = "data:image/png;base64," + base64.b64encode(png(b"\xff\0\0")).decode()
    owner.patch(candidate, {"phone": "+49 30 1234567", "photo": another})
    assert photo() != portrait
    left.expect(204, "POST", "/api-token-invalidate/")
    arrived, latest = log_in("acme", "ada"), sequence()
    command = ["functions/admin/deploy/run", "--restore", moment, "local", "--restored", names["TargetTableName"]]
    run = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
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
    following = create("Following")
    new = "/companies/acme/events/?page_size=100&after=" + str(latest)
    eventually(lambda: following in json.dumps(owner.get(new)["objects"]))
    done("the table is as it was, but deleted people and ended sessions are not back")


def losses_are_refused():
    def renames_table(resources):
        resources["Table"]["Properties"]["TableName"] = "other"

    def forgets_logs(resources):
        del resources["AdminLogs"], resources["AdminFunction"]["Properties"]["LoggingConfig"]

    cloudformation, before = boto3.client("cloudformation"), physical_ids()
    for change, complaint in ((renames_table, "replaces Table ("), (forgets_logs, "removes AdminLogs (")):
        status, output = deploy(changed=change)
        assert status == 1 and complaint in output, output
        waiting = cloudformation.list_change_sets(StackName=STACK)["Summaries"]
        assert "AVAILABLE" not in [change_set["ExecutionStatus"] for change_set in waiting], waiting
    assert physical_ids() == before
    try:
        cloudformation.delete_stack(StackName=STACK)
        sys.exit("the stack's deletion was accepted")
    except botocore.exceptions.ClientError as refusal:
        assert "TerminationProtection" in str(refusal), refusal
    policy = json.loads(cloudformation.get_stack_policy(StackName=STACK)["StackPolicyBody"])
    assert policy == json.loads(pathlib.Path("functions/admin/deploy/stack-policy.json").read_text(encoding="utf-8"))
    done("a change set that replaces something or removes data is refused, and so is the deletion of the stack")


def placeholders_are_refused():
    for setting, complaint in (
        ("MailSender=interviews@example.com", "SES does not know the sender"),
        ("AlarmEmail=operations@example.com", "your own instead of one at example.com"),
    ):
        status, output = deploy(setting)
        assert status == 1 and complaint in output, output
    done("a sender that SES does not know and an address at example.com are refused")


def roles_for_releases_are_created():
    cloudformation = boto3.client("cloudformation")
    provider = "arn:aws:iam::000000000000:oidc-provider/token.actions.githubusercontent.com"
    parameters = {"StackName": STACK, "Repository": "acme/interviews", "GitHubProviderArn": provider}
    cloudformation.create_stack(
        StackName="roles",
        TemplateBody=pathlib.Path("functions/admin/deploy/role.yaml").read_text(encoding="utf-8"),
        Capabilities=["CAPABILITY_NAMED_IAM"],
        Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()],
    )
    cloudformation.get_waiter("stack_create_complete").wait(StackName="roles", WaiterConfig={"Delay": 1})
    role = boto3.client("iam").get_role(RoleName=f"{STACK}-deployment")["Role"]
    trusted = role["AssumeRolePolicyDocument"]["Statement"][0]["Condition"]["StringEquals"]
    assert trusted["token.actions.githubusercontent.com:sub"] == "repo:acme/interviews:environment:production", trusted
    done("the roles for releases from GitHub are created, for one environment of one repository")


def account_is_checked():
    ses, logs = boto3.client("sesv2"), boto3.client("logs")

    def checked():
        run = subprocess.run(["functions/admin/deploy/run", "--check", "local"], check=False, capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr

    assert checked() == (0, "ok  the account has what a deployment needs\n"), checked()
    details = {"MailType": "TRANSACTIONAL", "WebsiteURL": "https://localhost.example"}
    ses.put_account_details(ProductionAccessEnabled=False, **details)
    ses.delete_email_identity(EmailIdentity="localhost.example")
    statement = {"Effect": "Allow", "Principal": {"Service": "events.amazonaws.com"}, "Action": "logs:PutLogEvents"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement | {"Resource": "*"}]})
    for number in range(10):
        logs.put_resource_policy(policyName=f"other-{number}", policyDocument=policy)
    status, output = checked()
    for problem in ("does not know the sender", "is in the sandbox", "has 10 resource policies"):
        assert status == 1 and f"!!  SES {problem}" in output or f"!!  CloudWatch Logs {problem}" in output, output
    ses.put_account_details(ProductionAccessEnabled=True, **details)
    ses.create_email_identity(EmailIdentity="localhost.example")
    for number in range(10):
        logs.delete_resource_policy(policyName=f"other-{number}")
    assert checked()[0] == 0
    done("an account without a sender, in SES's sandbox or without room for a log policy is found out")


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
    failing_release_rolls_back(owner, candidate)
    table_is_restored(owner, project, candidate)
    losses_are_refused()
    placeholders_are_refused()
    roles_for_releases_are_created()
    account_is_checked()


if __name__ == "__main__":
    main()
