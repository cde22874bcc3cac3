/** Who gains and who loses which power: by table, and by trying every set of people. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accessChanges } from '../../src/analysis/access.ts'
import { planWithForecast } from '../../src/analysis/index.ts'
import { createPolicyCompiler, policiesOf } from '../../src/analysis/policies.ts'
import { votersOf } from '../../src/authority/index.ts'
import { readPlan, renderPlanText, writePlan } from '../../src/plan/index.ts'
import { authorize, mayVote, type PolicyContext, type Voter } from '../../src/policy/index.ts'
import { organizationOf, type Resource } from '../../src/resources/index.ts'
import {
  actualOf,
  bootstrap,
  declare,
  idFor,
  key,
  live,
  lockOfDeclared,
  policy,
  ref,
  text,
} from '../plan/organization.ts'
import { type Given, planInput } from '../plan/planning.ts'
import { runs } from '../runs.ts'

const OPS = idFor('tag.ops')
const person = (name: string, tags: readonly string[] = []) => [
  live(`user.${name}`, { tags: tags.map((tag) => idFor(`tag.${tag}`)) }),
  live(`apiKey.${name}.k`, key(name)),
]
const quorum = (threshold: number, ...names: readonly string[]) =>
  live('rootQuorum', { threshold, users: names.map((name) => idFor(`user.${name}`)) })
const [organization, , , aliceKey] = bootstrap() as [Resource, Resource, Resource, Resource]
const office: readonly Resource[] = [
  organization,
  quorum(2, 'alice', 'bob', 'carol'),
  live('user.alice', { tags: [] }),
  aliceKey,
  ...person('bob', ['ops']),
  ...person('carol', ['ops']),
  ...person('dave', ['ops']),
  live('tag.ops'),
  live('wallet.cold'),
  live('wallet.hot'),
]

/** The lines about power that a plan is shown with. */
function power(given: Given): readonly string[] {
  const actual = given.actual ?? office
  const lock = lockOfDeclared('resources' in actual ? actual.resources : actual, given.desired)
  const { plan } = planWithForecast(planInput({ lock, ...given, actual }))
  expect(readPlan(writePlan(plan))).toEqual(plan)
  const lines = renderPlanText(plan).split('\n')
  const from = lines.indexOf('Power')
  return lines.slice(from + 1, lines.indexOf('', from)).map((line) => line.trimEnd())
}

const someOps = text("approvers.any(u, u.tags.contains('", ref('tag.ops'), "'))")
const signs = (wallet: string, rest = '') =>
  text("activity.kind == 'SIGN_TRANSACTION' && wallet.id == '", ref(`wallet.${wallet}`), `'${rest}`)
const held = [declare('tag.ops'), declare('wallet.cold')]

const many = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'b2', 'b3', 'b4', 'b5']
const coldSigning = `activity.kind == 'SIGN_TRANSACTION' && wallet.id == '${idFor('wallet.cold')}'`
/** One of these together with one of the five. */
const pairs = (...first: readonly string[]) => {
  const among = (names: readonly string[]) => `[${names.map((name) => `'${idFor(`user.${name}`)}'`).join(', ')}]`
  const some = (names: readonly string[]) => `approvers.any(u, u.id in ${among(names)})`
  return `${some(first)} && ${some(['b1', 'b2', 'b3', 'b4', 'b5'])}`
}

