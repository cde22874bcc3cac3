import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileWatched } from '../../src/policy/compiled-policy.ts'
import { roots, structs } from '../../src/policy/environment.ts'
import { renderReaders } from '../../src/policy/generate.ts'
import { chainReaders } from '../../src/policy/generated/readers.gen.ts'
import {
  authorize,
  compilePolicy,
  indexPolicies,
  memberType,
  type PolicyContext,
  type PolicyText,
  rootType,
  type Type,
} from '../../src/policy/index.ts'
import { runs } from '../runs.ts'
import { readPolicyCases } from './cases.ts'
import { type Tape, tapes, typedCondition, typedContext } from './generate.ts'

/** Clauses with literals, some of which every generated request matches, and some that read what may be missing. */
const clauses = [
  "activity.kind == 'SIGN_TRANSACTION'",
  "'CREATE_WALLET' == activity.kind",
  "activity.kind in ['SIGN_TRANSACTION', 'CREATE_WALLET', 'LAYER2_SIGN_FROST']",
  "activity.type in ['ACTIVITY_TYPE_SIGN_TRANSACTION_V2']",
  "activity.resource == 'WALLET' && activity.action == 'CREATE'",
  "wallet.id == 'a'",
  "wallet.label != 'a' && wallet.imported",
  "wallet_account.address == '0xAB'",
  "eth.tx.to == '0xab'",
  'eth.tx.chain_id == 5000 && eth.tx.chain_id == 1',
  'eth.tx.value < 5000 && 0 <= eth.tx.value',
  "eth.tx.data[0..4] == '0xab'",
  "activity.params.type == 'a'",
  "!(private_key.id == 'a' || private_key.exported)",
  "solana.tx.transfers.all(t, t.to == 'a')",
  "eth.tx.contract_call_args['k'] == 'a'",
]
const consensuses = [
  undefined,
  'true',
  "approvers.any(u, u.tags.contains('t1'))",
  "approvers.filter(u, u.id in ['ana', 'ben'] && u.email == '').count() >= 2",
  "['t1', 't2'].all(t, approvers.any(u, t in u.tags))",
  "credentials.any(c, c.type == 'CREDENTIAL_TYPE_LOGIN')",
  "approvers[1].id == 'ana'",
]
const times = [undefined, undefined, undefined, "time.now < Timestamp('1970-01-05T00:00:00Z')"]

function anyPolicy(choices: Tape, id: string): PolicyText {
  const several = Array.from({ length: 1 + choices.below(3) }, () => choices.pick(clauses))
  const own = choices.below(4) === 0 ? [typedCondition(choices)] : []
  return {
    id,
    name: id,
    effect: choices.pick(['EFFECT_ALLOW', 'EFFECT_DENY']),
    condition: [...several, ...own].join(' && '),
    consensus: choices.pick(consensuses),
    time: choices.pick(times),
  }
}

function anyContext(choices: Tape): PolicyContext {
  const approver = (id: string) => ({
    id,
    ...choices.pick<object>([{}, { tags: ['t1'] }, { tags: ['t1', 't2'], email: '' }, { tags: [5] }, { email: null }]),
  })
  const approvers = Array.from({ length: choices.below(3) }, (_, index) => approver(['ana', 'ben', 'eve'][index]!))
  const credentials = choices.pick([[], [{ id: 'c', user_id: 'ana', type: 'CREDENTIAL_TYPE_LOGIN' }], [{ id: 'c' }]])
  return { ...typedContext(choices), approvers, credentials } as PolicyContext
}

