/** Who gains and who loses which power: by table, and by trying every set of people. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accessChanges, powersMayDiffer } from '../../src/analysis/access.ts'
import { planWithForecast } from '../../src/analysis/index.ts'
import { createPolicyCompiler, policiesOf } from '../../src/analysis/policies.ts'
import { POWER_NAMES, POWER_WORDS, requestsOf } from '../../src/analysis/power-table.ts'
import { votersOf } from '../../src/authority/index.ts'
import { type Access, type AccessChange, readPlan, renderPlanText, writePlan } from '../../src/plan/index.ts'
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
import { NOW } from './generated.ts'
import { wideOrganization, wideShapes } from './wide.ts'

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
        '    no change in who can sign, send, export or import, or change wallets, policies, the root quorum,',
        '    users, credentials, features or organizations',
      ],
    },
    {
      name: 'a policy for one wallet: who may sign with it alone, and who still may together',
      given: { desired: [...held, declare('policy.sign', policy(someOps, signs('cold')))] },
      expected: [
        '  ~ sign transaction of wallet.cold: any 2 of alice, bob, carol → any 1 of bob, carol, dave',
        '      alice loses: with others',
        '      bob, carol and dave gain: alone',
        '    no change in any other power',
      ],
    },
    {
      name: 'a name of the API that says nothing to most is put into words',
      given: { desired: [...held, declare('policy.sign', policy(someOps, "activity.kind == 'SPARK_SIGN_FROST'"))] },
      expected: [
        '  ~ sign on Spark (its share of a FROST signature) of wallet.cold and wallet.hot',
        '      before  any 2 of alice, bob, carol',
        '      after   any 1 of bob, carol, dave',
        '      alice loses: with others',
        '      bob, carol and dave gain: alone',
        '    no change in any other power',
      ],
    },
    {
      name: 'a condition on the transaction is left open, by itself',
      given: { desired: [...held, declare('policy.sign', policy(someOps, signs('cold', ' && eth.tx.value < 5')))] },
      expected: [
        '  ~ sign transaction (ethereum) of wallet.cold',
        '      before  any 2 of alice, bob, carol',
        '      after   any 2 of alice, bob, carol;',
        '              under condition `eth.tx.value < 5`: any 1 of bob, carol, dave',
        '      bob, carol and dave gain: alone below 5 wei',
        '    no change in any other power',
      ],
    },
    {
      name: 'a DENY takes power from everybody: the quorum cannot gather votes on what is refused at once',
      given: {
        desired: [declare('policy.freeze', policy(null, "activity.kind == 'SIGN_TRANSACTION'", 'deny'))],
        actual: [...office, live('policy.sign', policy(`approvers.any(u, u.tags.contains('${OPS}'))`, null))],
      },
      expected: [
        '  - sign transaction of wallet.cold and wallet.hot: any 1 of bob, carol, dave → nobody',
        '    no change in any other power',
      ],
    },
    {
      name: 'a new wallet is somebody’s, and a deleted one nobody’s',
      given: { desired: [declare('wallet.new'), declare('wallet.hot', {}, { tombstone: true })] },
      expected: [
        '  - sign, send and export of wallet.hot: any 2 of alice, bob, carol → nobody',
        '  + sign, send and export of wallet.new: any 2 of alice, bob, carol',
        '    no change in any other power',
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
        '  ~ sign, send and export of wallet.cold and wallet.hot',
        '      before  any 2 of alice, bob, carol',
        '      after   alice and bob and carol',
        '  ~ import, change policies, change the root quorum, change users, change credentials, change',
        '    features, change wallets, change organizations and export secrets',
        '      before  any 2 of alice, bob, carol',
        '      after   alice and bob and carol',
        '    no change in any other power',
      ],
    },
    {
      name: 'somebody who gains power only together with others gains it all the same',
      given: {
        desired: [...held, declare('policy.sign', policy('approvers.count() >= 3', signs('cold')))],
        actual: [...office.filter(({ kind }) => kind !== 'rootQuorum'), quorum(1, 'alice'), ...person('eve')],
      },
      expected: [
        '  ~ sign transaction of wallet.cold: alice → alice, or any 3 of bob, carol, dave, eve',
        '      bob, carol, dave and eve gain: with others',
        '    no change in any other power',
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
        '  ~ sign transaction (ethereum) of wallet.cold',
        '      before  any 2 of bob, carol, dave;',
        '              under condition `eth.tx.value < 5`: any 1 of bob, carol, dave',
        '      after   any 2 of bob, carol, dave;',
        '              under condition `eth.tx.value < 15`: any 1 of bob, carol, dave',
        '      bob, carol and dave: alone below 5 wei → alone below 15 wei',
        '  ? alice cannot apply all of this plan: power is shown as it would be after all of it',
        '    no change in any other power',
      ],
    },
    {
      name: 'what is compared in wei is said in ether as well, and who gains is said first of all',
      given: {
        desired: [
          ...held,
          declare('policy.sign', policy(someOps, signs('cold', ' && eth.tx.value <= 5000000000000000000'))),
        ],
        actual: [...office, live('policy.sign', limited('500000000000000000'))],
      },
      expected: [
        '  ~ sign transaction (ethereum) of wallet.cold',
        '      before  any 2 of alice, bob, carol;',
        '              under condition `eth.tx.value < 500000000000000000` (0.5 ETH): any 1 of bob, carol,',
        '              dave',
        '      after   any 2 of alice, bob, carol;',
        '              under condition `eth.tx.value <= 5000000000000000000` (5 ETH): any 1 of bob, carol,',
        '              dave',
        '      bob, carol and dave: alone below 0.5 ETH → alone up to 5 ETH',
        '    no change in any other power',
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
        '  ? sign transaction of wallet.cold: not known whether anybody gains or loses it: alice → unknown:',
        '    there are too many sets of people to try them all',
        '    no change in any other power',
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
      expected: [expect.stringContaining('~ sign transaction of wallet.cold')] as never,
    },
    {
      name: 'a condition on what lists of wallets do not tell is left open',
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
        '  ~ export of wallet.cold',
        '      before  any 2 of alice, bob, carol',
        '      after   any 2 of alice, bob, carol;',
        '              under condition `wallet.exported || wallet.imported`: any 1 of bob, carol, dave',
        '      bob, carol and dave gain: alone under condition `wallet.exported || wallet.imported`',
        '    no change in any other power',
      ],
    },
  ]
  test.each(silent)('not silent: $name', ({ given, expected }) => {
    const lines = power(given)
    if (typeof expected[0] === 'string') expect(lines).toEqual(expected)
    else {
      expect(lines[0]).toEqual(expected[0])
      expect(lines.join(' ').replaceAll(/ +/g, ' ')).toContain(
        'or 5 more sets of people after other people, or others whom a policy denies it, beyond what is shown',
      )
    }
  })

  test('not silent: of wallets that were not read nothing is said', () => {
    const unread = { ...actualOf(office.filter(({ kind }) => kind !== 'wallet')), unread: ['wallet' as const] }
    expect(power({ desired: [declare('tag.new')], actual: unread })).toEqual([
      '  ? wallets were not read: who can sign with one or export one is not compared',
      '    no change in who can import, or change wallets, policies, the root quorum, users, credentials,',
      '    features or organizations',
    ])
  })

  test.each(cases)('$name', ({ given, expected }) => {
    expect(power(given)).toEqual(expected)
  })

  const differences = (before: readonly Resource[], after: readonly Resource[]) =>
    accessChanges({ things: before }, { things: after }, { nowMs: 0, namesById: new Map() })
  const lone = office.filter(({ kind }) => kind !== 'rootQuorum').concat(quorum(1, 'alice'))
  const denies = (name: string, who: string, value: string) =>
    live(
      `policy.${name}`,
      policy(`approvers.any(u, u.id == '${idFor(`user.${who}`)}')`, `eth.tx.value ${value}`, 'deny'),
    )
  const allows = live('policy.ops', policy(`approvers.any(u, u.tags.contains('${OPS}'))`, "activity.action == 'SIGN'"))

  test('two DENY policies that stop each other’s people are a change, though the lines read the same', () => {
    const before = [...lone, allows, denies('a', 'bob', '> 5'), denies('b', 'carol', '< 2')]
    const after = [...lone, allows, denies('a', 'carol', '> 5'), denies('b', 'bob', '< 2')]
    const [change, ...others] = differences(before, after)
    expect(others.map(({ wallet }) => wallet)).toContain('wallet.hot')
    expect(change).toMatchObject({ power: 'sign', wallet: 'wallet.cold' })
    expect(change!.requests).toContain('sign transaction (ethereum)')
    expect(differences(before, before)).toEqual([])
  })

  test('what a DENY takes from everybody is no change, however many other conditions are open', () => {
    const conditions = [1, 2, 3, 4, 5, 6].map((gwei) => `eth.tx.gas_price == ${gwei}`)
    const open = conditions.map((condition, at) =>
      live(`policy.p${at}`, policy(`approvers.count() == ${at}`, condition)),
    )
    const lasting = [...open, denies('few', 'bob', '> 5'), live('policy.all', policy(null, null, 'deny'))]
    const tagged = lone.map((one) =>
      one.address === 'user.bob' ? { ...one, fields: { ...one.fields, tags: [] } } : one,
    )
    expect(differences([...lone, ...lasting], [...tagged, ...lasting])).toEqual([])
  })

  test('somebody who was deleted and made again by the same name is somebody else', () => {
    const again = { ...live('user.dave', { tags: [OPS] }), id: idFor('user.dave again') }
    const later = lone.filter(({ address, parent }) => address !== 'user.dave' && parent !== 'user.dave')
    const held = live('apiKey.dave.k', key('dave'))
    const after = [...later, again, { ...held, parentId: again.id }, allows]
    expect(differences([...lone, allows], after).map(({ power, wallet }) => [power, wallet])).toContainEqual([
      'sign',
      'wallet.cold',
    ])
  })

  test('every power over funds is compared: private keys, sends, tags, contacts and features', () => {
    const key = live('privateKey.vault', {})
    const open = live('policy.p', policy(null, "private_key.id == 'KEY'".replace('KEY', key.id!)))
    const found = differences([...lone, key], [...lone, key, open])
    expect(found.filter(({ requests }) => !requests)).toEqual([
      expect.objectContaining({ power: 'sign', wallet: 'privateKey.vault' }),
      expect.objectContaining({ power: 'send', wallet: 'privateKey.vault' }),
      expect.objectContaining({ power: 'export', wallet: 'privateKey.vault' }),
    ])
    const said = (condition: string) =>
      differences(lone, [...lone, live('policy.p', policy(null, condition))]).map(({ power, requests }) => [
        power,
        requests,
      ])
    expect(said("activity.kind == 'SPARK_CLAIM_TRANSFER'")).toContainEqual(['send', ['spark claim transfer']])
    expect(said("activity.type == 'ACTIVITY_TYPE_UPDATE_USER_TAG'")).toEqual([['change users', ['update user tag']]])
    expect(said("activity.resource == 'AUTH_PROXY'")).toEqual([
      ['change features', ['disable auth proxy', 'enable auth proxy', 'update auth proxy config']],
    ])
  })

  test('under a condition those are named who did not have the power without it, of each size', () => {
    const both = "approvers.any(u, u.tags.contains('TAG')) && approvers.count() == 1".replace('TAG', OPS)
    const [change] = differences(lone, [
      ...lone,
      live(
        'policy.bob',
        policy(`approvers.any(u, u.id == '${idFor('user.bob')}')`, "activity.kind == 'SIGN_TRANSACTION'"),
      ),
      live('policy.ops', policy(both, 'eth.tx.value < 5')),
    ])
    expect(change!.requests).toEqual(['sign transaction (ethereum)'])
    expect(change!.after.ways.flatMap(({ sets }) => sets)).toEqual([['alice'], ['bob']])
    expect(change!.after.under!.flatMap(({ ways }) => ways.flatMap(({ sets }) => sets))).toEqual([['carol'], ['dave']])
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
    'sign transaction': ['sign', 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'],
    'sign raw payload': ['sign', 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'],
    'export wallet': ['export', 'ACTIVITY_TYPE_EXPORT_WALLET'],
    'export secrets': ['export', 'ACTIVITY_TYPE_EXPORT_SECRETS'],
    'create policies': ['change policies', 'ACTIVITY_TYPE_CREATE_POLICIES'],
    'update root quorum': ['change the root quorum', 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM'],
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
        const found = accessChanges({ things: [] }, { things }, { nowMs: 0, namesById: new Map() })
        for (const [name, [power, type]] of Object.entries(TYPES)) {
          const perWallet = /sign|wallet/.test(name)
          for (const wallet of perWallet ? ['cold', 'hot'] : [undefined]) {
            const row = found.find(
              (one) =>
                one.power === power &&
                one.wallet === (wallet && `wallet.${wallet}`) &&
                (one.requests === undefined || one.requests.includes(name)),
            )
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
    const asked = { nowMs: 0, namesById: new Map<string, string>() }
    // Beside an organization in which there is nothing, everything that anybody may do is a change.
    const said = (one: { readonly things: readonly Resource[] }) =>
      new Map(
        accessChanges({ things: [] }, one, asked).flatMap((change) => atoms(change).map((key) => [key, change.after])),
      )
    let changed = 0
    fc.assert(
      fc.property(state, state, fc.boolean(), (first, second, samePeople) => {
        const isPerson = ({ kind }: Resource) => kind === 'user' || kind === 'apiKey'
        const later = samePeople
          ? { things: [...first.things.filter(isPerson), ...second.things.filter((one) => !isPerson(one))] }
          : second
        const [then, now] = [said(first), said(later)]
        const found = accessChanges(first, later, asked)
        const told = new Map(found.flatMap((change) => atoms(change).map((key) => [key, change])))
        changed += told.size
        for (const key of new Set([...then.keys(), ...now.keys()])) {
          const [before, after] = [then.get(key) ?? { ways: [] }, now.get(key) ?? { ways: [] }]
          const change = told.get(key)
          if (change) expect([key, change.before, change.after]).toEqual([key, before, after])
          // By which policy somebody has a power is no change of it.
          else expect([key, withoutPolicies(before)]).toEqual([key, withoutPolicies(after)])
        }
        for (const [key, { before, after }] of told) {
          const denials = [...(before.under ?? []), ...(after.under ?? [])].some(({ unless }) => unless)
          if (!denials) expect([key, before]).not.toEqual([key, after])
        }
      }),
      { numRuns: runs(80) },
    )
    expect(changed).toBeGreaterThan(25)
  })
})

describe('powers are compared only where a change can matter', () => {
  const changed = (things: readonly Resource[], id: string, fields: Resource['fields']) =>
    things.map((one) => (one.id === id ? { ...one, fields: { ...one.fields, ...fields } } : one))
  const mayDiffer = (before: readonly Resource[], after: readonly Resource[]) =>
    powersMayDiffer({ things: before }, { things: after }, createPolicyCompiler())

  test.each<[string, Resource['fields'], string, boolean]>([
    ['an address that no policy asks for', { email: 'b@acme.test' }, 'approvers.count() > 1', false],
    ['one that a policy asks for', { email: 'b@acme.test' }, "approvers.any(u, u.email == 'b')", true],
    ['a tag that no policy asks for', { tags: [OPS, 'other'] }, `approvers.any(u, u.tags.contains('${OPS}'))`, false],
    ['one that a policy asks for', { tags: [] }, `approvers.any(u, u.tags.contains('${OPS}'))`, true],
    ['tags that a policy counts', { tags: [OPS, 'other'] }, 'approvers.any(u, u.tags.count() > 1)', true],
  ])('%s', (_, fields, consensus, expected) => {
    const before = [...office, live('policy.p', policy(consensus, null))]
    expect(mayDiffer(before, changed(before, idFor('user.bob'), fields))).toBe(expected)
  })

  test('a wallet, a policy, a credential and the quorum', () => {
    for (const { id, kind } of office) {
      const matters = kind !== 'tag' && kind !== 'organization'
      expect([
        kind,
        mayDiffer(
          office,
          office.filter((one) => one.id !== id),
        ),
      ]).toEqual([kind, matters])
    }
    expect(mayDiffer(office, [...office, live('policy.p', policy(null, null))])).toBe(true)
  })

  test('what is not compared has the same answers', () => {
    let alike = 0
    const change = fc.constantFrom({ email: 'x@acme.test' }, { tags: [] }, { tags: [idFor('tag.ops'), 'other'] })
    fc.assert(
      fc.property(wideShapes, change, (shape, fields) => {
        const before = wideOrganization(shape)
        const after = changed(before, idFor('user.bob'), fields)
        if (mayDiffer(before, after)) return
        alike++
        const found = accessChanges({ things: before }, { things: after }, { nowMs: NOW, namesById: new Map() })
        // Neither is told as a change what is the same, but for what could not be tried.
        expect(found.filter(({ before: old, after: now }) => !old.unknown && !isSameUnderDenials(old, now))).toEqual([])
      }),
      { numRuns: runs(60) },
    )
    expect(alike).toBeGreaterThan(10)
  })
})

/** Whether answers read the same and have denials under more open conditions than are tried together: those are not known to be the same. */
const isSameUnderDenials = (before: Access, after: Access) =>
  isDeepStrictEqual(before, after) && (before.under ?? []).some(({ unless }) => unless)

