import { describe, expect, test } from 'vitest'
import { forecast } from '../../src/analysis/index.ts'
import { createStyle } from '../../src/cli/io.ts'
import { renderStanding, withNeeds } from '../../src/cli/views/progress.ts'
import {
  makePlan,
  readPlan,
  renderDifference,
  renderForecast,
  renderPlanMarkdown,
  renderPlanText,
  sealed,
  summarize,
  writePlan,
} from '../../src/plan/index.ts'
import { formatAddress, type Resource } from '../../src/resources/index.ts'
import { bootstrap, declare, idFor, key, live, ORGANIZATION, policy, ref } from './organization.ts'
import { type Given, planInput, planOf } from './planning.ts'

const given: Given = {
  desired: [
    declare('rootQuorum', { threshold: 2, users: [ref('user.alice'), ref('user.bob')] }),
    declare('user.alice'),
    declare('apiKey.alice.laptop', key('alice laptop')),
    declare('user.bob', { email: 'bob@acme.test' }),
    declare('apiKey.bob.k', key('bob')),
    declare('policy.ops', policy(null, "activity.resource == 'WALLET'")),
    declare('feature.SMS_AUTH'),
  ],
  manageAll: ['tag'],
  actual: [...bootstrap(), live('tag.old'), live('wallet.stray'), live('policy.ops', policy(null, 'false'))],
  creators: { [idFor('policy.ops')]: { userId: idFor('user.mallory'), userName: 'mallory' } },
  allow: ['adoption'],
}

