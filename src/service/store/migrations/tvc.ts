import type { Migration } from './migration.ts'

const OF_ORGANIZATION = 'id text primary key, organization_id text not null references organizations (id)'
const IN_ORDER = 'position integer not null, created_at integer not null, updated_at integer not null'

/** Apps that are made for enclaves: who approves and provisions them, their deployments, and the keys that they are given. */
export const tvc: Migration = {
  name: '0035-tvc',
  statements: [
    `create table tvc_operators (
      ${OF_ORGANIZATION}, name text not null, public_key text not null, hosted integer not null, ${IN_ORDER}
    ) strict`,
    'create unique index tvc_operators_position on tvc_operators (organization_id, position)',
    `create table tvc_operator_sets (${OF_ORGANIZATION}, name text not null, threshold integer not null, ${IN_ORDER}) strict`,
    'create unique index tvc_operator_sets_position on tvc_operator_sets (organization_id, position)',
    `create table tvc_operator_set_members (
      organization_id text not null references organizations (id), set_id text not null references tvc_operator_sets (id),
      operator_id text not null references tvc_operators (id), place integer not null, primary key (set_id, operator_id)
    ) strict, without rowid`,
    'create index tvc_operator_set_members_operator on tvc_operator_set_members (operator_id)',
    `create table tvc_apps (
      ${OF_ORGANIZATION}, name text not null, quorum_public_key text not null,
      manifest_set_id text not null references tvc_operator_sets (id),
      share_set_id text not null references tvc_operator_sets (id), enable_egress integer not null,
      enable_debug_mode integer not null, live_deployment_id text, ${IN_ORDER}
    ) strict`,
    'create unique index tvc_apps_position on tvc_apps (organization_id, position)',
    'create index tvc_apps_manifest_set on tvc_apps (manifest_set_id)',
    'create index tvc_apps_share_set on tvc_apps (share_set_id)',
    `create table tvc_deployments (
      ${OF_ORGANIZATION}, app_id text not null references tvc_apps (id), manifest_id text not null unique,
      manifest text not null, nonce integer not null, qos_version text not null, container_url text not null,
      pivot_path text not null, pivot_args text not null, encrypted_pull_secret text, debug_mode integer not null,
      health_check_type text not null, health_check_port integer not null, public_ingress_port integer not null,
      replicas integer not null, marked_for_deletion integer not null, ${IN_ORDER}
    ) strict`,
    'create unique index tvc_deployments_position on tvc_deployments (organization_id, position)',
    'create index tvc_deployments_app on tvc_deployments (app_id)',
    `create table tvc_manifest_approvals (
      ${OF_ORGANIZATION}, deployment_id text not null references tvc_deployments (id),
      operator_id text not null references tvc_operators (id), signature text not null, ${IN_ORDER}
    ) strict`,
    'create unique index tvc_manifest_approvals_position on tvc_manifest_approvals (organization_id, position)',
    'create unique index tvc_manifest_approvals_operator on tvc_manifest_approvals (deployment_id, operator_id)',
    'create index tvc_manifest_approvals_by on tvc_manifest_approvals (operator_id)',
    `create table tvc_quorum_keys (
      ${OF_ORGANIZATION}, public_key text not null, threshold integer not null, ${IN_ORDER}
    ) strict`,
    'create unique index tvc_quorum_keys_position on tvc_quorum_keys (organization_id, position)',
    `create table tvc_quorum_key_shares (
      ${OF_ORGANIZATION}, quorum_key_id text not null references tvc_quorum_keys (id), encrypt_public_key text not null,
      encrypted_share text not null, ${IN_ORDER}
    ) strict`,
    'create unique index tvc_quorum_key_shares_position on tvc_quorum_key_shares (organization_id, position)',
    'create unique index tvc_quorum_key_shares_key on tvc_quorum_key_shares (quorum_key_id, encrypt_public_key)',
    `create table tvc_provisioning_shares (
      ${OF_ORGANIZATION}, deployment_id text not null references tvc_deployments (id),
      operator_id text not null references tvc_operators (id), ephemeral_public_key text not null, share text not null,
      signature text not null, ${IN_ORDER}
    ) strict`,
    'create unique index tvc_provisioning_shares_position on tvc_provisioning_shares (organization_id, position)',
    `create unique index tvc_provisioning_shares_operator
      on tvc_provisioning_shares (deployment_id, ephemeral_public_key, operator_id)`,
    'create index tvc_provisioning_shares_by on tvc_provisioning_shares (operator_id)',
  ],
}
