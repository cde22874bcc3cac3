import { createHash } from 'node:crypto'
import { serialize } from 'node:v8'
import { approverOf, type Ballot, contextOf } from '../../authority/index.ts'
import {
  type Approver,
  authorize,
  authorizeInSteps,
  type Budget,
  compilePolicy,
  conditionHolds,
  type Decision,
  isUsedUp,
  mayVote,
  type PolicyContext,
  type PolicyIndex,
} from '../../policy/index.ts'
import { type ActivityRow, type ApiError, type JsonObject, permissionDenied } from '../../protocol/index.ts'
import { inSpan } from '../../telemetry/index.ts'
import { isAuthProxyUser } from '../resources/auth-proxy/store.ts'
import { listTagMembers } from '../resources/tags/store.ts'
import { listUsers } from '../resources/users/store.ts'
import { type PolicyVersion, type Rows, readRootQuorum, type Transaction } from '../store/index.ts'
import type { Handler, HandlerContext } from './handler.ts'
import type { PolicySource } from './policy-cache.ts'
import { type Work, weightOfExpressions } from './work.ts'

/** One activity before the policies: its type and intent, and the handler that would carry it out. */
export interface Case {
  readonly row: ActivityRow
  readonly intent: JsonObject
  readonly handler: Handler
  readonly context: HandlerContext
}

/** A decision, and the version of the policies that it was made by. */
export interface Judgement extends Decision {
  readonly policyVersion: PolicyVersion
}

/** Decides about activities of one transaction with the policies, tags and quorum as they are in it (U-snapshot). */
export interface Judge {
  /** Runs the whole decision for these approvals, the submitter's first. */
  decide(item: Case, ballots: readonly Ballot[]): Promise<Judgement>
  /** Whether this user may approve or reject, beside those who have approved. */
  mayVote(item: Case, ballots: readonly Ballot[], voter: Ballot): Promise<boolean>
  /** Says whether an expression of its own holds for the activity; undefined where it cannot be evaluated. */
  conditions(item: Case, ballots: readonly Ballot[]): Promise<(expression: string) => boolean | undefined>
}

/** Creates a judge over a source of compiled policies. `onDecision` is told of the steps that each decision took. */
export function createJudge(policiesOf: PolicySource, onDecision: (steps: number) => void = () => {}): Judge {
  async function prepare(
    item: Case,
    ballots: readonly Ballot[],
  ): Promise<{ version: PolicyVersion; policies: PolicyIndex; context: PolicyContext }> {
    const { tx, homeId, work } = item.context
    const reading = policiesOf(tx, homeId, work)
    const { version, policies } = reading instanceof Promise ? await reading : reading
    return { version, policies, context: await buildPolicyContext(item, ballots) }
  }
  return {
    decide: (item, ballots) =>
      inSpan('decide', async (span) => {
        const { version, policies, context } = await prepare(item, ballots)
        const { homeId, work } = item.context
        const before = work.budget.steps
        const decision =
          decideAtOnce(policies, context, work) ?? decideInTurns(policies, context, { homeId, version, work })
        onDecision(before - work.budget.steps)
        span.set({ 'quorate.outcome': decision.outcome })
        return { ...decision, policyVersion: version }
      }),
    async mayVote(item, ballots, voter) {
      const { policies, context } = await prepare(item, ballots)
      const [approver] = await readApprovers(item.context.tx, item.context.homeId, [voter])
      const { budget } = item.context.work
      return approver !== undefined && mayVote(policies, context, approver, voter.credential, budget)
    },
    async conditions(item, ballots) {
      const { work } = item.context
      const context = await buildPolicyContext(item, ballots)
      return (expression) => {
        const [compiled] = work.inSteps(`expression ${expression}`, {
          items: [expression],
          step: (condition) => compilePolicy({ id: '', name: '', effect: 'EFFECT_ALLOW', condition }),
          weight: weightOfExpressions([expression]),
        })
        return conditionHolds(compiled!, context, work.budget)
      }
    },
  }
}

/** Steps of policies between which nobody else is answered: some milliseconds. */
const STEPS_AT_ONCE = 100_000

/** How often a request's long decisions are asked for before one is made at one go: one or two suffice, each asked for twice. */
const MOST_ROUNDS = 8

