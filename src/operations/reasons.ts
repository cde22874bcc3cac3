import type { QueryClient } from '../client/index.ts'
import { authorsOf, creatorsOf } from '../live/index.ts'
import type { Change } from '../plan/index.ts'
import { type Actual, nameValue, type Resource, type Value } from '../resources/index.ts'
import { keyNamesOf, toChangeAuthor } from './drift-authors.ts'

/** What a power rests on, and whose it is: a policy, or the root quorum. */
export interface PowerReason {
  readonly address: string
  /** Of a policy. */
  readonly id?: string
  /** Its fields, ids as names: effect, consensus, condition and time of a policy; threshold and users of the quorum. */
  readonly fields: Readonly<Record<string, Value>>
  /** The user who submitted its creation; absent where the activities do not tell, as of the root quorum. */
  readonly createdBy?: string
  /** The activity that changed it last; `null` where the newest 2,000 that change such things do not tell. */
  readonly author: NonNullable<Change['author']> | null
}

const FIELDS = ['effect', 'consensus', 'condition', 'time', 'threshold', 'users']

/**
 * Reads who made and last changed each policy of these names, and the root quorum, in their order. Throws `LiveError` and
 * `ClientError`.
 */
export async function readReasons(
  client: QueryClient,
  actual: Actual,
  policies: ReadonlySet<string>,
): Promise<readonly PowerReason[]> {
  const things = [
    ...actual.resources.filter(({ kind }) => kind === 'rootQuorum'),
    ...actual.resources
      .filter(({ kind, name }) => kind === 'policy' && policies.has(name))
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)),
  ]
  const asked = things.map(
    ({ kind, id }, index) => [String(index), { kind, ids: id === undefined ? [] : [id] }] as const,
  )
  const [authors, creators] = await Promise.all([
    authorsOf(client, new Map(asked)),
    creatorsOf(client, { ...actual, resources: things }, {}),
  ])
  const keyNames = keyNamesOf(actual)
  const namesById = new Map(actual.resources.flatMap(({ id, address }) => (id === undefined ? [] : [[id, address]])))
  return things.map((thing, index) => {
    const author = authors.get(String(index))
    const creator = thing.id === undefined ? undefined : creators.get(thing.id)
    return {
      address: thing.address,
      ...(thing.kind === 'policy' && thing.id !== undefined ? { id: thing.id } : {}),
      fields: namedFields(thing, namesById),
      ...(creator ? { createdBy: creator.userName } : {}),
      author: author ? toChangeAuthor(author, keyNames) : null,
    }
  })
}

function namedFields({ fields }: Resource, namesById: ReadonlyMap<string, string>): PowerReason['fields'] {
  return Object.fromEntries(
    FIELDS.flatMap((name) => {
      const value = fields[name]
      return value === undefined || value === null ? [] : [[name, nameValue(value, namesById)] as const]
    }),
  )
}
