/**
 * An organization of every kind in memory, behind the client's interface: it carries out the activities of a plan and
 * answers the queries of a read, in the API's own records. It refuses an id that it does not know, and gives lists in any
 * order. Kinds that real services check by mathematics (attestations, tokens) are taken as they are given.
 */
import type { QueryClient } from '../../src/client/index.ts'
import type { JsonObject } from '../../src/encoding/index.ts'
import type { QueryName } from '../../src/protocol/index.ts'

export const MEMORY_ID = '0b1c6c7e-55a4-4f0a-9c54-3f8a4a1d2e3f'
export const ROOT_KEY = '0264fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5eb'

type Params = Readonly<Record<string, unknown>>
type Row = Record<string, unknown>
/** One table: the rows of a kind by id. */
type Table = Map<string, Row>

/**
 * Host bits are cleared (docs/protocol/organizations.md#ip-allow-lists): here those of the last part of an IPv4 /24,
 * and of a /64 of IPv6.
 */
const withoutHost = (cidr: string): string => cidr.replace(/\.\d+\/24$/, '.0/24').replace(/::[0-9a-f]+\/64$/, '::/64')

/** How a new row is made of what an activity says of it. */
type Make = (entry: Params) => Row

const texts = (value: unknown): readonly string[] => (value ?? []) as readonly string[]
const entries = (value: unknown): readonly Params[] => (value ?? []) as readonly Params[]

export interface MemoryApi extends QueryClient {
  /** Carries out one activity and gives its `result`. */
  execute(type: string, parameters: JsonObject): JsonObject
  /** Every activity that was carried out. */
  readonly log: readonly string[]
}

