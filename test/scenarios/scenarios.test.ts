/** Files of scenarios: what they may say, what is said of mistakes in them, and what comes of them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { createSource } from '../../src/diagnostics/index.ts'
import {
  coverageOf,
  makeRequestSchema,
  makeScenariosSchema,
  playSuite,
  readRequestFile,
  readTransaction,
} from '../../src/scenarios/index.ts'
import { oneLine, playText, testDefinitions, testWorld } from './harness.ts'

const rooms = join(import.meta.dirname, '../../src/scenarios')

/** Plays a file in which nothing is wrong, and gives what differs from what it expects. */
async function differences(text: string): Promise<readonly string[]> {
  const { files } = await playText(text)
  expect(files.flatMap(({ diagnostics }) => diagnostics.map(oneLine))).toEqual([])
  return files.flatMap(({ results }) =>
    results.flatMap(({ name, differences }) =>
      differences.map(
        ({ what, expected, got, line, column }) => `${line}:${column} ${name}: ${what}: ${expected}, not ${got}`,
      ),
    ),
  )
}

const sign = 'activity: SIGN_TRANSACTION, wallet: main'
const one = (rest: string) => `scenarios:\n  s: { ${rest} }\n`
const small = 'transaction: { ethereum: { value: 1 } }'

describe('scenarios: what comes of them', () => {
  test.each([
    ['a policy allows', `by: ana, ${sign}, ${small}, expect: allow`],
    ['the policies that decided', `by: ana, ${sign}, ${small}, expect: { outcome: allow, decidedBy: small }`],
    [
      'a policy waits, and who is missing',
      `by: ana, ${sign}, transaction: { ethereum: { value: 1000 } }, expect: { outcome: pending, decidedBy: pair, needs: [bob] }`,
    ],
    ['two approve', `by: [ana, bob], ${sign}, transaction: { ethereum: { value: 1000 } }, expect: allow`],
    ['nothing allows', `by: cyd, ${sign}, ${small}, expect: { outcome: deny, decidedBy: nothing-allows }`],
    [
      'a policy errs and nothing allows',
      `by: cyd, ${sign}, expect: { outcome: error, errors: small, policies: { small: error, pair: none, night: none } }`,
    ],
    [
      'the root quorum',
      `by: [rita, rolf], activity: UPDATE_ROOT_QUORUM, expect: { outcome: allow, decidedBy: root-quorum }`,
    ],
    [
      'the root quorum has begun',
      `by: rita, activity: ACTIVITY_TYPE_UPDATE_ROOT_QUORUM, expect: { outcome: pending, needs: [rolf] }`,
    ],
    ['a root-only activity', 'by: ana, activity: UPDATE_ROOT_QUORUM, expect: { outcome: deny, decidedBy: root-only }'],
    [
      'own credentials',
      "by: ana, activity: CREATE_API_KEYS, params: { user_id: '${user.ana}' }, expect: { outcome: allow, decidedBy: own-credentials }",
    ],
    ['own credentials, by target', 'by: ana, activity: DELETE_AUTHENTICATORS, target: ana, expect: allow'],
    ["another's credentials", "by: ana, activity: CREATE_API_KEYS, params: { user_id: '${user.bob}' }, expect: deny"],
    [
      'a credential by its type',
      'by: [{ user: cyd, with: CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR }], activity: CREATE_WALLET, time: 2026-01-01T12:00:00Z, expect: allow',
    ],
    ['a credential by its name', 'by: { user: ana, with: laptop }, activity: CREATE_WALLET, expect: deny'],
    [
      'a time',
      'by: [{ user: cyd, with: CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR }], activity: CREATE_WALLET, time: 2026-03-01T23:00:00Z, expect: { outcome: deny, decidedBy: night }',
    ],
    [
      'a time with an offset',
      "by: [{ user: cyd, with: CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR }], activity: CREATE_WALLET, time: '2026-03-01T23:00:00+02:00', expect: allow",
    ],
    [
      'a name with a quote in it',
      `by: cyd, activity: SIGN_RAW_PAYLOAD, wallet: "bob's", expect: { outcome: allow, decidedBy: quoted }`,
    ],
    [
      'calls, of which the worst decides',
      `by: ana, activity: SIGN_TRANSACTION, wallet: main, calls: [{ ethereum: { value: 1 } }, { ethereum: { value: 5e3 } }], expect: pending`,
    ],
    [
      'the bytes of a transaction',
      `by: ana, ${sign}, transaction: { ethereum: '0x02ef0180843b9aca00847735940082520894d8da6bf26964af9d7eed9e03e53415d37aa960458806f05b59d3b2000080c0' }, expect: pending`,
    ],
  ])('scenarios: %s', async (_, rest) => {
    expect(await differences(one(rest))).toEqual([])
  })

  test('scenarios: what differs is said at the place of the expectation, with the reason', async () => {
    const text = `defaults: { ${sign} }
scenarios:
  too much:
    by: ana
    transaction: { ethereum: { value: 1000 } }
    why: the limit is below 1000
    expect:
      outcome: allow
      decidedBy: small
      needs: [cyd]
      policies: { pair: allow }
`
    expect(await differences(text)).toEqual([
      '8:16 too much: outcome: allow, not pending',
      '9:18 too much: decidedBy: small, not pair',
      '11:25 too much: policies.pair: allow, not pending',
      '10:14 too much: needs: cyd, not bob',
    ])
    const [result] = (await playText(text)).files[0]!.results
    expect(result!.why).toBe('the limit is below 1000')
    expect(result!.because).toEqual([
      "pair: pending; consensus: `approvers.filter(u, u.tags.contains('${tag.ops}')).count() >= 2` is false (`approvers.filter(u, u.tags.contains('${tag.ops}')).count()` is 1)",
      'small: none; condition: `eth.tx.value < 1000` is false (`eth.tx.value` is 1000)',
    ])
  })

  test('scenarios: a table is a scenario a row; a nothing leaves out what its column says', async () => {
    const text = `tables:
  limits:
    given: { by: ana, ${sign}, expect: { decidedBy: small } }
    columns: [name, transaction.ethereum.value, expect.outcome, expect.decidedBy]
    rows:
      - [below, 999, allow, ~]
      - [at, 1000, pending, pair]
      - [~, 1e3, allow, pair]
`
    expect(await differences(text)).toEqual(['8:18 limits, row 3: outcome: allow, not pending'])
    const names = (await playText(text)).files[0]!.results.map(({ name }) => name)
    expect(names).toEqual(['limits, below', 'limits, at', 'limits, row 3'])
  })

  test('scenarios: anchors, aliases and merge keys are what they stand for', async () => {
    const text = `x-base: &base { by: ana, ${sign} }
scenarios:
  a: { <<: *base, ${small}, expect: allow }
  b: { <<: *base, by: &who [ana, bob], transaction: { ethereum: { value: 340282366920938463463374607431768211455 } }, expect: error }
  c: { <<: *base, by: *who, transaction: { ethereum: { value: 170141183460469231731687303715884105727 } }, expect: allow }
`
    expect(await differences(text)).toEqual(['4:127 b: outcome: error, not allow'])
  })

  test('scenarios: a filter chooses by name', async () => {
    const text = `scenarios:\n  Alpha: { by: ana, ${sign}, ${small}, expect: allow }\n  beta: { by: ana, ${sign}, ${small}, expect: deny }\n`
    expect(await playText(text, { filter: 'ALP' })).toMatchObject({ passed: 1, failed: 0 })
    expect(await playText(text)).toMatchObject({ passed: 1, failed: 1 })
  })

  test('scenarios: over several threads the same comes of them, in the same order', async () => {
    const rows = Array.from(
      { length: 3000 },
      (_, n) => `      - [${n % 1500}, ${n % 1500 < 1000 ? 'allow' : 'pending'}]\n`,
    )
    const text = (file: number) =>
      `# ${file} ${'-'.repeat(60_000)}\ntables:\n  t:\n    given: { by: ana, ${sign} }\n    columns: [transaction.ethereum.value, expect]\n    rows:\n${rows.slice(file * 1000, file * 1000 + 1000).join('')}      - [1, deny]\n`
    const sources = [0, 1, 2].map((file) => createSource(`${file}.test.yaml`, text(file)))
    const world = await testWorld()
    const alone = await playSuite(sources, world, { threads: 1, coverage: true })
    expect(alone).toMatchObject({ passed: 3000, failed: 3 })
    expect(await playSuite(sources, world, { threads: 3, coverage: true })).toEqual(alone)
  })
})

