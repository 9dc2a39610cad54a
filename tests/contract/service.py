"""The service on this computer, for a test that calls it as its clients do."""

import json
import subprocess
import urllib.request
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager

# A picture.
PIXEL = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Api:
    """Whoever sends this Authorization."""

    def __init__(self, base, authorization=None):
        self.base = base
        self.authorization = authorization

    def send(self, method, path, body=None):
        """The body of an answer; `path` may be a reference."""
        request = urllib.request.Request(path if "://" in path else self.base + path, method=method)
        request.add_header("Content-Type", "application/json")
        if self.authorization:
            request.add_header("Authorization", self.authorization)
        with urllib.request.urlopen(request, None if body is None else json.dumps(body).encode()) as answer:
            text = answer.read()
            return json.loads(text) if text else None

    def create(self, path, body):
        """The address of what is created."""
        return self.send("POST", path, body)["resource_uri"]


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
