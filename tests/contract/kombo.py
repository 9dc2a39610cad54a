"""The script of the guide that maps candidates and results to Kombo's contract of assessments, for a candidate in every status.

The argument is the service's program.
"""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import jsonschema_rs
from service import Api, identifier, running

SCRIPT = Path(__file__).parents[2] / "functions/docs/guide/kombo-assessment.py"
# As Kombo documents PUT /assessment/orders/{assessment_order_id}/result, with what it asks for in words.
TEXT = {"label": {"type": "string"}, "value": {"type": "string"}, "type": {"const": "TEXT"}}
SCORE = {"type": "object", "required": ["value", "max"], "properties": {"value": {"type": "number"}, "max": {"type": "number"}}}
SUB_RESULT = {
    "id": {"type": "string"},
    "label": {"type": "string"},
    "score": SCORE,
    "status": {"enum": ["COMPLETED", "CANCELLED"]},
    "type": {"const": "SUB_RESULT"},
}


def closed(properties):
    return {"type": "object", "required": list(properties), "properties": properties, "additionalProperties": False}


UPDATE = {
    "type": "object",
    "required": ["status", "result_url"],
    "properties": {
        "status": {"enum": ["OPEN", "COMPLETED", "CANCELLED"]},
        "result_url": {"type": "string", "pattern": "^https?://"},
        "completed_at": {"type": "string", "pattern": "^[0-9]{4}-"},
        "score": {"type": "number"},
        "max_score": {"type": "number"},
        "attributes": {"type": "array", "items": {"oneOf": [closed(TEXT), closed(SUB_RESULT)]}},
    },
    "additionalProperties": False,
    "dependentRequired": {"score": ["max_score"]},
    "if": {"properties": {"status": {"enum": ["COMPLETED", "CANCELLED"]}}},
    "then": {"required": ["completed_at"]},
}


def tell(base, kind, candidate):
    event = {"source": "interview.platform", "detail-type": kind, "detail": {"candidate": candidate}}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(base.replace("/api/v3", "/_local/events"), json.dumps(event).encode(), headers)
    urllib.request.urlopen(request).close()


def story(base, company, owner):
    me = owner.send("GET", "/whoami/")["resource"]["resource_uri"]
    project = owner.create(
        f"/companies/{company}/projects/",
        {"name": "Data engineer", "interview_platform": "external", "evaluators": [me], "default_interview_period": 14},
    )
    question = owner.create(f"{project}questions/", {"text": "Which bug are you proud of?"})
    criterion = owner.create(f"{project}criteria/", {"name": "Listening"})
    owner.send("PATCH", f"{project}status/", {"status": "40-running"})

    def candidate(status):
        """Creates a candidate and has them come to a status by what really leads there."""
        name = {"first_name": status, "last_name": "Test", "receive_mails": False}
        if status == "new":
            return owner.create(f"{project}candidates/", name)
        own = owner.send("POST", f"{project}candidates/import/", [name])["objects"][0]["candidate"]
        themselves = Api(base, f"ActivationKey {owner.send('GET', own)['activation_key']}")
        if status in ("confirmed", "interviewing", "interviewed", "aborted"):
            themselves.send("PATCH", f"{own}status/advance/", {})
        if status in ("interviewing", "interviewed", "aborted"):
            themselves.send("PATCH", f"{own}status/advance/", {})
        if status == "interviewed":
            tell(base, "interview.completed", own)
        if status == "aborted":
            tell(base, "interview.aborted", own)
        if status == "skipped":
            owner.send("PATCH", f"{own}status/skip/", {})
        if status == "expired":
            owner.send("PATCH", f"{own}deadline/", {"deadline": "2026-01-01T00:00:00Z"})
            Api(base).send("POST", base.replace("/api/v3", "/_local/sweep"), {})
        assert owner.send("GET", own)["status"] == status, status
        return own

    def mapped(own, *options):
        environment = os.environ | {"TOKEN": owner.authorization.removeprefix("Token ")}
        command = [sys.executable, SCRIPT, own, *options]
        run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        update = json.loads(run.stdout)
        jsonschema_rs.validate(UPDATE, update)
        assert "/result/" in update["result_url"], update
        return update

    document = json.loads((SCRIPT.parents[1] / "openapi.json").read_text())
    status_field = document["components"]["schemas"]["Candidate"]["properties"]["status"]
    statuses = status_field.get("enum") or [one["const"] for one in status_field["oneOf"]]
    there = {status: candidate(status) for status in statuses}
    for status, own in there.items():
        update = mapped(own)
        assert update["status"] == ("CANCELLED" if status == "skipped" else "OPEN"), (status, update)
        assert update["attributes"] == [{"type": "TEXT", "label": "Interview", "value": status}], update

    own = there["interviewed"]
    ratings = [{"question": question, "value": 4}, {"criterion": criterion, "value": 3}]
    evaluation = {"completed": True, "recommendation": "yes", "ratings": ratings}
    owner.send("PUT", f"{own}evaluations/{identifier(me)}/", evaluation)
    update = mapped(own)
    assert (update["status"], update["score"], update["max_score"]) == ("COMPLETED", 3.5, 5), update
    assert update["completed_at"] == owner.send("GET", own)["interviewdate"], update
    parts = [(one["id"], one["label"], one["score"]["value"]) for one in update["attributes"] if one["type"] == "SUB_RESULT"]
    assert parts == [(question, "Which bug are you proud of?", 4), (criterion, "Listening", 3)], parts
    assert update["attributes"][-1] == {"type": "TEXT", "label": "Recommendation", "value": "yes"}, update

    # Orders that were cancelled: only complete interviews stay. The moment is that of the cancellation, if there was one.
    after = {status: mapped(own, "--cancel") for status, own in there.items()}
    states = {status: update["status"] for status, update in after.items()}
    assert states == {status: "COMPLETED" if status == "interviewed" else "CANCELLED" for status in there}, states
    for status in there.keys() - {"interviewed", "skipped"}:
        cancellation = owner.send("GET", there[status])["cancellation"]
        assert cancellation["reason"] == "The order was cancelled in the ATS.", cancellation
        assert after[status]["completed_at"] == cancellation["at"], (status, after[status])
    print(f"Kombo's contract: {len(there)} statuses mapped")


with running(sys.argv[1]) as service:
    login = {name: service[name] for name in ("company", "username", "password")}
    token = Api(service["base_url"]).send("POST", "/api-token-auth/", login)["token"]
    story(service["base_url"], service["company"], Api(service["base_url"], f"Token {token}"))