describe('scenarios: mistakes', () => {
  test.each([
    [
      'scenarios: [',
      [
        '1:13 syntax: this is not YAML: flow sequence in block collection must be sufficiently indented and end with a ]',
      ],
    ],
    ['scenario: {}', ['1:1 unknown-key: unknown key `scenario` in a file of scenarios (did you mean `scenarios`?)']],
    ['scenarios: [1]', ['1:12 wrong-type: expected a map of names']],
    [
      one('by: ana, activity: CREATE_WALLET'),
      [
        '2:3 missing-key: `expect` is missing: what should come of it (add `expect: allow`, or one of the other outcomes)',
      ],
    ],
    [
      one('activity: CREATE_WALLET, expect: deny'),
      ['2:6 missing-key: `by` is missing: who asks for it (add `by:` with the name of a user)'],
    ],
    [one('by: ana, expect: deny'), ['2:6 missing-key: `activity` is missing: what is asked for']],
    [
      one('by: anna, activity: CREATE_WALLET, expect: deny'),
      ['2:12 unknown-name: no user `anna` is defined (did you mean `ana`?)'],
    ],
    [
      one('by: ana, activity: SIGN_TRANSACTON, expect: deny'),
      ['2:27 unknown-activity: there is no activity `SIGN_TRANSACTON` (did you mean `SIGN_TRANSACTION`?)'],
    ],
    [
      one('by: ana, activity: SIGN_TRANSACTION, wallet: mein, expect: deny'),
      ['2:53 unknown-name: no wallet `mein` is defined (did you mean `main`?)'],
    ],
    [
      one('by: ana, activity: CREATE_WALLET, expect: alow'),
      ['2:50 wrong-value: expected one of `allow`, `deny`, `pending`, `error`, got `alow` (did you mean `allow`?)'],
    ],
    [
      one('by: ana, activity: CREATE_WALLET, expect: { decidedBy: smal }'),
      ['2:63 unknown-name: no policy `smal` is defined (did you mean `small`?)'],
    ],
    [
      one('by: ana, activity: CREATE_WALLET, expect: { policies: { pairs: none } }'),
      ['2:64 unknown-name: no policy `pairs` is defined (did you mean `pair`?)'],
    ],
    [
      one('by: ana, activity: CREATE_WALLET, expect: { needs: [bub] }'),
      ['2:60 unknown-name: no user `bub` is defined (did you mean `bob`?)'],
    ],
    [
      one('by: ana, activity: CREATE_WALLET, expect: { result: deny }'),
      ['2:52 unknown-key: unknown key `result` in `expect` (known here: outcome, decidedBy, errors, policies, needs)'],
    ],
    [
      one('by: ana, activity: SIGN_TRANSACTION, transaction: { etherum: {} }, expect: deny'),
      ['2:60 unknown-key: there is no chain `etherum` (did you mean `ethereum`?)'],
    ],
    [
      one('by: ana, activity: SIGN_TRANSACTION, transaction: { ethereum: { valeu: 1 } }, expect: deny'),
      ['2:72 unknown-key: `EthereumTransaction` has no field `valeu` (did you mean `value`?)'],
    ],
    [
      one("by: ana, activity: SIGN_TRANSACTION, transaction: { ethereum: '0x00' }, expect: deny"),
      [expect.stringMatching(/^2:70 bad-transaction: failed to parse transaction: /)],
    ],
    [
      one('by: ana, activity: UPDATE_WALLET, params: { walet_id: x }, expect: deny'),
      [
        '2:52 unknown-key: `ACTIVITY_TYPE_UPDATE_WALLET` shows policies no parameter `walet_id` (did you mean `wallet_id`?)',
      ],
    ],
    [
      one("by: ana, activity: UPDATE_WALLET, params: { wallet_id: '${wallet.mian}' }, expect: deny"),
      ['2:63 unknown-name: `${wallet.mian}` names nothing that is defined (did you mean `wallet.main`?)'],
    ],
    [
      one('by: ana, activity: CREATE_WALLET, time: noon, expect: deny'),
      ['2:48 wrong-value: expected a time such as `2026-01-01T00:00:00Z`, got `noon`'],
    ],
    [
      one('by: { user: ana, with: phone }, activity: CREATE_WALLET, expect: deny'),
      ['2:31 unknown-name: no credential `phone` is defined (defined: `laptop`)'],
    ],
    [
      'tables:\n  t: { columns: [by, colour], rows: [[ana]] }\n',
      [
        '2:22 unknown-key: a scenario has no `colour` (known: name, by, activity, params, wallet, account, privateKey, wallets, secret, target, transaction, calls, interfaces, typedData, authorization, time, why, expect)',
        '2:38 wrong-value: expected a list of 2 values, got 1',
      ],
    ],
    ['scenarios:\n  s: {}\n  s: {}\n', expect.arrayContaining(['3:3 duplicate-key: `s` is written twice in this map'])],
  ])('scenarios: mistakes: %j', async (text, faults) => {
    const { files, failed, passed } = await playText(text)
    expect(files.flatMap(({ diagnostics }) => diagnostics.map(oneLine))).toEqual(faults)
    expect({ failed: failed > 0, passed }).toEqual({ failed: true, passed: 0 })
  })

  test('scenarios: aliases that multiply are stopped', async () => {
    let text = 'x-0: &a0 [1]\n'
    for (let n = 1; n < 30; n++)
      text += `x-${n}: &a${n} [${Array.from({ length: 9 }, () => `*a${n - 1}`).join(', ')}]\n`
    const { files } = await playText(text)
    expect(files[0]!.diagnostics.map(({ code }) => code)).toEqual(['scenarios/too-many-aliases'])
  })
})

