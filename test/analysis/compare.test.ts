/** How one set of policies relates to another, held against trying every vote in every order on concrete requests of both. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ComparedPower, comparePolicies, type Play, type PolicySet, relationOf } from '../../src/analysis/index.ts'
import type { PolicyText } from '../../src/policy/index.ts'
import { runs } from '../runs.ts'
import { covers, NOW, policy, requests, setOf, trials } from './compared-sets.ts'

function checkPlay({ context, votes }: Play, by: PolicySet, not: PolicySet): void {
  const people = votes.map(({ user }) => user)
  expect(covers(trials(by, context), [people]), JSON.stringify(people)).toBe(true)
  expect(trials(not, context).some((set) => set.every((name) => people.includes(name)))).toBe(false)
}

const show = (value: unknown) => JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}` : one))
const POWERS = ['sign', 'export'] as const

describe('compare', () => {
  test('a relation holds for concrete requests by every vote in every order, and each witness is one', () => {
    const pairs = fc.tuple(fc.array(policy, { maxLength: 4 }), fc.array(policy, { maxLength: 2 }), fc.nat(3))
    const told = new Map<string, number>()
    fc.assert(
      fc.property(pairs, ([policies, others, from]) => {
        const [first, second] = [setOf(policies), setOf([...policies.slice(0, from), ...others])]
        const rows = comparePolicies(first, second, { nowMs: NOW, powers: POWERS })
        for (const { wider, narrower, relation } of rows) {
          told.set(relation, (told.get(relation) ?? 0) + 1)
          if (wider) checkPlay(wider, second, first)
          if (narrower) checkPlay(narrower, first, second)
        }
        const relation = relationOf(rows)
        if (relation === 'unknown' || relation === 'incomparable') return
        for (const request of requests()) {
          const [a, b] = [trials(first, request), trials(second, request)]
          if (relation !== 'wider') expect(covers(a, b), `${relation} ${show(request)}`).toBe(true)
          if (relation !== 'narrower') expect(covers(b, a), `${relation} ${show(request)}`).toBe(true)
        }
      }),
      { numRuns: runs(24) },
    )
    for (const relation of ['equal', 'wider', 'narrower']) expect(told.get(relation), relation).toBeGreaterThan(0)
  })

  const SIGNS = "activity.kind == 'SIGN_TRANSACTION'"
  const relation = (a: readonly Partial<PolicyText>[], b: readonly Partial<PolicyText>[]) =>
    relationOf(comparePolicies(setOf(a), setOf(b), { nowMs: NOW }))
  const deny = (condition: string) => ({ effect: 'EFFECT_DENY' as const, condition })

  test.each<readonly [string, readonly Partial<PolicyText>[], readonly Partial<PolicyText>[], string]>([
    [
      'clauses in another order',
      [{ condition: `${SIGNS} && eth.tx.value > 5` }],
      [{ condition: `eth.tx.value > 5 && ${SIGNS}` }],
      'equal',
    ],
    [
      'one policy as two',
      [{ condition: "activity.action in ['SIGN', 'EXPORT']" }],
      [{ condition: "activity.action == 'SIGN'" }, { condition: "activity.action == 'EXPORT'" }],
      'equal',
    ],
    [
      'a limit raised',
      [{ condition: `${SIGNS} && eth.tx.value < 5` }],
      [{ condition: `${SIGNS} && eth.tx.value <= 5` }],
      'wider',
    ],
    [
      'the same limit, told otherwise',
      [{ condition: `${SIGNS} && eth.tx.value < 6` }],
      [{ condition: `${SIGNS} && eth.tx.value <= 5` }],
      'equal',
    ],
    [
      'another limit and another wallet',
      [{ condition: `${SIGNS} && eth.tx.value < 5` }],
      [{ condition: `${SIGNS} && eth.tx.value < 9 && wallet.id == 'w-hot'` }],
      'incomparable',
    ],
    [
      'a DENY that errs where a side is missing, split',
      [{ condition: SIGNS }, deny(`${SIGNS} && (eth.tx.value > 5 || wallet.label == 'hot')`)],
      [{ condition: SIGNS }, deny(`${SIGNS} && eth.tx.value > 5`), deny(`${SIGNS} && wallet.label == 'hot'`)],
      'narrower',
    ],
    [
      'a DENY without a condition',
      [{ condition: SIGNS }],
      [{ condition: SIGNS }, { effect: 'EFFECT_DENY' }],
      'narrower',
    ],
    [
      'an ALLOW under a DENY',
      [deny("activity.action == 'EXPORT'")],
      [deny("activity.action == 'EXPORT'"), { condition: "activity.kind == 'EXPORT_WALLET'" }],
      'equal',
    ],
    ['what the root quorum may export', [deny("activity.action == 'EXPORT'")], [], 'wider'],
    [
      'other people',
      [{ consensus: "approvers.any(u, u.tags.contains('ops'))" }],
      [{ consensus: "approvers.any(u, u.id in ['alice', 'bob'])" }],
      'equal',
    ],
    [
      'a time that is over',
      [{ time: "time.now < Timestamp('2026-01-01T00:00:00Z')" }],
      [{ time: "time.now < Timestamp('2026-01-02T00:00:00Z')" }],
      'wider',
    ],
    [
      'business hours',
      [{ condition: SIGNS }],
      [{ condition: SIGNS, time: "CronSpan('0 9 * * 1-5', '8h', 'Europe/Oslo')" }],
      'narrower',
    ],
    [
      'a call by its selector and by its name',
      [{ condition: `${SIGNS} && eth.tx.function_signature == '0xa9059cbb' && eth.tx.data[10..12] == '07'` }],
      [{ condition: `${SIGNS} && eth.tx.data[10..12] == '07' && eth.tx.function_signature == '0xA9059CBB'` }],
      'equal',
    ],
    [
      'a selector that the bytes have, and an interface need not name',
      [{ condition: `${SIGNS} && eth.tx.function_signature == '0xa9059cbb'` }],
      [{ condition: `${SIGNS} && eth.tx.data[0..10] == '0xa9059cbb'` }],
      'wider',
    ],
    [
      'a legacy transaction, which may be for no chain',
      [{ condition: `${SIGNS} && eth.tx.value < 5` }],
      [{ condition: `${SIGNS} && eth.tx.value < 5 && eth.tx.chain_id >= 0` }],
      'narrower',
    ],
    [
      'a DENY that errs of a number that does not fit',
      [{ condition: SIGNS }, deny(`${SIGNS} && eth.tx.nonce == 5`)],
      [{ condition: SIGNS }, deny(`${SIGNS} && eth.tx.nonce == 5 && eth.tx.value >= 0`)],
      'wider',
    ],
    [
      'a parameter that the first version of an activity does not tell',
      [{ condition: `${SIGNS} && eth.tx.nonce >= 0` }],
      [{ condition: `${SIGNS} && eth.tx.nonce >= 0 && activity.params.type == 'TRANSACTION_TYPE_ETHEREUM'` }],
      'narrower',
    ],
    ['a wallet that neither has', [], [{ condition: "wallet.id == 'w-new' && wallet.label == 'new'" }], 'wider'],
    [
      'letters and stretches of a label that overlap',
      [{ condition: "wallet.label[3] == 'd' && wallet.label[0..3] == 'col'" }],
      [{ condition: "wallet.label[0..4] == 'cold'" }],
      'equal',
    ],
    [
      'an element of a list of arguments',
      [{ condition: `${SIGNS} && eth.tx.contract_call_args['to'].all(r, r == 5)` }],
      [{ condition: `${SIGNS} && eth.tx.contract_call_args['to'].all(r, r in [5, 6])` }],
      'wider',
    ],
    [
      'the same element, told otherwise',
      [{ condition: `${SIGNS} && eth.tx.contract_call_args['to'].all(r, r in [5, 6])` }],
      [{ condition: `${SIGNS} && !eth.tx.contract_call_args['to'].any(r, !(r == 5 || r == 6))` }],
      'equal',
    ],
    [
      'a tuple by its places',
      [{ condition: `${SIGNS} && eth.tx.contract_call_args['order'][1] < 50` }],
      [
        {
          condition: `${SIGNS} && eth.tx.contract_call_args['order'][1] < 50 && eth.tx.contract_call_args['order'][0] == 'a'`,
        },
      ],
      'narrower',
    ],
    [
      'a field that a contract of another type lacks',
      [{ condition: `${SIGNS} && tron.tx.contract.all(c, c.type == 'x' || c.type != 'x')` }],
      [{ condition: `${SIGNS} && tron.tx.contract.all(c, c.amount >= 0)` }],
      'narrower',
    ],
    [
      'a wallet beside a private key, in every kind of request',
      [],
      [{ condition: "wallet.id == 'w-hot' || private_key.id == 'k'" }],
      'equal',
    ],
    [
      'a request of a kind whose roots are not all known',
      [{ condition: 'bitcoin.tx.fee < 5' }],
      [{ condition: 'bitcoin.tx.fee < 6' }],
      'unknown',
    ],
    [
      'one that is known to differ as others of its power may',
      [{ condition: 'eth.tx.value < 5' }],
      [{ condition: 'eth.tx.value < 6' }],
      'wider',
    ],
    ['the same for such a request', [{ condition: 'eth.tx.value < 6' }], [{ condition: 'eth.tx.value <= 5' }], 'equal'],
    [
      'parts that are compared with each other',
      [{ condition: `${SIGNS} && eth.tx.to == eth.tx.from` }],
      [{ condition: `${SIGNS} && eth.tx.from == eth.tx.to` }],
      'unknown',
    ],
  ])('%s', (_, a, b, expected) => {
    expect(relation(a, b)).toBe(expected)
    const mirrored: Readonly<Record<string, string>> = { wider: 'narrower', narrower: 'wider' }
    expect(relation(b, a)).toBe(mirrored[expected] ?? expected)
    expect(relation(a, a)).toBe('equal')
  })

  test('another root quorum is another power', () => {
    const [first, second] = [setOf([]), setOf([], ['root', 'bob'])]
    const rows = comparePolicies(first, second, { nowMs: NOW })
    const quorum = rows.find(({ power }) => power === 'quorum') as ComparedPower
    expect(quorum).toMatchObject({ relation: 'incomparable', wider: { votes: [{ user: 'bob' }, { user: 'root' }] } })
    expect(rows.map((row) => row.relation)).not.toContain('unknown')
  })
})