describe('render', () => {
  test('a plan: changes, activities with what will come of them, guards, what is left alone, a summary', () => {
    const input = planInput(given)
    const plan = sealed(forecast(makePlan(input).plan, input))
    expect(renderPlanText(plan)).toMatchInlineSnapshot(`
      "acme: 7 changes in 5 activities, 3 need another approver, refused by 2 guards
      0a0a0a0a-0000-4000-8000-000000000001 at http://127.0.0.1:1, as alice

      ~ rootQuorum  differs
          threshold  1 → 2
          users      alice → alice, bob
      + feature.SMS_AUTH
      - tag.old  3ea6603c-3789-468d-850c-53353b2d3ac3, drift: not in the definitions
      + user.bob
          email  bob@acme.test
      + apiKey.bob.k
          curve      P256
          publicKey  0281b637d8fcd2c6da6359e6963113a1170de795e4b725b84d1e0b4cfd9ec58ce9
      = policy.ops
          was there before: e85f482a-427a-468c-851a-40bbbed0173d, created by mallory
      ~ policy.ops  differs
          condition  false → activity.resource == 'WALLET'

      Activities
         1. create user bob with 1 API key  completes at once
         2. update root quorum              completes at once; after 1
         3. create feature SMS_AUTH         waits for bob; after 2
         4. delete tag old                  waits for bob; after 2
         5. update policy ops               waits for bob; after 2

      Power
        ~ sign and send of wallet.stray: alice → alice and bob
            alice loses: alone
            bob gains: with others
        ~ export of wallet.stray: alice → any 1 of alice, bob
            bob gains: alone
        ~ change policies, change the root quorum, change users, change credentials, change features,
          change organizations and 11 more
            before  alice
            after   alice and bob
            alice loses: alone
            bob gains: with others
        ~ import wallet, init import wallet, create wallet, create wallet accounts, delete wallet accounts
          and 3 more
            before  alice
            after   any 1 of alice, bob
            bob gains: alone
          no change in any other power

      1 live thing is not in the definitions and left alone (listed by \`quorate unmanaged\`)

      refused: the plan deletes \`tag.old\`; to let it pass, add --allow-delete
          tag.old
      refused: deleting 1 of 1 tag is 100 %, over 30 %; to let it pass, add --allow deletes=1
          tag.old
      allowed by --allow adoption: \`policy.ops\` (created by \`mallory\`) was there before and would be taken as defined
      "
    `)
  })

  const long = (limit: number) =>
    `activity.kind == 'SIGN_TRANSACTION' && wallet.id == '${idFor('wallet.stray')}' && eth.tx.value < ${limit} && eth.tx.chain_id == 1`
  const changed: Given = {
    desired: [
      declare('policy.small', { ...policy('approvers.count() >= 2', long(5)), notes: '' }),
      declare('policy.new', policy(null, long(7))),
      declare('user.bob', { email: null, tags: [ref('tag.ops'), ref('tag.eng')] }),
      declare('tag.ops'),
      declare('tag.eng'),
    ],
    actual: [
      ...bootstrap(),
      live('wallet.stray'),
      live('tag.ops'),
      live('user.bob', { email: 'bob@acme.test', tags: [] }),
      live('policy.small', { ...policy('approvers.count() >= 2', long(1)), notes: '' }),
    ],
  }

  test('long policy texts are wrapped, and compared line by line; lists, references and nothing are plain words', () => {
    const creators = { userId: idFor('user.alice'), userName: 'alice' }
    const things = changed.actual as readonly Resource[]
    const text = renderPlanText(
      planOf({ ...changed, creators: Object.fromEntries(things.map(({ id }) => [id, creators])) }),
    )
    expect(text).toMatchInlineSnapshot(`
      "acme: 5 changes in 5 activities
      0a0a0a0a-0000-4000-8000-000000000001 at http://127.0.0.1:1, as alice

      + tag.eng
      ~ user.bob  differs
          email  bob@acme.test → (none)
      ~ user.bob  differs
          tags  (none) → ops, eng
      + policy.new
          condition  activity.kind == 'SIGN_TRANSACTION'
                     && wallet.id == '\${wallet.stray}'
                     && eth.tx.value < 7
                     && eth.tx.chain_id == 1
          effect     allow
      ~ policy.small  differs
          condition    activity.kind == 'SIGN_TRANSACTION'
                       && wallet.id == '\${wallet.stray}'
                     - && eth.tx.value < 1
                     + && eth.tx.value < 5
                       && eth.tx.chain_id == 1

      Activities
         1. update user bob
         2. create tag eng
         3. update user bob      after 1, 2
         4. create policy new    after 1
         5. update policy small  after 1

      3 live things are not in the definitions and left alone, among them user.alice, apiKey.alice.laptop
      (listed by \`quorate unmanaged\`)
      "
    `)
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(100)
  })

  test('as Markdown: what stops it first, changes as a diff, activities as a table', () => {
    const input = planInput(given)
    const plan = sealed(forecast(makePlan(input).plan, input))
    expect(renderPlanMarkdown(plan, { moved: ['`tag.old` is gone'] })).toMatchInlineSnapshot(`
      "### acme: 7 changes in 5 activities, 3 need another approver, refused by 2 guards

      > [!WARNING]
      > - **Stale**: the organization has moved since this plan was made.
      > - \`tag.old\` is gone

      > [!CAUTION]
      > - **Refused**: the plan deletes \`tag.old\`; to let it pass, add \`--allow-delete\`
      > - **Refused**: deleting 1 of 1 tag is 100 %, over 30 %; to let it pass, add \`--allow deletes=1\`

      > [!IMPORTANT]
      > - Allowed by \`--allow adoption\`: \`policy.ops\` \\(created by \`mallory\`\\) was there before and would be taken as defined

      \`\`\`diff
      ! ~ rootQuorum  differs
      !   threshold  1 → 2
      !   users      alice → alice, bob
      + feature.SMS_AUTH
      - tag.old  3ea6603c-3789-468d-850c-53353b2d3ac3, drift: not in the definitions
      + user.bob
      +   email  bob@acme.test
      + apiKey.bob.k
      +   curve      P256
      +   publicKey  0281b637d8fcd2c6da6359e6963113a1170de795e4b725b84d1e0b4cfd9ec58ce9
      ! = policy.ops
      !   was there before: e85f482a-427a-468c-851a-40bbbed0173d, created by mallory
      ! ~ policy.ops  differs
      !   condition  false → activity.resource == 'WALLET'
      \`\`\`

      **Activities**

      | # | activity | what will come of it | after |
      |--:|---|---|---|
      | 1 | create user bob with 1 API key | completes at once |  |
      | 2 | update root quorum | completes at once | 1 |
      | 3 | create feature SMS\\_AUTH | waits for bob | 2 |
      | 4 | delete tag old | waits for bob | 2 |
      | 5 | update policy ops | waits for bob | 2 |

      Once it is applied, \`quorate approvals\` lists what waits for you, \`quorate review CODE\` shows it, \`quorate approve CODE\` votes.

      **Power**

      - \`~\` **sign and send of wallet.stray: alice → alice and bob**
        - **alice loses: alone**
        - **bob gains: with others**
      - \`~\` **export of wallet.stray: alice → any 1 of alice, bob**
        - **bob gains: alone**
      - \`~\` **change policies, change the root quorum, change users, change credentials, change features, change organizations and 11 more: alice → alice and bob**
        - **alice loses: alone**
        - **bob gains: with others**
      - \`~\` **import wallet, init import wallet, create wallet, create wallet accounts, delete wallet accounts and 3 more: alice → any 1 of alice, bob**
        - **bob gains: alone**
      - no change in any other power

      as alice on \`0a0a0a0a-0000-4000-8000-000000000001\` · 1 live thing is not in the definitions and left alone · plan \`fcd773d276ae\` of 2026-01-02T03:04:05.000Z
      "
    `)
  })

  test('of what lives and is in no definition, what lets somebody act is told by name, policies first', () => {
    const actual = [
      ...bootstrap(),
      live('user.mallory'),
      live('policy.backdoor', policy(null, 'true')),
      live('wallet.stray'),
      live('policy.gone', policy(null, 'true')),
    ]
    const given: Given = { desired: [declare('policy.gone', policy(null, 'true'))], actual, allow: ['adoption'] }
    const names = 'policy.backdoor, user.alice, user.mallory, apiKey.alice.laptop'
    const line = `5 live things are not in the definitions and left alone, among them ${names}`
    expect(renderPlanText(planOf(given)).replaceAll('\n', ' ')).toContain(`${line} (listed by \`quorate unmanaged\`)`)
    // What it says to type finds the definitions.
    const elsewhere = renderPlanText({ ...planOf(given), folder: 'definitions/acme' }).replaceAll('\n', ' ')
    expect(elsewhere).toContain(`${line} (listed by \`quorate unmanaged definitions/acme\`)`)
    expect(renderPlanMarkdown(planOf(given))).toContain(`${line} ·`)

    const many = Array.from({ length: 8 }, (_, n) => live(`policy.p${n}`, policy(null, 'true')))
    expect(renderPlanText(planOf({ actual: [...bootstrap(), ...many] })).replaceAll(/\s+/g, ' ')).toContain(
      '10 live things are not in the definitions and left alone: policy.p0, policy.p1, policy.p2, policy.p3, policy.p4, policy.p5 and 4 more that let somebody act (listed by `quorate unmanaged`)',
    )
  })

  test('what was taken out of the definitions and stays has its row, and is not counted as left alone too', () => {
    const gone = live('policy.gone', policy(null, 'true'))
    const actual = [...bootstrap(), gone]
    const lock = { [ORGANIZATION]: { 'policy.gone': { id: gone.id!, digest: '' } } }
    const text = renderPlanText(planOf({ actual, lock, forget: ['policy.gone'] }))
    expect(text).toContain('≠ policy.gone')
    expect(text).toContain('2 live things are not in the definitions and left alone: user.alice, apiKey.alice.laptop')
  })

  test('of an apply that was stopped, what waits may still be approved, and how that is ended is said', () => {
    const waiting = {
      index: 0,
      type: 'T',
      summary: 'create tag one',
      state: 'waiting',
      fingerprint: 'sha256:0123456789',
    }
    const standing = (state: string) =>
      renderStanding(
        { planDigest: 'd', state, startedAt: '', batches: [waiting] } as never,
        undefined,
        createStyle(false),
        0,
      )
    expect(standing('waiting')).toContain('0123-4567 waits for an approver, who votes with `quorate approve 0123-4567`')
    expect(standing('cancelled')).toContain(
      '0123-4567 may still be approved, and is then carried out; `quorate reject 0123-4567` ends it',
    )
  })

  test('as data, what waits says who may still vote', () => {
    const plan = planOf({ desired: [declare('tag.one')] })
    const [batch] = plan.batches
    const forecast = {
      outcome: 'waits' as const,
      needed: [
        ['bob', 'carol'],
        ['bob', 'dana'],
        ['carol', 'dana'],
      ],
    }
    const waiting = {
      index: 0,
      type: 'T',
      summary: 's',
      state: 'waiting' as const,
      votes: { approved: ['alice', 'bob'] },
    }
    const progress = { planDigest: plan.digest, state: 'waiting', startedAt: '', batches: [waiting] }
    const told = (of: typeof plan | undefined) => withNeeds(progress as never, of)
    expect(told({ ...plan, batches: [{ ...batch!, forecast }] })).toMatchObject({
      batches: [{ summary: 's', needs: { needed: [['carol'], ['dana']] } }],
    })
    expect(told(undefined)).toEqual(progress)
  })

  test('as Markdown: a plan of any size fits into a comment, and says what was cut', () => {
    const plan = planOf({ desired: [declare('tag.one')] })
    const [batch] = plan.batches
    const [change] = plan.changes
    const batches = Array.from({ length: 3_000 }, (_, index) => ({ ...batch!, index, summary: `create tag ${index}` }))
    const changes = Array.from({ length: 300 }, () => ({
      ...change!,
      fields: [{ field: 'name', after: 'x'.repeat(900) }],
    }))
    const text = renderPlanMarkdown({ ...plan, batches, changes })
    expect(text.length).toBeLessThan(65_536 - 300 * 33)
    expect(text).toContain('and 2960 more; `quorate plan` shows them all.')
    expect(text).toMatch(/\d+ more lines; `quorate plan` shows them all/)
  })

  test('as Markdown: a line about power that is longer than a comment is cut, and the rest of the plan is told', () => {
    const plan = planOf({ desired: [declare('tag.one')] })
    const { changes } = plan
    const condition = (limit: number) => `eth.tx.value < ${limit}`
    const under = (policies: number) =>
      Array.from({ length: policies }, (_, n) => ({ condition: condition(n), ways: [{ sets: [['alice']] }] }))
    const access = ['wallet.treasury', 'wallet.operations'].map((wallet) => ({
      power: 'sign',
      wallet,
      before: { ways: [], under: under(1) },
      after: { ways: [], under: under(1_600) },
    }))
    const text = renderPlanMarkdown({ ...plan, changes, access } as never)
    expect(text.length).toBeLessThan(65_536)
    expect(text).toMatch(/\*\*sign of wallet\.treasury and wallet\.operations:/)
    expect(text).toMatch(/ …, and \d+ more characters/)
    expect(text).toContain(`plan \`${plan.digest.slice(0, 12)}\``)
    expect(text).not.toContain('The rest does not fit')
  })

  test('as Markdown: names are no markup, and a long plan is folded and cut', () => {
    const evil = '](http://x) <b>|``` @all'
    const names = Array.from({ length: 2000 }, (_, n) => declare(formatAddress('tag', `${evil} ${n}`)))
    const text = renderPlanMarkdown(planOf({ desired: names }))
    expect(text).toContain('<details><summary>2000 changes</summary>')
    expect(text).toContain('more lines; `quorate plan` shows them all')
    expect(text).toContain('create tag \\]\\(http')
    expect(text).not.toContain('| ](')
    expect(text).toMatch(/\| create tag .*&#64;all/)
    expect(text).toContain('\n````diff\n')
  })

  test('no change says so', () => {
    const plan = planOf({ lock: { [ORGANIZATION]: {} } })
    expect(summarize(plan)).toBe('No changes.')
    expect(renderPlanText(plan).endsWith('No changes.\n')).toBe(true)
  })

  test('control characters of names and values are escaped', () => {
    const evil = 'a\u001b[2J\u202eb\nrefused'
    const plan = planOf({
      desired: [declare(formatAddress('tag', evil)), declare('policy.p', { ...policy(null, null), notes: evil })],
    })
    const text = renderPlanText(plan)
    expect(text).toContain('a\\u{1b}[2J\\u{202e}b\\u{a}refused')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
  })

  test('styles colour what they are given for', () => {
    const text = renderPlanText(planOf({ desired: [declare('tag.a')] }), { added: (inner) => `<${inner}>` })
    expect(text).toContain('<+ tag.a>')
  })

  test('names that look alike stand beside each other: in text, Markdown and JSON, and live unmanaged ones too', () => {
    const plan = planOf({
      desired: [
        declare('user.alice'),
        declare('policy.ops', policy(null, 'false')),
        declare('policy.Ops', policy(null, 'true')),
      ],
      actual: [...bootstrap(), live('user.аlice'), live('tag.ops'), live('wallet.hot'), live('wallet.h0t')],
    })
    expect(plan.lookAlikes).toEqual([
      { address: 'policy.ops', like: 'policy.Ops', difference: 'only the case of letters differs' },
      {
        address: 'user.аlice',
        like: 'user.alice',
        difference: '`а` (U+0430) in place of `a` (U+0061)',
        unmanaged: ['user.аlice'],
      },
      {
        address: 'wallet.hot',
        like: 'wallet.h0t',
        difference: '`o` (U+006F) in place of `0` (U+0030)',
        unmanaged: ['wallet.hot', 'wallet.h0t'],
      },
    ])
    const text = renderPlanText(plan)
    expect(text).toContain('+ policy.ops  looks like policy.Ops\n')
    expect(text).toContain('+ policy.Ops  looks like policy.ops\n')
    expect(text).toContain(
      'Names that look alike\n  ! policy.ops looks like policy.Ops: only the case of letters differs\n',
    )
    expect(text).toContain(
      '  ! user.аlice (live, in no definition) looks like user.alice: `а` (U+0430) in place of `a` (U+0061)\n',
    )
    const markdown = renderPlanMarkdown(plan)
    expect(markdown).toContain('> [!WARNING]\n> - **Names that look alike**\n')
    expect(markdown).toContain('> - user.аlice \\(live, in no definition\\) looks like user.alice: `а` \\(U+0430\\)')
    expect(readPlan(writePlan(plan))).toEqual(plan)
  })

  test('a plan in which no two names look alike says nothing of it, nor of the former name of what is renamed', () => {
    expect(planOf(given).lookAlikes).toBeUndefined()
    const renamed = { ...declare('policy.Ops', policy(null, 'true')), renamedFrom: 'ops' }
    const plan = planOf({
      desired: [renamed],
      actual: [...bootstrap(), live('policy.ops', policy(null, 'true'))],
      allow: ['adoption'],
    })
    expect(plan.lookAlikes).toBeUndefined()
  })
})

test('what is denied says why, and what to do about it', () => {
  expect(renderForecast({ outcome: 'denied', reason: 'no way in', next: 'give the user a key' })).toBe(
    'denied: no way in; give the user a key',
  )
  expect(renderForecast({ outcome: 'denied', reason: 'policy no-exports' })).toBe('denied: policy no-exports')
})

test('of two conditions the lines that differ are shown, with their amounts in coins; of anything else both values, whole', () => {
  const condition = (wei: string) =>
    `activity.kind == 'SIGN_TRANSACTION' && wallet.id == 'c04db4a6-36b2-566d-9a50-a1ea50e1bd24' && eth.tx.value < ${wei}`
  expect(renderDifference(condition('500000000000000000'), condition('5000000000000000000'))).toEqual([
    ['&& eth.tx.value < 500000000000000000 (0.5 ETH)'],
    ['&& eth.tx.value < 5000000000000000000 (5 ETH)'],
  ])
  const further = `${condition('5')} && eth.tx.to == '0xd8da6bf26964af9d7eed9e03e53415d37aa96045'`
  expect(renderDifference(further, condition('5'))).toEqual([
    ["&& eth.tx.to == '0xd8da6bf26964af9d7eed9e03e53415d37aa96045'"],
    ['nothing'],
  ])
  const blank = condition('5').replace(' &&', '  &&')
  expect(renderDifference(condition('5'), blank)).toEqual([[JSON.stringify(condition('5'))], [JSON.stringify(blank)]])
  expect(renderDifference('eth.tx.value < 500000000000000000', undefined)).toEqual([
    ['"eth.tx.value < 500000000000000000" (0.5 ETH)'],
    ['nothing'],
  ])
  expect(renderDifference(2, ['a'])).toEqual([['2'], ['["a"]']])
})
