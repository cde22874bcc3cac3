import { first, prepare, type Rows, remember, type Transaction, whenRead } from '../../store/index.ts'

/** The authentication proxy of a parent (docs/protocol/auth-proxy.md). */
export interface AuthProxyRow {
  organization_id: string
  /** Names the configuration in `X-Auth-Proxy-Config-Id`; stays while the proxy is switched off. */
  config_id: string
  enabled: number
  /** The user whom the proxy acts as, and the policy that lets it; null while it is off, as are the halves of its key. */
  user_id: string | null
  policy_id: string | null
  public_key: string | null
  sealed_private_key: Uint8Array | null
  /** JSON of the parameters of `update_auth_proxy_config` that are set. */
  settings: string
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    auth_proxies: AuthProxyRow
  }
}

const ofOrganization = remember((tx, of: { organizationId: string }) =>
  tx.selectFrom('auth_proxies').selectAll().where('organization_id', '=', of.organizationId),
)

/** Reads the authentication proxy of an organization. */
export function findAuthProxy(tx: Transaction, organizationId: string): Rows<AuthProxyRow | undefined> {
  return whenRead(ofOrganization(tx, { organizationId }), first)
}

/** An authentication proxy as a request names it. */
export interface NamedAuthProxy extends AuthProxyRow {
  readonly organization_name: string
  /** Whether its user and that user's key are still there: anybody who may can delete them. */
  readonly has_key: number
}

const byConfigId = prepare((tx, of: { configId: string }) =>
  tx
    .selectFrom('auth_proxies')
    .innerJoin('organizations', 'organizations.id', 'auth_proxies.organization_id')
    .selectAll('auth_proxies')
    .select(({ exists, selectFrom }) => [
      'organizations.name as organization_name',
      exists(
        selectFrom('api_keys')
          .select('api_keys.id')
          .whereRef('api_keys.organization_id', '=', 'auth_proxies.organization_id')
          .whereRef('api_keys.public_key', '=', 'auth_proxies.public_key'),
      )
        .$castTo<number>()
        .as('has_key'),
    ])
    .where('config_id', '=', of.configId),
)

/** Reads the authentication proxy with this configuration id. */
export async function findAuthProxyByConfigId(tx: Transaction, configId: string): Promise<NamedAuthProxy | undefined> {
  return (await byConfigId(tx, { configId }))[0]
}

/** Whether this key (lower-case hex) is that of the organization's authentication proxy. */
export function isAuthProxyKey(tx: Transaction, organizationId: string, publicKey: string): Rows<boolean> {
  return whenRead(findAuthProxy(tx, organizationId), (proxy) => proxy?.public_key === publicKey)
}

/** Whether this user is the one whom the organization's authentication proxy acts as. */
export function isAuthProxyUser(tx: Transaction, organizationId: string, userId: string): Rows<boolean> {
  return whenRead(findAuthProxy(tx, organizationId), (proxy) => proxy?.user_id === userId)
}

/** Puts the authentication proxy of an organization into the place of what there was of it. */
export async function replaceAuthProxy(tx: Transaction, proxy: AuthProxyRow): Promise<void> {
  await tx.deleteFrom('auth_proxies').where('organization_id', '=', proxy.organization_id).execute()
  await tx.insertInto('auth_proxies').values(proxy).execute()
}

/** An authentication proxy that is off and has no settings. */
export function newAuthProxy(
  organizationId: string,
  { configId, now }: { configId: string; now: number },
): AuthProxyRow {
  return {
    organization_id: organizationId,
    config_id: configId,
    enabled: 0,
    user_id: null,
    policy_id: null,
    public_key: null,
    sealed_private_key: null,
    settings: '{}',
    created_at: now,
    updated_at: now,
  }
}
