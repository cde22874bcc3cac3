import { describe, expect, test } from 'vitest'
import { evaluate, evaluateEth } from './harness.ts'

const ADDRESS = '0xaAbBcCdDeEfF00112233445566778899aAbBcCdD'

describe('evaluate: numbers', () => {
  test.each([
    ['eth.tx.value == 170141183460469231731687303715884105727', 2n ** 127n - 1n, 'true'],
    ['eth.tx.value > 0', 2n ** 127n, 'NumberOutOfRange'],
    ['eth.tx.value < 0', -(2n ** 127n), 'true'],
    ['eth.tx.value == 5', 5, 'true'],
    ['eth.tx.value == 5', '5', 'true'],
    ['eth.tx.value == 9007199254740993', '9007199254740993', 'true'],
    ['eth.tx.value == 5', 5.5, 'TypeMismatch'],
    ['eth.tx.value == 5', 2 ** 53, 'TypeMismatch'],
    ['eth.tx.value == 5', 'five', 'TypeMismatch'],
    ['eth.tx.value == 5', true, 'TypeMismatch'],
    ['eth.tx.value == 0', null, 'MissingField'],
  ])('evaluate: %s with %s is %s', (text, value, expected) => {
    expect(evaluateEth(text, { value })).toBe(expected)
  })

  test('evaluate: a uint is not negative and an int fits 128 bit, whatever the interface says', () => {
    const args = {
      small: { int: -1n },
      large: { int: 2n ** 127n },
      negative: { uint: -1 },
      most: { uint: 2n ** 256n - 1n },
    }
    const read = (text: string) => evaluateEth(text, { contract_call_args: args })
    expect(read("eth.tx.contract_call_args['small'] == -1")).toBe('true')
    expect(read("eth.tx.contract_call_args['large'] == 1")).toBe('NumberOutOfRange')
    expect(read("eth.tx.contract_call_args['negative'] == 1")).toBe('NumberOutOfRange')
    expect(read("eth.tx.contract_call_args['most'] > 170141183460469231731687303715884105727")).toBe('true')
  })
})

describe('evaluate: text', () => {
  test.each([
    [`eth.tx.to == '${ADDRESS.toLowerCase()}'`, 'true'],
    [`eth.tx.to in ['0x00', '${ADDRESS.toUpperCase().replace('X', 'x')}']`, 'true'],
    ["eth.tx.to[2..6] == 'AABB'", 'true'],
    ["eth.tx.to[2] == 'A'", 'true'],
    ["[eth.tx.to[2..4]].contains('AA')", 'true'],
    ["eth.tx.type == 'type_2'", 'false'],
  ])('evaluate: hex text ignores letter case, also in pieces: %s', (text, expected) => {
    expect(evaluateEth(text, { to: ADDRESS, type: 'TYPE_2' })).toBe(expected)
  })

  test('evaluate: an account address ignores letter case only when it starts with 0x', () => {
    const is = (address: string, literal: string) =>
      evaluate('condition', `wallet_account.address == '${literal}'`, { wallet_account: { address } })
    expect(is('0xab', '0xAB')).toBe('true')
    expect(is('TAb', 'Tab')).toBe('false')
    // Folding is for ASCII alone: the Kelvin sign is not a k.
    expect(is('0x\u212a', '0xk')).toBe('false')
  })

  test.each([
    ["wallet.label[1] == 'b'", 'true'],
    ["wallet.label[1..3] == 'bc'", 'true'],
    ["wallet.label[1..99] == 'bc'", 'true'],
    ["wallet.label[7..99] == ''", 'true'],
    ["wallet.label[3] == ''", 'IndexOutOfRange'],
    ["wallet.label[-1] == ''", 'IndexOutOfRange'],
    ["wallet.label[2..1] == ''", 'IndexOutOfRange'],
    ["wallet.label[-1..1] == ''", 'IndexOutOfRange'],
    ["wallet.label[0..340282366920938463463374607431768211456] == '🐿bc'", 'true'],
  ])('evaluate: positions of a text count code points: %s', (text, expected) => {
    expect(evaluate('condition', text, { wallet: { label: '🐿bc' } })).toBe(expected)
  })

  test.each([
    ['ACTIVITY_TYPE_SPARK_SIGN_FROST', "activity.kind == 'LAYER2_SIGN_FROST'", 'true'],
    ['ACTIVITY_TYPE_SPARK_SIGN_FROST', "activity.type in ['ACTIVITY_TYPE_LAYER2_SIGN_FROST']", 'true'],
    ['ACTIVITY_TYPE_LAYER2_SIGN_FROST', "activity.kind == 'SPARK_SIGN_FROST'", 'true'],
    ['ACTIVITY_TYPE_SPARK_SIGN_FROST', "activity.kind == 'SPARK_CLAIM_TRANSFER'", 'false'],
  ])('evaluate: %s is named in either spelling: %s', (type, text, expected) => {
    expect(evaluate('condition', text, { activity: { type } })).toBe(expected)
  })
})

