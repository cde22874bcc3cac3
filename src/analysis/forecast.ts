import { actingVoter, type Organization } from '../authority/index.ts'
import { type AccessLimit, type Batch, type Forecast, fillParameters, type Plan } from '../plan/index.ts'
import type { PolicyContext } from '../policy/index.ts'
import type { Actual, Desired } from '../resources/index.ts'
import { accessChanges, powersMayDiffer } from './access.ts'
import { breathe, computing } from './computing.ts'
import { organizationIn } from './everybody.ts'
import { createSensitivity, type Influence, influenceOf, influences, policyVersions, requestKey } from './influence.ts'
import { contextOf, outcomeOf } from './outcome.ts'
import { createPolicyCompiler, type PolicyCompiler, policiesOf, policyText } from './policies.ts'
import { createCarrier, type OrganizationState, type StandIns, standIns, startState } from './state.ts'
import { createDoorkeeper } from './ways-in.ts'

export interface ForecastInput {
  readonly desired: Desired
  readonly actual: Actual
  /** ISO 8601, for policies that ask for the time. @default when the plan was made */
  readonly now?: string
}

/** One batch as it was judged. */
interface Judged {
  readonly forecast: Forecast
  /** The policy context of the activity; absent when its submitter would not exist any more. */
  readonly context?: PolicyContext
  /** Its influence on later decisions; absent for an activity that will not be carried out. */
  readonly influence?: Influence
  readonly happens: boolean
}

/**
 * Annotates every batch of a plan with what will come of it when the acting user submits it: our own evaluator decides
 * each activity against policies, tags, users and root quorum as the batches before it will have left them. What waits
 * is taken to be approved in the end, so that the batches after it are judged by the state they will meet. Where one
 * batch could change what comes of another, the earlier is put into the later's `after`, so that the forecast holds in
 * every order in which the plan may be walked. What the digest covers is then another: it is made afterwards (`finishPlan`).
 */
export function forecast(
  plan: Plan,
  { desired, actual, now = plan.createdAt }: ForecastInput,
  compile: PolicyCompiler = createPolicyCompiler(),
): Plan {
  if (plan.batches.length === 0) return plan
  const ids = standIns(plan, desired)
  const carryOut = createCarrier({ plan, desired, ids })
  const { judged, states } = computing('what comes of each activity', () =>
    judgeAll(plan, { actual, now, ids, carryOut, compile }),
  )
  const after = computing('which activity has to come first', () => ordered(plan.batches, { judged, states, compile }))
  const batches = plan.batches.map(
    (batch, index): Batch => ({ ...batch, after: after[index]!, forecast: judged[index]!.forecast }),
  )
  // Power is told of what the definitions ask for, not of what the planner may do: a key that only reads sees what is planned all the same.
  const isCarriedOut = judged.every(({ happens }) => happens)
  const target = isCarriedOut ? states.at(-1)! : plan.batches.reduce(carryOut, states[0]!)
  const access = powersMayDiffer(states[0]!, target, compile)
    ? accessChanges(states[0]!, target, { nowMs: Date.parse(now), namesById: namesOf(ids, actual), compile })
    : []
  const limits: readonly AccessLimit[] = [
    ...(isCarriedOut ? [] : (['not-carried-out'] as const)),
    ...(actual.unread?.includes('wallet') ? (['wallets-unread'] as const) : []),
    ...(actual.unread?.includes('privateKey') ? (['private-keys-unread'] as const) : []),
  ]
  return { ...plan, batches, access, ...(limits.length > 0 ? { accessLimits: limits } : {}) }
}

/** Addresses by ids. */
function namesOf(ids: StandIns, { resources }: Actual): ReadonlyMap<string, string> {
  const namesById = new Map(Object.entries(ids).map(([address, id]) => [id, address]))
  for (const { id, address } of resources) if (!namesById.has(id!)) namesById.set(id!, address)
  return namesById
}