const withoutPolicies = ({ ways, under = [] }: Access) => [ways, under.map(({ policies: _, ...one }) => one)]

const IN_WORDS: Readonly<Record<string, string>> = {
  SPARK_SIGN_FROST: 'sign on Spark (its share of a FROST signature)',
}

/** Each single request of a change: its power, whose, and its type with the kind of transaction or payload. */
function atoms({ power, wallet, requests }: AccessChange): readonly string[] {
  const name = POWER_NAMES.find((one) => POWER_WORDS[one] === power)!
  const root = wallet === undefined ? undefined : 'wallet'
  return requestsOf(name)
    .filter((one) => one.root === root)
    .flatMap(({ row, params }) => {
      const kind = Object.values(params).map((one) => one.replace(/^(TRANSACTION_TYPE|PAYLOAD_ENCODING)_/, ''))
      const of = kind.length === 0 ? '' : ` (${kind.join(' ').toLowerCase()})`
      const family = IN_WORDS[row.family] ?? row.family.toLowerCase().replaceAll('_', ' ')
      const names = [family, `${family}${of}`, `${row.type.replace('ACTIVITY_TYPE_', '')}${of}`]
      const isMeant = requests === undefined || names.some((one) => requests.includes(one))
      return isMeant ? [`${power} ${wallet} ${row.type}${of}`] : []
    })
}

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
