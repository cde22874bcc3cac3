"""Does the tasks of languages.test.ts with the published Python client, and prints what it saw as JSON."""

import json
import os

from turnkey_api_key_stamper import ApiKeyStamper, ApiKeyStamperConfig
from turnkey_http import TurnkeyClient
from turnkey_sdk_types import *

task = json.loads(os.environ["TASK"])


def client(key):
    config = ApiKeyStamperConfig(api_public_key=key["publicKey"], api_private_key=key["privateKey"])
    return TurnkeyClient(task["baseUrl"], ApiKeyStamper(config), task["organizationId"])


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
            "notFound": error_of(lambda: root.get_user(GetUserBody(userId=task["organizationId"]))),
            "stranger": error_of(lambda: client(task["stranger"]).get_whoami()),
        }
    )
)
