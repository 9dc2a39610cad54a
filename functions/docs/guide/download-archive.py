#!/usr/bin/env python3
"""Requests an archive of a company and downloads it into a folder, in the form in which it is signed.

Usage: python3 download-archive.py BASE_URL COMPANY FOLDER

Asks for the name and the password of an owner, or takes a token of their login from the environment variable TOKEN. Ends with status 3
if media were deleted or replaced since the export, and names these: all else is there.
"""

import getpass
import hashlib
import json
import os
import pathlib
import sys
import time
import urllib.error
import urllib.request

if len(sys.argv) != 4:
    sys.exit(__doc__)
base, company, folder = sys.argv[1].rstrip("/"), sys.argv[2], pathlib.Path(sys.argv[3])
token = os.environ.get("TOKEN")


def call(url, method="GET", body=None):
    request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(), method=method)
    request.add_header("Content-Type", "application/json")
    if token:
        request.add_header("Authorization", f"Token {token}")
    try:
        with urllib.request.urlopen(request) as response:
            return json.load(response)
    except urllib.error.HTTPError as refused:
        sys.exit(f"{method} {url}: {refused.code} {refused.read().decode()}")


def save(path, file):
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    with urllib.request.urlopen(file["url"]) as response, target.open("wb") as saved:
        while part := response.read(1 << 20):
            saved.write(part)
    with target.open("rb") as saved:
        if hashlib.file_digest(saved, "sha256").hexdigest() != file["sha256"]:
            sys.exit(f"{path} differs")


if not token:
    login = {"company": company, "username": input("User name: "), "password": getpass.getpass()}
    token = call(f"{base}/api-token-auth/", "POST", login)["token"]
export = call(f"{base}/companies/{company}/exports/", "POST")
while export["status"] in ("pending", "running"):
    time.sleep(2)
    export = call(export["resource_uri"])
if export["status"] != "successful":
    sys.exit(f"the export has {export['status']}")
for name in [file["name"] for file in export["files"]]:
    # A new URL for each, since they work for 15 minutes.
    save(name, next(file for file in call(export["resource_uri"])["files"] if file["name"] == name))
page = export["media"] + "?page_size=20"
gone = []
while page:
    listed = call(page)
    for place, file in enumerate(listed["objects"]):
        try:
            try:
                save(f"media/{file['path']}", file)
            except urllib.error.HTTPError:
                # Perhaps the files before it took longer than its URL works: a new one tells.
                save(f"media/{file['path']}", call(page)["objects"][place])
        except urllib.error.HTTPError as error:
            if error.code not in (403, 404):
                raise
            gone.append(file["path"])
    page = listed["meta"]["next"]
print(f"{len(export['files'])} files, {listed['meta']['total_count'] - len(gone)} media")
if gone:
    print("Deleted or replaced since the export:", *gone, sep="\n", file=sys.stderr)
    sys.exit(3)
