import { describe, expect, test } from 'vitest'
import { forecast } from '../../src/analysis/index.ts'
import { makePlan, renderPlanText, summarize } from '../../src/plan/index.ts'
import { formatAddress } from '../../src/resources/index.ts'
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
    const plan = forecast(makePlan(input).plan, input)
    expect(renderPlanText(plan)).toMatchInlineSnapshot(`
      "acme 0a0a0a0a-0000-4000-8000-000000000001 at http://127.0.0.1:1, as alice

      ~ rootQuorum
          threshold  1 → 2
          users      ["\${user.alice}"] → ["\${user.alice}","\${user.bob}"]
      + feature.SMS_AUTH
      - tag.old  3ea6603c-3789-468d-850c-53353b2d3ac3
      + user.bob
          email  bob@acme.test
          name   bob
      + apiKey.bob.k
          curve      P256
          publicKey  0281b637d8fcd2c6da6359e6963113a1170de795e4b725b84d1e0b4cfd9ec58ce9
      = policy.ops
          was there before: e85f482a-427a-468c-851a-40bbbed0173d, created by mallory
      ~ policy.ops
          condition  false → activity.resource == 'WALLET'

      Activities
         1. create user bob with 1 API key
            completes at once
         2. update root quorum, after 1
            completes at once
         3. create feature SMS_AUTH, after 2
            waits for any 1 of bob
         4. delete tag old, after 2
            waits for any 1 of bob
         5. update policy ops, after 2
            waits for any 1 of bob

      refused: deleting \`tag.old\` needs leave; raise with --allow-delete
          tag.old
      refused: deleting 1 of 1 tag is 100 %, over 30 %; raise with --allow deletes=1
          tag.old
      allowed by --allow adoption: \`policy.ops\` (created by \`mallory\`) was there before and would be taken as defined

      1 live thing is not in the definitions and left alone

      7 changes in 5 activities, 3 need another approver
      "
    `)
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
    expect(text).toContain('\\u001b[2J\\u202eb\\u000arefused')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
  })

  test('styles colour what they are given for', () => {
    const text = renderPlanText(planOf({ desired: [declare('tag.a')] }), { added: (inner) => `<${inner}>` })
    expect(text).toContain('<+ tag.a>')
  })
})