/** Walks the batches in the order of the plan. */
function judgeAll(
  plan: Plan,
  {
    actual,
    now,
    ids,
    carryOut,
    compile,
  }: Required<Omit<ForecastInput, 'desired'>> & {
    readonly ids: ReturnType<typeof standIns>
    readonly carryOut: ReturnType<typeof createCarrier>
    readonly compile: PolicyCompiler
  },
): { readonly judged: readonly Judged[]; readonly states: readonly OrganizationState[] } {
  const judge = createJudge(plan.actor, { nowMs: Date.parse(now), compile })
  const lockedOut = createDoorkeeper(plan)
  const judged: Judged[] = []
  let state = startState(actual)
  const states = [state]
  for (const batch of plan.batches) {
    breathe()
    const missing = batch.after.find((one) => !judged[one]!.happens)
    if (missing !== undefined) {
      const reason = `batch ${missing + 1} (${plan.batches[missing]!.summary}) would have to come first`
      judged.push({ forecast: { outcome: 'depends', reason }, happens: false })
      continue
    }
    const parameters = fillParameters(batch.parameters, ids) as Readonly<Record<string, unknown>>
    const { outcome: decided, context } = judge({ type: batch.type, parameters }, state)
    const done = decided.outcome === 'denied' ? state : carryOut(state, batch)
    const outcome = decided.outcome === 'denied' ? decided : (lockedOut(batch, done) ?? decided)
    const happens = outcome.outcome !== 'denied'
    const next = happens ? done : state
    const influence = happens ? influenceOf(state, next, plan.actor.userId) : undefined
    judged.push({ forecast: outcome, happens, ...(context ? { context } : {}), ...(influence ? { influence } : {}) })
    // A state without influence decides like the one before it, and the judge keeps what it has decided by state.
    if (influence) judge.moved()
    if (influence) states.push(next)
    state = next
  }
  if (states.at(-1) !== state) states.push(state)
  return { judged, states }
}

interface Judge {
  (
    request: { readonly type: string; readonly parameters: Readonly<Record<string, unknown>> },
    state: OrganizationState,
  ): { readonly outcome: Forecast; readonly context?: PolicyContext }
  /** Says that from now on decisions may come out otherwise. */
  readonly moved: () => void
}

/** Decides requests, equal ones in equal states once: a thousand new wallets are one decision. */
function createJudge(
  actor: Plan['actor'],
  { nowMs, compile }: { readonly nowMs: number; readonly compile: PolicyCompiler },
): Judge {
  let known = new Map<string, Forecast>()
  let policies: ReturnType<typeof policiesOf> | undefined
  let organization: Organization | undefined
  const judge: Omit<Judge, 'moved'> & ((...given: Parameters<Judge>) => ReturnType<Judge>) = (
    { type, parameters },
    state,
  ) => {
    organization ??= organizationIn(state)
    const submitter = actingVoter(organization, actor)
    if (!submitter) return { outcome: { outcome: 'denied', reason: `${actor.userName} will not be a user any more` } }
    policies ??= policiesOf(state, compile)
    const request = { type, parameters, submitter, state, organization, policies, nowMs }
    const context = contextOf(request)
    const key = requestKey(context)
    const outcome = known.get(key) ?? outcomeOf(request)
    known.set(key, outcome)
    return { outcome, context }
  }
  return Object.assign(judge, {
    moved: () => {
      known = new Map()
      policies = undefined
      organization = undefined
    },
  })
}

/**
 * The `after` of every batch, with as few members as say the same: its own, and the earlier ones that could change what
 * comes of it, or of which it could.
 */
function ordered(
  batches: readonly Batch[],
  {
    judged,
    states,
    compile,
  }: {
    readonly judged: readonly Judged[]
    readonly states: readonly OrganizationState[]
    readonly compile: PolicyCompiler
  },
): readonly (readonly number[])[] {
  if (batches.length < 2) return batches.map(({ after }) => after)
  const deciding = judged.flatMap(({ influence }, index) => (influence ? [index] : []))
  const sensitivityOf = createSensitivity(deciding.length === 0 ? [] : policyVersions(states, policyText), compile)
  const known = new Map<string, ReturnType<typeof sensitivityOf>>()
  const sensitivities = judged.map(({ context }) => {
    if (!context || deciding.length === 0) return undefined
    const key = requestKey(context)
    breathe()
    const found = known.get(key) ?? sensitivityOf(context)
    known.set(key, found)
    return found
  })
  const decides = (one: number, other: number) =>
    sensitivities[other] !== undefined && influences(judged[one]!.influence, sensitivities[other]!)
  const before: ReadonlySet<number>[] = []
  return batches.map(({ after }, index) => {
    breathe()
    const mine = judged[index]!
    // What is denied never completes, so nothing can be put after it; a plan with a denial is not applied at all.
    const candidates = mine.influence ? [...batches.keys()].slice(0, index) : deciding
    const earlier = candidates.filter(
      (one) => one < index && judged[one]!.happens && (decides(one, index) || decides(index, one)),
    )
    const all = new Set<number>()
    const direct: number[] = []
    // The latest first: whatever stands before it needs no mention.
    for (const one of [...new Set([...after, ...earlier])].sort((a, b) => b - a)) {
      if (all.has(one)) continue
      direct.push(one)
      all.add(one)
      for (const implied of before[one]!) all.add(implied)
    }
    before.push(all)
    return direct.reverse()
  })
}
