import { describe, expect, test } from 'vitest'
import { forecast, planWithForecast } from '../../src/analysis/index.ts'
import { createSensitivity, influenceOf, influences } from '../../src/analysis/influence.ts'
import {
  digestOf,
  type Forecast,
  makePlan,
  readPlan,
  renderForecast,
  summarize,
  writePlan,
} from '../../src/plan/index.ts'
import type { Resource } from '../../src/resources/index.ts'
import { acme, bootstrap, declare, idFor, key, live, lockOfDeclared, policy, ref, text } from '../plan/organization.ts'
import { type Given, planInput, steps } from '../plan/planning.ts'

/** What is forecast for each activity; what is declared and lives is in the lock. */
function forecasts(given: Given, now?: string): readonly (readonly [string, string])[] {
  const actual = (given.actual ?? bootstrap()) as readonly Resource[]
  const lock = lockOfDeclared(actual, given.desired)
  const input = planInput({ lock, ...given })
  const { plan, diagnostics } = makePlan(input)
  // The lock of these organizations has ids alone, and so cannot say which fields were managed.
  expect(diagnostics.filter(({ code }) => code !== 'plan/unknown-fields')).toEqual([])
  const annotated = forecast(plan, { ...input, ...(now === undefined ? {} : { now }) })
  return steps(annotated).map((step, index) => [
    step.replace(/:.*/, ''),
    renderForecast(annotated.batches[index]!.forecast!),
  ])
}

const person = (name: string, tags: readonly string[] = []) => [
  live(`user.${name}`, { email: `${name}@acme.test`, tags: tags.map((tag) => idFor(`tag.${tag}`)) }),
  live(`apiKey.${name}.k`, key(name)),
]
const liveQuorum = (threshold: number, ...names: readonly string[]) =>
  live('rootQuorum', { threshold, users: names.map((name) => idFor(`user.${name}`)) })
const [organization, , , aliceKey] = bootstrap() as [Resource, Resource, Resource, Resource]
const aliceWith = (...tags: readonly string[]) => live('user.alice', { tags: tags.map((tag) => idFor(`tag.${tag}`)) })

/** Alice acts; the quorum is 3 of bob, carol, dave, so that policies decide. */
const office = (policies: readonly Resource[], aliceTags: readonly string[] = []) => [
  organization,
  liveQuorum(3, 'bob', 'carol', 'dave'),
  aliceWith(...aliceTags),
  aliceKey,
  ...person('bob', ['ops']),
  ...person('carol', ['ops']),
  ...person('dave'),
  live('user.eve', { tags: [idFor('tag.ops')] }),
  live('tag.ops'),
  ...policies,
]
const allow = (name: string, consensus: string | null, condition: string | null = null) =>
  live(`policy.${name}`, policy(consensus, condition))
const deny = (name: string, consensus: string | null, condition: string | null = null) =>
  live(`policy.${name}`, policy(consensus, condition, 'deny'))
const OPS = idFor('tag.ops')
const newTag = [declare('tag.new')]

describe('acme', () => {
  const input = planInput({ desired: acme() })
  const plan = planWithForecast(input).plan

  test('alice acts alone until the quorum is raised; then everything waits for any one of bob and carol', () => {
    const outcomes = plan.batches.map(({ type, forecast: one }) => [type.replace('ACTIVITY_TYPE_', ''), one])
    const waits: Forecast = { outcome: 'waits', needed: [['bob'], ['carol']], any: { count: 1, of: ['bob', 'carol'] } }
    const done: Forecast = { outcome: 'completes' }
    expect(outcomes).toEqual([
      ['CREATE_USER_TAG', done],
      ['CREATE_USER_TAG', done],
      ['CREATE_USERS_V4', done],
      ['UPDATE_ROOT_QUORUM', done],
      ['CREATE_POLICIES', waits],
      ['CREATE_WALLET', waits],
      ['CREATE_WALLET', waits],
      ['SET_ORGANIZATION_FEATURE', waits],
      ['UPDATE_USER', waits],
      ['CREATE_POLICIES', waits],
    ])
    expect(summarize(plan)).toBe('15 changes in 10 activities, 6 need another approver')
  })

  test('the digest covers the forecast, and the plan is read again', () => {
    expect(plan.digest).toBe(digestOf(plan))
    expect(plan.digest).not.toBe(makePlan(input).plan.digest)
    expect(readPlan(writePlan(plan))).toEqual(plan)
  })

  test('the same input gives the same forecast, and no stand-in for an unknown id is shown', () => {
    expect(writePlan(planWithForecast(input).plan)).toBe(writePlan(plan))
    expect(writePlan(plan)).not.toContain('00000000-0000-4000')
  })
})