describe('index of policies', () => {
  test('index of policies: decides as the policies one by one do, with the same outcome and error for each', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(tapes(400), fc.array(tapes(500), { minLength: 1, maxLength: 4 }), (forPolicies, forContexts) => {
        const compiled = Array.from({ length: 12 }, (_, index) => compilePolicy(anyPolicy(forPolicies, `p${index}`)))
        const index = indexPolicies(compiled)
        // One after the other: what an index keeps of a request must be right for the next.
        for (const context of forContexts.map(anyContext)) {
          const decision = authorize(index, context)
          expect(decision).toEqual(authorize(compiled, context))
          for (const { outcome } of decision.policies) seen.add(outcome)
        }
      }),
      { numRuns: runs(80) },
    )
    expect([...seen].sort()).toEqual([
      'OUTCOME_ALLOW',
      'OUTCOME_DENY_EXPLICIT',
      'OUTCOME_DENY_IMPLICIT',
      'OUTCOME_ERROR',
      'OUTCOME_REQUIRES_CONSENSUS',
      'OUTCOME_TIME_INACTIVE',
    ])
  })

  test('index of policies: every published case comes to the same through it', () => {
    for (const { policies, context, name } of readPolicyCases()) {
      const compiled = policies.map(compilePolicy)
      expect(authorize(indexPolicies(compiled), context), name).toEqual(authorize(compiled, context))
    }
  })

  test('index of policies: a policy whose literal does not match is still an error when another part of it is', () => {
    const condition = "activity.kind == 'CREATE_WALLET' && wallet.id == 'w'"
    const index = indexPolicies([compilePolicy({ id: 'p', name: 'p', effect: 'EFFECT_DENY', condition })])
    const context = { now: 0n, activity: { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' }, approvers: [{ id: 'ana' }] }
    expect(authorize(index, context).policies).toEqual([
      {
        policyId: 'p',
        outcome: 'OUTCOME_ERROR',
        error: {
          kind: 'MissingField',
          message: '`wallet` is not defined for this activity',
          field: 'condition',
          start: 36,
          end: 42,
        },
      },
    ])
  })

  test('index of policies: what a request lacks is found once for all policies that begin with it, and told of each', () => {
    let evaluated = 0
    const texts = Array.from({ length: 100 }, (_, index) => ({
      id: `p${index}`,
      name: `p${index}`,
      effect: 'EFFECT_ALLOW' as const,
      condition: `${' '.repeat(index)}activity.kind == 'SIGN_TRANSACTION' && wallet.id == 'w${index}'`,
    }))
    const index = indexPolicies(
      texts.map((text) =>
        compileWatched(text, () => (_, evaluate) => (frame) => {
          evaluated++
          return evaluate(frame)
        }),
      ),
    )
    const plain = texts.map(compilePolicy)
    const activity = { type: 'ACTIVITY_TYPE_CREATE_WALLET' }
    const requests = [undefined, null, {}, { id: null }, 5, { id: 5 }, { id: 'w7' }, undefined, {}]
    const evaluations = requests.map((wallet) => {
      const context = { now: 0n, activity, approvers: [{ id: 'ana' }], wallet } as unknown as PolicyContext
      const before = evaluated
      expect(authorize(index, context)).toEqual(authorize(plain, context))
      return evaluated > before
    })
    // Not defined, without the field, no struct; a field of the wrong type says so anew each time.
    expect(evaluations).toEqual([true, false, true, false, true, true, false, false, false])
  })

  test('index of policies: a policy whose literals do not match is not looked at', () => {
    let evaluated = 0
    const compiled = Array.from({ length: 100 }, (_, index) =>
      compileWatched(
        {
          id: `p${index}`,
          name: `p${index}`,
          effect: 'EFFECT_ALLOW',
          condition: `activity.kind == 'SIGN_TRANSACTION' && wallet.id in ['w${index}', 'x${index}'] && !wallet.exported`,
          consensus: 'approvers.count() >= 1',
        },
        (field) => (node, evaluate) => (frame) => {
          if (field === 'condition' && node.kind === 'logic') evaluated++
          return evaluate(frame)
        },
      ),
    )
    const context = {
      now: 0n,
      activity: { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' },
      approvers: [{ id: 'ana' }],
      wallet: { id: 'x42', exported: false },
    }
    const { policies, outcome } = authorize(indexPolicies(compiled), context)
    expect(evaluated).toBe(1)
    expect(outcome).toBe('OUTCOME_ALLOW')
    expect(policies.filter((one) => one.outcome === 'OUTCOME_ALLOW')).toEqual([
      { policyId: 'p42', outcome: 'OUTCOME_ALLOW' },
    ])
  })

  test('index of policies: many voters cannot push a policy over its steps unnoticed', () => {
    const consensus = 'approvers.all(a, approvers.all(b, approvers.all(c, a.id != b.id || b.id == c.id)))'
    const condition = "activity.kind == 'CREATE_WALLET'"
    const compiled = [compilePolicy({ id: 'p', name: 'p', effect: 'EFFECT_ALLOW', condition, consensus })]
    const approvers = Array.from({ length: 60 }, (_, index) => ({ id: `u${index}` }))
    const context = { now: 0n, activity: { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' }, approvers }
    expect(authorize(compiled, context).policies[0]!.error?.kind).toBe('TooManySteps')
    expect(authorize(indexPolicies(compiled), context)).toEqual(authorize(compiled, context))
  })
})

describe('direct forms', () => {
  const watched = (policy: PolicyText) => compileWatched(policy, () => (_, evaluate) => evaluate)

  test('direct forms: come to what the general forms come to, with the same error', () => {
    fc.assert(
      fc.property(tapes(300), tapes(500), (forPolicy, forContext) => {
        const policy = anyPolicy(forPolicy, 'p')
        const context = anyContext(forContext)
        expect(authorize([compilePolicy(policy)], context), policy.condition).toEqual(
          authorize([watched(policy)], context),
        )
      }),
      { numRuns: runs(400) },
    )
  })

  test('direct forms: every published case comes to the same through the general forms', () => {
    for (const { policies, context, name } of readPolicyCases())
      expect(authorize(policies.map(watched), context), name).toEqual(authorize(policies.map(compilePolicy), context))
  })

  /** What no request has where a struct, a text, a number or a list is declared. */
  const odd: readonly unknown[] = [
    undefined,
    null,
    'text',
    '7',
    7n,
    7,
    2n ** 200n,
    -(2n ** 200n),
    true,
    [],
    ['a'],
    {},
    [[]],
  ]

  test('direct forms: whatever stands somewhere in a request, they come to what the general forms come to', () => {
    const same = (policy: PolicyText, context: PolicyContext) =>
      expect(authorize([compilePolicy(policy)], context), policy.condition ?? policy.consensus).toEqual(
        authorize([watched(policy)], context),
      )
    const literalsOf: Readonly<Record<string, readonly string[]>> = { string: ["== 'a'", "!= 'a'", "in ['a', 'b']"] }
    const numbers = ['==', '!=', '<', '<=', '>', '>='].map((operator) => `${operator} 7`)
    let chains = 0
    for (const chain of Object.keys(chainReaders)) {
      const [root = '', ...names] = chain.split('.')
      const type = names.reduce<Type | undefined>((above, name) => memberType(above, name), rootType(root))
      if (type === undefined || root === 'approvers' || root === 'credentials' || root === 'time') continue
      const tails =
        literalsOf[type.kind] ??
        (type.kind === 'int' || type.kind === 'uint'
          ? numbers
          : type.kind === 'list'
            ? ['.count() > 0', '.all(x, 1 in [1])', ...(type.element.kind === 'string' ? [".contains('a')"] : [])]
            : [])
      for (const tail of tails)
        for (let depth = root === 'activity' ? 2 : 0; depth <= names.length; depth++)
          for (const value of odd) {
            chains++
            const inside = names.slice(0, depth).reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)
            const given =
              root === 'activity'
                ? { activity: { type: 'ACTIVITY_TYPE_CREATE_WALLET', ...(inside as object) } }
                : { activity: { type: 'ACTIVITY_TYPE_CREATE_WALLET' }, [root]: inside }
            const condition = tail.startsWith('.') ? `${chain}${tail}` : `${chain} ${tail}`
            same({ id: 'p', name: 'p', effect: 'EFFECT_ALLOW', condition }, {
              now: 0n,
              approvers: [],
              ...given,
            } as PolicyContext)
          }
    }
    expect(chains).toBeGreaterThan(5_000)
  })

  test('direct forms: whatever is said of voters, they come to what the general forms come to', () => {
    const consensuses = ['>= 2', '== 1', '!= 1', '< 2', '<= 1', '> 0', '>= 0', '< 0'].map(
      (tail) => `approvers.filter(u, u.tags.contains('a')).count() ${tail}`,
    )
    consensuses.push(
      "approvers.any(u, u.tags.contains('a'))",
      "approvers.any(u, u.alias == 'a')",
      'approvers.count() != 1',
    )
    const voters = odd.flatMap((value) => [value, { id: 'u', tags: value }, { id: 'u', tags: ['a', value] }])
    for (const consensus of consensuses)
      for (const approvers of [
        ...odd,
        ...voters.map((voter) => [voter]),
        ...voters.map((voter) => [{ id: 'v', tags: ['a'] }, voter]),
      ]) {
        const policy: PolicyText = { id: 'p', name: 'p', effect: 'EFFECT_DENY', consensus }
        const context = { now: 0n, activity: { type: 'ACTIVITY_TYPE_CREATE_WALLET' }, approvers } as PolicyContext
        expect(authorize([compilePolicy(policy)], context), consensus).toEqual(authorize([watched(policy)], context))
      }
  })

  test('direct forms: the readers are those that the tables give', () => {
    const file = new URL('../../src/policy/generated/readers.gen.ts', import.meta.url)
    expect(readFileSync(file, 'utf8')).toBe(renderReaders())
  })

  test('direct forms: no field of the environment has the name of something that every object has', () => {
    const names = [
      ...Object.keys(roots),
      ...Object.values(structs).flatMap(({ fields }) => fields.map((one) => one.name)),
    ]
    expect(names.length).toBeGreaterThan(100)
    expect(names.filter((name) => name in Object.prototype)).toEqual([])
  })
})
