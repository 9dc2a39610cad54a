"""A receipt of the service, verified by JOSE libraries: PyJWT by the sample in PRIVACY.md, joserfc here, npm's jose by receipts.mjs.

The arguments are the service's program and the folder in which npm's library is installed.
"""

import io
import json
import subprocess
import sys
from base64 import urlsafe_b64decode, urlsafe_b64encode
from contextlib import redirect_stdout
from pathlib import Path
from unittest.mock import patch

import joserfc.errors
import joserfc.jwk
import joserfc.jws
import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from jwt.algorithms import OKPAlgorithm
from receiver import receiving
from service import Api, running

program, npm = sys.argv[1:]

# How long an erasure and the delivery of its event may take.
PATIENCE = 60
# The type of the signatures.
TYPE = "erasure-receipt+jws"
# Another key of the curve, that of RFC 8037.
OTHER = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"


def sample(api, company):
    """The code in PRIVACY.md, for this service and company."""
    page = (Path(__file__).parents[2] / "functions/PRIVACY.md").read_text()
    code = page.split("```python\n")[1].split("```")[0]
    places = '"https://api.example.com/api/v3", "acme"'
    assert places in code, code
    return code.replace(places, f"{json.dumps(api)}, {json.dumps(company)}")


def verdict_of_pyjwt(case):
    scope = {"jws": case["jws"]}
    try:
        with patch.object(jwt.PyJWKClient, "fetch_data", lambda client: case["keys"]), redirect_stdout(io.StringIO()):
            # Our own page: what it shows is what is tested.
            exec(sample(base, company), scope)  # noqa: S102
        return scope["statement"]
    except (jwt.PyJWTError, KeyError, UnicodeDecodeError):
        return None


def verdict_of_joserfc(case):
    try:
        keys = joserfc.jwk.KeySet.import_key_set(case["keys"])
        # RFC 9864 has other names for what RFC 8037 calls EdDSA, so the library wants this one named.
        receipt = joserfc.jws.deserialize_compact(case["jws"], keys, algorithms=["EdDSA"])
        statement = json.loads(receipt.payload)
        found = (receipt.headers()["typ"], statement["iss"], statement["company"])
        return statement if found == (TYPE, base, f"{base}/companies/{company}/") else None
    except (joserfc.errors.JoseError, ValueError, KeyError):
        return None


def verdicts_of_npm(cases):
    script = Path(__file__).with_name("receipts.mjs")
    verdicts = subprocess.run(
        ["node", script, npm, base, company], input=json.dumps(cases), stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(verdicts.stdout)


def tampered(jws):
    """The JWS with one bit of its header, payload and signature changed in turn."""
    parts = jws.split(".")
    for number, part in enumerate(parts):
        content = bytearray(urlsafe_b64decode(part + "=="))
        content[len(content) // 2] ^= 1
        changed = urlsafe_b64encode(content).rstrip(b"=").decode()
        yield ".".join([*parts[:number], changed, *parts[number + 1 :]])


def signed(private, statement, type=TYPE):
    return jwt.encode(statement, private, algorithm="EdDSA", headers={"kid": "own", "typ": type})


with running(program) as service, receiving() as (address, deliveries):
    base, company = service["base_url"], service["company"]
    login = {name: service[name] for name in ("company", "username", "password")}
    owner = Api(base, "Token " + Api(base).send("POST", "/api-token-auth/", login)["token"])
    owner.send("POST", f"/companies/{company}/webhooks/", {"url": address, "types": ["candidate.erased"]})
    project = owner.create(f"/companies/{company}/projects/", {"name": "Backend engineer"})
    candidate = owner.create(f"{project}candidates/", {"first_name": "Ada", "last_name": "Lovelace"})
    owner.send("DELETE", candidate)
    _, event = deliveries.get(timeout=PATIENCE)
    event = json.loads(event)
    receipt = owner.send("GET", f"/companies/{company}/events/{event['id']}/receipt/")
    keys = Api(base).send("GET", "/receipt-keys/")

    statement, jws = receipt["statement"], receipt["jws"]
    assert statement["candidate"] == candidate and statement["erased"] == event["data"]["erased"], statement
    [key] = keys["keys"]
    others = {"keys": [{**key, "x": OTHER}]}
    cases = [{"jws": jws, "keys": keys, "holds": statement}]
    # After a rotation, the key is among others.
    cases += [{"jws": jws, "keys": {"keys": [{**key, "x": OTHER, "kid": "next"}, key]}, "holds": statement}]
    cases += [{"jws": changed, "keys": keys, "holds": None} for changed in tampered(jws)]
    cases += [{"jws": jws, "keys": others, "holds": None}]
    # Of signatures that hold, only those are receipts of this service about a candidate of this company.
    private = Ed25519PrivateKey.generate()
    own = {"keys": [{**OKPAlgorithm.to_jwk(private.public_key(), as_dict=True), "kid": "own", "use": "sig"}]}
    cases += [{"jws": signed(private, statement), "keys": own, "holds": statement}]
    cases += [{"jws": signed(private, statement, "JWT"), "keys": own, "holds": None}]
    for change in ({"iss": "https://other.example/api/v3"}, {"company": f"{base}/companies/other/"}):
        cases += [{"jws": signed(private, {**statement, **change}), "keys": own, "holds": None}]
    verdicts = {
        "PyJWT": [verdict_of_pyjwt(case) for case in cases],
        "joserfc": [verdict_of_joserfc(case) for case in cases],
        "jose": verdicts_of_npm(cases),
    }
    for library, verdict in verdicts.items():
        wrong = [(case, payload) for case, payload in zip(cases, verdict, strict=True) if payload != case["holds"]]
        assert not wrong, f"{library}: {json.dumps(wrong, indent=2)}"
        print(f"{library}: {len(cases)} verdicts, {sum(payload is not None for payload in verdict)} of them that the receipt is genuine")
