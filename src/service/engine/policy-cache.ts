import { createHash } from 'node:crypto'
import {
  type CompiledPolicy,
  compilePolicy,
  findPolicyKeys,
  indexPolicies,
  type PolicyIndex,
  type PolicyKeys,
  type PolicyText,
} from '../../policy/index.ts'
import { type PolicyRow, policyTable } from '../resources/policies/store.ts'
import { type PolicyVersion, type Rows, readPolicyVersion, type Transaction, whenRead } from '../store/index.ts'
import { type Work, weightOfExpressions } from './work.ts'

/** Gives an organization's policies, compiled and indexed. */
export type PolicySource = (
  tx: Transaction,
  organizationId: string,
  work: Pick<Work, 'inSteps'>,
) => Rows<{ readonly version: PolicyVersion; readonly policies: PolicyIndex }>

/** Organizations whose policies are kept compiled: a few hundred kB each at the limit of 100 policies of usual length. */
const MAX_ORGANIZATIONS = 256

/** Characters of all expressions that are kept compiled: a character takes some thirty bytes then. */
const MAX_CHARACTERS = 8_388_608

interface Prepared {
  readonly compiled: CompiledPolicy
  readonly keys: PolicyKeys | undefined
}

/** The policies of one organization at one version of them. */
interface Kept {
  readonly version: string
  readonly policies: PolicyIndex
  /** Each policy by all of its text: those that the next version leaves as they are need not be compiled again. */
  readonly byText: ReadonlyMap<string, Prepared>
  readonly characters: number
}

/**
 * Creates a source that compiles each policy of an organization once. The version is read in the
 * caller's own transaction and changes in the transaction that changes a policy, so what is given is never older or
 * newer than what that transaction sees; a version that was rolled back never comes again. Many or long policies are compiled
 * outside of the transaction, by their texts alone, which are read again afterwards.
 */
export function createPolicySource(): PolicySource {
  const kept = new Map<string, Kept>()
  let characters = 0
  const keep = (organizationId: string, fresh: Kept) => {
    characters += fresh.characters - (kept.get(organizationId)?.characters ?? 0)
    kept.delete(organizationId)
    kept.set(organizationId, fresh)
    for (const [other, { characters: freed }] of kept) {
      if (kept.size <= MAX_ORGANIZATIONS && characters <= MAX_CHARACTERS) break
      kept.delete(other)
      characters -= freed
    }
  }
  return (tx, organizationId, work) =>
    whenRead(readPolicyVersion(tx, organizationId), (version) => {
      const known = kept.get(organizationId)
      if (known?.version === version.id) {
        keep(organizationId, known)
        return { version, policies: known.policies }
      }
      return policyTable.list(tx, organizationId).then((rows) => {
        const fresh = { version: version.id, ...prepare(rows.map(toPolicyText), known?.byText ?? new Map(), work) }
        keep(organizationId, fresh)
        return { version, policies: fresh.policies }
      })
    })
}

function prepare(
  texts: readonly PolicyText[],
  before: Kept['byText'],
  work: Pick<Work, 'inSteps'>,
): Omit<Kept, 'version'> {
  const named = texts.map((policy) => ({ policy, text: JSON.stringify(policy) }))
  const items = named.filter(({ text }) => !before.has(text))
  const digest = createHash('sha256')
  for (const { text } of items) digest.update(text)
  const made = work.inSteps(`policies ${digest.digest('hex')}`, {
    items,
    step: ({ policy, text }) => {
      const compiled = compilePolicy(policy)
      return { text, prepared: { compiled, keys: findPolicyKeys(compiled) } }
    },
    weight: weightOfExpressions(items.flatMap(({ policy }) => expressionsOf(policy))),
  })
  const fresh = new Map(made.map(({ text, prepared }) => [text, prepared]))
  const byText = new Map(named.map(({ text }) => [text, fresh.get(text) ?? before.get(text)!]))
  const all = named.map(({ text }) => byText.get(text)!)
  return {
    policies: indexPolicies(
      all.map(({ compiled }) => compiled),
      () => all.map(({ keys }) => keys),
    ),
    byText,
    characters: named.reduce((sum, { text }) => sum + text.length, 0),
  }
}

function expressionsOf({ consensus, condition, time }: PolicyText) {
  return [consensus, condition, time]
}

function toPolicyText(row: PolicyRow): PolicyText {
  return {
    id: row.id,
    name: row.name,
    effect: row.effect as PolicyText['effect'],
    consensus: row.consensus ?? undefined,
    condition: row.condition ?? undefined,
    time: row.time ?? undefined,
  }
}
