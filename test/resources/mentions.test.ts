import { describe, expect, test } from 'vitest'
import { idsOf, textsOf } from '../../src/resources/index.ts'

const [A, B, C] = ['a', 'b', 'c'].map((digit) => `${digit.repeat(8)}-1111-4111-8111-111111111111`) as [
  string,
  string,
  string,
]

describe('mentions', () => {
  test.each([
    { name: 'a member at any depth', value: { users: [{ tags: [A] }], of: { id: B } }, expected: [A, B] },
    { name: 'a literal of an expression', value: { consensus: `approvers.any(u, u.id == '${A}')` }, expected: [A] },
    { name: 'an expression that cannot be read', value: { condition: `wallet.id =~ '${A}'` }, expected: [A] },
    { name: 'a note that names one', value: { notes: `as ${A} asked` }, expected: [] },
    { name: 'a name of a member', value: { [A]: 'x' }, expected: [] },
    { name: 'nothing', value: undefined, expected: [] },
  ])('ids: of $name', ({ value, expected }) => {
    expect([...new Set(idsOf(value))]).toEqual(expected)
  })

  test('texts: as they are, and not as JSON writes them', () => {
    expect(textsOf({ notes: `"${C}"\n`, condition: "wallet.id == 'w'" })).toEqual([`"${C}"\n`, 'w'])
  })
})