describe('scenarios: coverage', () => {
  test('scenarios: what no scenario saw is told at its place in the definitions', async () => {
    const { expressions } = await testDefinitions()
    const { counts } = await playText(one(`by: ana, ${sign}, ${small}, time: 2026-01-01T12:00:00Z, expect: allow`), {
      coverage: true,
    })
    const { clauses, percent } = coverageOf(counts, expressions)
    const ofSmall = clauses.filter(({ policy, field }) => policy === 'small' && field === 'condition')
    expect(
      ofSmall.map(({ line, column, text, missing }) => `${line}:${column} ${text.replace(/\s+/g, ' ')}: ${missing}`),
    ).toEqual([
      "16:7 activity.kind == 'SIGN_TRANSACTION' && wallet.id == '${wallet.main}' && eth.tx.value < 1000: never false",
      "16:7 activity.kind == 'SIGN_TRANSACTION': never false",
      "17:10 wallet.id == '${wallet.main}': never false",
      '18:10 eth.tx.value < 1000: never false',
    ])
    const night = clauses.filter(({ policy, field }) => policy === 'night' && field === 'condition')
    expect(night.map(({ missing }) => missing)).toEqual(['never evaluated'])
    expect(percent).toBeGreaterThan(0)
    expect(percent).toBeLessThan(60)
  })
})

