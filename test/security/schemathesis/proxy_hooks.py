"""What Schemathesis cannot know of the authentication proxy: the configuration, what words there are, and which ids earlier answers had."""

import json
import os

import schemathesis

with open(os.environ["QUORATE_BOOTSTRAP"], encoding="utf-8") as file:
    bootstrap = json.load(file)
PUBLIC = bootstrap["apiPublicKey"]
# Words that the description has as texts, of which most requests should have one.
WORDS = {
    "otpType": ["OTP_TYPE_EMAIL", "OTP_TYPE_SMS"],
    "contact": ["ada@example.com", "+15551234567"],
    "filterType": ["NAME", "EMAIL", "PUBLIC_KEY", "OIDC_CLAIMS", "PHONE_NUMBER"],
    "publicKey": [PUBLIC],
}

turns = 0
known: dict[str, list] = {}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Names the configuration, most times, and an address of its own; gives bodies words and ids that there are."""
    global turns
    turns += 1
    headers = dict(case.headers or {})
    if turns % 8:
        headers["X-Auth-Proxy-Config-Id"] = bootstrap["authProxyConfigId"]
    headers["X-Forwarded-For"] = f"10.{turns >> 16}.{(turns >> 8) & 255}.{turns & 255}"
    case.headers = headers
    if isinstance(case.body, dict) and case.meta is not None and case.meta.generation.mode.value == "positive":
        case.body = fill(case.body)


def fill(value, name=""):
    if isinstance(value, dict):
        return {key: fill(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [fill(one) for one in value]
    words = known.get(name) or WORDS.get(name)
    # One in four stays as it was made.
    return words[turns // 4 % len(words)] if words and isinstance(value, str) and turns % 4 else value


@schemathesis.hook
def after_call(context, case, response):
    if response.status_code != 200:
        return
    for name, one in json.loads(response.content).items():
        if isinstance(one, str) and name in ("otpId", "organizationId", "otpEncryptionTargetBundle"):
            known.setdefault(name, []).append(one)
