"""An archive of a company, written by the program that operators use and verified by the sample in PORTABILITY.md.

The arguments are the programs of the service and of the export.
"""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch
from urllib.request import urlopen

import jwt
from service import Api, running

program, export = sys.argv[1:]


def sample(api):
    """The code in PORTABILITY.md, for this service."""
    page = (Path(__file__).parents[2] / "functions/PORTABILITY.md").read_text()
    code = page.split("```python\n")[1].split("```")[0]
    place = '"https://api.example.com/api/v3"'
    assert place in code, code
    return code.replace(place, json.dumps(api))


def verdict(api, folder):
    """What the sample prints, or why it refuses the archive."""
    out = io.StringIO()
    with patch.object(sys, "argv", ["sample", str(folder)]), contextlib.redirect_stdout(out):
        try:
            # Our own page: what it shows is what is tested.
            exec(sample(api), {})  # noqa: S102
        except (SystemExit, jwt.PyJWTError) as refused:
            return f"refused: {refused}"
    return out.getvalue().strip()


def change(path):
    """Changes one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


with running(program) as service, tempfile.TemporaryDirectory() as folder:
    base, company = service["base_url"], service["company"]
    login = {name: service[name] for name in ("company", "username", "password")}
    owner = Api(base, "Token " + Api(base).send("POST", "/api-token-auth/", login)["token"])
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
    again = subprocess.run([export, company, archive], env=os.environ | variables, capture_output=True, text=True, check=False)
    assert again.returncode == 1 and again.stderr.endswith(f"{archive} is not empty\n"), again
    print(f"archive: {written}; {len(names)} files changed by a bit, all refused")
