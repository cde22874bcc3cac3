/** `policy compare` held against z3, which is asked the same of formulas that another translator writes. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { comparePolicies } from '../../src/analysis/index.ts'
import { runs } from '../runs.ts'
import { NOW, setOf } from './compared-sets.ts'
import { type Mutant, mutated } from './mutated.ts'
import { type Solved, type SolvedPair, type SolvedPolicy, solve } from './smt.ts'

const [A, B] = [`0x${'1'.repeat(40)}`, `0x${'2a'.repeat(20)}`]
const POWERS = ['sign', 'export'] as const

const SOME: Readonly<Record<string, readonly string[]>> = {
  'activity.kind': ['SIGN_TRANSACTION', 'EXPORT_WALLET', 'SIGN_RAW_PAYLOAD'],
  'activity.type': ['ACTIVITY_TYPE_SIGN_TRANSACTION_V2', 'ACTIVITY_TYPE_EXPORT_PRIVATE_KEY'],
  'activity.action': ['SIGN', 'EXPORT'],
  'activity.resource': ['PRIVATE_KEY', 'WALLET'],
  'activity.params.type': ['TRANSACTION_TYPE_ETHEREUM', 'TRANSACTION_TYPE_BITCOIN'],
  'activity.params.encoding': ['PAYLOAD_ENCODING_EIP712', 'PAYLOAD_ENCODING_TEXT_UTF8'],
  'activity.params.hash_function': ['HASH_FUNCTION_SHA256'],
  'wallet.id': ['w-cold', 'w-hot', 'w-new'],
  'wallet.label': ['cold', 'hot', 'warm'],
  'wallet_account.address': [A, B.toUpperCase().replace('0X', '0x'), 'bc1qabc'],
  'private_key.id': ['k1', 'k2'],
  'private_key.label': ['signer'],
  'eth.tx.to': [A, B, B.toUpperCase().replace('0X', '0x'), ''],
  'eth.eip_712.primary_type': ['Order', 'Permit'],
  'eth.eip_712.domain.name': ['Desk'],
}
const numbers = ['eth.tx.value', 'eth.tx.value', 'eth.tx.chain_id', 'eth.tx.max_fee_per_gas', 'eth.tx.nonce']
const others = ['eth.eip_712.domain.chain_id', 'bitcoin.tx.fee', 'tron.tx.fee_limit', 'tempo.tx.gas_limit']

const quoted = (text: string) => `'${text}'`
const texts = fc.constantFrom(...Object.keys(SOME)).chain((path) => {
  const one = fc.constantFrom(...SOME[path]!).map(quoted)
  return fc.oneof(
    fc.tuple(one, fc.constantFrom('==', '==', '!=')).map(([text, by]) => `${path} ${by} ${text}`),
    one.map((text) => `${text} == ${path}`),
    fc.array(one, { minLength: 1, maxLength: 3 }).map((all) => `${path} in [${all}]`),
  )
})
const small = fc.constantFrom(0, 1, 4, 5, 6, 9)
const counts = fc
  .tuple(fc.constantFrom(...numbers, ...numbers, ...others), small, small)
  .chain(([path, a, b]) =>
    fc.constantFrom(
      ...['==', '!=', '<', '<=', '>', '>='].flatMap((by) => [`${path} ${by} ${a}`, `${a} ${by} ${path}`]),
      `${path} in [${a}, ${b}]`,
    ),
  )
const cut = fc.constantFrom(
  "wallet.label[0..1] == 'c'",
  "wallet.label[3] == 'd'",
  "wallet.label[1..9] != 'old'",
  "wallet.id[0..2] in ['w-', 'x-']",
  "private_key.label[0] == 's'",
  "eth.tx.data[0..10] == '0xa9059cbb'",
  "eth.tx.data[0..10] in ['0xA9059CBB', '0x095ea7b3']",
  "eth.tx.data[10..12] != '07'",
  "eth.tx.data == '0x'",
  "eth.tx.to[0..4] == '0x11'",
)
const flags = fc.constantFrom('wallet.exported', 'wallet.imported == true', 'private_key.exported', 'true', '2 > 1')
const written = fc.constantFrom("'a' in ['a', 'b']", '1 in [2, 3]')
const atom = fc.oneof(
  { arbitrary: texts, weight: 8 },
  { arbitrary: counts, weight: 8 },
  { arbitrary: cut, weight: 3 },
  { arbitrary: flags, weight: 2 },
  written,
)
const condition = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atom,
    fc.tuple(tie('node'), fc.constantFrom('&&', '&&', '||'), tie('node')).map(([a, by, b]) => `(${a}) ${by} (${b})`),
    tie('node').map((a) => `!(${a})`),
  ),
})).node
const time = fc.constantFrom(
  undefined,
  undefined,
  undefined,
  "time.now < Timestamp('2026-07-01T00:00:00Z')",
  "time.now >= Timestamp('2026-07-01T00:00:00Z') && time.now != Timestamp('2026-08-01T00:00:00Z')",
)
const effect = fc.constantFrom('EFFECT_ALLOW' as const, 'EFFECT_ALLOW' as const, 'EFFECT_DENY' as const)
const policy: fc.Arbitrary<SolvedPolicy> = fc
  .record({ effect, condition, time })
  .map(({ time: when, ...one }) => (when === undefined ? one : { ...one, time: when }))

/** The same policies but for one, which is told otherwise, split, or changed a little. */
const pair: fc.Arbitrary<SolvedPair> = fc
  .tuple(fc.array(policy, { minLength: 1, maxLength: 3 }), policy, atom, fc.nat(6), fc.boolean())
  .map(([first, other, clause, how, turned]) => {
    const [{ condition: own = 'true', ...rest }, ...more] = first as [SolvedPolicy, ...SolvedPolicy[]]
    const told = (...conditions: readonly string[]) => conditions.map((one) => ({ ...rest, condition: one }))
    const changed = [
      told(`!(!(${own}))`),
      told(`(${own}) && ((${clause}) || !(${clause}))`),
      told(`(${own}) && (${clause})`, `(${own}) && !(${clause})`),
      told(`(${own}) && (${clause})`),
      told(`(${own}) || (${clause})`),
      told(own).map((one) => ({ ...one, effect: 'EFFECT_DENY' as const })),
      [other],
    ][how]!
    const second = [...changed, ...more]
    return turned ? { first: second, second: first } : { first, second }
  })