describe('scenarios: requests', () => {
  test('scenarios: a scenario copied out of its file is a request', async () => {
    const world = await testWorld()
    const source = createSource('r.yaml', `by: ana\nactivity: SIGN_TRANSACTION\nwallet: main\nexpect: allow\n`)
    const { context, diagnostics } = readRequestFile(source, { world, readTransaction })
    expect(diagnostics).toEqual([])
    expect(context!.approvers.map(({ id }) => id)).toEqual(['${user.ana}'])
    expect(context!.wallet).toEqual({ id: '${wallet.main}', label: 'main', imported: false, exported: false })
  })

  test('scenarios: a request with a mistake is none', async () => {
    const world = await testWorld()
    const { context, diagnostics } = readRequestFile(createSource('r.yaml', 'by: ana\nactivty: X\n'), {
      world,
      readTransaction,
    })
    expect(context).toBeUndefined()
    expect(diagnostics.map(oneLine)).toEqual([
      '2:1 unknown-key: unknown key `activty` in a request (did you mean `activity`?)',
      '1:1 missing-key: `activity` is missing: what is asked for',
    ])
  })
})

describe('scenarios: the published schemas', () => {
  test.each([
    ['scenarios.schema.json', makeScenariosSchema()],
    ['request.schema.json', makeRequestSchema()],
  ])('scenarios: %s is what its script makes', (file, schema) => {
    expect(JSON.parse(readFileSync(join(rooms, file), 'utf8'))).toEqual(schema)
  })

  test('scenarios: the tests of the example are of the published form', () => {
    const text = readFileSync(join(import.meta.dirname, '../../definitions/acme/policies.test.yaml'), 'utf8')
    const validate = new Ajv2020({ allowUnionTypes: true }).compile(makeScenariosSchema())
    validate(parse(text))
    expect(validate.errors).toBeNull()
    expect(validate({ scenarios: { s: { expect: 'maybe' } } })).toBe(false)
  })
})
