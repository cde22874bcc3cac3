"""What Schemathesis cannot know by the served description: whose key stamps a request, the organization, the time, and which ids there are."""

import base64
import json
import os
import re
import time

import requests
import schemathesis
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

with open(os.environ["QUORATE_BOOTSTRAP"], encoding="utf-8") as file:
    bootstrap = json.load(file)
PUBLIC = bootstrap["apiPublicKey"]
KEY = ec.derive_private_key(int(bootstrap["apiPrivateKey"], 16), ec.SECP256R1())
STRANGER = ec.generate_private_key(ec.SECP256R1())

SERVICE = os.environ["QUORATE_BASE_URL"]

UUID = re.compile("^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$")
LOCKED_OUT = (b"source IP is not allowed", b"could not find public key", b"no organization found", b"sufficient permissions")

turns = 0
organization = ""
known: dict[str, list] = {}


def stamp(body: bytes, key: ec.EllipticCurvePrivateKey = KEY) -> str:
    signature = key.sign(body, ec.ECDSA(hashes.SHA256())).hex()
    text = json.dumps({"publicKey": PUBLIC, "scheme": "SIGNATURE_SCHEME_TK_API_P256", "signature": signature})
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


class Stamp(requests.auth.AuthBase):
    """Stamps the very bytes that go out: most well, of every twenty, one each not at all, over other bytes, by another key, and by nonsense."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        global turns
        turns += 1
        body = request.body or b""
        if isinstance(body, str):
            body = body.encode()
        if not isinstance(body, bytes):
            return request
        wrong = {
            1: lambda: None,
            2: lambda: stamp(body + b" "),
            3: lambda: stamp(body, STRANGER),
            4: lambda: "nonsense",
        }
        value = wrong.get(turns % 20, lambda: stamp(body))()
        if value is not None:
            request.headers["X-Stamp"] = value
        return request


schemathesis.auth.set_from_requests(Stamp())


def move() -> None:
    """Makes another sub-organization and goes on there: what was submitted took away the right to submit more."""
    global organization
    key = {"apiKeyName": "key", "publicKey": PUBLIC, "curveType": "API_KEY_CURVE_P256"}
    user = {"userName": "root", "apiKeys": [key], "authenticators": [], "oauthProviders": []}
    parameters = {"subOrganizationName": "tried", "rootQuorumThreshold": 1, "rootUsers": [user]}
    body = {
        "type": "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7",
        "timestampMs": now(),
        "organizationId": bootstrap["organizationId"],
        "parameters": parameters,
    }
    text = json.dumps(body).encode()
    path = "/public/v1/submit/create_sub_organization"
    answer = requests.post(SERVICE + path, data=text, headers={"X-Stamp": stamp(text)}, timeout=60)
    answer.raise_for_status()
    organization = answer.json()["activity"]["result"]["createSubOrganizationResultV7"]["subOrganizationId"]
    known.clear()


def now() -> str:
    return str(int(time.time() * 1000) + turns % 1000)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives bodies the organization and the time, and those that agree with the description ids that earlier answers had."""
    if not isinstance(case.body, dict) or case.meta is None:
        return
    if organization == "":
        move()
    positive = case.meta.generation.mode.value == "positive"
    if positive:
        case.body = fill(case.body)
    if positive or UUID.match(str(case.body.get("organizationId"))):
        case.body["organizationId"] = organization
    if str(case.body.get("timestampMs")).isdigit():
        case.body["timestampMs"] = now()


def fill(value, name=""):
    if isinstance(value, dict):
        return {key: fill(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [fill(one, name[:-1] if name.endswith("s") else name) for one in value]
    ids = known.get("address" if name in ("signWith", "from") else name)
    # One in four stays as it was made, so that unknown ids are asked for too.
    return ids[turns % len(ids)] if ids and isinstance(value, str) and turns % 4 else value


@schemathesis.hook
def after_call(context, case, response):
    if response.status_code == 200:
        learn(json.loads(response.content))
    elif any(word in response.content for word in LOCKED_OUT):
        move()


def learn(value, name=""):
    if isinstance(value, dict):
        for key, one in value.items():
            learn(one, key)
    elif isinstance(value, list):
        for one in value:
            learn(one, name[:-1] if name.endswith("s") else name)
    elif isinstance(value, str) and (name.endswith("Id") or name in ("address", "fingerprint")):
        ids = known.setdefault(name, [])
        if value not in ids:
            ids.append(value)
            del ids[:-20]
