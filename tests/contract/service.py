"""The service on this computer, for a test that calls it as its clients do."""

import json
import subprocess
import time
import urllib.request
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TAKE_INTERVIEW = Path(__file__).parents[2] / "localstack/take-interview"
# How long mails, conversions and deliveries may take.
PATIENCE = 60
# A picture.
PIXEL = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Api:
    """Whoever sends this Authorization."""

    def __init__(self, base, authorization=None):
        self.base = base
        self.authorization = authorization

    def send(self, method, path, body=None, headers=None):
        """The body of an answer; `path` may be a reference."""
        request = urllib.request.Request(path if "://" in path else self.base + path, method=method, headers=headers or {})
        request.add_header("Content-Type", "application/json")
        if self.authorization:
            request.add_header("Authorization", self.authorization)
        with urllib.request.urlopen(request, None if body is None else json.dumps(body).encode()) as answer:
            text = answer.read()
            return json.loads(text) if text else None

    def create(self, path, body):
        """The address of what is created."""
        return self.send("POST", path, body)["resource_uri"]


class Receiver:
    """A receiver of webhooks that the local run has."""

    def __init__(self, base: str) -> None:
        self.url = base.replace("/api/v3", "/_local/hooks/contract")

    def verify(self, secret: str) -> None:
        """Has the signatures of what comes from now on verified."""
        body, headers = json.dumps({"secret": secret}).encode(), {"Content-Type": "application/json"}
        urllib.request.urlopen(urllib.request.Request(self.url, body, headers, method="PUT")).close()

    def delivered(self) -> str:
        """The body of the latest delivery, whose signature holds."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with urllib.request.urlopen(f"{self.url}/deliveries") as answer:
                deliveries = json.load(answer)
            if deliveries:
                assert deliveries[0]["signature"] == "holds", deliveries
                return str(deliveries[0]["body"])
            time.sleep(0.1)
        raise AssertionError("nothing was delivered")


def take_interview(link: str) -> None:
    """Takes the interview behind a link."""
    subprocess.run([TAKE_INTERVIEW, link], stdout=subprocess.DEVNULL, check=True)


@contextmanager
def running(program: str, *options: object) -> Iterator[dict[str, str]]:
    """What the service says of itself once it answers; it ends with the context, and all data with it."""
    command = [program, "--fresh", "--port", "0", "--ready-json", *map(str, options)]
    service = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield json.loads(service.stdout.readline())
    finally:
        service.terminate()
        service.wait()


def identifier(uri: str) -> str:
    """By what a path names the resource at `uri`."""
    return uri.rstrip("/").rsplit("/", 1)[1]
