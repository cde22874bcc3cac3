import { activities, type JsonObject, openApiDocument, type QueryName } from '../../protocol/index.ts'
import { STAMP_HEADER_NAMES, type StampKind } from '../../stamp/index.ts'
import type { NotExecuted } from '../engine/index.ts'
import { handlers, queryHandlers } from './catalogue.ts'

const NO_NODE = 'a chain for which no node is set'
const VOTE = 'votes on an activity of a type that this version does not carry out'

/** What is carried out but for one case, by query and by family of activities. */
const inPart = {
  get_wallet_address_balances: NO_NODE,
  list_supported_assets: NO_NODE,
  list_eth_transaction_history: NO_NODE,
  list_sol_transaction_history: NO_NODE,
  APPROVE_ACTIVITY: VOTE,
  REJECT_ACTIVITY: VOTE,
} as const satisfies Partial<Record<QueryName | (typeof activities)[keyof typeof activities]['family'], string>>

/** Stamps of questions alone (docs/protocol/sessions.md#read-only-sessions). */
const READS_ONLY: readonly StampKind[] = ['session']

/** Builds the description of what the service serves, with what it refuses in one case; what it always refuses is left out. */
export function describeService(): JsonObject {
  const families = Object.values(activities).map(({ type, family }) => [type, family] as const)
  const names = [...families, ...Object.keys(queryHandlers).map((name) => [name, name] as const)]
  const rows: Readonly<Record<string, object | NotExecuted>> = { ...handlers, ...queryHandlers }
  const except: Record<string, string> = {}
  const refused: string[] = []
  for (const [name, family] of names) {
    const { except: one } = exceptionOf(family)
    if (one !== undefined) except[name] = one
    else if ('notExecuted' in rows[name]!) refused.push(name)
  }
  return openApiDocument({ refused, except, stamps: STAMP_HEADER_NAMES, readsOnly: READS_ONLY })
}

const FIRST_VERSION = '0.1.0'

/** The version of this program since which an operation is carried out, of those that the first version did not carry out. */
const carriedOutLater: Readonly<Record<string, string>> = {}

/** What this service does with one operation of the API. */
export interface OperationFacts {
  readonly name: string
  readonly sort: 'activity' | 'query'
  /** The types that are carried out, newest first, without their prefix; of a query its name. */
  readonly done: readonly string[]
  /** The version since which it is carried out; none where it is not. */
  readonly since?: string
  /** What is refused, by its reason. */
  readonly refused: ReadonlyMap<string, readonly string[]>
  /** What is carried out but for one case. */
  readonly except?: string
}

/** Lists every operation of the API, by name, activities first. */
export function listOperations(): readonly OperationFacts[] {
  const byName = Map.groupBy(Object.values(activities), ({ operation }) => operation)
  const submits = [...byName].map(([name, rows]): OperationFacts => {
    const types = rows.map(({ type }) => type).reverse()
    const votes = rows[0]!.resultKey === null
    const of = (type: (typeof types)[number]) => type.replace('ACTIVITY_TYPE_', '')
    const { yes = [], no = [] } = Object.groupBy(types, (type) => (votes || 'execute' in handlers[type] ? 'yes' : 'no'))
    const refused = Map.groupBy(no, (type) => (handlers[type] as NotExecuted).notExecuted)
    return {
      name,
      sort: 'activity',
      done: yes.map(of),
      ...sinceOf(name, yes.length > 0),
      refused: new Map([...refused].map(([reason, each]) => [reason, each.map(of)])),
      ...exceptionOf(rows[0]!.family),
    }
  })
  const asked = Object.entries(queryHandlers as Readonly<Record<string, object | NotExecuted>>).map(
    ([name, row]): OperationFacts => {
      const reason = 'notExecuted' in row ? row.notExecuted : undefined
      return {
        name,
        sort: 'query',
        done: reason === undefined ? [name] : [],
        ...sinceOf(name, reason === undefined),
        refused: new Map(reason === undefined ? [] : [[reason, [name]]]),
        ...exceptionOf(name),
      }
    },
  )
  return [submits, asked].flatMap((each) => each.sort((a, b) => (a.name < b.name ? -1 : 1)))
}

function sinceOf(name: string, isDone: boolean): Pick<OperationFacts, 'since'> {
  return isDone ? { since: carriedOutLater[name] ?? FIRST_VERSION } : {}
}

function exceptionOf(name: string): Pick<OperationFacts, 'except'> {
  return Object.hasOwn(inPart, name) ? { except: inPart[name as keyof typeof inPart] } : {}
}