describe('access', () => {
  const cases: readonly { name: string; given: Given; expected: readonly string[] }[] = [
    {
      name: 'no change is said',
      given: { desired: [declare('tag.new')] },
      expected: [
        '    no change found in who can sign with a wallet, export one, export secrets, or change policies or',
        '    the root quorum; other powers are not compared',
      ],
    },
    {
      name: 'a policy for one wallet: who may sign with it alone, and who still may together',
      given: { desired: [...held, declare('policy.sign', policy(someOps, signs('cold')))] },
      expected: [
        '  ~ sign transactions of wallet.cold: any 2 of alice, bob, carol → any 1 of bob, carol, dave',
        '    no change for any other wallet',
      ],
    },
    {
      name: 'a condition on the transaction is left open, by itself',
      given: { desired: [...held, declare('policy.sign', policy(someOps, signs('cold', ' && eth.tx.value < 5')))] },
      expected: [
        '  ~ sign transactions of wallet.cold: any 2 of alice, bob, carol → any 2 of alice, bob, carol; under',
        '    condition `eth.tx.value < 5`: any 1 of bob, carol, dave',
        '    no change for any other wallet',
      ],
    },
    {
      name: 'a DENY takes power from everybody: the quorum cannot gather votes on what is refused at once',
      given: {
        desired: [declare('policy.freeze', policy(null, "activity.kind == 'SIGN_TRANSACTION'", 'deny'))],
        actual: [...office, live('policy.sign', policy(`approvers.any(u, u.tags.contains('${OPS}'))`, null))],
      },
      expected: [
        '  - sign transactions of wallet.cold and wallet.hot: any 1 of bob, carol, dave → nobody',
        '    no change for any other wallet',
      ],
    },
    {
      name: 'a new wallet is somebody’s, and a deleted one nobody’s',
      given: { desired: [declare('wallet.new'), declare('wallet.hot', {}, { tombstone: true })] },
      expected: [
        '  - sign transactions, sign raw payloads and export of wallet.hot: any 2 of alice, bob, carol →',
        '    nobody',
        '  + sign transactions, sign raw payloads and export of wallet.new: any 2 of alice, bob, carol',
        '    no change for any other wallet',
      ],
    },
    {
      name: 'a quorum that is raised changes every power',
      given: {
        desired: [
          declare('rootQuorum', { threshold: 3, users: ['alice', 'bob', 'carol'].map((n) => ref(`user.${n}`)) }),
        ],
      },
      expected: [
        '  ~ sign transactions, sign raw payloads and export of wallet.cold and wallet.hot: any 2 of alice,',
        '    bob, carol → alice and bob and carol',
        '  ~ export secrets, add policies, change policies, delete policies and change the root quorum: any 2',
        '    of alice, bob, carol → alice and bob and carol',
        '    no change for any other wallet',
      ],
    },
    {
      name: 'somebody who gains power only together with others gains it all the same',
      given: {
        desired: [...held, declare('policy.sign', policy('approvers.count() >= 3', signs('cold')))],
        actual: [...office.filter(({ kind }) => kind !== 'rootQuorum'), quorum(1, 'alice'), ...person('eve')],
      },
      expected: [
        '  ~ sign transactions of wallet.cold: alice → alice, or any 3 of bob, carol, dave, eve',
        '    no change for any other wallet',
      ],
    },
  ]
  const readOnly = [...office.filter(({ kind }) => kind !== 'rootQuorum'), quorum(2, 'bob', 'carol', 'dave')]
  const limited = (wei: string) =>
    policy(
      `approvers.any(u, u.tags.contains('${OPS}'))`,
      `activity.kind == 'SIGN_TRANSACTION' && wallet.id == '${idFor('wallet.cold')}' && eth.tx.value < ${wei}`,
    )
  const silent: typeof cases = [
    {
      name: 'a key that may not change it sees what is gained all the same: a limit that is tripled',
      given: {
        desired: [...held, declare('policy.sign', policy(someOps, signs('cold', ' && eth.tx.value < 15')))],
        actual: [...readOnly, live('policy.sign', limited('5'))],
      },
      expected: [
        '  ~ sign transactions of wallet.cold: any 2 of bob, carol, dave; under condition `eth.tx.value < 5`:',
        '    any 1 of bob, carol, dave → any 2 of bob, carol, dave; under condition `eth.tx.value < 15`: any',
        '    1 of bob, carol, dave',
        '  ? alice cannot have all of this carried out: power is told as it will be once somebody has',
        '    no change for any other wallet',
      ],
    },
    {
      name: 'where there are too many sets to try, that is what is said',
      given: {
        desired: [
          ...held,
          declare(
            'policy.sign',
            policy('approvers.count() >= 13 && approvers.all(a, approvers.any(b, a.id == b.id))', signs('cold')),
          ),
        ],
        actual: [
          ...office.filter(({ kind }) => kind !== 'rootQuorum'),
          quorum(1, 'alice'),
          ...Array.from({ length: 20 }, (_, index) => person(`p${index}`)).flat(),
        ],
      },
      expected: [
        '  ? sign transactions of wallet.cold: not known whether anybody gains or loses it: alice → unknown:',
        '    there are too many sets of people to try them all',
        '    no change for any other wallet',
      ],
    },
    {
      name: 'what differs beyond the sets that are written out is a change',
      given: {
        desired: [...held, declare('policy.sign', policy(pairs('a1', 'a2', 'a3', 'a4', 'a6'), signs('cold')))],
        actual: [
          ...office.filter(({ kind }) => kind !== 'rootQuorum'),
          quorum(9, ...many),
          ...many.flatMap((name) => person(name)),
          live('policy.sign', { ...policy(pairs('a1', 'a2', 'a3', 'a4', 'a5'), coldSigning) }),
          live('policy.all', policy("approvers.any(u, u.alias == 'alice')", "activity.resource == 'POLICY'")),
        ],
      },
      expected: [expect.stringContaining('~ sign transactions of wallet.cold: a1 and b1')] as never,
    },
    {
      name: 'a condition on what lists of wallets do not tell is left open, and keeps its brackets',
      given: {
        desired: [
          ...held,
          declare(
            'policy.take',
            policy(
              someOps,
              text(
                "(wallet.exported || wallet.imported) && wallet.id == '",
                ref('wallet.cold'),
                "' && activity.action == 'EXPORT'",
              ),
            ),
          ),
        ],
      },
      expected: [
        '  ~ export of wallet.cold: any 2 of alice, bob, carol → any 2 of alice, bob, carol; under condition',
        '    `(wallet.exported',
        '    || wallet.imported)`: any 1 of bob, carol, dave',
        '    no change for any other wallet',
      ],
    },
  ]
  test.each(silent)('not silent: $name', ({ given, expected }) => {
    const lines = power(given)
    if (typeof expected[0] === 'string') expect(lines).toEqual(expected)
    else {
      expect(lines[0]).toEqual(expected[0])
      expect(lines.join(' ').replaceAll(/ +/g, ' ')).toContain(
        'or 5 more sets of people → other sets of people, beyond those that are shown',
      )
    }
  })

  test('not silent: of wallets that were not read nothing is said', () => {
    const unread = { ...actualOf(office.filter(({ kind }) => kind !== 'wallet')), unread: ['wallet' as const] }
    expect(power({ desired: [declare('tag.new')], actual: unread })).toEqual([
      '  ? wallets were not read: who can sign with one or export one is not compared',
      '    no change found in who can export secrets, or change policies or the root quorum; other powers',
      '    are not compared',
    ])
  })

  test.each(cases)('$name', ({ given, expected }) => {
    expect(power(given)).toEqual(expected)
  })

  const CONSENSUS = [
    null,
    'approvers.count() >= 2',
    `approvers.any(u, u.tags.contains('${OPS}'))`,
    `approvers.filter(u, u.tags.contains('${OPS}')).count() >= 2`,
    `approvers.any(u, u.id == '${idFor('user.bob')}') && approvers.count() >= 2`,
  ]
  const CONDITION = [
    null,
    "activity.kind == 'SIGN_TRANSACTION'",
    "activity.resource == 'POLICY' && activity.action == 'CREATE'",
    `wallet.id == '${idFor('wallet.cold')}'`,
    `activity.action == 'SIGN' && wallet.label == 'hot'`,
  ]
  const TYPES = {
    'sign transactions': 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    'sign raw payloads': 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
    export: 'ACTIVITY_TYPE_EXPORT_WALLET',
    'export secrets': 'ACTIVITY_TYPE_EXPORT_SECRETS',
    'add policies': 'ACTIVITY_TYPE_CREATE_POLICIES',
    'change the root quorum': 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM',
  } as const
  const people = ['alice', 'bob', 'carol', 'dave', 'eve'] as const
  const worlds = fc.record({
    tagged: fc.subarray([...people]),
    members: fc.subarray([...people], { minLength: 1 }),
    threshold: fc.integer({ min: 1, max: 4 }),
    policies: fc.array(
      fc.record({ who: fc.nat(4), what: fc.nat(4), effect: fc.constantFrom('allow', 'allow', 'deny') }),
      { maxLength: 4 },
    ),
  })

  test('every set of people that suffices, and from which nobody can be left out, is found, and no other', () => {
    fc.assert(
      fc.property(worlds, ({ tagged, members, threshold, policies }) => {
        const things: readonly Resource[] = [
          quorum(threshold, ...members),
          ...people.flatMap((name) => person(name, tagged.includes(name) ? ['ops'] : [])),
          ...policies.map(({ who, what, effect }, index) =>
            live(`policy.p${index}`, policy(CONSENSUS[who]!, CONDITION[what]!, effect)),
          ),
          live('wallet.cold'),
          live('wallet.hot'),
        ]
        const now = 0n
        const found = accessChanges({ things: [] }, { things }, { now, namesById: new Map() })
        for (const [name, type] of Object.entries(TYPES)) {
          const perWallet = /sign|export$/.test(name)
          for (const wallet of perWallet ? ['cold', 'hot'] : [undefined]) {
            const row = found.find((one) => one.power === name && one.wallet === (wallet && `wallet.${wallet}`))
            expect(row?.after.under).toBeUndefined()
            const sets = (row?.after.ways ?? []).flatMap((way) => way.sets).map((set) => set.join(' '))
            expect(new Set(sets)).toEqual(new Set(bruteForce(things, type, wallet)))
          }
        }
      }),
      { numRuns: runs(40) },
    )
  })

  test('access: what changes between two states is what either of them says by itself', () => {
    const someone = fc.record({
      name: fc.constantFrom('alice', 'bob', 'carol', 'dave'),
      email: fc.constantFrom('', 'a@acme.test', 'b@acme.test'),
      tags: fc.subarray(['ops', 'desk']),
      key: fc.boolean(),
    })
    const who = fc.constantFrom(
      null,
      'approvers.count() >= 2',
      `approvers.any(u, u.tags.contains('${OPS}'))`,
      `approvers.any(u, u.tags.contains('${idFor('tag.desk')}') && u.id == '${idFor('user.dave')}')`,
      "approvers.any(u, u.email == 'a@acme.test')",
    )
    const what = fc.constantFrom(
      null,
      `wallet.id == '${idFor('wallet.cold')}'`,
      `activity.kind == 'SIGN_TRANSACTION' && wallet.id == '${idFor('wallet.hot')}' && eth.tx.value < 5`,
      "wallet.label == 'hot'",
      "activity.resource == 'POLICY'",
    )
    const rule = fc.tuple(fc.constantFrom('a', 'b', 'c'), who, what, fc.constantFrom('allow', 'deny'))
    const state = fc
      .record({
        people: fc.uniqueArray(someone, { minLength: 1, maxLength: 4, selector: ({ name }) => name }),
        rules: fc.uniqueArray(rule, { maxLength: 3, selector: ([name]) => name }),
        wallets: fc.subarray(['cold', 'hot']),
        threshold: fc.constantFrom(1, 2),
      })
      .map(({ people, rules, wallets, threshold }) => ({
        things: [
          quorum(threshold, 'alice', 'bob'),
          ...people.flatMap(({ name, email, tags, key: has }) => {
            const [user, ownKey] = person(name, tags)
            return [{ ...user!, fields: { ...user!.fields, email } }, ...(has ? [ownKey!] : [])]
          }),
          ...rules.map(([name, consensus, condition, effect]) =>
            live(`policy.${name}`, policy(consensus, condition, effect as 'allow' | 'deny')),
          ),
          ...wallets.map((name) => live(`wallet.${name}`)),
        ],
      }))
    const asked = { now: 0n, namesById: new Map<string, string>() }
    // Beside an organization in which there is nothing, everything that anybody may do is a change.
    const said = (one: { readonly things: readonly Resource[] }) =>
      new Map(
        accessChanges({ things: [] }, one, asked).map(({ power: name, wallet, after }) => [`${name} ${wallet}`, after]),
      )
    let changed = 0
    fc.assert(
      fc.property(state, state, fc.boolean(), (first, second, samePeople) => {
        const isPerson = ({ kind }: Resource) => kind === 'user' || kind === 'apiKey'
        const later = samePeople
          ? { things: [...first.things.filter(isPerson), ...second.things.filter((one) => !isPerson(one))] }
          : second
        const [then, now] = [said(first), said(later)]
        const expected = [...new Set([...then.keys(), ...now.keys()])]
          .map((key) => [key, then.get(key) ?? { ways: [] }, now.get(key) ?? { ways: [] }] as const)
          .filter(([, before, after]) => JSON.stringify(before) !== JSON.stringify(after))
        const found = accessChanges(first, later, asked)
        changed += found.length
        expect(
          new Map(found.map(({ power: name, wallet, before, after }) => [`${name} ${wallet}`, { before, after }])),
        ).toEqual(new Map(expected.map(([key, before, after]) => [key, { before, after }])))
      }),
      { numRuns: runs(80) },
    )
    expect(changed).toBeGreaterThan(25)
  })
})

