// Generated from src/service/store/migrations by src/service/store/generate.ts. Do not edit.

/** How many migrations, from the first, are in the schema below. */
export const STEPS_OF_NEW = 45

export const SCHEMA_OF_NEW: readonly string[] = [
  `CREATE TABLE organizations (
        id text primary key, parent_id text references organizations (id), name text not null,
        quorum_threshold integer not null, created_at integer not null, updated_at integer not null
      , deleted_at integer, position integer not null default 0) strict`,
  `CREATE TABLE users (
        id text primary key, organization_id text not null references organizations (id), name text not null,
        email text, phone_number text, created_at integer not null, updated_at integer not null
      , position integer not null default 0) strict`,
  `CREATE TABLE quorum_members (
        organization_id text not null references organizations (id), user_id text not null references users (id),
        position integer not null, primary key (organization_id, user_id)
      ) strict, without rowid`,
  `CREATE INDEX quorum_members_user on quorum_members (user_id)`,
  `CREATE TABLE features (
        organization_id text not null references organizations (id), name text not null, value text not null,
        primary key (organization_id, name)
      ) strict, without rowid`,
  `CREATE TABLE tags (
        id text primary key, organization_id text not null references organizations (id), name text not null,
        type text not null, created_at integer not null, updated_at integer not null
      , position integer not null default 0) strict`,
  `CREATE TABLE tag_members (
        organization_id text not null references organizations (id),
        tag_id text not null references tags (id) on delete cascade, member_id text not null,
        primary key (organization_id, tag_id, member_id)
      ) strict, without rowid`,
  `CREATE INDEX tag_members_tag on tag_members (tag_id)`,
  `CREATE INDEX tag_members_member on tag_members (organization_id, member_id)`,
  `CREATE TABLE api_keys (
        id text primary key, organization_id text not null references organizations (id),
        user_id text not null references users (id) on delete cascade, name text not null, public_key text not null,
        credential_type text not null, expiration_seconds integer, created_at integer not null,
        updated_at integer not null, position integer not null default 0, session_profile_id text references session_profiles (id), unique (organization_id, public_key)
      ) strict`,
  `CREATE INDEX api_keys_user on api_keys (user_id)`,
  `CREATE INDEX api_keys_public_key on api_keys (public_key)`,
  `CREATE TABLE policies (
        id text primary key, organization_id text not null references organizations (id), name text not null,
        effect text not null, consensus text, condition text, time text, notes text not null,
        created_at integer not null, updated_at integer not null, position integer not null default 0, unique (organization_id, name)
      ) strict`,
  `CREATE TABLE policy_versions (
        organization_id text primary key references organizations (id), version text not null
      ) strict, without rowid`,
  `CREATE TABLE wallets (
        id text primary key, organization_id text not null references organizations (id), name text not null,
        sealed_mnemonic blob not null, exported integer not null, imported integer not null,
        created_at integer not null, updated_at integer not null
      , position integer not null default 0) strict`,
  `CREATE TABLE wallet_accounts (
        id text primary key, organization_id text not null references organizations (id),
        wallet_id text not null references wallets (id) on delete cascade, curve text not null,
        path_format text not null, path text not null, address_format text not null, address text not null,
        public_key text not null, name text, position integer not null, created_at integer not null,
        updated_at integer not null
      , exported integer not null default 0) strict`,
  `CREATE INDEX wallet_accounts_wallet on wallet_accounts (wallet_id)`,
  `CREATE INDEX wallet_accounts_address on wallet_accounts (organization_id, address)`,
  `CREATE INDEX wallet_accounts_position on wallet_accounts (organization_id, position)`,
  `CREATE TABLE activities (
        id text primary key, organization_id text not null references organizations (id), type text not null,
        status text not null, fingerprint text not null, intent text not null, result text, failure text,
        position integer not null, timestamp_ms text not null, generate_app_proofs integer not null,
        window_opened_at integer not null, created_at integer not null, updated_at integer not null, answers text,
        unique (organization_id, fingerprint), unique (organization_id, position)
      ) strict`,
  `CREATE TABLE service_keys (
        name text primary key, public_key text not null, sealed_private_key blob not null, created_at integer not null
      ) strict`,
  `CREATE TABLE settings (name text primary key, value text not null) strict`,
  `CREATE TABLE private_keys (
      id text primary key, organization_id text not null references organizations (id), name text not null, curve text not null, public_key text not null,
      sealed_private_key blob not null, exported integer not null, imported integer not null,
      disabled integer not null, created_at integer not null, updated_at integer not null
    , position integer not null default 0) strict`,
  `CREATE TABLE private_key_addresses (
      organization_id text not null references organizations (id), private_key_id text not null references private_keys (id) on delete cascade,
      position integer not null, format text not null, address text not null, primary key (private_key_id, position)
    ) strict, without rowid`,
  `CREATE INDEX private_key_addresses_address on private_key_addresses (organization_id, address)`,
  `CREATE TABLE smart_contract_interfaces (
      id text primary key, organization_id text not null references organizations (id), address text not null, interface text not null, type text not null,
      label text not null, notes text not null, created_at integer not null, updated_at integer not null
    , position integer not null default 0) strict`,
  `CREATE TABLE webhook_endpoints (
      id text primary key, organization_id text not null references organizations (id), url text not null, name text not null, is_active integer not null,
      subscriptions text not null, created_at integer not null, updated_at integer not null
    , position integer not null default 0) strict`,
  `CREATE TABLE invitations (
      id text primary key, organization_id text not null references organizations (id), receiver_user_name text not null, receiver_user_email text not null,
      receiver_user_tags text not null, access_type text not null, sender_user_id text not null, created_at integer not null, updated_at integer not null
    , position integer not null default 0, user_id text, public_key text, expires_at integer, status text not null default 'INVITATION_STATUS_CREATED') strict`,
  `CREATE TABLE oauth2_credentials (
      id text primary key, organization_id text not null references organizations (id), provider text not null, client_id text not null,
      encrypted_client_secret text not null, created_at integer not null, updated_at integer not null
    , position integer not null default 0) strict`,
  `CREATE TABLE ip_allowlists (
      organization_id text primary key references organizations (id), enabled integer not null,
      on_evaluation_error text, rules text not null
    ) strict, without rowid`,
  `CREATE TABLE api_key_ip_allowlists (
      organization_id text not null, public_key text not null, on_evaluation_error text, rules text not null,
      primary key (organization_id, public_key),
      foreign key (organization_id, public_key) references api_keys (organization_id, public_key) on delete cascade
    ) strict, without rowid`,
  `CREATE TABLE authenticators (
        id text primary key, organization_id text not null references organizations (id),
        user_id text not null references users (id) on delete cascade, name text not null, credential_id text not null,
        public_key text not null, transports text not null, attestation_type text not null, aaguid text not null,
        model text not null, rp_id_hash text not null, backup_eligible integer not null, sign_count integer not null,
        created_at integer not null, updated_at integer not null, position integer not null default 0, unique (organization_id, credential_id)
      ) strict`,
  `CREATE INDEX authenticators_user on authenticators (user_id)`,
  `CREATE INDEX authenticators_credential on authenticators (credential_id)`,
  `CREATE TABLE oauth_providers (
        id text primary key, organization_id text not null references organizations (id),
        user_id text not null references users (id) on delete cascade, name text not null, issuer text not null,
        audience text not null, subject text not null, created_at integer not null, updated_at integer not null, position integer not null default 0,
        unique (organization_id, issuer, audience, subject)
      ) strict`,
  `CREATE INDEX oauth_providers_user on oauth_providers (user_id)`,
  `CREATE INDEX oauth_providers_subject on oauth_providers (issuer, audience, subject)`,
  `CREATE TABLE verified_contacts (
        organization_id text not null references organizations (id),
        user_id text not null references users (id) on delete cascade, type text not null, contact text not null, proved integer not null default 1,
        primary key (organization_id, user_id, type)
      ) strict, without rowid`,
  `CREATE INDEX verified_contacts_contact on verified_contacts (type, contact)`,
  `CREATE INDEX verified_contacts_user on verified_contacts (user_id)`,
  `CREATE INDEX organizations_name on organizations (parent_id, name)`,
  `CREATE INDEX users_name on users (name)`,
  `CREATE INDEX users_email on users (lower(email))`,
  `CREATE INDEX users_phone_number on users (phone_number)`,
  `CREATE INDEX wallet_accounts_any_address on wallet_accounts (address)`,
  `CREATE INDEX wallet_accounts_public_key on wallet_accounts (organization_id, public_key)`,
  `CREATE INDEX private_keys_public_key on private_keys (organization_id, public_key)`,
  `CREATE TABLE import_targets (
      public_key text primary key, organization_id text not null references organizations (id), user_id text not null,
      kind text not null, sealed_private_key blob not null, created_at integer not null
    ) strict, without rowid`,
  `CREATE INDEX import_targets_user on import_targets (organization_id, user_id, kind)`,
  `CREATE TABLE send_attempts (
      send_id text not null references sends (id) on delete cascade, organization_id text not null, number integer not null,
      hash text not null, signed_transaction text not null, created_at integer not null, terms text,
      primary key (send_id, number)
    ) strict, without rowid`,
  `CREATE TABLE wallet_account_keys (
      account_id text primary key references wallet_accounts (id) on delete cascade,
      organization_id text not null references organizations (id), sealed_private_key blob not null
    ) strict, without rowid`,
  `CREATE INDEX wallet_account_keys_organization on wallet_account_keys (organization_id)`,
  `CREATE TABLE gas_usage_configs (
      organization_id text primary key references organizations (id), id text not null, org_window_limit_usd text not null,
      sub_org_window_limit_usd text not null, window_duration_minutes integer not null, enabled integer not null,
      solana_config text, created_at integer not null, updated_at integer not null
    ) strict, without rowid`,
  `CREATE TABLE gas_usages (
      send_id text primary key references sends (id), organization_id text not null references organizations (id),
      paying_organization_id text not null references organizations (id), micro_usd integer not null,
      created_at integer not null
    ) strict, without rowid`,
  `CREATE INDEX gas_usages_window on gas_usages (paying_organization_id, created_at, organization_id, micro_usd)`,
  `CREATE TABLE policy_sets (
      organization_id text not null references organizations (id), version text not null, policy_ids text not null,
      primary key (organization_id, version)
    ) strict, without rowid`,
  `CREATE TABLE policy_evaluations (
      position integer primary key, id text not null, organization_id text not null references organizations (id),
      activity_id text not null references activities (id), vote_id text not null, policy_version text,
      outcomes text not null, created_at integer not null
    , behind_vote integer) strict`,
  `CREATE INDEX policy_evaluations_activity on policy_evaluations (activity_id)`,
  `CREATE INDEX send_attempts_hash on send_attempts (hash)`,
  `CREATE INDEX activities_not_completed on activities (organization_id, status, position)
      where status <> 'ACTIVITY_STATUS_COMPLETED'`,
  `CREATE INDEX activities_type on activities (organization_id, type, position)`,
  `CREATE TABLE denials (
      organization_id text not null references organizations (id), user_id text not null, day integer not null,
      kept integer not null, not_kept integer not null, primary key (organization_id, user_id, day)
    ) strict, without rowid`,
  `CREATE UNIQUE INDEX users_position on users (organization_id, position)`,
  `CREATE UNIQUE INDEX tags_position on tags (organization_id, position)`,
  `CREATE UNIQUE INDEX api_keys_position on api_keys (organization_id, position)`,
  `CREATE UNIQUE INDEX authenticators_position on authenticators (organization_id, position)`,
  `CREATE UNIQUE INDEX oauth_providers_position on oauth_providers (organization_id, position)`,
  `CREATE UNIQUE INDEX oauth2_credentials_position on oauth2_credentials (organization_id, position)`,
  `CREATE UNIQUE INDEX invitations_position on invitations (organization_id, position)`,
  `CREATE UNIQUE INDEX policies_position on policies (organization_id, position)`,
  `CREATE UNIQUE INDEX wallets_position on wallets (organization_id, position)`,
  `CREATE UNIQUE INDEX private_keys_position on private_keys (organization_id, position)`,
  `CREATE UNIQUE INDEX smart_contract_interfaces_position on smart_contract_interfaces (organization_id, position)`,
  `CREATE UNIQUE INDEX webhook_endpoints_position on webhook_endpoints (organization_id, position)`,
  `CREATE UNIQUE INDEX organizations_position on organizations (parent_id, position)`,
  `CREATE TABLE "sends" (
      position integer primary key autoincrement, id text not null unique,
      organization_id text not null references organizations (id), activity_id text not null default '',
      caip2 text not null, sender text not null, account text, request text not null, status text not null,
      nonce integer, hash text, failure text, created_at integer not null, updated_at integer not null
    , unsettled_block integer, held_by_restore integer not null default 0) strict`,
  `CREATE INDEX sends_open on sends (caip2, sender, position) where status in ('INITIALIZED', 'BROADCASTING')`,
  `CREATE INDEX sends_nonce on sends (caip2, sender, nonce)`,
  `CREATE INDEX sends_account on sends (caip2, account) where status in ('INITIALIZED', 'BROADCASTING')`,
  `CREATE INDEX sends_hash on sends (organization_id, hash)`,
  `CREATE TABLE used_verification_tokens (
      token_id text primary key, organization_id text not null references organizations (id),
      expires_at integer not null
    , signed_up_id text) strict`,
  `CREATE INDEX used_verification_tokens_expiry on used_verification_tokens (expires_at)`,
  `CREATE INDEX used_verification_tokens_organization on used_verification_tokens (organization_id)`,
  `CREATE TABLE session_profiles (
      id text primary key, organization_id text not null references organizations (id), name text not null,
      scope text not null, expiration_seconds integer, notes text not null, position integer not null,
      created_at integer not null, updated_at integer not null, unique (organization_id, name)
    ) strict`,
  `CREATE UNIQUE INDEX session_profiles_position on session_profiles (organization_id, position)`,
  `CREATE TABLE read_only_sessions (
      token_hash text primary key, organization_id text not null references organizations (id),
      user_id text not null references users (id) on delete cascade, created_at integer not null,
      expires_at integer not null
    ) strict, without rowid`,
  `CREATE INDEX read_only_sessions_user on read_only_sessions (user_id)`,
  `CREATE TABLE auth_proxies (
      organization_id text primary key references organizations (id), config_id text not null unique,
      enabled integer not null, user_id text, policy_id text, public_key text, sealed_private_key blob,
      settings text not null, created_at integer not null, updated_at integer not null
    ) strict, without rowid`,
  `CREATE TABLE one_time_passcodes (
      id text primary key, organization_id text not null references organizations (id), flow text not null,
      otp_type text not null, contact text not null, user_identifier text, user_id text, code_hash text,
      sealed_keys blob, failed_attempts integer not null, created_at integer not null, expires_at integer not null
    , position integer not null default 0) strict`,
  `CREATE INDEX one_time_passcodes_contact on one_time_passcodes (organization_id, contact, created_at)`,
  `CREATE INDEX one_time_passcodes_identifier on one_time_passcodes (organization_id, user_identifier, created_at)
      where user_identifier is not null`,
  `CREATE TABLE messages (
      id text primary key, organization_id text not null references organizations (id), sealed_content blob not null,
      attempts integer not null, next_attempt_at integer not null, expires_at integer not null,
      created_at integer not null
    ) strict`,
  `CREATE INDEX messages_next on messages (next_attempt_at)`,
  `CREATE INDEX messages_organization on messages (organization_id)`,
  `CREATE TABLE email_events (
      position integer primary key, id text not null unique, organization_id text not null references organizations (id),
      message_id text not null, event_type text not null, from_address text not null, to_address text not null,
      details text not null, occurred_at integer not null
    ) strict`,
  `CREATE INDEX email_events_address on email_events (organization_id, to_address, position)`,
  `CREATE TABLE app_proofs (
      activity_id text primary key references activities (id), organization_id text not null references organizations (id),
      proofs text not null
    ) strict, without rowid`,
  `CREATE INDEX app_proofs_organization on app_proofs (organization_id)`,
  `CREATE TABLE "votes" (
      id text not null, organization_id text not null references organizations (id),
      activity_id text not null references activities (id), user_id text not null, credential_id text not null,
      credential text not null, selection text not null, message text not null, public_key text not null,
      signature text not null, scheme text not null, position integer not null, created_at integer not null, mfa_policy_id text, mfa_pending integer not null default 0, evaluation_id text, policy_version text, outcomes text,
      primary key (activity_id, position)
    ) strict`,
  `CREATE TABLE mfa_policies (
      id text primary key, organization_id text not null references organizations (id),
      user_id text not null references users (id) on delete cascade, name text not null, condition text not null,
      steps text not null, evaluation_order integer not null, notes text not null, position integer not null,
      created_at integer not null, updated_at integer not null
    ) strict`,
  `CREATE UNIQUE INDEX mfa_policies_position on mfa_policies (organization_id, position)`,
  `CREATE INDEX mfa_policies_user on mfa_policies (user_id)`,
  `CREATE TABLE secrets (
      id text primary key, organization_id text not null references organizations (id), name text,
      static_properties text not null, sealed_secret blob not null, position integer not null, created_at integer not null
    , exported integer not null default 0) strict`,
  `CREATE UNIQUE INDEX secrets_position on secrets (organization_id, position)`,
  `CREATE UNIQUE INDEX secrets_name on secrets (organization_id, name)`,
  `CREATE TABLE fiat_on_ramp_credentials (
      id text primary key, organization_id text not null references organizations (id), provider text not null,
      project_id text, publishable_api_key text not null, encrypted_secret_api_key text not null,
      encrypted_private_api_key text, sandbox_mode integer not null, position integer not null,
      created_at integer not null, updated_at integer not null
    ) strict`,
  `CREATE UNIQUE INDEX fiat_on_ramp_credentials_position on fiat_on_ramp_credentials (organization_id, position)`,
  `CREATE TABLE on_ramp_transactions (
      id text primary key, organization_id text not null references organizations (id), credential_id text not null,
      provider text not null, sandbox_mode integer not null, created_at integer not null
    ) strict`,
  `CREATE INDEX on_ramp_transactions_organization on on_ramp_transactions (organization_id)`,
  `CREATE TABLE payment_methods (
      organization_id text primary key references organizations (id), id text not null, last_four text not null,
      expiry_month text, expiry_year text, card_holder_name text not null, card_holder_email text not null,
      created_at integer not null
    ) strict, without rowid`,
  `CREATE TABLE billing_tiers (
      organization_id text primary key references organizations (id), product_id text not null, orb_plan_id text,
      activated_at integer not null
    ) strict, without rowid`,
  `CREATE TABLE allowed_origins (
      organization_id text primary key references organizations (id), origins text not null
    ) strict, without rowid`,
  `CREATE UNIQUE INDEX invitations_public_key on invitations (public_key)`,
  `CREATE TABLE leases (
      name text primary key, holder text not null, until integer not null
    ) strict, without rowid`,
  `CREATE INDEX one_time_passcodes_position on one_time_passcodes (organization_id, position)`,
  `CREATE TABLE "webhook_deliveries" (
      position integer primary key, event_id text not null unique,
      organization_id text not null references organizations (id), endpoint_id text not null, event_type text not null,
      subject text, body text not null, attempts integer not null, next_attempt_at integer not null,
      created_at integer not null
    , reason text) strict`,
  `CREATE INDEX webhook_deliveries_next on webhook_deliveries (endpoint_id, next_attempt_at, position)`,
  `CREATE INDEX webhook_deliveries_first on webhook_deliveries (endpoint_id, subject, position)
      where attempts = 0 and subject is not null`,
  `CREATE TABLE "webhook_failures" (
      position integer primary key, event_id text not null unique,
      organization_id text not null references organizations (id), endpoint_id text not null, event_type text not null,
      subject text, body text, host text not null, attempts integer not null, reason text not null,
      failed_at integer not null
    ) strict`,
  `CREATE INDEX webhook_failures_endpoint on webhook_failures (endpoint_id)`,
  `CREATE INDEX features_webhook on features (organization_id, value) where name = 'FEATURE_NAME_WEBHOOK'`,
  `CREATE TABLE tvc_operators (
      id text primary key, organization_id text not null references organizations (id), name text not null, public_key text not null, hosted integer not null, position integer not null, created_at integer not null, updated_at integer not null
    ) strict`,
  `CREATE UNIQUE INDEX tvc_operators_position on tvc_operators (organization_id, position)`,
  `CREATE TABLE tvc_operator_sets (id text primary key, organization_id text not null references organizations (id), name text not null, threshold integer not null, position integer not null, created_at integer not null, updated_at integer not null) strict`,
  `CREATE UNIQUE INDEX tvc_operator_sets_position on tvc_operator_sets (organization_id, position)`,
  `CREATE TABLE tvc_operator_set_members (
      organization_id text not null references organizations (id), set_id text not null references tvc_operator_sets (id),
      operator_id text not null references tvc_operators (id), place integer not null, primary key (set_id, operator_id)
    ) strict, without rowid`,
  `CREATE INDEX tvc_operator_set_members_operator on tvc_operator_set_members (operator_id)`,
  `CREATE TABLE tvc_apps (
      id text primary key, organization_id text not null references organizations (id), name text not null, quorum_public_key text not null,
      manifest_set_id text not null references tvc_operator_sets (id),
      share_set_id text not null references tvc_operator_sets (id), enable_egress integer not null,
      enable_debug_mode integer not null, live_deployment_id text, position integer not null, created_at integer not null, updated_at integer not null
    ) strict`,
  `CREATE UNIQUE INDEX tvc_apps_position on tvc_apps (organization_id, position)`,
  `CREATE INDEX tvc_apps_manifest_set on tvc_apps (manifest_set_id)`,
  `CREATE INDEX tvc_apps_share_set on tvc_apps (share_set_id)`,
  `CREATE TABLE tvc_deployments (
      id text primary key, organization_id text not null references organizations (id), app_id text not null references tvc_apps (id), manifest_id text not null unique,
      manifest text not null, nonce integer not null, qos_version text not null, container_url text not null,
      pivot_path text not null, pivot_args text not null, encrypted_pull_secret text, debug_mode integer not null,
      health_check_type text not null, health_check_port integer not null, public_ingress_port integer not null,
      replicas integer not null, marked_for_deletion integer not null, position integer not null, created_at integer not null, updated_at integer not null
    ) strict`,
  `CREATE UNIQUE INDEX tvc_deployments_position on tvc_deployments (organization_id, position)`,
  `CREATE INDEX tvc_deployments_app on tvc_deployments (app_id)`,
  `CREATE TABLE tvc_manifest_approvals (
      id text primary key, organization_id text not null references organizations (id), deployment_id text not null references tvc_deployments (id),
      operator_id text not null references tvc_operators (id), signature text not null, position integer not null, created_at integer not null, updated_at integer not null
    ) strict`,
  `CREATE UNIQUE INDEX tvc_manifest_approvals_position on tvc_manifest_approvals (organization_id, position)`,
  `CREATE UNIQUE INDEX tvc_manifest_approvals_operator on tvc_manifest_approvals (deployment_id, operator_id)`,
  `CREATE INDEX tvc_manifest_approvals_by on tvc_manifest_approvals (operator_id)`,
  `CREATE TABLE tvc_quorum_keys (
      id text primary key, organization_id text not null references organizations (id), public_key text not null, threshold integer not null, position integer not null, created_at integer not null, updated_at integer not null
    ) strict`,
  `CREATE UNIQUE INDEX tvc_quorum_keys_position on tvc_quorum_keys (organization_id, position)`,
  `CREATE TABLE tvc_quorum_key_shares (
      id text primary key, organization_id text not null references organizations (id), quorum_key_id text not null references tvc_quorum_keys (id), encrypt_public_key text not null,
      encrypted_share text not null, position integer not null, created_at integer not null, updated_at integer not null
    ) strict`,
  `CREATE UNIQUE INDEX tvc_quorum_key_shares_position on tvc_quorum_key_shares (organization_id, position)`,
  `CREATE UNIQUE INDEX tvc_quorum_key_shares_key on tvc_quorum_key_shares (quorum_key_id, encrypt_public_key)`,
  `CREATE TABLE tvc_provisioning_shares (
      id text primary key, organization_id text not null references organizations (id), deployment_id text not null references tvc_deployments (id),
      operator_id text not null references tvc_operators (id), ephemeral_public_key text not null, share text not null,
      signature text not null, position integer not null, created_at integer not null, updated_at integer not null
    ) strict`,
  `CREATE UNIQUE INDEX tvc_provisioning_shares_position on tvc_provisioning_shares (organization_id, position)`,
  `CREATE UNIQUE INDEX tvc_provisioning_shares_operator
      on tvc_provisioning_shares (deployment_id, ephemeral_public_key, operator_id)`,
  `CREATE INDEX tvc_provisioning_shares_by on tvc_provisioning_shares (operator_id)`,
  `CREATE INDEX sends_unsettled on sends (caip2, sender) where unsettled_block is not null`,
  `CREATE TABLE watched_blocks (
      caip2 text not null, number integer not null, hash text not null, primary key (caip2, number)
    ) strict`,
  `CREATE TABLE balance_changes (
      position integer primary key, organization_id text not null references organizations (id), caip2 text not null,
      block_number integer not null, change text not null
    ) strict`,
  `CREATE INDEX balance_changes_block on balance_changes (caip2, block_number)`,
  `CREATE INDEX wallet_accounts_ethereum on wallet_accounts (lower(address))
      where address_format = 'ADDRESS_FORMAT_ETHEREUM'`,
  `CREATE INDEX balance_changes_organization on balance_changes (organization_id)`,
  `CREATE TABLE send_lanes (
      caip2 text not null, sender text not null, next_nonce integer not null, primary key (caip2, sender)
    ) strict, without rowid`,
  `CREATE TABLE foreign_transactions (
      caip2 text not null, sender text not null, nonce integer not null, hash text, block integer not null,
      receiver text not null, value text not null, data text not null, send_id text, is_other integer not null,
      primary key (caip2, sender, nonce)
    ) strict, without rowid`,
  `CREATE INDEX wallet_accounts_solana on wallet_accounts (address) where address_format = 'ADDRESS_FORMAT_SOLANA'`,
  `CREATE TABLE solana_lanes (
      caip2 text not null, sender text not null, restored_at text not null, primary key (caip2, sender)
    ) strict, without rowid`,
  `CREATE TABLE foreign_solana_transactions (
      caip2 text not null, sender text not null, signature text not null, slot integer not null, bytes text not null,
      send_id text, is_other integer not null, primary key (caip2, sender, signature)
    ) strict, without rowid`,
  `CREATE TABLE key_holders (
      holder text primary key, kind text not null, place text not null, opens text not null, seals text,
      until integer not null
    ) strict, without rowid`,
]
