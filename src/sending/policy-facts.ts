import { isSameAddress, isSendActivity, type SendIntent } from '../chain/index.ts'
import type { PolicyContext } from '../policy/index.ts'
import { findActivity, type JsonObject, type Wire } from '../protocol/index.ts'
import type { Actual } from '../resources/index.ts'
import { interfacesOf } from '../scenarios/index.ts'
import { readFacts } from './describe.ts'

/** What policies read of a send that waits: its transactions, and whose they are. Undefined for any other activity. */
export function policyFactsOf(
  { type, intent }: Wire.Activity,
  { resources }: Pick<Actual, 'resources'>,
): Partial<PolicyContext> | undefined {
  const row = findActivity(type)?.row
  const request = row && (intent as Readonly<Record<string, JsonObject & SendIntent>>)[row.intentKey]
  const { from, signWiths } = (request ?? {}) as { readonly from?: string; readonly signWiths?: readonly string[] }
  const sender = from ?? signWiths?.[0]
  if (!row || !request || !isSendActivity(row.type) || sender === undefined) return undefined
  const facts = readFacts(row.type, request, { interfaces: interfacesOf(resources) })
  const account = resources.find(({ known }) => known?.address !== undefined && isSameAddress(known.address, sender))
  const wallet = resources.find(({ kind, id }) => kind === 'wallet' && id === account?.parentId)
  // Whether a wallet was imported or exported is in no list.
  if (!wallet) return undefined
  return { ...facts, wallet: { id: wallet.id!, label: wallet.name }, wallet_account: { address: sender } }
}
