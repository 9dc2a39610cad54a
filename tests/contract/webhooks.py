"""Deliveries of the service, verified by the official libraries of Standard Webhooks: PyPI's here, npm's by webhooks.mjs,
and Rust's by the local service's receivers.

The arguments are the service's program and the folder in which npm's library is installed.
"""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

from receiver import receiving
from service import Api, running
from standardwebhooks import Webhook, WebhookVerificationError

program, npm = sys.argv[1:]

# How long a delivery may take.
PATIENCE = 60


def tampered(headers, body):
    """The delivery with another body, identifier or time."""
    later = str(int(headers["webhook-timestamp"]) + 1)
    return [
        (headers, body.replace("project", "Project", 1)),
        (headers, body + " "),
        ({**headers, "webhook-id": headers["webhook-id"] + "0"}, body),
        ({**headers, "webhook-timestamp": later}, body),
    ]


def verdict_of_pypi(case):
    try:
        Webhook(case["secret"]).verify(case["body"], case["headers"])
        return True
    except WebhookVerificationError:
        return False


def verdicts_of_npm(cases):
    script = Path(__file__).with_name("webhooks.mjs")
    verdicts = subprocess.run(
        ["node", script, npm], input=json.dumps(cases), stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(verdicts.stdout)


def verdict_of_rust(base, name, case):
    receiver = f"{base.removesuffix('/api/v3')}/_local/hooks/{name}"
    Api(base).send("PUT", receiver, {"secret": case["secret"]})
    delivery = urllib.request.Request(receiver, case["body"].encode(), case["headers"])
    urllib.request.urlopen(delivery).close()
    return Api(base).send("GET", f"{receiver}/deliveries")[0]["signature"] == "holds"


with running(program) as service, receiving() as (address, deliveries):
    base, company = service["base_url"], service["company"]
    login = {name: service[name] for name in ("company", "username", "password")}
    token = Api(base).send("POST", "/api-token-auth/", login)["token"]
    owner = Api(base, f"Token {token}")

    def delivered():
        """What comes of one change."""
        owner.create(f"/companies/{company}/projects/", {"name": "Data engineer"})
        return deliveries.get(timeout=PATIENCE)

    def rotated(hours):
        return owner.send("POST", f"{webhook['resource_uri']}secret/", {"grace_hours": hours})["secret"]

    webhook = owner.send("POST", f"/companies/{company}/webhooks/", {"url": address, "types": ["project.created"]})
    first, before = webhook["secret"], delivered()
    second, during = rotated(1), delivered()
    third, after = rotated(0), delivered()

    feed = owner.send("GET", f"/companies/{company}/events/?type=project.created")["objects"]
    assert [json.loads(body) for _, body in (before, during, after)] == feed, feed

    cases = [
        {"headers": headers, "body": body, "secret": secret, "holds": secret in secrets}
        for (headers, body), secrets in [(before, [first]), (during, [first, second]), (after, [third])]
        for secret in (first, second, third)
    ]
    cases += [
        {"headers": headers, "body": body, "secret": secret, "holds": False}
        for delivery, secret in [(before, first), (during, first), (during, second)]
        for headers, body in tampered(*delivery)
    ]
    verdicts = {
        "PyPI": [verdict_of_pypi(case) for case in cases],
        "npm": verdicts_of_npm(cases),
        "Rust": [verdict_of_rust(base, f"case-{number}", case) for number, case in enumerate(cases)],
    }
    for library, verdict in verdicts.items():
        wrong = [case for case, holds in zip(cases, verdict, strict=True) if holds != case["holds"]]
        assert not wrong, f"{library}: {json.dumps(wrong, indent=2)}"
        print(f"{library}: {len(cases)} verdicts, {sum(verdict)} of them that the signature holds")
