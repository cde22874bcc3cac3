/** Search attributes at Temporal, where the server has them; else the same stands in the memo of a workflow. */
import type { Client, Connection } from '@temporalio/client'
import type { ShownBy } from '../../activities/index.ts'
import { SEARCH_ATTRIBUTES } from '../../workflows/names.ts'
import { isServiceError } from './temporal-errors.ts'

/** As Temporal numbers their types. */
const TYPES = { KEYWORD: 2, KEYWORD_LIST: 7 } as const
const WANTED = Object.values(SEARCH_ATTRIBUTES)

/** Registers what is missing. Undefined where all are there; else why they are not. */
export async function registerSearchAttributes(client: Client): Promise<string | undefined> {
  try {
    const there = await listed(client)
    const missing = WANTED.filter(({ name }) => !there.has(name))
    if (missing.length === 0) return undefined
    const { namespace } = client.options
    const searchAttributes = Object.fromEntries(missing.map(({ name, type }) => [name, TYPES[type]]))
    await operator(client).addSearchAttributes({ namespace, searchAttributes })
    return undefined
  } catch (error) {
    return detailsOf(error)
  }
}

/** Where a run can be shown. */
export async function whereShown(client: Client): Promise<ShownBy> {
  try {
    const there = await listed(client)
    return WANTED.every(({ name }) => there.has(name)) ? 'search attributes' : 'memo'
  } catch {
    return 'memo'
  }
}

/** What a workflow carries out, as lists of workflows show it: ids and digests, which are no secrets. */
interface Marked {
  readonly organizationId: string
  /** Digest of the plan; id of the send, batch or rotation. */
  readonly carriesOut: string
  readonly commit?: string | undefined
}

/** How a start says where its run is shown: a part of its input, and of its options. */
export interface ShownStart {
  readonly input: { readonly shownBy: ShownBy }
  readonly options: { readonly typedSearchAttributes?: ReturnType<typeof pairsOf> }
}

/** Starts a workflow that is found by search attributes; a server that does not know these (yet) is told the same in the memo. */
export async function startShown<T>(
  client: Client,
  marked: Marked,
  start: (shown: ShownStart) => Promise<T>,
): Promise<T> {
  const inMemo = () => start({ input: { shownBy: 'memo' }, options: {} })
  const shownBy = await whereShown(client)
  if (shownBy === 'memo') return inMemo()
  try {
    return await start({ input: { shownBy }, options: { typedSearchAttributes: pairsOf(marked) } })
  } catch (error) {
    if (!isServiceError(error) || !isUnknownAttribute(error)) throw error
    return inMemo()
  }
}

function pairsOf({ organizationId, carriesOut, commit }: Marked) {
  const marks = SEARCH_ATTRIBUTES
  const known = commit === undefined ? [] : [{ key: marks.commit, value: commit }]
  return [{ key: marks.organization, value: organizationId }, { key: marks.plan, value: carriesOut }, ...known]
}

/** A server that has just taken them up may not know them everywhere yet. */
function isUnknownAttribute(error: unknown): boolean {
  return /search attribute/i.test(detailsOf(error))
}

async function listed(client: Client): Promise<ReadonlySet<string>> {
  const { customAttributes } = await operator(client).listSearchAttributes({ namespace: client.options.namespace })
  return new Set(Object.keys(customAttributes ?? {}))
}

const operator = (client: Client) => (client.connection as Connection).operatorService

function detailsOf(error: unknown): string {
  const { details, message, cause } = (error ?? {}) as Readonly<Record<'details' | 'message' | 'cause', unknown>>
  if (typeof details === 'string' && details !== '') return details
  const inner = (cause as { readonly details?: unknown } | undefined)?.details
  return typeof inner === 'string' && inner !== '' ? inner : String(message ?? error)
}
