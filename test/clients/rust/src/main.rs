//! Does the tasks of languages.long.ts with the published Rust client, and prints what it saw as JSON.
use serde_json::{from_value, json, Value};
use turnkey_client::generated::immutable::common::v1::ApiKeyCurve;
use std::io::{stdin, Write};
use turnkey_client::generated::{
    ApiKeyParamsV2, ApproveActivityIntent, CreateApiKeysIntentV2, CreateMfaPolicyIntent, CreatePolicyIntentV3,
    CreateUserTagIntent, CreateUsersIntentV4, CreateWalletIntent, DeleteApiKeysIntent, GetActivityRequest,
    GetApiKeysRequest, GetPolicyRequest, GetUserRequest, GetWhoamiRequest, InitOtpIntentV3, OauthLoginIntent,
    OtpLoginIntentV2, SignRawPayloadIntentV2, StampLoginIntent, UserParamsV4, VerifyOtpIntentV2,
};
use turnkey_client::{TurnkeyClient, TurnkeyClientError, TurnkeyP256ApiKey};

/// Has the test do what no published client of this language does: encrypt a code, and sign with a key.
fn ask(request: Value) -> Result<Value, Box<dyn std::error::Error>> {
    println!("{}", json!({ "ask": request }));
    std::io::stdout().flush()?;
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let task: Value = serde_json::from_str(&std::env::var("TASK")?)?;
    let text = |name: &str| task[name].as_str().unwrap_or_default().to_string();
    let client = |of: &str| -> Result<_, Box<dyn std::error::Error>> {
        let key = &task[of];
        let (private, public) = (key["privateKey"].as_str().unwrap(), key["publicKey"].as_str().unwrap());
        let api_key = TurnkeyP256ApiKey::from_strings(private, Some(public))?;
        Ok(TurnkeyClient::builder().api_key(api_key).base_url(text("baseUrl")).build()?)
    };
    let id = text("organizationId");
    let root = client("root")?;
    let whoami = root.get_whoami(GetWhoamiRequest { organization_id: id.clone() }).await?;
    let user = UserParamsV4 {
        user_name: "ann".into(),
        user_email: None,
        user_phone_number: None,
        api_keys: vec![ApiKeyParamsV2 {
            api_key_name: "k".into(),
            public_key: text("newPublicKey"),
            curve_type: ApiKeyCurve::P256,
            expiration_seconds: None,
        }],
        authenticators: vec![],
        oauth_providers: vec![],
        user_tags: vec![],
    };
    let users = CreateUsersIntentV4 { users: vec![user] };
    let made = root.create_users(id.clone(), root.current_timestamp(), users).await?.result;
    let get_user = |user_id: &str| GetUserRequest { organization_id: id.clone(), user_id: user_id.into() };
    let ann = root.get_user(get_user(&made.user_ids[0])).await?.user.ok_or("no user")?;
    let intent: CreatePolicyIntentV3 = from_value(task["policy"].clone())?;
    let policy_id = root.create_policy(id.clone(), root.current_timestamp(), intent).await?.result.policy_id;
    let request = GetPolicyRequest { organization_id: id.clone(), policy_id };
    let policy = root.get_policy(request).await?.policy.ok_or("no policy")?;
    let intent: CreateWalletIntent = from_value(task["wallet"].clone())?;
    let wallet = root.create_wallet(id.clone(), root.current_timestamp(), intent).await?.result;
    let tag = CreateUserTagIntent { user_tag_name: "waits".into(), user_ids: vec![] };
    let waiting = client("ada")?.create_user_tag(id.clone(), root.current_timestamp(), tag).await;
    // A session of the same user, and one of somebody whom an issuer knows.
    let login: StampLoginIntent = from_value(json!({ "publicKey": task["session"]["publicKey"] }))?;
    root.stamp_login(id.clone(), root.current_timestamp(), login).await?;
    let oauth = &task["oauth"];
    let home = oauth["organizationId"].as_str().unwrap_or_default().to_string();
    let login: OauthLoginIntent = from_value(json!({
        "oidcToken": oauth["oidcToken"],
        "publicKey": task["oauthSession"]["publicKey"],
    }))?;
    root.oauth_login(home, root.current_timestamp(), login).await?;

    // Somebody with an address gets a code, and a session by it, which signs, is refreshed and ends.
    let home = task["coded"]["organizationId"].as_str().unwrap_or_default().to_string();
    let user_id = task["coded"]["userId"].as_str().unwrap_or_default().to_string();
    let intent: InitOtpIntentV3 = from_value(task["code"].clone())?;
    let sent = root.init_otp(id.clone(), root.current_timestamp(), intent).await?.result;
    let bundle = sent.otp_encryption_target_bundle;
    let sealed = ask(json!({ "otpId": sent.otp_id, "otpEncryptionTargetBundle": bundle }))?;
    let intent: VerifyOtpIntentV2 = from_value(json!({ "otpId": sent.otp_id, "encryptedOtpBundle": sealed }))?;
    let token = root.verify_otp(id.clone(), root.current_timestamp(), intent).await?.result.verification_token;
    let login: OtpLoginIntentV2 = from_value(ask(json!({ "verificationToken": token }))?)?;
    root.otp_login(home.clone(), root.current_timestamp(), login).await?;
    let coded = client("codeSession")?;
    let intent: CreateWalletIntent = from_value(task["wallet"].clone())?;
    let own = coded.create_wallet(home.clone(), root.current_timestamp(), intent).await?.result;
    let intent: SignRawPayloadIntentV2 = from_value(json!({
        "signWith": own.addresses[0],
        "payload": "hello",
        "encoding": "PAYLOAD_ENCODING_TEXT_UTF8",
        "hashFunction": "HASH_FUNCTION_KECCAK256",
    }))?;
    let signed = coded.sign_raw_payload(home.clone(), root.current_timestamp(), intent).await?.result;

    // Its tags take an API key besides.
    let intent: CreateApiKeysIntentV2 = from_value(task["factor"].clone())?;
    coded.create_api_keys(home.clone(), root.current_timestamp(), intent).await?;
    let intent: CreateMfaPolicyIntent = from_value(task["mfaPolicy"].clone())?;
    coded.create_mfa_policy(home.clone(), root.current_timestamp(), intent).await?;
    let tag = CreateUserTagIntent { user_tag_name: "mine".into(), user_ids: vec![] };
    let tagging = coded.create_user_tag(home.clone(), root.current_timestamp(), tag).await;
    let Err(TurnkeyClientError::ActivityRequiresApproval(activity_id)) = tagging else { return Err("no MFA".into()) };
    let request = GetActivityRequest { organization_id: home.clone(), activity_id };
    let fingerprint = coded.get_activity(request).await?.activity.ok_or("no activity")?.fingerprint;
    let factor = client("factorKey")?;
    let intent = ApproveActivityIntent { fingerprint };
    let approved = factor.approve_activity(home.clone(), root.current_timestamp(), intent).await?;

    let login: StampLoginIntent = from_value(json!({ "publicKey": task["nextSession"]["publicKey"] }))?;
    coded.stamp_login(home.clone(), root.current_timestamp(), login).await?;
    let next = client("nextSession")?;
    let home_request = || GetWhoamiRequest { organization_id: home.clone() };
    let refreshed = next.get_whoami(home_request()).await?;
    let request = GetApiKeysRequest { organization_id: home.clone(), user_id: Some(user_id.clone()) };
    let next_key = task["nextSession"]["publicKey"].as_str().unwrap_or_default();
    let is_next = |key: &&turnkey_client::generated::external::data::v1::ApiKey| {
        key.credential.as_ref().is_some_and(|credential| credential.public_key == next_key)
    };
    let keys = next.get_api_keys(request).await?.api_keys;
    let key_id = keys.iter().find(is_next).ok_or("no key")?.api_key_id.clone();
    let intent = DeleteApiKeysIntent { user_id, api_key_ids: vec![key_id] };
    next.delete_api_keys(home.clone(), root.current_timestamp(), intent).await?;
    let logged_out = next.get_whoami(home_request()).await;

    let whoami_request = || GetWhoamiRequest { organization_id: id.clone() };
    let session = client("session")?.get_whoami(whoami_request()).await?;
    let oauth_session = client("oauthSession")?.get_whoami(whoami_request()).await?;
    let not_found = root.get_user(get_user(&id)).await;
    let stranger = client("stranger")?.get_whoami(GetWhoamiRequest { organization_id: id.clone() }).await;
    let seen = json!({
        "whoami": whoami.username,
        "user": [ann.user_name, ann.api_keys.len()],
        "policy": [policy.condition, policy.consensus],
        "addresses": wallet.addresses,
        "session": session.username,
        "oauthSession": oauth_session.organization_id,
        "coded": {
            "signed": signed.r,
            "approved": approved.status.as_str_name(),
            "refreshed": refreshed.user_id,
            "loggedOut": logged_out.err().map(|error| error.to_string()),
        },
        "waiting": waiting.err().map(|error| error.to_string()),
        "notFound": not_found.err().map(|error| error.to_string()),
        "stranger": stranger.err().map(|error| error.to_string()),
    });
    println!("{seen}");
    Ok(())
}
