"""Runs the OpenAPI document against the local service: what Schemathesis makes of it must be answered as it says.

The arguments are the service's program and the document. For a change, a third of the examples is tried, by a chance that is printed;
with `TEST_EFFORT=full` all, and with `TEST_SEED=…` those of an earlier run.
"""

import base64
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from service import PIXEL, Api, identifier, running

# At least so many requests, or something is not being tried.
CASES = 2_000
# The examples of each operation that are made up at random.
EXAMPLES = 20
# One of so many is tried for a change.
SHARE = 3
# What else Schemathesis can check is what the document does not promise: that everything which fits the schemas is taken
# (names may be taken already, passwords be common), and nothing else (fields that only responses have are ignored).
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "ignored_auth",
    "unsupported_method",
    "allow_header_conformance",
    "use_after_free",
    "ensure_resource_availability",
]
PHOTO = f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}"


def fill(owner, company):
    """Something of everything; gives the address of each by the name that paths have for it."""
    company = f"/companies/{company}"
    customer = owner.create(
        f"{company}/customers/",
        {
            "first_name": "Grace",
            "last_name": "Hopper",
            "email": "grace@example.com",
            "account_type": "recruiter",
            "preferred_language": "en",
            "photo": PHOTO,
        },
    )
    label = owner.create(f"{company}/labels/", {"text": "Senior"})
    video = owner.create(
        f"{company}/videos/",
        {"name": "Welcome", "upload_filename": "w.mov", "content_type": "video/quicktime", "size": 1000},
    )
    project = owner.create(f"{company}/projects/", {"name": "Backend engineer", "default_interview_period": 14})
    owner.send("PATCH", f"{project}status/", {"status": "40-running"})
    candidate = owner.create(
        f"{project}candidates/",
        {"first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com", "photo": PHOTO},
    )
    return {
        "customerId": customer,
        "labelId": label,
        "videoId": video,
        "projectId": project,
        "candidateId": candidate,
        "roleId": owner.create(f"{project}roles/", {"customer": customer, "role": "evaluator"}),
        "webhookId": owner.create(f"{company}/webhooks/", {"url": "https://hooks.example.com/"}),
        "shareId": owner.create(f"{candidate}shares/", {"customer": customer}),
        "uploadId": owner.create(
            f"{candidate}uploads/", {"field": "cv", "content_type": "application/pdf", "size": 1000}
        ),
    }


def effort():
    """How many examples are tried, as in tests/support/effort.rs, and by which seed."""
    told = os.environ.get("TEST_EFFORT", "")
    # A misspelt `full` would leave out most examples before a release.
    assert told in ("", "full"), f"TEST_EFFORT is {told}, neither full nor empty"
    seed = int(os.environ.get("TEST_SEED") or random.randrange(2**32))
    print(f"TEST_SEED={seed} repeats the examples, TEST_EFFORT=full tries three times as many")
    return EXAMPLES if told else -(-EXAMPLES // SHARE), seed


def configuration(company, things, service, owner, seed):
    """What Schemathesis is to know: names of what is there, credentials, and the seed of its examples."""
    names = {name: identifier(uri) for name, uri in things.items()}
    photos = [identifier(service.send("GET", things[name])["photo"]) for name in ("customerId", "candidateId")]
    candidate = owner.send("PATCH", f"{things['candidateId']}status/advance/")
    lines = [
        f"seed = {seed}",
        "continue-on-failure = true",
        "max-redirects = 0",
        "cache.enabled = false",
        "[parameters]",
        f'"path.companyId" = {json.dumps(company)}',
        *(f'"path.{name}" = {{ dictionary = "{name}", probability = 0.8 }}' for name in (*names, "token")),
        *(f"[dictionaries.{name}]\nvalues = [{json.dumps(value)}]" for name, value in names.items()),
        f"[dictionaries.token]\nvalues = {json.dumps(photos)}",
        "[auth.openapi.token]",
        f"api_key = {json.dumps(service.authorization)}",
        "[auth.openapi.basic]",
        'username = "token"',
        f"password = {json.dumps(service.authorization.removeprefix('Token '))}",
        # As a program that is no browser's page.
        "[[operations]]",
        'include-path = ["/api-session-auth/", "/api-session-invalidate/"]',
        'headers = { "Sec-Fetch-Site" = "none" }',
        # What takes a person.
        "[[operations]]",
        'include-path-regex = "/(exports|tokens)/"',
        f'headers = {{ Authorization = "{owner.authorization}" }}',
        "[[operations]]",
        'include-path = "/whoami/candidate/"',
        f'headers = {{ Authorization = "ActivationKey {candidate["activation_key"]}" }}',
    ]
    return "\n".join(lines)


def main(program, document):
    examples, seed = effort()
    with running(program) as ready, tempfile.TemporaryDirectory() as folder:
        base, company = ready["base_url"], ready["company"]
        login = {name: ready[name] for name in ("company", "username", "password")}
        owner = Api(base, "Token " + Api(base).send("POST", "/api-token-auth/", login)["token"])
        things = fill(owner, company)
        # Named tokens may do nearly everything, and nothing that a request does ends one.
        token = owner.send("POST", f"/companies/{company}/tokens/", {"name": "Contract"})
        service = Api(base, f"Token {token['value']}")
        things["tokenId"] = owner.create(f"/companies/{company}/tokens/", {"name": "Another"})
        things["exportId"] = owner.create(f"/companies/{company}/exports/", {})
        config = Path(folder, "schemathesis.toml")
        config.write_text(configuration(company, things, service, owner, seed))
        command = [Path(sys.executable).with_name("schemathesis"), "--config-file", config, "run", document]
        command += ["--url", base, "--checks", ",".join(CHECKS), "--max-examples", str(examples), "--warnings", "off"]
        run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        printed = ""
        for line in run.stdout:
            print(line, end="")
            printed += line
        status = run.wait()
    told = re.search(r"(\d+) generated", printed)
    assert told, "Schemathesis has not told how many cases there were"
    assert int(told[1]) >= CASES, f"{told[1]} cases are too few"
    return status


sys.exit(main(*sys.argv[1:]))
