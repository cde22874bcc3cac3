/**
 * Kinds that an older service may not tell of. One that answers a query with Unimplemented (gRPC 12) makes the kind
 * *unread*: an error when definitions mention it, since it cannot be compared, and otherwise nothing to stop for.
 */
import { ClientError, type QueryClient, type RequestOptions } from '../client/index.ts'
import type { QueryName } from '../protocol/index.ts'
import {
  invitationFromWire,
  ipAllowlistFromWire,
  type KindName,
  kinds,
  oauth2CredentialFromWire,
  privateKeyFromWire,
  privateKeyTagFromWire,
  type Resource,
  smartContractInterfaceFromWire,
  takeRecord,
  type WireRecord,
  webhookFromWire,
} from '../resources/index.ts'
import { LiveError, readAnswer } from './error.ts'
import { recordsOf } from './records.ts'
import type { WantedSubOrganization } from './sub-organizations.ts'

export interface Reach {
  /** Kinds that definitions mention: each must be read. */
  readonly mentioned?: ReadonlySet<KindName>
  /** Reads kinds that are otherwise read only when they are mentioned, as far as the service tells of them. @default false */
  readonly everything?: boolean
  /** Reads no more than what is mentioned and what decides who may act: many organizations are read one after another. @default false */
  readonly sparing?: boolean
  /** Sub-organizations to look for. @default none */
  readonly subOrganizations?: readonly WantedSubOrganization[]
}

/** Kinds that `readActual` reads by itself, since every service tells of them. */
type FirstKind =
  | 'organization'
  | 'rootQuorum'
  | 'feature'
  | 'tag'
  | 'user'
  | 'apiKey'
  | 'authenticator'
  | 'oauthProvider'
  | 'policy'
  | 'wallet'
  | 'walletAccount'
  | 'subOrganization'
type LaterKind = Exclude<KindName, FirstKind>

interface Row {
  readonly query: QueryName
  /** Costs a request for each of many things, or asks what few services tell: read only when it is wanted. */
  readonly onDemand?: true
  readonly read: (reading: Reading) => Promise<readonly Resource[]>
}

/** The input of one row's `read`. */
interface Reading {
  readonly ask: (name: QueryName, request?: object) => Promise<unknown>
  readonly known: readonly Resource[]
}

function listOf(query: QueryName, list: string, read: (record: WireRecord) => Resource | undefined): Row {
  return {
    query,
    read: async ({ ask }) => {
      const answer = await ask(query)
      return readAnswer(query, () => recordsOf(answer, list).flatMap((record) => read(record) ?? []))
    },
  }
}

const isKeyTag = (record: WireRecord) => record['tagType'] !== 'TAG_TYPE_USER'

/** In the order in which they are read; tags before what carries them. A kind without a row would be planned as new for ever. */
const ROWS: Readonly<Record<LaterKind, Row>> = {
  privateKeyTag: listOf('list_private_key_tags', 'privateKeyTags', (record) =>
    isKeyTag(record) ? privateKeyTagFromWire(record) : undefined,
  ),
  privateKey: listOf('list_private_keys', 'privateKeys', privateKeyFromWire),
  smartContractInterface: listOf(
    'list_smart_contract_interfaces',
    'smartContractInterfaces',
    smartContractInterfaceFromWire,
  ),
  webhook: listOf('list_webhook_endpoints', 'webhookEndpoints', webhookFromWire),
  oauth2Credential: listOf('list_oauth2_credentials', 'oauth2Credentials', oauth2CredentialFromWire),
  ipAllowlist: {
    // Parents alone have one (docs/protocol/organizations.md#ip-allow-lists), so nobody is asked without a reason.
    query: 'get_ip_allowlist',
    onDemand: true,
    read: async ({ ask }) => readAllowlist(await ask('get_ip_allowlist')),
  },
  apiKeyIpAllowlist: {
    query: 'get_ip_allowlist',
    onDemand: true,
    read: async ({ ask, known }) => {
      const found: Resource[] = []
      for (const key of known.filter(({ kind }) => kind === 'apiKey')) {
        const answer = await ask('get_ip_allowlist', { publicKey: key.fields['publicKey'] })
        found.push(...readAllowlist(answer, key))
      }
      return found
    },
  },
  invitation: {
    // No published query lists them; this one is in the API's schema all the same (docs/protocol/requests.md#queries).
    query: 'get_organization',
    onDemand: true,
    read: async ({ ask }) => {
      const answer = await ask('get_organization')
      return readAnswer('get_organization', () => {
        const data = takeRecord(takeRecord(answer, 'the answer')['organizationData'], '`organizationData`')
        return recordsOf(data, 'invitations').flatMap((record) => invitationFromWire(record) ?? [])
      })
    },
  },
}

function readAllowlist(answer: unknown, apiKey?: Resource): readonly Resource[] {
  return readAnswer('get_ip_allowlist', () => {
    const list = takeRecord(takeRecord(answer, 'the answer')['allowlist'], '`allowlist`')
    return [ipAllowlistFromWire(list, apiKey) ?? []].flat()
  })
}

/** Reads what the rows above tell; `known` is what was read before. Throws `LiveError` and `ClientError`. */
export async function readLater(
  client: QueryClient,
  known: readonly Resource[],
  { mentioned = new Set(), everything = false, sparing = false, ...options }: Reach & RequestOptions,
): Promise<{ readonly resources: readonly Resource[]; readonly unread: readonly KindName[] }> {
  const ask: Reading['ask'] = (name, request = {}) => client.query(name, request as never, options)
  const resources: Resource[] = []
  const unread: KindName[] = []
  for (const [kind, { query, onDemand = false, read }] of Object.entries(ROWS) as [LaterKind, Row][]) {
    const needed = mentioned.has(kind)
    if ((onDemand || sparing) && !needed && !everything) {
      unread.push(kind)
      continue
    }
    try {
      resources.push(...(await read({ ask, known })))
    } catch (cause) {
      if (!isUntold(cause, onDemand)) throw cause
      if (needed) throw untold(kind, query, cause)
      unread.push(kind)
    }
  }
  return { resources, unread }
}

/** Whether the service says that it does not tell of this; for what is read on demand, also that it does not tell us. */
function isUntold(cause: unknown, onDemand: boolean): boolean {
  if (!(cause instanceof ClientError)) return false
  const refused = cause.code === 'client/denied' || cause.code === 'client/invalid' || cause.code === 'client/not-found'
  return cause.code === 'client/not-supported' || (onDemand && refused)
}

function untold(kind: KindName, query: QueryName, cause: unknown): LiveError {
  const { many } = kinds[kind]
  return new LiveError(
    'live/unreadable-kind',
    `the service does not tell of ${many}, which the definitions or the lock mention`,
    {
      cause,
      facts: { query },
      next: `take the ${many} out of the definitions, or use a service that has them`,
    },
  )
}