describe('evaluate: missing', () => {
  test.each([
    ["wallet.id == 'a'", 'MissingField'],
    ["eth.tx.to == 'a'", 'MissingField'],
    ["activity.params.constructor == 'a'", 'MissingField'],
    ["secret.static_properties['__proto__'] == 'a'", 'MissingField'],
    ["secret.static_properties['toString'] == 'a'", 'MissingField'],
    ["activity.resource == 'a'", 'MissingField'],
  ])('evaluate: %s', (text, expected) => {
    const context = { activity: { type: 'ACTIVITY_TYPE_CREATE_SWAP_QUOTE' }, secret: { static_properties: {} } }
    expect(evaluate('condition', text, context)).toBe(expected)
  })

  test('evaluate: a parameter that no row exposes is missing even when the context has it', () => {
    const activity = { type: 'ACTIVITY_TYPE_CREATE_WALLET', params: { wallet_name: 'x' } }
    expect(evaluate('condition', "activity.params.wallet_name == 'x'", { activity })).toBe('MissingField')
  })

  test('evaluate: absent fields with a default read as it', () => {
    expect(evaluateEth("eth.tx.function_name == '' && eth.tx.function_signature == ''", {})).toBe('true')
    const tempo = { tx: { calls: [{ to: '' }] } }
    expect(
      evaluate('condition', "tempo.tx.calls.all(c, c.input == '0x') && tempo.tx.valid_after == 0", { tempo }),
    ).toBe('true')
    expect(evaluate('consensus', "approvers.all(a, a.email == '' && a.tags.count() == 0)")).toBe('true')
  })

  test('evaluate: the first fault in the text is told, with its place', () => {
    expect(evaluateEth("eth.tx.data[5] == 'a' || wallet.id == 'b'", { data: '0x' })).toBe('IndexOutOfRange')
    expect(evaluateEth("wallet.id == 'b' || eth.tx.data[5] == 'a'", { data: '0x' })).toBe('MissingField')
  })
})

