import { describe, expect, test } from 'vitest'
import { writeRefusal } from '../../src/policy/index.ts'

describe('refusal', () => {
  test('refusal: an empty consensus is refused in the words of the live service', () => {
    expect(writeRefusal({ consensus: '' })).toBe(
      'invalid policy consensus: Expression cannot be evaluated: parse error: Unrecognized EOF found at 0',
    )
  })

  test.each([
    [{ condition: '' }, 'condition', 'parse error: Unrecognized EOF found at 0'],
    [{ condition: "activity.kind == 'A' && " }, 'condition', 'parse error: Unrecognized EOF found at 23'],
    [{ condition: 'true true' }, 'condition', 'parse error: Unrecognized token `true` found at 5:9'],
    [{ condition: '1 < 2 < 3' }, 'condition', 'parse error: Unrecognized token `<` found at 6:7'],
    [{ condition: "wallet.label == 'é' = true" }, 'condition', 'parse error: Invalid token at 21'],
    [{ condition: 'wallet.nope == \'a\' && activity.kind == "A"' }, 'condition', 'parse error: Invalid token at 39'],
    [{ condition: "wallet_account.path == ''" }, 'condition', 'field does not exist: path'],
    [{ condition: '42' }, 'condition', 'a condition is true or false, got an int'],
    [{ time: 'time.now' }, 'time', 'a time is true or false, got a timestamp'],
    [{ consensus: '', condition: '' }, 'consensus', 'parse error: Unrecognized EOF found at 0'],
  ])('refusal: %j', (policy, field, reason) => {
    expect(writeRefusal(policy)).toBe(`invalid policy ${field}: Expression cannot be evaluated: ${reason}`)
  })

  test.each([
    {},
    { consensus: undefined, condition: null },
    { time: '' },
    { consensus: 'true' },
    // Only a warning: it may be meant, and the service accepts it.
    { condition: "activity.params.wallet_name == 'x'" },
  ])('refusal: %j is accepted', (policy) => {
    expect(writeRefusal(policy)).toBeUndefined()
  })
})