const allow = (...conditions: readonly string[]): readonly SolvedPolicy[] =>
  conditions.map((one) => ({ effect: 'EFFECT_ALLOW', condition: one }))
const deny = (...conditions: readonly string[]): readonly SolvedPolicy[] =>
  conditions.map((one) => ({ effect: 'EFFECT_DENY', condition: one }))
const SIGNS = "activity.kind == 'SIGN_TRANSACTION'"

/** Pairs in each of which one thing decides. */
const KEPT: readonly SolvedPair[] = (
  [
    // A field that is not there, or a number that does not fit, is an error.
    [allow('eth.tx.nonce < 5'), allow('eth.tx.nonce < 5 && eth.tx.chain_id >= 0')],
    [
      [...allow(SIGNS), ...deny('eth.tx.nonce == 5')],
      [...allow(SIGNS), ...deny('eth.tx.nonce == 5 && eth.tx.value >= 0')],
    ],
    [allow("activity.params.type == 'TRANSACTION_TYPE_ETHEREUM'"), allow(`${SIGNS} && eth.tx.nonce >= 0`)],
    // So it is on either side of `||`, and under `!`.
    [deny("wallet.id == 'w-hot' || private_key.id == 'k1'"), deny("wallet.id == 'w-hot'", "private_key.id == 'k1'")],
    [allow(`!(wallet.id == 'w-hot') && ${SIGNS}`), allow(`!(private_key.id == 'k1' && false) && ${SIGNS}`)],
    [allow("!(wallet.id == 'w-hot')", "wallet.id == 'w-hot'"), allow('true')],
    [allow('eth.tx.nonce < 6'), allow('eth.tx.nonce <= 5')],
    [allow('eth.tx.nonce < 1'), allow('false')],
    [allow('eth.tx.nonce > 4'), allow('eth.tx.nonce >= 4')],
    [allow("eth.eip_712.primary_type != 'Order'"), allow("eth.eip_712.primary_type in ['Permit', 'Other']")],
    [allow("wallet.id == 'w-new' && wallet.label == 'warm'"), allow('false')],
    [allow("wallet.id == 'w-hot' && wallet.label == 'cold'"), allow('false')],
    [allow("wallet.id == 'w-hot' && wallet.exported"), allow("wallet.label == 'hot' && wallet.imported")],
    [allow(`eth.tx.to == '${A}' && eth.tx.nonce == 4`), allow(`eth.tx.to == '${A}' && eth.tx.nonce in [4, 5]`)],
    [[...allow(SIGNS), ...deny('true')], deny('true')],
    [allow("wallet.label[3] == 'd'"), allow("wallet.label[0..4] == 'cold'")],
  ] as const
).map(([first, second]) => ({ first, second }))

