/** Who else would have to approve a request that waits: the smallest sets of people that suffice. */
import { authorize, type CompiledPolicy, mayVote } from './authorize.ts'
import type { Approver, CredentialFacts, PolicyContext } from './model.ts'
import { type SmallestSets, smallestSets } from './smallest-sets.ts'

/** Somebody who could approve. */
export interface Voter {
  readonly name: string
  readonly approver: Approver
  readonly credential?: CredentialFacts | undefined
}

/** `nobody`: no set of these people suffices · `too-many`: there are too many to try them all. */
export type Needs = SmallestSets | 'nobody' | 'too-many'

/** Finds who else would have to approve; undefined when the request does not wait. */
export function whoElse(
  policies: readonly CompiledPolicy[],
  context: PolicyContext,
  people: readonly Voter[],
): Needs | undefined {
  if (authorize(policies, context).outcome !== 'OUTCOME_REQUIRES_CONSENSUS') return undefined
  const given = new Set(context.approvers.map(({ id }) => id))
  const voters = people.filter(
    ({ approver, credential }) => !given.has(approver.id) && mayVote(policies, context, approver, credential),
  )
  const byName = new Map(voters.map((voter) => [voter.name, voter]))
  const found = smallestSets(classesOf(voters, policies, context), (names) => {
    const joined = withVoters(
      context,
      names.map((name) => byName.get(name)!),
    )
    return authorize(policies, joined).outcome === 'OUTCOME_ALLOW'
  })
  return found === undefined ? 'nobody' : found === 'gave-up' ? 'too-many' : found
}

function withVoters(context: PolicyContext, voters: readonly Voter[]): PolicyContext {
  return {
    ...context,
    approvers: [...context.approvers, ...voters.map(({ approver }) => approver)],
    credentials: [...(context.credentials ?? []), ...voters.flatMap(({ credential }) => credential ?? [])],
  }
}

/**
 * Classes of people that no policy can tell apart: same tags, same membership of the quorum. A person whose id a consensus
 * names is a class of one; so is everybody once a consensus reads names, e-mail addresses or credentials.
 */
function classesOf(
  voters: readonly Voter[],
  policies: readonly CompiledPolicy[],
  { rootQuorum }: PolicyContext,
): readonly (readonly string[])[] {
  const consensus = policies.map(({ policy }) => policy.consensus ?? '').join('\n')
  const personal = /\b(?:email|alias|credentials)\b/.test(consensus)
  const classes = new Map<string, string[]>()
  for (const { name, approver } of voters) {
    const alone = personal || consensus.includes(approver.id)
    const tags = [...(approver.tags ?? [])].sort()
    const key = JSON.stringify(alone ? [name] : [rootQuorum?.userIds.includes(approver.id), tags])
    classes.set(key, [...(classes.get(key) ?? []), name])
  }
  return [...classes.values()]
}
