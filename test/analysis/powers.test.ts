/** Who has which power, held against trying every vote in every order on concrete requests; the trial knows nothing of the analysis. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { POWERS, powersOf } from '../../src/analysis/index.ts'
import { activities } from '../../src/protocol/index.ts'
import { importsIn } from '../imports.ts'
import { actualOf, idFor } from '../plan/organization.ts'
import { runs } from '../runs.ts'
import {
  allFaults,
  COLD,
  faultsOf,
  faultsOfCited,
  ids,
  linesFor,
  NAMES,
  NOW,
  organizationIn,
  requestsOf,
  shapes,
  TO,
  TYPES,
} from './generated.ts'
import { expectedOfTime, TIME_CASES, toldOfTime } from './time-cases.ts'
import { wideFaults, wideOrganization, wideShapes } from './wide.ts'

describe('powers', () => {
  test('what they are held against reads organizations by itself', () => {
    const file = 'test/analysis/oracle.ts'
    const imported = importsIn(file, readFileSync(join(import.meta.dirname, 'oracle.ts'), 'utf8')).map(({ to }) => to)
    expect(imported).toEqual(['src/policy/index.ts', 'test/remembered.ts'])
  })

  test('nobody is missed and nobody is named untruly, by every vote in every order', () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        const resources = organizationIn(shape)
        const rows = powersOf(actualOf(resources), { nowMs: NOW, powers: ['sign', 'export'] })
        expect(allFaults(resources, rows)).toEqual([])
      }),
      { numRuns: runs(120) },
    )
  })

  test('the same is so of up to six people, with credentials of several sorts, and up to twelve policies of any syntax', () => {
    let [asked, unknown] = [0, 0]
    fc.assert(
      fc.property(wideShapes, (shape) => {
        const resources = wideOrganization(shape)
        const rows = powersOf(actualOf(resources), { nowMs: NOW, powers: ['sign', 'export'] })
        const found = wideFaults(shape, resources, rows)
        asked += found.asked
        unknown += found.unknown
        expect(found.faults).toEqual([])
      }),
      { numRuns: runs(60) },
    )
    expect(unknown).toBeLessThan(asked / 50)
  })

  test('those policies are cited by which these people have it, and no others', () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        const resources = organizationIn(shape)
        const rows = powersOf(actualOf(resources), { nowMs: NOW, powers: ['sign', 'export'] })
        expect(faultsOfCited(resources, rows)).toEqual([])
      }),
      { numRuns: runs(60) },
    )
  })

  test.each(TIME_CASES)('who has a power at times is told whatever time it is: %s is %s', (time, told) => {
    expect(toldOfTime(powersOf, time)).toEqual(expectedOfTime(time, told))
  })

  test('two conditions together are told without a third that excludes them', () => {
    const resources = organizationIn({
      people: NAMES.map(() => ({ ops: false, second: false, isMember: false })),
      threshold: 1,
      policies: [
        // Nobody submits by the first; who submits by the second may wait for bob.
        { effect: 'allow', condition: 'eth.tx.value > 5', consensus: `approvers[1].id == '${ids['bob']}'` as never },
        {
          effect: 'allow',
          condition: `eth.tx.to == '${TO}'`,
          consensus: "approvers.any(u, u.alias == 'dave') && approvers.count() >= 4" as never,
        },
        { effect: 'allow', condition: 'eth.tx.value < 5', consensus: 'approvers.count() == 4' as never },
      ],
    })
    const rows = powersOf(actualOf(resources), { nowMs: NOW, powers: ['sign'] })
    const lines = linesFor(rows, 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2', COLD)
    for (const request of requestsOf('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', COLD))
      expect(faultsOf(resources, request, lines)).toEqual([])
  })

  test('whom one condition alone lets in by oneself hides nobody who needs two others that exclude it', () => {
    const resources = organizationIn({
      people: NAMES.map((name) => ({ ops: name === 'dave', second: false, isMember: false })),
      threshold: 1,
      policies: [
        {
          effect: 'allow',
          condition: 'wallet.exported',
          consensus: 'approvers.count() >= 2 && approvers[0].id != approvers[1].id',
        },
        { effect: 'allow', condition: `eth.tx.to == '${TO}'`, consensus: 'true' as never },
        {
          effect: 'allow',
          condition: `!(eth.tx.to == '${TO}')`,
          consensus: `approvers.filter(u, u.tags.contains('${idFor('tag.ops')}')).count() >= 2` as never,
        },
      ] as never,
    })
    const rows = powersOf(actualOf(resources), { nowMs: NOW, powers: ['sign'] })
    for (const type of TYPES.filter((one) => one.includes('SIGN_TRANSACTION')))
      for (const request of requestsOf(type, COLD))
        expect(faultsOf(resources, request, linesFor(rows, type, COLD))).toEqual([])
  })

  test('of many conditions nothing is unknown where nobody needs two; where somebody does, what was not asked is', () => {
    const people = NAMES.map(() => ({ ops: false, second: false, isMember: false }))
    const lines = (policies: Parameters<typeof organizationIn>[0]['policies']) =>
      powersOf(actualOf(organizationIn({ people, threshold: 1, policies })), { nowMs: NOW, powers: ['sign'] })
        .filter(({ over, activities: types }) => over.includes('wallet.cold') && types.join().includes('ETHEREUM'))
        .flatMap((row) => row.lines)
    const each = [1, 2, 3, 4, 5, 6, 7, 8].map((value) => ({
      effect: 'allow' as const,
      condition: `eth.tx.value == ${value}`,
      consensus: "approvers.any(u, u.alias == 'dave')" as never,
    }))
    expect(lines(each).filter(({ people: who }) => who === 'unknown')).toEqual([])
    expect(lines(each).filter(({ condition }) => condition !== undefined).length).toBe(8)
    const joint = [
      {
        effect: 'allow' as const,
        condition: 'eth.tx.nonce > 5',
        consensus: `approvers[1].id == '${ids['bob']}'` as never,
      },
      { effect: 'allow' as const, condition: 'eth.tx.gas > 5', consensus: 'approvers.count() == 3' as never },
    ]
    const asked = lines([...each, ...joint])
    expect(asked.filter(({ people: who }) => who === 'unknown').length).toBe(1)
  })

  test('who has a power under one condition is not told again under it and others', () => {
    const alone = (name: (typeof NAMES)[number]) => `approvers.any(u, u.id == '${ids[name]}')` as never
    const resources = organizationIn({
      people: NAMES.map(() => ({ ops: false, second: false, isMember: false })),
      threshold: 1,
      policies: [
        { effect: 'allow', condition: 'eth.tx.value < 5', consensus: alone('bob') },
        { effect: 'allow', condition: `eth.tx.to == '${TO}'`, consensus: alone('dave') },
        // It looks at who approves, so that somebody could need both of the others.
        { effect: 'deny', condition: 'eth.tx.value > 9', consensus: 'approvers.count() == 4' as never },
      ],
    })
    const rows = powersOf(actualOf(resources), { nowMs: NOW, powers: ['sign'] })
    const lines = linesFor(rows, 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2', COLD)
    expect(lines.flatMap(({ condition }) => condition ?? []).toSorted()).toEqual(
      ['eth.tx.value < 5', `eth.tx.to == '${TO}'`].toSorted(),
    )
    for (const request of requestsOf('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', COLD))
      expect(faultsOf(resources, request, lines)).toEqual([])
  })

  test('each activity of the catalogue that leads to funds, or to who may decide, is of one power', () => {
    const none = new Set<string>()
    for (const row of Object.values(activities)) {
      const powers = Object.entries(POWERS).filter(([, isOf]) => isOf(row))
      expect(powers.length, row.type).toBeLessThan(2)
      if (powers.length === 0) none.add(row.family)
    }
    expect([...none].sort()).toMatchInlineSnapshot(`
      [
        "ACTIVATE_BILLING_TIER",
        "APPROVE_ACTIVITY",
        "CREATE_FIAT_ON_RAMP_CREDENTIAL",
        "CREATE_SMART_CONTRACT_INTERFACE",
        "CREATE_SWAP_QUOTE",
        "CREATE_TVC_APP",
        "CREATE_TVC_DEPLOYMENT",
        "CREATE_TVC_MANIFEST_APPROVALS",
        "CREATE_TVC_OPERATOR",
        "CREATE_TVC_QUORUM_KEY",
        "CREATE_WEBHOOK_ENDPOINT",
        "DELETE_FIAT_ON_RAMP_CREDENTIAL",
        "DELETE_PAYMENT_METHOD",
        "DELETE_SMART_CONTRACT_INTERFACE",
        "DELETE_TVC_APP_AND_DEPLOYMENTS",
        "DELETE_TVC_DEPLOYMENT",
        "DELETE_WEBHOOK_ENDPOINT",
        "INIT_FIAT_ON_RAMP",
        "POST_TVC_QUORUM_KEY_SHARE",
        "REJECT_ACTIVITY",
        "REMOVE_IP_ALLOWLIST",
        "RESTORE_TVC_DEPLOYMENT",
        "RE_ENCRYPT_TVC_QUORUM_KEY_SHARE",
        "SET_IP_ALLOWLIST",
        "SET_PAYMENT_METHOD",
        "UPDATE_ALLOWED_ORIGINS",
        "UPDATE_FIAT_ON_RAMP_CREDENTIAL",
        "UPDATE_ORGANIZATION_NAME",
        "UPDATE_TVC_APP_LIVE_DEPLOYMENT",
        "UPDATE_WEBHOOK_ENDPOINT",
        "UPSERT_GAS_USAGE_CONFIG",
        "UPSERT_SWAP_CONFIG",
      ]
    `)
  })
})
