import { activities, type JsonObject, openApiDocument, type QueryName } from '../../protocol/index.ts'
import type { NotExecuted } from '../engine/index.ts'
import { handlers, queryHandlers } from './catalogue.ts'

const NO_NODE = 'a chain for which no node is set'
const CONTACT = 'verifying a contact by a `verificationToken`'
const VOTE = 'votes on an activity of a type that this version does not carry out'

/** What is carried out but for one case, by query and by family of activities. */
const inPart = {
  get_wallet_address_balances: NO_NODE,
  list_supported_assets: NO_NODE,
  list_eth_transaction_history: NO_NODE,
  list_sol_transaction_history: NO_NODE,
  CREATE_SUB_ORGANIZATION: CONTACT,
  UPDATE_USER_EMAIL: CONTACT,
  UPDATE_USER_PHONE_NUMBER: CONTACT,
  APPROVE_ACTIVITY: VOTE,
  REJECT_ACTIVITY: VOTE,
} as const satisfies Partial<Record<QueryName | (typeof activities)[keyof typeof activities]['family'], string>>

/** Builds the description of what the service serves, with the reasons of what it does not carry out. */
export function describeService(): JsonObject {
  const families = Object.values(activities).map(({ type, family }) => [type, family] as const)
  const names = [...families, ...Object.keys(queryHandlers).map((name) => [name, name] as const)]
  const rows: Readonly<Record<string, object | NotExecuted>> = { ...handlers, ...queryHandlers }
  const reasons = names.flatMap(([name, family]) => {
    if (Object.hasOwn(inPart, family)) return [[name, inPart[family as keyof typeof inPart]] as const]
    const row = rows[name]
    return row && 'notExecuted' in row ? [[name, row.notExecuted] as const] : []
  })
  return openApiDocument(Object.fromEntries(reasons))
}
