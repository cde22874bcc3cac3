/**
 * Kinds that an older service may not tell of. One that answers a query with Unimplemented (gRPC 12) makes the kind
 * *unread*: an error when definitions mention it, since it cannot be compared, and otherwise nothing to stop for.
 */
import { ClientError, type QueryClient, type RequestOptions } from '../client/index.ts'
import type { QueryName } from '../protocol/index.ts'
import {
  authProxyFromWire,
  ipAllowlistFromWire,
  KINDS,
  type KindName,
  kinds,
  type Resource,
  type ResourceKind,
  takeRecord,
  type WireRecord,
} from '../resources/index.ts'
import { LiveError, readAnswer } from './error.ts'
import { PAGE_LIMIT, readPages } from './pages.ts'
import type { WantedSubOrganization } from './sub-organizations.ts'

export interface ReadScope {
  /** Kinds that definitions mention: each must be read. */
  readonly mentioned?: ReadonlySet<KindName>
  /** Reads kinds that are otherwise read only when they are mentioned, as far as the service tells of them. @default false */
  readonly everything?: boolean
  /** Reads no more than what is mentioned and what decides who may act: many organizations are read one after another. @default false */
  readonly sparing?: boolean
  /** Sub-organizations to look for. @default none */
  readonly subOrganizations?: readonly WantedSubOrganization[]
}

interface Row {
  readonly query: QueryName
  /** Read only when it is mentioned: it costs a request for each of many things, or few services answer the query. */
  readonly onDemand?: true
  readonly read: (reading: Reading) => Promise<readonly Resource[]>
}

/** The input of one row's `read`. */
interface Reading {
  readonly ask: (name: QueryName, request?: object) => Promise<unknown>
  readonly known: readonly Resource[]
}

/** How a kind is read that one query tells of. */
function rowOf({ query, from, onDemand }: NonNullable<ResourceKind['read']>): Row {
  return {
    query,
    ...(onDemand ? { onDemand } : {}),
    read: async ({ ask }) => {
      const answer = await ask(query)
      return readAnswer(query, () => from(takeRecord(answer, 'the answer')))
    },
  }
}

/** Activities that say what an authentication proxy is. */
const OF_AUTH_PROXY = [
  'ACTIVITY_TYPE_ENABLE_AUTH_PROXY',
  'ACTIVITY_TYPE_DISABLE_AUTH_PROXY',
  'ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG',
] as const

/** Kinds that no single query tells of. */
const MANY: Readonly<Partial<Record<KindName, Row>>> = {
  authProxy: {
    query: 'list_activities',
    onDemand: true,
    read: async ({ ask }) => {
      const activities: WireRecord[] = []
      const page = (before: string | undefined) => ({
        filterByStatus: ['ACTIVITY_STATUS_COMPLETED'],
        filterByType: OF_AUTH_PROXY,
        paginationOptions: { limit: String(PAGE_LIMIT), ...(before === undefined ? {} : { before }) },
      })
      const list = { query: 'list_activities', list: 'activities', id: 'id', mayBeShort: true } as const
      for await (const found of readPages({ ...list, ask: (before) => ask('list_activities', page(before)) })) {
        activities.push(...found)
      }
      return readAnswer('list_activities', () => [authProxyFromWire(activities) ?? []].flat())
    },
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
}

const ROWS: readonly (Row & { readonly kind: KindName })[] = KINDS.flatMap((kind) => {
  const { read } = kinds[kind]
  const row = MANY[kind] ?? (read && rowOf(read))
  return row ? [{ kind, ...row }] : []
})

function readAllowlist(answer: unknown, apiKey: Resource): readonly Resource[] {
  return readAnswer('get_ip_allowlist', () => {
    const list = takeRecord(takeRecord(answer, 'the answer')['allowlist'], '`allowlist`')
    return [ipAllowlistFromWire(list, apiKey) ?? []].flat()
  })
}

/** Reads the kinds of the rows above. @param known what was read before, such as the API keys. Throws `LiveError` and `ClientError`. */
export async function readOptionalKinds(
  client: QueryClient,
  known: readonly Resource[],
  { mentioned = new Set(), everything = false, sparing = false, ...options }: ReadScope & RequestOptions,
): Promise<{ readonly resources: readonly Resource[]; readonly unread: readonly KindName[] }> {
  const ask: Reading['ask'] = (name, request = {}) => client.query(name, request as never, options)
  const resources: Resource[] = []
  const unread: KindName[] = []
  for (const { kind, query, onDemand = false, read } of ROWS) {
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

/** Whether the service does not carry out the query; of a kind that is read on demand, also whether it refuses this caller. */
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
