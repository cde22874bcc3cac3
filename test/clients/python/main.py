"""Does the tasks of languages.long.ts with the published Python client, and prints what it saw as JSON."""

import json
import os

from turnkey_api_key_stamper import ApiKeyStamper, ApiKeyStamperConfig
from turnkey_http import TurnkeyClient
from turnkey_sdk_types import *

task = json.loads(os.environ["TASK"])


def client(key, organization_id=task["organizationId"]):
    config = ApiKeyStamperConfig(api_public_key=key["publicKey"], api_private_key=key["privateKey"])
    return TurnkeyClient(task["baseUrl"], ApiKeyStamper(config), organization_id)


def ask(request):
    """Has the test do what the published client does not: encrypt a code, and sign with a key."""
    print(json.dumps({"ask": request}), flush=True)
    return json.loads(input())


def error_of(call):
    try:
        call()
    except TurnkeyNetworkError as error:
        return str(error)


root = client(task["root"])
key = {"apiKeyName": "k", "publicKey": task["newPublicKey"], "curveType": "API_KEY_CURVE_P256"}
user = {"userName": "ann", "apiKeys": [key], "authenticators": [], "oauthProviders": [], "userTags": []}
user_id = root.create_users(CreateUsersBody(users=[user])).userIds[0]
ann = root.get_user(GetUserBody(userId=user_id)).user
policy_id = root.create_policy(CreatePolicyBody(**task["policy"])).policyId
policy = root.get_policy(GetPolicyBody(policyId=policy_id)).policy
wallet = root.create_wallet(CreateWalletBody(**task["wallet"]))
try:
    waiting = client(task["ada"]).create_user_tag(CreateUserTagBody(userTagName="waits", userIds=[])).activity.id
except TurnkeyActivityConsensusNeededError as error:
    waiting = error.activity_id

# A session of the same user, and one of somebody whom an issuer knows.
root.stamp_login(StampLoginBody(publicKey=task["session"]["publicKey"]))
oauth = task["oauth"]
body = OauthLoginBody(
    organizationId=oauth["organizationId"],
    oidcToken=oauth["oidcToken"],
    publicKey=task["oauthSession"]["publicKey"],
)
root.oauth_login(body)

# Somebody with an address gets a code, and a session by it, which signs, is refreshed and ends.
home, user_id = task["coded"]["organizationId"], task["coded"]["userId"]
sent = root.init_otp(InitOtpBody(**task["code"]))
sealed = ask({"otpId": sent.otpId, "otpEncryptionTargetBundle": sent.otpEncryptionTargetBundle})
token = root.verify_otp(VerifyOtpBody(otpId=sent.otpId, encryptedOtpBundle=sealed)).verificationToken
root.otp_login(OtpLoginBody(organizationId=home, **ask({"verificationToken": token})))
coded = client(task["codeSession"], home)
address = coded.create_wallet(CreateWalletBody(**task["wallet"])).addresses[0]
how = {"encoding": "PAYLOAD_ENCODING_TEXT_UTF8", "hashFunction": "HASH_FUNCTION_KECCAK256"}
signed = coded.sign_raw_payload(SignRawPayloadBody(signWith=address, payload="hello", **how))

# Its tags take an API key besides.
coded.create_api_keys(CreateApiKeysBody(**task["factor"]))
coded.create_mfa_policy(CreateMfaPolicyBody(**task["mfaPolicy"]))
try:
    coded.create_user_tag(CreateUserTagBody(userTagName="mine", userIds=[]))
except TurnkeyActivityAuthenticatorsNeededError as error:
    fingerprint = coded.get_activity(GetActivityBody(activityId=error.activity_id)).activity.fingerprint
factor = client(task["factorKey"], home)
approved = factor.approve_activity(ApproveActivityBody(fingerprint=fingerprint)).activity.status

next_key = task["nextSession"]["publicKey"]
coded.stamp_login(StampLoginBody(publicKey=next_key))
coded = client(task["nextSession"], home)
refreshed = coded.get_whoami().userId
keys = coded.get_api_keys(GetApiKeysBody(userId=user_id)).apiKeys
key_ids = [key.apiKeyId for key in keys if key.credential.publicKey == next_key]
coded.delete_api_keys(DeleteApiKeysBody(userId=user_id, apiKeyIds=key_ids))

print(
    json.dumps(
        {
            "whoami": root.get_whoami().username,
            "user": [ann.userName, len(ann.apiKeys)],
            "policy": [policy.condition, policy.consensus],
            "addresses": wallet.addresses,
            "waiting": waiting,
            "session": client(task["session"]).get_whoami().username,
            "oauthSession": client(task["oauthSession"]).get_whoami().organizationId,
            "coded": {
                "signed": signed.r,
                "approved": approved,
                "refreshed": refreshed,
                "loggedOut": error_of(coded.get_whoami),
            },
            "notFound": error_of(lambda: root.get_user(GetUserBody(userId=task["organizationId"]))),
            "stranger": error_of(lambda: client(task["stranger"]).get_whoami()),
        }
    )
)