/** Tries all 31 sets of five people, each in every order of voting. */
function bruteForce(things: readonly Resource[], type: string, wallet: string | undefined): readonly string[] {
  const policies = policiesOf({ things }, createPolicyCompiler())
  const organization = organizationOf(things)
  const all = votersOf(organization, 0)
  const context = (some: readonly Voter[]): PolicyContext => ({
    now: 0n,
    activity: { type, params: {} },
    approvers: some.map(({ approver }) => approver),
    credentials: some.map(({ credentials }) => credentials![0]!),
    rootQuorum: organization.rootQuorum,
    ...(wallet === undefined ? {} : { wallet: { id: idFor(`wallet.${wallet}`), label: wallet } }),
  })
  const works = (given: readonly Voter[], left: readonly Voter[]): boolean =>
    left.some((one) => {
      if (given.length > 0 && !mayVote(policies, context(given), one.approver, one.credentials![0])) return false
      const more = [...given, one]
      const { outcome } = authorize(policies, context(more))
      if (outcome === 'OUTCOME_ALLOW') return left.length === 1
      const rest = left.filter((other) => other !== one)
      return outcome === 'OUTCOME_REQUIRES_CONSENSUS' && works(more, rest)
    })
  const sets = Array.from({ length: 2 ** all.length }, (_, bits) => all.filter((_one, index) => bits & (1 << index)))
  const good = sets.filter((some) => works([], some))
  return good
    .filter((some) => !good.some((other) => other.length < some.length && other.every((one) => some.includes(one))))
    .map((some) =>
      some
        .map(({ name }) => name)
        .sort()
        .join(' '),
    )
}
