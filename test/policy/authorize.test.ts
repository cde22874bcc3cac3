import { describe, expect, test } from 'vitest'
import { authorize, compilePolicy, mayVote, type PolicyContext, type PolicyText } from '../../src/policy/index.ts'

const base: PolicyContext = {
  now: 0n,
  activity: { type: 'ACTIVITY_TYPE_CREATE_WALLET' },
  approvers: [{ id: 'ana', tags: ['treasury'] }],
}

function policy(given: Partial<PolicyText>): PolicyText {
  return { id: given.name ?? 'p', name: 'p', effect: 'EFFECT_ALLOW', ...given }
}

function decide(policies: readonly Partial<PolicyText>[], context: Partial<PolicyContext> = {}) {
  return authorize(
    policies.map((each) => compilePolicy(policy(each))),
    { ...base, ...context },
  )
}

const treasuryPair = { consensus: "approvers.filter(u, u.tags.contains('treasury')).count() >= 2" }
const quorum = { userIds: ['root-1', 'root-2'], threshold: 2 }

describe('authorize: order', () => {
  test('authorize: the quorum allows without asking the policies', () => {
    const decision = decide([{ effect: 'EFFECT_DENY' }], {
      approvers: [{ id: 'root-1' }, { id: 'root-2' }],
      rootQuorum: quorum,
    })
    expect(decision).toEqual({ outcome: 'OUTCOME_ALLOW', basis: 'root-quorum', policies: [] })
  })

  test('authorize: one member approving twice is one member', () => {
    const decision = decide([], { approvers: [{ id: 'root-1' }, { id: 'root-1' }], rootQuorum: quorum })
    expect(decision.basis).toBe('quorum-begun')
  })

  test.each([
    [[{ id: 'root-1' }, { id: 'root-2' }], 'OUTCOME_ALLOW', 'root-quorum'],
    [[{ id: 'root-1' }], 'OUTCOME_REQUIRES_CONSENSUS', 'quorum-begun'],
    [[{ id: 'ana' }], 'OUTCOME_DENY_IMPLICIT', 'root-only'],
  ])('authorize: a root-only activity is for the quorum alone: %j', (approvers, outcome, basis) => {
    const activity = { type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM' }
    const decision = decide([{}, { effect: 'EFFECT_DENY' }], { activity, approvers, rootQuorum: quorum })
    expect(decision).toEqual({ outcome, basis, policies: [] })
  })

  test.each([
    ['deny before allow', [{}, { effect: 'EFFECT_DENY' as const }], 'OUTCOME_DENY_EXPLICIT', 'policy'],
    ['allow before waiting', [treasuryPair, {}], 'OUTCOME_ALLOW', 'policy'],
    ['waiting before the begun quorum', [treasuryPair], 'OUTCOME_REQUIRES_CONSENSUS', 'policy'],
    ['the begun quorum before nothing', [{ condition: 'false' }], 'OUTCOME_REQUIRES_CONSENSUS', 'quorum-begun'],
  ])('authorize: %s', (_, policies, outcome, basis) => {
    const approvers = [{ id: 'root-1', tags: ['treasury'] }]
    expect(decide(policies, { approvers, rootQuorum: quorum })).toMatchObject({ outcome, basis })
  })

  test('authorize: a quorum of nobody is never met', () => {
    expect(decide([], { rootQuorum: { userIds: [], threshold: 0 } }).outcome).toBe('OUTCOME_DENY_IMPLICIT')
  })

  test('authorize: an empty policy lets everybody do everything', () => {
    expect(decide([{}]).outcome).toBe('OUTCOME_ALLOW')
  })

  test.each([
    [{}, 'own-credentials'],
    [{ targetUserId: 'bob' }, 'nothing-allows'],
    [{ approvers: [{ id: 'ana' }, { id: 'bob' }] }, 'nothing-allows'],
    [{ activity: { type: 'ACTIVITY_TYPE_UPDATE_USER_NAME' } }, 'nothing-allows'],
    [{ activity: { type: 'ACTIVITY_TYPE_DELETE_AUTHENTICATORS' } }, 'own-credentials'],
  ])('authorize: own credentials with %j: %s', (change, basis) => {
    const activity = { type: 'ACTIVITY_TYPE_CREATE_API_KEYS_V2' }
    expect(decide([], { activity, targetUserId: 'ana', ...change }).basis).toBe(basis)
  })
})

describe('authorize: errors', () => {
  test('authorize: an error tells its kind, field and place', () => {
    const decision = decide([{ condition: "true || wallet.id == 'a'" }])
    expect(decision.policies).toEqual([
      {
        policyId: 'p',
        outcome: 'OUTCOME_ERROR',
        error: {
          kind: 'MissingField',
          message: '`wallet` is not defined for this activity',
          field: 'condition',
          start: 8,
          end: 14,
        },
      },
    ])
  })

  test.each([
    [{ condition: '' }, 'condition', 0, 0],
    [{ consensus: 'true &&' }, 'consensus', 7, 7],
    [{ time: 'nope' }, 'time', 0, 4],
    [{ condition: '42' }, 'condition', 0, 2],
  ])('authorize: a policy that cannot be compiled is an error, never a crash: %j', (given, field, start, end) => {
    const decision = decide([given])
    expect(decision.outcome).toBe('OUTCOME_DENY_IMPLICIT')
    expect(decision.policies[0]).toMatchObject({
      outcome: 'OUTCOME_ERROR',
      error: { kind: 'InvalidExpression', field, start, end },
    })
  })

  test('authorize: null fields, as a database may hold them, are absent', () => {
    const stored = { ...policy({}), condition: null, consensus: null, time: null } as unknown as PolicyText
    expect(authorize([compilePolicy(stored)], base).outcome).toBe('OUTCOME_ALLOW')
  })

  test('authorize: a decoded value that is no bool is an error of the policy', () => {
    const eth = { tx: { contract_call_args: { x: 5 } } }
    const decision = decide([{ condition: "eth.tx.contract_call_args['x']" }], { eth })
    expect(decision.policies[0]!.error).toMatchObject({ kind: 'TypeMismatch', field: 'condition' })
  })

  test('authorize: time is judged first, and skips what else is wrong', () => {
    const decision = decide([{ time: 'false', condition: 'nope' }])
    expect(decision.policies).toEqual([{ policyId: 'p', outcome: 'OUTCOME_TIME_INACTIVE' }])
  })
})

describe('authorize: batch', () => {
  const item = (to: string) => ({ eth: { tx: { to } } })
  const allowA = { name: 'allow-a', condition: "eth.tx.to == '0xa'" }
  const denyB = { name: 'deny-b', effect: 'EFFECT_DENY' as const, condition: "eth.tx.to == '0xb'" }
  const waitC = { name: 'wait-c', condition: "eth.tx.to == '0xc'", ...treasuryPair }

  test.each([
    [['0xa', '0xa'], 'OUTCOME_ALLOW'],
    [['0xa', '0xc'], 'OUTCOME_REQUIRES_CONSENSUS'],
    [['0xc', '0xd'], 'OUTCOME_DENY_IMPLICIT'],
    [['0xd', '0xb', '0xa'], 'OUTCOME_DENY_EXPLICIT'],
  ])('authorize: the worst of %j is the outcome', (items, outcome) => {
    expect(decide([allowA, denyB, waitC], { batch: items.map(item) }).outcome).toBe(outcome)
  })

  test('authorize: a batch of nothing is judged as the activity itself', () => {
    expect(decide([{}], { batch: [] }).outcome).toBe('OUTCOME_ALLOW')
  })

  test('authorize: an item that is allowed to everybody gives nobody a vote on the rest', () => {
    const policies = [compilePolicy(policy(allowA)), compilePolicy(policy(waitC))]
    const context = { ...base, batch: [item('0xa'), item('0xc')] }
    expect(mayVote(policies, context, { id: 'eve' })).toBe(false)
    expect(mayVote(policies, context, { id: 'bob', tags: ['treasury'] })).toBe(true)
  })
})

describe('authorize: inclusion', () => {
  const included = (consensus: string, context: Partial<PolicyContext> = {}) =>
    decide([{ consensus }], context).policies[0]!.outcome === 'OUTCOME_REQUIRES_CONSENSUS'

  test.each([
    ["approvers.any(u, u.id == 'ana') && approvers.any(u, u.id == 'bob')", true],
    ["approvers.any(u, u.id == 'bob')", false],
    ['approvers.count() >= 2', true],
    ['approvers.count >= 2', true],
    ['approvers[0..9].count() >= 2', true],
    ["approvers.filter(u, u.id == 'bob').count() >= 1", false],
    ["approvers.filter(u, u.tags.contains('treasury')).any(u, u.id == 'bob')", false],
    ["approvers.filter(u, u.tags.contains('treasury')).filter(v, v.id == 'ana').count() >= 2", true],
    ["['ana', 'bob'].all(id, approvers.any(u, u.id == id))", true],
    ["['bob', 'cyd'].all(id, approvers.any(u, u.id == id))", false],
    ["approvers.any(approvers, approvers.id == 'bob')", false],
    ['[1].all(approvers, approvers == 2)', false],
    ["!approvers.any(u, u.id == 'ana')", true],
    ['false', false],
    ["credentials.any(c, c.type == 'PASSKEY') && credentials.any(c, c.type == 'API')", true],
    ["credentials.any(c, c.type == 'API')", false],
    ['credentials.count() >= 2', true],
    ["approvers.any(u, u.id == 'bob') || credentials.any(c, c.user_id == 'ana' && c.type == 'API')", false],
  ])('authorize: %s waits for others after ana: %s', (consensus, expected) => {
    const credentials = [{ id: 'k', user_id: 'ana', type: 'PASSKEY' }]
    expect(included(consensus, { credentials })).toBe(expected)
  })

  test('authorize: a DENY never waits', () => {
    expect(decide([{ effect: 'EFFECT_DENY', ...treasuryPair }]).outcome).toBe('OUTCOME_DENY_IMPLICIT')
  })
})

describe('authorize: votes', () => {
  const bob = { id: 'bob', tags: ['treasury'] }
  const eve = { id: 'eve' }
  const votes = (given: Partial<PolicyText>, voter: typeof bob | typeof eve, context: Partial<PolicyContext> = {}) =>
    mayVote([compilePolicy(policy(given))], { ...base, ...context }, voter)

  test.each([
    ['whom the consensus includes', treasuryPair, bob, true],
    ['not whom it leaves out', treasuryPair, eve, false],
    ['not where the condition does not hold', { ...treasuryPair, condition: 'false' }, bob, false],
    ['not where the condition errs', { ...treasuryPair, condition: "wallet.id == 'a'" }, bob, false],
    ['not outside of its time', { ...treasuryPair, time: 'false' }, bob, false],
    ['not by a DENY', { ...treasuryPair, effect: 'EFFECT_DENY' as const }, bob, false],
    ['anybody where it is `true`', { consensus: 'true' }, eve, true],
    ['anybody where there is none', {}, eve, true],
    ['nobody where it cannot be read', { consensus: 'approvers.' }, bob, false],
  ])('authorize: may vote: %s', (_, given, voter, expected) => {
    expect(votes(given, voter)).toBe(expected)
  })

  test('authorize: a member of the root quorum may vote on everything, others not on what is root-only', () => {
    const activity = { type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM' }
    expect(votes({ condition: 'false' }, bob, { rootQuorum: { userIds: ['bob'], threshold: 1 } })).toBe(true)
    expect(votes({}, bob, { activity, rootQuorum: { userIds: ['ana'], threshold: 1 } })).toBe(false)
  })

  test('authorize: a consensus on credentials asks for the one that votes', () => {
    const policies = [compilePolicy(policy({ consensus: "credentials.filter(c, c.type == 'PASSKEY').count() >= 2" }))]
    const credential = (type: string) => ({ id: 'k', user_id: 'bob', type })
    expect(mayVote(policies, base, bob, credential('PASSKEY'))).toBe(true)
    expect(mayVote(policies, base, bob, credential('API'))).toBe(false)
    expect(mayVote(policies, base, bob)).toBe(false)
  })
})
