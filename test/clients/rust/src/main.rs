//! Does the tasks of languages.test.ts with the published Rust client, and prints what it saw as JSON.
use serde_json::{from_value, json, Value};
use turnkey_client::generated::immutable::common::v1::ApiKeyCurve;
use turnkey_client::generated::{
    ApiKeyParamsV2, CreatePolicyIntentV3, CreateUserTagIntent, CreateUsersIntentV4, CreateWalletIntent,
    GetPolicyRequest, GetUserRequest, GetWhoamiRequest, OauthLoginIntent, StampLoginIntent, UserParamsV4,
};
use turnkey_client::{TurnkeyClient, TurnkeyP256ApiKey};

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
        "waiting": waiting.err().map(|error| error.to_string()),
        "notFound": not_found.err().map(|error| error.to_string()),
        "stranger": stranger.err().map(|error| error.to_string()),
    });
    println!("{seen}");
    Ok(())
}