describe('forecast', () => {
  const CREATE = 'CREATE_USER_TAG'
  const cases: readonly { name: string; given: Given; expected: readonly (readonly [string, string])[] }[] = [
    {
      name: 'nothing allows it',
      given: { desired: newTag, actual: office([]) },
      expected: [[CREATE, 'denied: no policy allows it']],
    },
    {
      name: 'a policy allows it',
      given: { desired: newTag, actual: office([allow('tags', null, "activity.resource == 'USER'")]) },
      expected: [[CREATE, 'completes at once']],
    },
    {
      name: 'a policy that is about something else does not',
      given: { desired: newTag, actual: office([allow('wallets', null, "activity.resource == 'WALLET'")]) },
      expected: [[CREATE, 'denied: no policy allows it']],
    },
    {
      name: 'a DENY beats every ALLOW, and is named',
      given: {
        desired: newTag,
        actual: office([allow('all', null), deny('freeze', null, "activity.action == 'CREATE'")]),
      },
      expected: [[CREATE, 'denied: policy `freeze` denies it']],
    },
    {
      name: 'two more of a tag: those who have a key, and nobody else',
      given: {
        desired: newTag,
        actual: office([allow('ops', `approvers.filter(u, u.tags.contains('${OPS}')).count() >= 2`)], ['ops']),
      },
      expected: [[CREATE, 'waits for any 1 of bob, carol']],
    },
    {
      name: 'a user with a passkey or a provider and no key can approve as well',
      given: {
        desired: newTag,
        actual: [
          ...office([allow('ops', `approvers.filter(u, u.tags.contains('${OPS}')).count() >= 2`)], ['ops']),
          live('authenticator.eve.yubikey', { credentialId: 'abc' }),
          live('user.finn', { tags: [OPS] }),
          live('oauthProvider.finn.google', { issuer: 'https://a.test', audience: 'b', subject: 'c' }),
        ],
      },
      expected: [[CREATE, 'waits for any 1 of bob, carol, eve, finn']],
    },
    {
      name: 'one of each of two kinds',
      given: {
        desired: newTag,
        actual: office(
          [
            allow(
              'two',
              `approvers.any(u, u.tags.contains('${OPS}')) && approvers.any(u, u.id == '${idFor('user.dave')}') && approvers.count() >= 3`,
            ),
          ],
          ['ops'],
        ),
      },
      expected: [[CREATE, 'waits for bob and dave, or carol and dave']],
    },
    {
      name: 'somebody by address',
      given: {
        desired: newTag,
        actual: office([allow('mail', "approvers.count() == 2 && approvers.any(u, u.email == 'carol@acme.test')")]),
      },
      expected: [[CREATE, 'waits for carol']],
    },
    {
      name: 'a consensus to which the submitter adds nothing is no consensus',
      given: { desired: newTag, actual: office([allow('ops', `approvers.any(u, u.tags.contains('${OPS}'))`)]) },
      expected: [[CREATE, 'denied: no policy allows it']],
    },
    {
      name: 'more than there are: the root quorum can still decide',
      given: { desired: newTag, actual: office([allow('many', 'approvers.count() >= 9')]) },
      expected: [[CREATE, 'waits for bob and carol and dave']],
    },
    {
      name: 'more than there are, and a quorum that cannot be met',
      given: {
        desired: newTag,
        actual: [
          ...office([allow('many', 'approvers.count() >= 9')]).slice(2),
          organization,
          liveQuorum(2, 'bob', 'eve'),
        ],
      },
      expected: [[CREATE, 'denied: it would wait for ever: no set of users who have a credential could approve it']],
    },
    {
      name: 'root-only, by somebody who is not root',
      given: { desired: [declare('feature.SMS_AUTH')], actual: office([allow('all', null)]) },
      expected: [['SET_ORGANIZATION_FEATURE', 'denied: only the root quorum may do it, and alice is not a member']],
    },
    {
      name: 'one’s own key: nobody else is needed',
      given: {
        desired: [declare('user.alice'), declare('apiKey.alice.new', key('new'))],
        actual: office([]),
      },
      expected: [['CREATE_API_KEYS_V2', 'completes at once']],
    },
    {
      name: 'somebody else’s key',
      given: { desired: [declare('user.bob'), declare('apiKey.bob.new', key('new'))], actual: office([]) },
      expected: [['CREATE_API_KEYS_V2', 'denied: no policy allows it']],
    },
    {
      name: 'a parameter that a policy reads, with an id that the plan knows',
      given: {
        desired: [declare('user.bob'), declare('apiKey.bob.new', key('new'))],
        actual: office([allow('bob', null, `activity.params.user_id == '${idFor('user.bob')}'`)]),
      },
      expected: [['CREATE_API_KEYS_V2', 'completes at once']],
    },
    {
      name: 'what comes after a denied one depends on it, the rest is judged alone',
      given: {
        desired: [
          declare('wallet.new'),
          declare('policy.uses', policy(null, text("wallet.id == '", ref('wallet.new'), "'"))),
          declare('tag.new'),
        ],
        actual: office([allow('most', null, "activity.resource != 'WALLET'")]),
      },
      expected: [
        [CREATE, 'completes at once'],
        ['CREATE_WALLET', 'denied: no policy allows it'],
        ['CREATE_POLICIES', 'depends: batch 2 (create wallet new) would have to come first'],
      ],
    },
    {
      name: 'a DENY of the plan meets what follows it',
      given: {
        desired: [
          declare('policy.freeze', policy(null, "activity.resource == 'WALLET'", 'deny')),
          declare('wallet.new'),
        ],
        actual: office([allow('all', null)]),
      },
      expected: [
        ['CREATE_POLICIES', 'completes at once'],
        ['CREATE_WALLET', 'denied: policy `freeze` denies it'],
      ],
    },
    {
      name: 'a tag that is deleted leaves its users',
      given: {
        desired: [declare('tag.ops', {}, { tombstone: true }), declare('policy.new', policy(null, null))],
        actual: office([allow('ops', `approvers.any(u, u.tags.contains('${OPS}'))`)], ['ops']),
      },
      expected: [
        ['DELETE_USER_TAGS', 'completes at once'],
        ['CREATE_POLICIES', 'denied: no policy allows it'],
      ],
    },
    {
      name: 'one of two who are alike but for the policy that names one of them',
      given: {
        desired: newTag,
        actual: office(
          [
            allow(
              'bob',
              `approvers.any(u, u.id == '${idFor('user.bob')}') && approvers.any(u, u.id == '${idFor('user.alice')}')`,
            ),
          ],
          ['ops'],
        ),
      },
      expected: [[CREATE, 'waits for bob']],
    },
    {
      name: 'nobody who may not vote, whatever their vote would do',
      given: {
        desired: newTag,
        actual: [
          ...office([
            allow(
              'odd',
              `approvers.any(u, u.id == '${idFor('user.alice')}') && !approvers.all(u, u.id == '${idFor('user.alice')}')`,
            ),
          ]),
          ...person('zed'),
        ],
      },
      expected: [[CREATE, 'waits for any 1 of bob, carol, dave']],
    },
  ]
  test.each(cases)('$name', ({ given, expected }) => {
    expect(forecasts(given).map(([type, said]) => [type, said])).toEqual(expected)
  })

  describe('people that the plan makes have no id yet, and count all the same', () => {
    const xena = [
      declare('user.xena', { tags: [ref('tag.ops')] }),
      declare('apiKey.xena.k', key('xena')),
      declare('tag.ops'),
    ]
    const wallets = allow(
      'wallets',
      `approvers.filter(u, u.tags.contains('${OPS}')).count() >= 2`,
      "activity.resource == 'WALLET'",
    )
    const actual = office(
      [allow('people', null, "activity.resource == 'USER' || activity.resource == 'POLICY'"), wallets],
      ['ops'],
    )

    test('by the tags that they are given', () => {
      expect(forecasts({ desired: [...xena, declare('wallet.new')], actual })).toEqual([
        ['CREATE_USERS_V4', 'completes at once'],
        ['CREATE_WALLET', 'waits for any 1 of bob, carol, xena'],
      ])
    })

    test('by their id, wherever a policy of the same plan names it', () => {
      const notXena = policy(text("approvers.any(u, u.id == '", ref('user.xena'), "')"), null, 'deny')
      const desired = [...xena, declare('policy.not-xena', notXena), declare('wallet.new')]
      expect(forecasts({ desired, actual })).toEqual([
        ['CREATE_USERS_V4', 'completes at once'],
        ['CREATE_POLICIES', 'completes at once'],
        ['CREATE_WALLET', 'waits for any 1 of bob, carol'],
      ])
    })
  })

  describe('a new user must have a way in by the time they are made', () => {
    const erin = (fields: Resource['fields'] = {}) => declare('user.erin', fields)
    const MAIL = { email: 'erin@acme.test' }
    const PHONE = { phone: '+15550000000' }
    const refused = (contact: string, login = '') =>
      `denied: \`user missing valid credential: erin\`: there is no API key, no passkey and ${contact}; ` +
      `give \`user.erin\` an API key or a passkey${login}`
    const byMail = refused(
      'no login by `EMAIL_AUTH` or `OTP_EMAIL_AUTH`',
      ', or set `EMAIL_AUTH` or `OTP_EMAIL_AUTH` under `features`',
    )
    const CREATE_USERS = 'CREATE_USERS_V4'
    const DONE = 'completes at once'
    const ways: readonly { name: string; given: Given; expected: readonly (readonly [string, string])[] }[] = [
      {
        name: 'nothing at all',
        given: { desired: [erin()] },
        expected: [[CREATE_USERS, refused('no contact to log in by')]],
      },
      { name: 'an e-mail address alone', given: { desired: [erin(MAIL)] }, expected: [[CREATE_USERS, byMail]] },
      {
        name: 'an e-mail address, and the login of another contact',
        given: { desired: [erin(MAIL)], actual: [...bootstrap(), live('feature.SMS_AUTH')] },
        expected: [[CREATE_USERS, byMail]],
      },
      {
        name: 'a phone number alone',
        given: { desired: [erin(PHONE)], actual: [...bootstrap(), live('feature.EMAIL_AUTH')] },
        expected: [[CREATE_USERS, refused('no login by `SMS_AUTH`', ', or set `SMS_AUTH` under `features`')]],
      },
      {
        name: 'a phone number whose login is live',
        given: { desired: [erin(PHONE)], actual: [...bootstrap(), live('feature.SMS_AUTH')] },
        expected: [[CREATE_USERS, DONE]],
      },
      {
        name: 'a login that the same plan takes away',
        given: {
          desired: [erin(PHONE), declare('feature.SMS_AUTH', {}, { tombstone: true })],
          actual: [...bootstrap(), live('feature.SMS_AUTH')],
        },
        expected: [
          ['REMOVE_ORGANIZATION_FEATURE', DONE],
          [CREATE_USERS, refused('no login by `SMS_AUTH`', ', or set `SMS_AUTH` under `features`')],
        ],
      },
      {
        name: 'a login that the same plan sets: it comes first, though it loosens',
        given: { desired: [erin(MAIL), declare('feature.OTP_EMAIL_AUTH')] },
        expected: [
          ['SET_ORGANIZATION_FEATURE', DONE],
          [CREATE_USERS, DONE],
        ],
      },
      {
        name: 'a key: the login still comes last',
        given: { desired: [erin(MAIL), declare('apiKey.erin.k', key('erin')), declare('feature.OTP_EMAIL_AUTH')] },
        expected: [
          [CREATE_USERS, DONE],
          ['SET_ORGANIZATION_FEATURE', DONE],
        ],
      },
      {
        name: 'one who lives already is not asked for one',
        given: { desired: [erin(MAIL)], actual: [...bootstrap(), live('user.erin', { tags: [] })] },
        expected: [['UPDATE_USER_EMAIL', DONE]],
      },
      {
        name: 'who may not make users hears that first',
        given: { desired: [erin()], actual: office([]) },
        expected: [[CREATE_USERS, 'denied: no policy allows it']],
      },
    ]
    test.each(ways)('$name', ({ given, expected }) => {
      expect(forecasts(given)).toEqual(expected)
    })
  })

  test.each([
    ['an API key', live('apiKey.eve.k', key('eve'))],
    ['a passkey', live('authenticator.eve.yubikey', { credentialId: 'abc' })],
    ['an OAuth provider', live('oauthProvider.eve.google', { issuer: 'https://a.test', audience: 'b', subject: 'c' })],
    ['a login that somebody has the contact for', live('feature.OTP_EMAIL_AUTH')],
  ])('the order of batches knows that %s is somebody who can approve', (_what, thing) => {
    const things = office([allow('pair', 'approvers.count() >= 2')])
    const influence = influenceOf({ things }, { things: [...things, thing] }, idFor('user.alice'))
    const sensitivity = createSensitivity([
      { id: 'p', name: 'p', effect: 'EFFECT_ALLOW', consensus: 'approvers.count() >= 2' },
    ])
    const asked = sensitivity({ now: 0n, activity: { type: 'ACTIVITY_TYPE_CREATE_USER_TAG' }, approvers: [] })
    expect(influences(influence, asked)).toBe(true)
  })

  test('a policy with a time is asked with the time that is given', () => {
    const office9to5 = {
      ...allow('day', null),
      fields: { ...policy(null, null), time: "time.now < Timestamp('2026-06-01T00:00:00Z')" },
    }
    const given = { desired: newTag, actual: office([office9to5]) }
    expect(forecasts(given, '2026-01-01T00:00:00Z')).toEqual([
      ['CREATE_USER_TAG', 'completes at once; may differ at another time: policy day'],
    ])
    expect(forecasts(given, '2026-12-01T00:00:00Z')).toEqual([['CREATE_USER_TAG', 'denied: no policy allows it']])
  })

  test('who may have to approve at another time is hinted at by the policies that make it so, and by no others', () => {
    const timed = (name: string, one: Resource, time: string) => ({ ...one, name, fields: { ...one.fields, time } })
    const [day, night] = ["CronSpan('0 8 * * *', '10h', 'UTC')", "CronSpan('0 20 * * *', '9h', 'UTC')"]
    const policies = [
      timed(
        'by-day',
        allow('by-day', `approvers.count() >= 2 && approvers.any(u, u.id == '${idFor('user.bob')}')`),
        day,
      ),
      timed(
        'at-night',
        allow('at-night', `approvers.count() >= 2 && approvers.any(u, u.id == '${idFor('user.carol')}')`),
        night,
      ),
      timed('signing', deny('signing', null, "activity.action == 'SIGN'"), night),
      timed('past', allow('past', null), "time.now < Timestamp('2020-01-01T00:00:00Z')"),
    ]
    const actual = office(policies)
    const { plan } = planWithForecast({ ...planInput({ desired: newTag, actual }), now: '2026-06-30T12:00:00Z' })
    const timedBy = ['at-night', 'by-day']
    const told = { outcome: 'waits', needed: [['bob']], any: { count: 1, of: ['bob'] }, timedBy }
    expect(plan.batches.map((batch) => batch.forecast)).toEqual([told])
    expect(renderForecast(plan.batches[0]!.forecast!)).toBe(
      'waits for bob; may differ at another time: policies at-night, by-day',
    )
    expect(readPlan(writePlan(plan))).toEqual(plan)
  })
})

test('forecast: what is planned after an MFA policy of the acting user needs its factors, and comes after it', () => {
  const fields = { condition: 'true', requiredAuthenticationMethods: [['passkey', 'session']], order: 1 }
  const desired = [declare('user.alice', { email: 'alice@acme.test' }), declare('mfaPolicy.alice.m', fields), ...newTag]
  const told = Object.fromEntries(forecasts({ desired }))
  const waits = 'waits for another factor of alice (passkey or session)'
  expect(Object.values(told).toSorted()).toEqual(['completes at once', waits].toSorted())
})