describe('evaluate: decoded values', () => {
  const call = (args: unknown, text: string) => evaluateEth(text, { contract_call_args: { x: args } })

  test.each([
    [5, "eth.tx.contract_call_args['x'] == 5", 'true'],
    [5, "eth.tx.contract_call_args['x'] == '5'", 'TypeMismatch'],
    ['5', "eth.tx.contract_call_args['x'] == 5", 'TypeMismatch'],
    ['0xAB', "eth.tx.contract_call_args['x'] == '0xab'", 'true'],
    [{ text: '0xAB' }, "eth.tx.contract_call_args['x'] == '0xab'", 'false'],
    [true, "eth.tx.contract_call_args['x']", 'true'],
    ['no', "eth.tx.contract_call_args['x']", 'TypeMismatch'],
    [[1, 2], "2 in eth.tx.contract_call_args['x']", 'true'],
    [[1, 'a'], "2 in eth.tx.contract_call_args['x']", 'TypeMismatch'],
    [{ tuple: ['0xab', 1] }, "eth.tx.contract_call_args['x'][1] == 1", 'true'],
    [{ tuple: ['0xab', 1] }, "eth.tx.contract_call_args['x'].maker == '0xab'", 'TypeMismatch'],
    [{ tuple: ['0xab', 1] }, "eth.tx.contract_call_args['x'].count == 2", 'true'],
    ['0xab', "eth.tx.contract_call_args['x'].count() == 2", 'TypeMismatch'],
    [1.5, "eth.tx.contract_call_args['x'] < 2", 'TypeMismatch'],
    [{ float: '1.5' }, "eth.tx.contract_call_args['x'] == eth.tx.contract_call_args['x']", 'TypeMismatch'],
  ])('evaluate: %j in %s is %s', (args, text, expected) => {
    expect(call(args, text)).toBe(expected)
  })

  const message = (value: unknown, text: string) =>
    evaluate('condition', text, { eth: { eip_712: { message: { x: value } } } })

  test.each([
    ['600', "eth.eip_712.message['x'] == 600", 'true'],
    ['600', "eth.eip_712.message['x'] == '600'", 'true'],
    [600, "eth.eip_712.message['x'] == '600'", 'true'],
    ['0600', "eth.eip_712.message['x'] == 600", 'TypeMismatch'],
    ['0600', "eth.eip_712.message['x'] == '0600'", 'true'],
    [(2n ** 256n).toString(), "eth.eip_712.message['x'] > 1", 'TypeMismatch'],
    // The submitter of a signature writes the message: nothing in it may pass for a mark of the decoder.
    [{ uint: '5' }, "eth.eip_712.message['x']['uint'] == 5", 'true'],
    [{ uint: '5' }, "eth.eip_712.message['x'] == 5", 'TypeMismatch'],
    [[1, 2], "eth.eip_712.message['x'].any(e, e == 2)", 'true'],
    [null, "eth.eip_712.message['x'] == 5", 'MissingField'],
  ])('evaluate: typed data %j in %s is %s', (value, text, expected) => {
    expect(message(value, text)).toBe(expected)
  })

  test('evaluate: an interface of Solana gives maps by name, and exact text', () => {
    const parsed = {
      instruction_name: 'a',
      named_accounts: { to: 'K' },
      program_call_args: { s: { uint: 1, k: 'AB' }, m: { map: { uint: 1 } } },
    }
    const solana = { tx: { instructions: [{ program_key: 'P', parsed_instruction_data: parsed }] } }
    const data = 'solana.tx.instructions[0].parsed_instruction_data'
    const read = (text: string) => evaluate('condition', text, { solana })
    expect(read(`${data}.program_call_args['s']['k'] == 'ab'`)).toBe('false')
    expect(read(`${data}.program_call_args['m']['uint'] == 1`)).toBe('true')
    expect(read(`${data}.named_account['to'] == ${data}.named_accounts['to']`)).toBe('true')
  })
})

describe('evaluate: lists', () => {
  test.each([
    ['[].count() == 0 && [].all(x, x) && !([].any(x, x))', 'true'],
    ['[1, 2, 3][1..9].count() == 2', 'true'],
    ['[1, 2][2] == 1', 'IndexOutOfRange'],
    ['[[1], []].any(l, l.contains(1))', 'true'],
    ['[1, 2].filter(x, x > 1)[0] == 2', 'true'],
    ['[1, 2].all(x, [3, 4].all(y, y > x && [5].all(x, x > y)))', 'true'],
    ["[{ id: 'a' }, { id: 'b' }].any(s, s.id == 'b')", 'true'],
    ['[170141183460469231731687303715884105728, 1].contains(170141183460469231731687303715884105728)', 'true'],
    ['[true, false].contains(1 == 1)', 'true'],
  ])('evaluate: %s', (text, expected) => {
    expect(evaluate('condition', text)).toBe(expected)
  })

  test('evaluate: a predicate is evaluated for every element, and one error is the result', () => {
    const wallets = [{ id: 'a', label: 'x' }, { id: 'b' }]
    expect(evaluate('condition', "wallets.any(w, w.label == 'x')", { wallets })).toBe('MissingField')
    expect(evaluate('condition', "wallets.all(w, w.label == 'y')", { wallets })).toBe('MissingField')
    expect(evaluate('condition', "wallets.filter(w, w.label == 'x').count() > 0", { wallets })).toBe('MissingField')
  })
})
