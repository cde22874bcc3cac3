import { makePlan, type Plan } from '../plan/index.ts'
import { type Actual, type KindName, parseAddress, type Resource } from '../resources/index.ts'
import type { LeftBehind } from './trace.ts'

/** What lets people in, or lets them act: an attacker's way back. */
const REVERTED: readonly KindName[] = ['policy', 'apiKey']

/** A plan that takes back what lives of a suspect, and what it leaves to people. */
export interface Revert {
  /** Deletes what was made; undefined where nothing of it lives. */
  readonly plan?: Plan
  /** What was changed, and other kinds: definitions say what it was. */
  readonly leaves: readonly LeftBehind[]
}

/**
 * Plans the deletion of the policies and API keys that a suspect made and that live. It is a plan like any other: it is stale when
 * they change, and guards stop it. Nobody applies it but a person.
 */
export function planRevert(
  left: readonly LeftBehind[],
  { actual, baseUrl, now }: { readonly actual: Actual; readonly baseUrl: string; readonly now: string },
): Revert {
  const live = new Map(actual.resources.map((one) => [one.address, one]))
  const isReverted = ({ address, did }: LeftBehind) =>
    did === 'made' && live.has(address) && REVERTED.includes(parseAddress(address)!.kind)
  const resources = left.filter(isReverted).map(({ address }): Resource => {
    const { kind, name, parent } = live.get(address)!
    return { address, kind, name, fields: {}, tombstone: true, ...(parent === undefined ? {} : { parent }) }
  })
  const leaves = left.filter((one) => !isReverted(one))
  if (resources.length === 0) return { leaves }
  const { organizationId, organizationName: organization } = actual
  const parents = resources.flatMap(({ parent }) => (parent === undefined ? [] : [parent]))
  const of = [...resources.map(({ address }) => address), ...parents]
  // The lock says which live things are meant, though the suspect may have given others the same name since.
  const rows = Object.fromEntries(of.map((address) => [address, { id: live.get(address)!.id! }]))
  const desired = { organization, organizationId, resources, manageAll: new Set<KindName>(), digest: '' }
  const input = { desired, actual, lock: { [organizationId]: rows }, creators: {}, baseUrl, now, allow: [] }
  return { plan: makePlan({ ...input, desired: { ...desired, forget: parents } }).plan, leaves }
}
