/** Policies of no use: by example, and held against trying every vote in every order on concrete requests with and without them. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { comparePolicies, relationOf, uselessPolicies } from '../../src/analysis/index.ts'
import { POWER_NAMES } from '../../src/analysis/power-table.ts'
import type { PolicyText } from '../../src/policy/index.ts'
import { runs } from '../runs.ts'
import { covers, NOW, policy, requests, setOf, trials } from './compared-sets.ts'

const POWERS = [...POWER_NAMES, 'other'] as const

type Given = Readonly<Record<string, Partial<PolicyText>>>

function told(policies: Given, options: { readonly mostChoices?: number } = {}) {
  const named = Object.entries(policies).map(([name, one]) => ({ id: name, name, ...one }))
  return uselessPolicies(setOf(named), { nowMs: NOW, ...options }).map(({ policy: name, why, because, unknown = [] }) =>
    [name, why, ...because, ...unknown].join(' '),
  )
}

const SIGNS = "activity.kind == 'SIGN_TRANSACTION'"
const EXPORTS = "activity.action == 'EXPORT'"
const OPS = "approvers.any(u, u.tags.contains('ops'))"
const deny = (condition: string, consensus?: string): Partial<PolicyText> => ({
  effect: 'EFFECT_DENY',
  condition,
  consensus,
})

describe('useless policies', () => {
  test.each<readonly [string, Given, readonly string[]]>([
    [
      'each of use',
      { a: { condition: SIGNS, consensus: OPS }, b: { condition: EXPORTS }, c: deny('eth.tx.value > 5') },
      [],
    ],
    [
      'an ALLOW within another, by numbers',
      { small: { condition: `${SIGNS} && eth.tx.value < 5` }, large: { condition: `${SIGNS} && eth.tx.value <= 9` } },
      ['small covered large'],
    ],
    [
      'an ALLOW within two others together',
      {
        all: { condition: "activity.action in ['SIGN', 'EXPORT']" },
        signs: { condition: "activity.action == 'SIGN'" },
        exports: { condition: EXPORTS },
      },
      // Of policies that make each other useless the later ones are told.
      ['signs covered all', 'exports covered all'],
    ],
    [
      'an ALLOW for some of the people of another',
      {
        alice: { condition: SIGNS, consensus: "approvers.any(u, u.id == 'alice')" },
        ops: { condition: SIGNS, consensus: OPS },
        carol: { condition: SIGNS, consensus: "approvers.any(u, u.id == 'carol')" },
      },
      ['alice covered ops'],
    ],
    [
      'an ALLOW under a DENY by another word',
      { exports: { condition: "activity.kind == 'EXPORT_WALLET'", consensus: OPS }, no: deny(EXPORTS) },
      ['exports denied no'],
    ],
    [
      'an ALLOW under two DENY policies together',
      {
        signs: { condition: `${SIGNS} && eth.tx.value >= 0` },
        low: deny(`${SIGNS} && eth.tx.value < 5`),
        high: deny(`${SIGNS} && eth.tx.value > 4`),
        other: deny(EXPORTS),
      },
      ['signs denied low high'],
    ],
    [
      'an ALLOW that is denied here and covered there',
      {
        signs: { condition: `${SIGNS} && eth.tx.value >= 0` },
        low: { condition: 'eth.tx.value < 5' },
        high: deny(`${SIGNS} && eth.tx.value > 4`),
      },
      ['signs covered low high'],
    ],
    ['a DENY that nothing needs today', { export: deny(EXPORTS) }, []],
    ['a DENY within another', { a: deny(EXPORTS), b: deny("activity.kind == 'EXPORT_WALLET'") }, ['b covered a']],
    [
      'a DENY of what some ask for',
      { a: deny(EXPORTS, OPS), b: deny(EXPORTS, "approvers.any(u, u.id == 'carol')") },
      [],
    ],
    ['a DENY of two votes together', { a: deny(EXPORTS, 'approvers.count() >= 2'), b: deny(SIGNS) }, []],
    [
      'numbers that leave nothing',
      { a: { condition: `${SIGNS} && eth.tx.value > 5 && eth.tx.value < 6` } },
      ['a condition'],
    ],
    [
      'a DENY that errs where it is meant',
      { a: deny(`${SIGNS} && (wallet.id == 'a' || private_key.id == 'b')`) },
      ['a condition'],
    ],
    ['a time that is over, or is yet to come', { a: { time: "time.now < Timestamp('2026-01-01T00:00:00Z')" } }, []],
    [
      'a time that never comes',
      { a: { time: "time.now < Timestamp('2026-01-01T00:00:00Z') && time.now > Timestamp('2026-02-01T00:00:00Z')" } },
      ['a condition'],
    ],
    [
      'more people than there are',
      { a: { consensus: "approvers.filter(u, u.tags.contains('ops')).count() >= 3" }, b: deny('true', '1 == 2') },
      ['a consensus', 'b consensus'],
    ],
    [
      'an order of votes that cannot be',
      { a: { consensus: "approvers[0].id == 'alice' && approvers[0].id == 'bob'" } },
      ['a consensus'],
    ],
    [
      'people, tags and passkeys that nobody defines',
      {
        id: { consensus: "approvers.any(u, u.id == 'dora')" },
        tag: { condition: SIGNS, consensus: "approvers.filter(u, u.tags.contains('elsewhere')).count() >= 3" },
        both: { consensus: "approvers.any(u, u.email == 'eve@x.test' && u.tags.contains('ops'))" },
        key: { condition: EXPORTS, consensus: OPS },
        passkeys: deny('true', "!credentials.any(c, c.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR')"),
      },
      [],
    ],
    [
      'people of whom not every sort is known',
      { a: { consensus: "approvers.any(u, u.email[0..2] == 'zz')" } },
      ['a unknown policies read more of people who are not defined than whether they are named'],
    ],
    [
      'parts that are compared with each other',
      {
        a: { condition: `${SIGNS} && eth.tx.to == eth.tx.from` },
        b: { condition: `${SIGNS} && eth.tx.from == eth.tx.to` },
      },
      ['a', 'b'].map((name) => `${name} unknown parts of a request are compared with each other`),
    ],
    ['the root quorum alone', { a: { condition: SIGNS, consensus: "approvers.any(u, u.id == 'root')" } }, []],
  ])('%s', (_, given, expected) => {
    expect(told(given)).toEqual(expected)
  })

  test('what the choices do not suffice for is unknown, and is not called useless', () => {
    const given: Given = {
      small: { condition: `${SIGNS} && eth.tx.value < 5` },
      large: { condition: `${SIGNS} && eth.tx.value <= 9` },
    }
    expect(told(given, { mostChoices: 0 })).toEqual(
      ['small', 'large'].map((name) => `${name} unknown more requests would have to be tried than are`),
    )
    expect(told(given)).toEqual(['small covered large'])
  })

  test('a request that it would allow alone is told, and who asks for it', () => {
    const set = setOf([{ condition: `${EXPORTS} && wallet.id == 'w-hot'`, consensus: OPS }, deny(EXPORTS)])
    const [found] = uselessPolicies(set, { nowMs: NOW })
    expect(found).toMatchObject({ policy: 'p0', why: 'denied', because: ['p1'] })
    expect(found!.example).toMatchObject({ context: { wallet: { id: 'w-hot' } }, votes: [{ user: 'alice' }] })
    expect(found!.example!.context.activity.type).toContain('EXPORT_WALLET')
  })

  test('without all that are called useless everybody gets the same executed, by every vote in every order', () => {
    let useless = 0
    fc.assert(
      fc.property(fc.array(policy, { minLength: 2, maxLength: 5 }), (policies) => {
        const set = setOf(policies, [])
        const found = uselessPolicies(set, { nowMs: NOW }).filter(({ why }) => why !== 'unknown')
        useless += found.length
        const left = { ...set, policies: set.policies.filter(({ name }) => !found.some((one) => one.policy === name)) }
        expect(relationOf(comparePolicies(set, left, { nowMs: NOW }))).toMatch(/equal|unknown/)
        for (const request of requests()) {
          const [before, after] = [trials(set, request), trials(left, request)]
          expect([covers(before, after), covers(after, before)]).toEqual([true, true])
        }
        // What is told to make it useless does so by itself.
        for (const { policy: name, because, why } of found) {
          const own = set.policies.find((one) => one.name === name)!
          const others = set.policies.filter((one) => because.includes(one.name))
          if (why === 'denied' || why === 'covered') expect(others.length).toBeGreaterThan(0)
          const [without, added] = [others, [...others, own]].map((some) => ({ ...set, policies: some }))
          for (const request of requests()) {
            const [before, after] = [without!, added!].map((some) => trials(some, request))
            expect([covers(before!, after!), covers(after!, before!)], `${name} ${because}`).toEqual([true, true])
          }
        }
      }),
      { numRuns: runs(15) },
    )
    expect(useless).toBeGreaterThan(0)
  })

  test('whoever is not called useless makes a difference', () => {
    fc.assert(
      fc.property(fc.array(policy, { minLength: 2, maxLength: 4 }), (policies) => {
        const set = setOf(policies, [])
        const found = new Set(uselessPolicies(set, { nowMs: NOW }).map((one) => one.policy))
        const kept = set.policies.filter(({ name }) => !found.has(name))
        for (const one of kept.filter(({ effect }) => effect === 'EFFECT_ALLOW')) {
          const others = { ...set, policies: kept.filter((other) => other !== one) }
          const isDifferent = POWERS.some((power) => {
            const rows = comparePolicies({ ...set, policies: kept }, others, { nowMs: NOW, powers: [power] })
            return rows.some(({ wider, narrower }) => wider || narrower)
          })
          expect(isDifferent, one.name).toBe(true)
        }
      }),
      { numRuns: runs(15) },
    )
  })
})