const ASKED = [...KEPT, ...fc.sample(pair, runs(24))].flatMap((one) => POWERS.map((power) => ({ pair: one, power })))
const answers = solve(ASKED, setOf([]).wallets)

/** What compare says that z3 denies; a relation that is not known says nothing, and a difference that is shown says what it shows. */
function faultsOf(compare: typeof comparePolicies, solved: readonly Solved[]): readonly string[] {
  return solved.flatMap((truth, index) => {
    const { pair: of, power } = ASKED[index]!
    const [row] = compare(setOf(of.first), setOf(of.second), { nowMs: NOW, powers: [power] })
    const { relation, wider, narrower } = row!
    const said = { wider: wider !== undefined, narrower: narrower !== undefined }
    return (['wider', 'narrower'] as const)
      .filter((way) => (relation === 'unknown' ? said[way] && !truth[way] : said[way] !== truth[way]))
      .map((way) => `${power} ${way}: ${said[way]} of ${JSON.stringify(of)}`)
  })
}

describe('compare and z3', () => {
  // z3 computes for seconds, and for minutes where the machine is busy or soaks.
  test('agree wherever compare decides', { timeout: 300_000 * runs(1) }, async () => {
    const solved = await answers
    expect(faultsOf(comparePolicies, solved)).toEqual([])
    for (const way of ['wider', 'narrower'] as const)
      for (const is of [true, false]) expect(solved.filter((one) => one[way] === is).length).toBeGreaterThan(5)
  })

  const of = (file: string, mistakes: readonly (readonly [string, string, string])[]): readonly Mutant[] =>
    mistakes.map(([mistake, from, to]) => ({ mistake, file: `analysis/${file}`, from, to }))
  const mutants = [
    ...of('request-values.ts', [
      ['the number below a literal is not tried', '[one, one + 1n, one - 1n]', '[one, one + 1n]'],
      ['no text but those that are written is tried', 'cut([...written, another], true)', 'cut([...written], true)'],
      ['no request lacks a field', 'mayBeMissing(path, kind) ? [MISSING] :', 'kind === "" ? [MISSING] :'],
      ['no number is too large', 'mayBeTooLarge(path) ? [TOO_LARGE]', 'kind === "" ? [TOO_LARGE]'],
    ]),
    ...of('compare-search.ts', [
      ['an error is true where it is negated', "false: 'true', error: 'error'", "false: 'true', error: 'true'"],
      ['values are told apart by one clause', 'const key = truths.join()', 'const key = String(truths[0])'],
      ['a kind of request tells all that it is', 'paramNames(row.type).includes(name))', 'name !== row.type)'],
    ]),
    ...of('compare.ts', [
      ['one way is enough', 'return count === 2 ||', 'return count >= 1 ||'],
      [
        'what errs is false',
        "return holds === undefined ? 'error' : holds",
        "return holds === undefined ? 'false' : holds",
      ],
    ]),
  ]
  test.each(mutants)('a mistake is found: $mistake', { timeout: 300_000 * runs(1) }, async (mutant) => {
    const solved = (await answers).slice(0, POWERS.length * KEPT.length)
    const { comparePolicies: mistaken } = await mutated<{ comparePolicies: typeof comparePolicies }>(
      mutant,
      'analysis/compare.ts',
    )
    expect(faultsOf(mistaken, solved).length).toBeGreaterThan(0)
  })
})
