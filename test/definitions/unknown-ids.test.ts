/** Ids and labels in policies that nothing has. */
import { expect, test } from 'vitest'
import { checkUnknownIds } from '../../src/definitions/unknown-ids.ts'
import { createSource } from '../../src/diagnostics/index.ts'
import type { Actual, KindName, Resource, Value } from '../../src/resources/index.ts'

const [LIVE, NONE] = ['0a0a0a0a-0000-4000-8000-000000000001', '0a0a0a0a-0000-4000-8000-000000000002']
const span = { source: createSource('acme.yaml', ''), start: 0, end: 0 }
const policy = (condition: Value): Resource => ({
  address: 'policy.p',
  kind: 'policy',
  name: 'p',
  fields: { condition },
  span,
})
const wallet: Resource = { address: 'wallet.hot', kind: 'wallet', name: 'hot', id: LIVE, fields: {} }
const told = (condition: Value, unread: readonly KindName[] = []) => {
  const actor = { userId: '', userName: '', publicKey: '' }
  const actual: Actual = { organizationId: '', organizationName: '', resources: [wallet], unread, actor }
  return checkUnknownIds({ resources: [policy(condition)] }, actual).map(({ code, message }) => `${code}: ${message}`)
}

test.each([
  ["wallet.id == '%'", 'wallet has the id'],
  ["private_key.id in ['%']", 'private key has the id'],
  ["private_key.tags.contains('%')", 'tag of private keys has the id'],
  ["approvers.all(one, one.id != '%')", 'user has the id'],
  ["approvers.any(one, one.tags.contains('%'))", 'tag has the id'],
])('%s: one that nothing has is told', (text, says) => {
  expect(told(text.replace('%', NONE))).toEqual([`definitions/unknown-id: no ${says} \`${NONE}\``])
})

test('what lives, a reference and what was not read are not told', () => {
  expect(told(`wallet.id == '${LIVE}' && wallet.label == 'hot'`)).toEqual([])
  expect(told({ $text: ["wallet.id == '", { $ref: 'wallet.new' }, `' && '${NONE}' != wallet.label`] })).toEqual([
    `definitions/unknown-id: no wallet has the name \`${NONE}\``,
  ])
  expect(told(`wallet.id == '${NONE}' && wallet.label == 'cold'`, ['wallet'])).toEqual([])
  // It is compared with no wallet.
  expect(told(`activity.params.note == '${NONE}'`)).toEqual([])
})
