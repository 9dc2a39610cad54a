"""An archive of a company, written by the program that operators use, and downloaded and verified by the scripts of the guide.

The arguments are the programs of the service, of the export and of the import.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.request import urlopen

from service import Api, running

program, export, imports = sys.argv[1:]
GUIDE = Path(__file__).parents[2] / "functions/docs/guide"


def script(name, *arguments, **environment):
    """Runs a script of the guide as its readers do."""
    command = [sys.executable, GUIDE / name, *arguments]
    return subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)


def verdict(api, folder):
    """What the script that verifies an archive prints, or why it refuses it."""
    run = script("verify-archive.py", folder, api)
    return run.stdout.strip() if run.returncode == 0 else f"refused: {run.stderr}"


def download(api, company, token, folder):
    """Has an owner request an archive and download it. Returns what the script prints."""
    run = script("download-archive.py", api, company, folder, TOKEN=token)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def mailed_key(mails):
    """The key of a password reset, once its mail has come."""
    while True:
        with urlopen(mails) as answer:
            for mail in json.load(answer):
                if found := re.search(r"/reset-password/(\S+)", mail["text"]):
                    return found.group(1).rstrip("/")


def change(path):
    """Changes one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


with running(program) as service, tempfile.TemporaryDirectory() as folder:
    base, company = service["base_url"], service["company"]
    login = {name: service[name] for name in ("company", "username", "password")}
    token = Api(base).send("POST", "/api-token-auth/", login)["token"]
    owner = Api(base, f"Token {token}")
    project = owner.create(f"/companies/{company}/projects/", {"name": "Backend engineer"})
    for name in ("Ada", "Zoë"):
        owner.create(f"{project}candidates/", {"first_name": name, "last_name": "</script>\u2028"})

    with urlopen(base.replace("/api/v3", "/_local/environment")) as answer:
        variables = dict(line.split("=", 1) for line in answer.read().decode().splitlines()) | {"BASE_URL": base}
    archive = Path(folder) / "archive"
    written = subprocess.run(
        [export, company, archive], env=os.environ | variables, stdout=subprocess.PIPE, text=True, check=True
    )
    written = json.loads(written.stdout)
    candidates = [json.loads(line) for line in (archive / "records/candidates.jsonl").read_text(encoding="utf-8").split("\n") if line]
    assert [one["value"]["profile"]["first_name"] for one in candidates] == ["Ada", "Zoë"], candidates
    found = verdict(base, archive)
    assert found == f"{company}: {written['records']} records, 0 files, whole", found

    names = sorted(str(path.relative_to(archive)) for path in archive.rglob("*") if path.is_file() and path.stat().st_size)
    for name in names:
        changed = Path(folder) / "changed"
        shutil.copytree(archive, changed)
        change(changed / name)
        assert verdict(base, changed).startswith("refused: "), name
        shutil.rmtree(changed)
    downloaded = Path(folder) / "downloaded"
    found = download(base, company, token, downloaded)
    assert found == "27 files, 0 media", found
    assert verdict(base, downloaded) == f"{company}: {written['records']} records, 0 files, whole", verdict(base, downloaded)
    page = (GUIDE.parents[1] / "PORTABILITY.md").read_text()
    queries = page.split("## Ask it something")[1].split("```\n")[1]
    asked = subprocess.run(["bash", "-euo", "pipefail", "-c", queries], cwd=downloaded, stdout=subprocess.PIPE, text=True, check=True)
    assert asked.stdout.split() == ["2", "new"], asked.stdout
    # Elsewhere, under another name, as the local services both have a company of this one.
    with running(program, "--import", archive, "--as", "copy") as there:
        password = "correct horse battery staple"
        anonymous = Api(there["base_url"])
        forgotten = {"company": "copy", "username": service["username"]}
        anonymous.send("POST", "/api-password-reset/", forgotten)
        key = mailed_key(there["mails_url"])
        anonymous.send("POST", "/api-password-reset/confirm/", {"key": key, "password": password})
        token = anonymous.send("POST", "/api-token-auth/", forgotten | {"password": password})["token"]
        found = Api(there["base_url"], f"Token {token}").send("GET", project.replace(f"/{company}/", "/copy/").replace(base, there["base_url"]) + "candidates/")
        assert [one["first_name"] for one in found["objects"]] == ["Ada", "Zoë"], found

    # By the program that operators use, into the same service: a copy beside the company itself.
    environment = os.environ | variables
    for options, refusal in [
        ([], "usage: "),
        (["--key", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"], "manifest.jws: this is no signature"),
        (["--accept-key"], f"there is a company {company} here"),
    ]:
        refused = subprocess.run([imports, archive, *options], env=environment, capture_output=True, text=True, check=False)
        assert refused.returncode == 1 and refusal in refused.stderr, refused
    key = json.loads((archive / "records/receipt-keys.jsonl").read_text())["value"]["x"]
    options = [imports, archive, "--key", key, "--as", "second"]
    results = [json.loads(subprocess.run(options, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout) for _ in range(2)]
    assert [result["was_there"] for result in results] == [False, True], results
    assert results[0]["records"] == written["records"] and results[0]["owners"] == [service["username"]], results
    second = Path(folder) / "second"
    subprocess.run([export, "second", second], env=environment, stdout=subprocess.PIPE, check=True)
    for name in ("projects", "candidates", "customers", "events"):
        before, after = ((one / f"records/{name}.jsonl").read_text(encoding="utf-8") for one in (archive, second))
        assert before.replace(f'"company":"{company}"', '"company":"second"') == after, name

    again = subprocess.run([export, company, archive], env=os.environ | variables, capture_output=True, text=True, check=False)
    assert again.returncode == 1 and again.stderr.endswith(f"{archive} is not empty\n"), again
    print(f"archive: {written}; {len(names)} files changed by a bit, all refused")