/** Creates one with a root user `alice`, who has a key, a passkey and an OAuth provider. */
export function createMemoryApi({ reversed = false }: { readonly reversed?: boolean } = {}): MemoryApi {
  const tables = new Map<string, Table>()
  const log: string[] = []
  let count = 0
  const table = (name: string): Table => {
    const known = tables.get(name) ?? new Map<string, Row>()
    tables.set(name, known)
    return known
  }
  const newId = () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`
  const add = (name: string, idKey: string, row: Row): string => {
    const id = newId()
    table(name).set(id, { [idKey]: id, ...row })
    return id
  }
  const row = (name: string, id: unknown): Row => {
    const found = table(name).get(String(id))
    if (!found) throw new Error(`expected an id of ${name}, got ${String(id)}`)
    return found
  }
  const remove = (name: string, ids: readonly unknown[]) => {
    for (const id of ids) {
      row(name, id)
      table(name).delete(String(id))
    }
  }
  const change = (name: string, id: unknown, values: Row) => {
    const given = Object.entries(values).filter(([, value]) => value !== undefined)
    Object.assign(row(name, id), Object.fromEntries(given))
  }
  const list = (name: string): readonly Row[] => {
    const rows = [...table(name).values()].map((one) => structuredClone(one))
    return reversed ? rows.reverse() : rows
  }
  const untag = (name: string, field: string, ids: readonly string[]) => {
    for (const one of table(name).values()) one[field] = texts(one[field]).filter((id) => !ids.includes(id))
  }

  const config: { name: string; quorum: Row; features: Map<string, Row>; allowlists: Map<string, Row> } = {
    name: 'acme',
    quorum: {},
    features: new Map(),
    allowlists: new Map(),
  }

  const withId = (idKey: string, entry: Row): Row => ({ [idKey]: newId(), ...entry })
  const makeKey: Make = ({ apiKeyName, publicKey, curveType, expirationSeconds }) =>
    withId('apiKeyId', {
      apiKeyName,
      credential: { publicKey, type: `CREDENTIAL_TYPE_${String(curveType).replace('API_KEY_CURVE_', 'API_KEY_')}` },
      expirationSeconds,
    })
  const makePasskey: Make = ({ authenticatorName, attestation }) =>
    withId('authenticatorId', { authenticatorName, credentialId: (attestation as Params)['credentialId'] })
  const makeUser: Make = ({ userName, userEmail, userPhoneNumber, apiKeys, authenticators, userTags }) => ({
    userName,
    userEmail,
    userPhoneNumber,
    userTags: texts(userTags).filter((id) => row('userTags', id)),
    apiKeys: entries(apiKeys).map(makeKey),
    authenticators: entries(authenticators).map(makePasskey),
    oauthProviders: [],
    mfaPolicies: [],
  })
  const makeAccount: Make = (account) => withId('walletAccountId', { ...account })
  const credentials = (userId: unknown, member: string) => row('users', userId)[member] as Row[]
  const drop = (userId: unknown, member: string, idKey: string, ids: readonly string[]) => {
    const kept = credentials(userId, member).filter((one) => !ids.includes(String(one[idKey])))
    change('users', userId, { [member]: kept })
  }
  const append = (userId: unknown, member: string, idKey: string, made: readonly Row[]): string[] => {
    credentials(userId, member).push(...made)
    return made.map((one) => String(one[idKey]))
  }

  const activities: Readonly<Record<string, (p: Params) => unknown>> = {
    UPDATE_ORGANIZATION_NAME: (p) => void Object.assign(config, { name: p['organizationName'] }),
    UPDATE_ROOT_QUORUM: (p) => void Object.assign(config, { quorum: { ...p } }),
    SET_ORGANIZATION_FEATURE: (p) => void config.features.set(String(p['name']), { ...p }),
    REMOVE_ORGANIZATION_FEATURE: (p) => void config.features.delete(String(p['name'])),
    SET_IP_ALLOWLIST: (p) => {
      const rules = entries(p['rules']).map((rule) => ({ ...rule, cidr: withoutHost(String(rule['cidr'])) }))
      config.allowlists.set(String(p['publicKey'] ?? ''), { ...p, rules })
    },
    REMOVE_IP_ALLOWLIST: (p) => void config.allowlists.delete(String(p['publicKey'] ?? '')),
    CREATE_USER_TAG: (p) => ({
      createUserTagResult: {
        userTagId: add('userTags', 'tagId', { tagName: p['userTagName'], tagType: 'TAG_TYPE_USER' }),
      },
    }),
    UPDATE_USER_TAG: (p) => change('userTags', p['userTagId'], { tagName: p['newUserTagName'] }),
    DELETE_USER_TAGS: (p) => {
      remove('userTags', texts(p['userTagIds']))
      untag('users', 'userTags', texts(p['userTagIds']))
    },
    CREATE_USERS_V4: (p) => ({
      createUsersResult: { userIds: entries(p['users']).map((user) => add('users', 'userId', makeUser(user))) },
    }),
    UPDATE_USER: (p) =>
      change('users', p['userId'], {
        userName: p['userName'],
        userEmail: p['userEmail'],
        userPhoneNumber: p['userPhoneNumber'],
        userTags: p['userTagIds'],
      }),
    UPDATE_USER_NAME: (p) => change('users', p['userId'], { userName: p['userName'] }),
    UPDATE_USER_EMAIL: (p) => change('users', p['userId'], { userEmail: p['userEmail'] }),
    UPDATE_USER_PHONE_NUMBER: (p) => change('users', p['userId'], { userPhoneNumber: p['userPhoneNumber'] }),
    CREATE_API_KEYS_V2: (p) => ({
      createApiKeysResult: {
        apiKeyIds: append(p['userId'], 'apiKeys', 'apiKeyId', entries(p['apiKeys']).map(makeKey)),
      },
    }),
    DELETE_API_KEYS: (p) => {
      const ids = texts(p['apiKeyIds'])
      const gone = credentials(p['userId'], 'apiKeys').filter(({ apiKeyId }) => ids.includes(String(apiKeyId)))
      // A key's list of addresses goes with it, as at the service.
      for (const { credential } of gone) config.allowlists.delete(String((credential as Params)['publicKey']))
      drop(p['userId'], 'apiKeys', 'apiKeyId', ids)
    },
    CREATE_AUTHENTICATORS_V2: (p) => {
      const made = entries(p['authenticators']).map(makePasskey)
      return {
        createAuthenticatorsResult: {
          authenticatorIds: append(p['userId'], 'authenticators', 'authenticatorId', made),
        },
      }
    },
    DELETE_AUTHENTICATORS: (p) => drop(p['userId'], 'authenticators', 'authenticatorId', texts(p['authenticatorIds'])),
    DELETE_OAUTH_PROVIDERS: (p) => drop(p['userId'], 'oauthProviders', 'providerId', texts(p['providerIds'])),
    CREATE_MFA_POLICY: ({ userId, ...rest }) => {
      const [mfaPolicyId] = append(userId, 'mfaPolicies', 'mfaPolicyId', [withId('mfaPolicyId', rest)])
      return { createMfaPolicyResult: { mfaPolicyId } }
    },
    UPDATE_MFA_POLICY: ({ userId, ...rest }) => {
      const policy = credentials(userId, 'mfaPolicies').find(({ mfaPolicyId }) => mfaPolicyId === rest['mfaPolicyId'])
      Object.assign(policy!, rest)
    },
    DELETE_MFA_POLICY: (p) => drop(p['userId'], 'mfaPolicies', 'mfaPolicyId', [String(p['mfaPolicyId'])]),
    CREATE_INVITATIONS: (p) => ({
      createInvitationsResult: {
        invitationIds: entries(p['invitations']).map((one) => {
          row('users', one['senderUserId'])
          return add('invitations', 'invitationId', { ...one, status: 'INVITATION_STATUS_CREATED' })
        }),
      },
    }),
    DELETE_INVITATION: (p) => change('invitations', p['invitationId'], { status: 'INVITATION_STATUS_REVOKED' }),
    CREATE_OAUTH2_CREDENTIAL: (p) => ({
      createOauth2CredentialResult: { oauth2CredentialId: add('oauth2Credentials', 'oauth2CredentialId', { ...p }) },
    }),
    UPDATE_OAUTH2_CREDENTIAL: ({ oauth2CredentialId, ...rest }) =>
      change('oauth2Credentials', oauth2CredentialId, { ...rest }),
    DELETE_OAUTH2_CREDENTIAL: (p) => remove('oauth2Credentials', [p['oauth2CredentialId']]),
    CREATE_POLICIES: (p) => ({
      createPoliciesResult: { policyIds: entries(p['policies']).map((one) => add('policies', 'policyId', { ...one })) },
    }),
    DELETE_POLICIES: (p) => remove('policies', texts(p['policyIds'])),
    CREATE_PRIVATE_KEY_TAG: (p) => ({
      createPrivateKeyTagResult: {
        privateKeyTagId: add('privateKeyTags', 'tagId', {
          tagName: p['privateKeyTagName'],
          tagType: 'TAG_TYPE_PRIVATE_KEY',
        }),
        privateKeyIds: [],
      },
    }),
    UPDATE_PRIVATE_KEY_TAG: (p) => {
      const tag = String(p['privateKeyTagId'])
      change('privateKeyTags', tag, { tagName: p['newPrivateKeyTagName'] })
      for (const id of texts(p['addPrivateKeyIds']))
        change('privateKeys', id, { privateKeyTags: [...texts(row('privateKeys', id)['privateKeyTags']), tag] })
      for (const id of texts(p['removePrivateKeyIds'])) {
        const kept = texts(row('privateKeys', id)['privateKeyTags']).filter((one) => one !== tag)
        change('privateKeys', id, { privateKeyTags: kept })
      }
    },
    DELETE_PRIVATE_KEY_TAGS: (p) => {
      remove('privateKeyTags', texts(p['privateKeyTagIds']))
      untag('privateKeys', 'privateKeyTags', texts(p['privateKeyTagIds']))
    },
    CREATE_PRIVATE_KEYS_V2: (p) => ({
      createPrivateKeysResultV2: {
        privateKeys: entries(p['privateKeys']).map(({ addressFormats, ...one }) => {
          for (const id of texts(one['privateKeyTags'])) row('privateKeyTags', id)
          const addresses = texts(addressFormats).map((format) => ({ format, address: newId() }))
          return { privateKeyId: add('privateKeys', 'privateKeyId', { ...one, addresses }), addresses }
        }),
      },
    }),
    DELETE_PRIVATE_KEYS: (p) => remove('privateKeys', texts(p['privateKeyIds'])),
    CREATE_WALLET: (p) => ({
      createWalletResult: {
        walletId: add('wallets', 'walletId', {
          walletName: p['walletName'],
          accounts: entries(p['accounts']).map(makeAccount),
        }),
        addresses: [],
      },
    }),
    UPDATE_WALLET: (p) => change('wallets', p['walletId'], { walletName: p['walletName'] }),
    CREATE_WALLET_ACCOUNTS: (p) => {
      const accounts = row('wallets', p['walletId'])['accounts'] as Row[]
      accounts.push(...entries(p['accounts']).map(makeAccount))
      return { createWalletAccountsResult: { addresses: [] } }
    },
    UPDATE_WALLET_ACCOUNT_NAME: (p) => {
      const accounts = list('wallets').flatMap(({ walletId }) => row('wallets', walletId)['accounts'] as Row[])
      Object.assign(accounts.find((one) => one['walletAccountId'] === p['walletAccountId'])!, { name: p['name'] })
    },
    CREATE_SMART_CONTRACT_INTERFACE: (p) => ({
      createSmartContractInterfaceResult: {
        smartContractInterfaceId: add('smartContractInterfaces', 'smartContractInterfaceId', { ...p }),
      },
    }),
    DELETE_SMART_CONTRACT_INTERFACE: (p) => remove('smartContractInterfaces', [p['smartContractInterfaceId']]),
    CREATE_WEBHOOK_ENDPOINT: (p) => ({
      createWebhookEndpointResult: { endpointId: add('webhookEndpoints', 'endpointId', { ...p, isActive: true }) },
    }),
    UPDATE_WEBHOOK_ENDPOINT: ({ endpointId, ...rest }) => change('webhookEndpoints', endpointId, { ...rest }),
    DELETE_WEBHOOK_ENDPOINT: (p) => remove('webhookEndpoints', [p['endpointId']]),
  }

  const queries: Readonly<Partial<Record<QueryName, (request: Params) => unknown>>> = {
    whoami: () => ({ organizationId: MEMORY_ID, organizationName: config.name, userId: rootId, username: 'alice' }),
    get_organization_configs: () => ({
      configs: { quorum: config.quorum, features: [...config.features.values()] },
    }),
    list_user_tags: () => ({ userTags: list('userTags') }),
    list_users: () => ({ users: list('users') }),
    list_policies: () => ({ policies: list('policies') }),
    list_wallets: () => ({ wallets: list('wallets').map(({ accounts, ...wallet }) => wallet) }),
    list_wallet_accounts: ({ walletId }) => ({
      accounts: (row('wallets', walletId)['accounts'] as Row[]).map((one) => ({ ...one, walletId })),
    }),
    list_private_key_tags: () => ({ privateKeyTags: list('privateKeyTags') }),
    list_private_keys: () => ({ privateKeys: list('privateKeys') }),
    list_smart_contract_interfaces: () => ({ smartContractInterfaces: list('smartContractInterfaces') }),
    list_webhook_endpoints: () => ({ webhookEndpoints: list('webhookEndpoints') }),
    list_oauth2_credentials: () => ({ oauth2Credentials: list('oauth2Credentials') }),
    // It has no authentication proxy, and keeps no activities.
    list_activities: () => ({ activities: [] }),
    get_ip_allowlist: ({ publicKey }) => ({
      allowlist: { rules: [], ...config.allowlists.get(String(publicKey ?? '')), organizationId: MEMORY_ID },
    }),
    get_organization: () => ({ organizationData: { invitations: list('invitations') } }),
  }

  const rootId = add('users', 'userId', {
    ...makeUser({ userName: 'alice', userTags: [] }),
    apiKeys: [makeKey({ apiKeyName: 'laptop', publicKey: ROOT_KEY, curveType: 'API_KEY_CURVE_P256' })],
    authenticators: [makePasskey({ authenticatorName: 'yubikey', attestation: { credentialId: 'AbCd_-12' } })],
    oauthProviders: [
      withId('providerId', {
        providerName: 'google',
        issuer: 'https://accounts.google.com',
        audience: 'client',
        subject: '1',
      }),
    ],
  })
  config.quorum = { threshold: 1, userIds: [rootId] }

  return {
    baseUrl: 'http://memory.test',
    organizationId: MEMORY_ID,
    publicKey: ROOT_KEY,
    log,
    query: (async (name: QueryName, request: Params) => {
      const answer = queries[name]?.(request)
      if (answer === undefined) throw new Error(`no answer to ${name}`)
      return JSON.parse(JSON.stringify(answer)) as unknown
    }) as QueryClient['query'],
    execute(type, parameters) {
      const run = activities[type.replace('ACTIVITY_TYPE_', '')]
      if (!run) throw new Error(`no activity ${type}`)
      log.push(type)
      return (run(parameters) ?? {}) as JsonObject
    },
  }
}
