#!/usr/bin/env python3
"""Verifies that an archive is whole and was made by a service: signature, hashes and sizes.

Usage: python3 verify-archive.py FOLDER BASE_URL

BASE_URL is that of the service which made the archive; its public keys are fetched from there. Needs PyJWT: pip install 'pyjwt[crypto]'
"""

import base64
import hashlib
import json
import pathlib
import sys

import jwt

if len(sys.argv) != 3:
    sys.exit(__doc__)
folder, service = pathlib.Path(sys.argv[1]), sys.argv[2].rstrip("/")


def fail(problem):
    sys.exit(f"not a whole archive of this service: {problem}")


def check(name, size, sha256):
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()) or path.is_symlink() or not path.is_file():
        fail(name)
    with path.open("rb") as file:
        if path.stat().st_size != size or hashlib.file_digest(file, "sha256").hexdigest() != sha256:
            fail(name)


manifest = base64.urlsafe_b64encode((folder / "manifest.json").read_bytes()).rstrip(b"=").decode()
signature = (folder / "manifest.jws").read_text().replace("..", f".{manifest}.")
key = jwt.PyJWKClient(f"{service}/receipt-keys/").get_signing_key_from_jwt(signature)
signed = jwt.api_jws.decode_complete(signature, key, algorithms=["EdDSA"])
listed = json.loads(signed["payload"])
if signed["header"]["typ"] != "company-export+jws" or listed["base_url"] != service:
    fail("manifest.jws")
for file in listed["files"]:
    check(file["name"], file["size"], file["sha256"])
with (folder / "media.jsonl").open() as media:
    for line in map(json.loads, media):
        check(f"media/{line['path']}", line["size"], line["sha256"])
print(f"{listed['company']}: {sum(listed['records'].values())} records, {listed['media']['count']} files, whole")