/** Most decisions; undefined for one that takes longer. */
function decideAtOnce(
  policies: PolicyIndex,
  context: PolicyContext,
  { budget }: Pick<Work, 'budget'>,
): Decision | undefined {
  const first = { ...budget, steps: Math.min(budget.steps, STEPS_AT_ONCE) }
  const most = first.steps
  const decision = authorize(policies, context, first)
  if (isUsedUp(first) && most < budget.steps) return undefined
  budget.steps -= most - first.steps
  return decision
}

/**
 * The decision with the whole budget, outside of the transaction. It is made for the moment at which it was first asked for;
 * what has changed otherwise when it is there is decided anew.
 */
function decideInTurns(
  policies: PolicyIndex,
  context: PolicyContext,
  { homeId, version, work }: { readonly homeId: string; readonly version: PolicyVersion; readonly work: Work },
): Decision {
  const { budget } = work
  const asked = { ...context, now: work.once('decided at', () => context.now) }
  // What changes each time that it is looked at would be decided for ever.
  const rounds = work.once('rounds of decisions', () => ({ left: MOST_ROUNDS }))
  if (rounds.left-- <= 0) return authorize(policies, context, budget)
  const rests = serialize([homeId, version.id, asked, budget.steps])
  const { decision, steps } = work.inTurns(
    `decision ${createHash('sha256').update(rests).digest('hex')}`,
    function* () {
      const own: Budget = { steps: budget.steps, spans: new Map() }
      const decision = yield* authorizeInSteps(policies, asked, own, { steps: STEPS_AT_ONCE })
      return { decision, steps: own.steps }
    },
  )
  budget.steps = steps
  return decision
}

/** The denial that the API answers with; undefined when the decision allows, or waits where it may. */
export function denialOf(
  { outcome, policies }: Decision,
  { mayWait }: { readonly mayWait: boolean },
): ApiError | undefined {
  const stands = outcome === 'OUTCOME_ALLOW' || (mayWait && outcome === 'OUTCOME_REQUIRES_CONSENSUS')
  return stands ? undefined : permissionDenied(policies)
}

async function buildPolicyContext(item: Case, ballots: readonly Ballot[]): Promise<PolicyContext> {
  const { tx, homeId, now } = item.context
  const { facts: factsOf } = item.handler
  const facts = factsOf && (await factsOf(item.context, item.intent))
  const request = { type: item.row.type, parameters: item.intent, nowMs: now, facts }
  const approvers = await readApprovers(tx, homeId, ballots)
  const quorum = readRootQuorum(tx, homeId)
  const context = contextOf(request, {
    approvers,
    credentials: ballots.map(({ credential }) => credential),
    rootQuorum: quorum instanceof Promise ? await quorum : quorum,
  })
  const isOfProxy = isOfAuthProxy(item.context, context)
  if (!(isOfProxy instanceof Promise ? await isOfProxy : isOfProxy)) return context
  const { targetUserId: _, ...rest } = context
  return rest
}

/**
 * Whether the activity is about credentials of the authentication proxy's user: what users may do with their own is not for
 * that one, whose permissions are those of its policy alone (docs/protocol/auth-proxy.md#the-proxy-user).
 */
function isOfAuthProxy({ tx, organizationId }: HandlerContext, { targetUserId }: PolicyContext): Rows<boolean> {
  return targetUserId !== undefined && isAuthProxyUser(tx, organizationId, targetUserId)
}

/** The users among the voters who are still there, in the order of their votes, as policies see them. */
async function readApprovers(
  tx: Transaction,
  organizationId: string,
  ballots: readonly Ballot[],
): Promise<readonly Approver[]> {
  // One by one, as these reads are repeated for each answer that shows the user, and are remembered.
  const approvers: Approver[] = []
  for (const { userId } of ballots) {
    const users = listUsers(tx, organizationId, [userId])
    const [user] = users instanceof Promise ? await users : users
    if (!user) continue
    const members = listTagMembers(tx, organizationId, { memberIds: [userId] })
    const tags = members instanceof Promise ? await members : members
    const { id, name, email } = user
    approvers.push(approverOf({ id, name, email: email ?? undefined, tags: tags.map(({ tagId }) => tagId) }))
  }
  return approvers
}
