/** Secrets never travel: not from the environment into definitions, and no value from outside changes what a policy is made of. */
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { writePrivate, writeText } from '../../src/cli/files.ts'
import { KEY_VARIABLE, settingRows } from '../../src/config/index.ts'
import { findKeyMaterial, type QuorateError, renderDiagnostics, withoutKeys } from '../../src/diagnostics/index.ts'
import { parse } from '../../src/policy/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { quorate, testFolder, writeFiles } from '../cli/harness.ts'
import { loadFiles, ORGANIZATION_ID } from '../definitions/harness.ts'

const HEAD = 'organization: acme\nid: ${env.ORG}\n'
const SECRET = '7d4f0c1e2b3a4958677685949a3b2c1d0e0f1a2b3c4d5e6f708192a3b4c5d6e7'

/** Loads definitions that use a variable in a text that goes into plans. */
function loadWith(name: string, declares: boolean) {
  const text = `${HEAD}${declares ? `variables: [${name}]\n` : ''}policies: { p: { effect: allow, notes: "see \${env.${name}}" } }\n`
  return loadFiles({ 'a.yaml': text }, { env: { ORG: ORGANIZATION_ID, [name]: SECRET }, vars: {} })
}

describe('secrets: variables of the environment that hold secrets of quorate', () => {
  test('are taken out of it when it is read, so that a child has none; the background process has those of the service', () => {
    const names = ['API_KEY', 'PAYLOAD_KEY', 'SMTP_PASSWORD', 'SMS_PASSWORD', 'CAPTCHA_SECRET'].map(
      (one) => `QUORATE_${one}`,
    )
    const program = `
      import { environmentOfBackground, takeEnvironment } from ${JSON.stringify(new URL('../../src/config/index.ts', import.meta.url))}
      import { execFileSync } from 'node:child_process'
      const taken = [takeEnvironment(), takeEnvironment()]
      const child = execFileSync('/usr/bin/env', { encoding: 'utf8' })
      console.log(JSON.stringify({ taken, child, background: environmentOfBackground() }))`
    const env = {
      PATH: process.env['PATH'],
      QUORATE_DATA_DIR: '/d',
      ...Object.fromEntries(names.map((name) => [name, SECRET])),
    }
    const out = execFileSync(process.execPath, ['--input-type=module', '-e', program], { env, encoding: 'utf8' })
    const { taken, child, background } = JSON.parse(out)
    for (const one of taken) expect(one).toEqual(env)
    expect(child).toContain('QUORATE_DATA_DIR=/d\n')
    expect(child).not.toContain(SECRET)
    expect(Object.keys(background).filter((name) => background[name] === SECRET)).toEqual(names.slice(2))
  })
})

describe('secrets: variables of the environment in definitions', () => {
  const names = [
    ...[
      KEY_VARIABLE,
      'QUORATE_API_KEY_FILE',
      'QUORATE_API_KEY_COMMAND',
      'QUORATE_MASTER_KEY',
      'QUORATE_MASTER_KEY_FILE',
    ],
    ...['TEMPORAL_API_KEY', 'DATABASE_URL', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'GITHUB_TOKEN', 'NPM_TOKEN'],
    ...[
      'CI_JOB_TOKEN',
      'SLACK_BOT_TOKEN',
      'STRIPE_SECRET',
      'CLIENT_SECRET',
      'DB_PASSWORD',
      'PGPASSWORD_PASSWORD',
      'SIGNER_PRIVATE_KEY',
    ],
    ...[
      'SERVICE_ACCOUNT_KEY',
      'WALLET_MNEMONIC',
      'ROOT_SEED',
      'api_key',
      'Deploy_Key',
      'REDIS_URL',
      'SENTRY_DSN',
      'ROOT_PASSPHRASE',
    ],
  ]
  for (const name of names) {
    test(`the finding and its neighbours: \${env.${name}} is refused, declared or not, and its value shown nowhere`, async () => {
      for (const declares of [true, false]) {
        const { desired, diagnostics } = await loadWith(name, declares)
        expect(desired).toBeUndefined()
        expect(new Set(diagnostics.map(({ code }) => code))).toEqual(new Set(['definitions/secret-variable']))
        expect(renderDiagnostics(diagnostics) + JSON.stringify(diagnostics)).not.toContain(SECRET)
      }
    })
  }

  test('settings of ours that name a private key cannot be declared', async () => {
    const keys = Object.values(settingRows).flatMap(({ environment }) =>
      /(?<!PUBLIC)_KEY(_|$)/.test(environment) ? [environment] : [],
    )
    expect(keys.length).toBeGreaterThan(1)
    for (const name of keys) expect((await loadWith(name, true)).desired).toBeUndefined()
  })

  test('what is not declared is not looked at, and the diagnostic says what to add; then it is taken', async () => {
    const before = await loadWith('REGION', false)
    expect(before.diagnostics.map(({ code, help }) => [code, help])).toEqual([
      ['definitions/undeclared-variable', 'add `variables: [REGION]` at the top of one of the files'],
    ])
    expect(renderDiagnostics(before.diagnostics)).not.toContain(SECRET)
    const after = await loadFiles(
      { 'a.yaml': `${HEAD}variables: [REGION]\npolicies: { p: { effect: allow, notes: "in \${env.REGION}" } }\n` },
      { env: { ORG: ORGANIZATION_ID, REGION: 'eu' }, vars: {} },
    )
    expect(after.diagnostics).toEqual([])
    expect(after.desired!.resources.find(({ kind }) => kind === 'policy')!.fields['notes']).toBe('in eu')
  })

  test('the variable of `id` is declared by it, and by nothing but the whole of it', async () => {
    for (const id of ['x${env.ORG}', '${env.ORG}${env.ORG}']) {
      const { diagnostics } = await loadFiles({ 'a.yaml': `organization: acme\nid: "${id}"\n` })
      expect(diagnostics.map(({ code }) => code)).toContain('definitions/undeclared-variable')
    }
  })

  test('names that say that they are public or encrypted, and ids, may be declared', async () => {
    for (const name of [
      'ALICE_PUBLIC_KEY',
      'OAUTH_ENCRYPTED_SECRET',
      'ACME_ORGANIZATION_ID',
      'REGION',
      'KEYCLOAK_REALM',
      'LIMIT',
      'PATIENCE',
    ]) {
      const { diagnostics } = await loadWith(name, true)
      expect([name, diagnostics.map(({ code }) => code)]).toEqual([name, []])
    }
  })
})

describe('secrets: key material in an input', () => {
  const KEY = SECRET
  const pem =
    '-----BEGIN PRIVATE KEY-----\n  MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg\n  -----END PRIVATE KEY-----'
  const at = ['--base-url', 'http://127.0.0.1:1', '--organization-id', ORGANIZATION_ID]
  const lines: readonly (readonly string[])[] = [
    [`--${KEY}`],
    ['validate', KEY],
    ['validate', 'd', '--json'],
    ['plan', 'd', '--var', KEY, ...at],
    ['plan', 'd', '--base-url', `https://u:${KEY}@h.test/`],
    ['plan', 'd', '--organization-id', KEY],
    ['plan', 'd', '--key-file', KEY, ...at],
    ['show', KEY, '--json'],
    ['activities', '--limit', KEY, ...at],
    ['policy', 'lint', 'd'],
  ]
  const files = {
    'd/a.yaml': `organization: acme\nid: ${ORGANIZATION_ID}\nusers:\n  alice: { apiKeys: { k: { curve: P256, publicKey: ${KEY} } }, emial: x }\nwallets: { "${KEY}": { acounts: [] } }\naddressBook: { bob: "0x${KEY}" }\npolicies: { p: { effect: alow, condition: "wallet.id = '${KEY}'" } }\nnotes: |\n  ${pem}\n`,
  }
  for (const args of lines) {
    test(`it is shown by nothing: quorate ${args.join(' ').replaceAll(KEY, 'KEY')}`, async () => {
      const cwd = writeFiles(testFolder(), files)
      const { exit, stdout, stderr } = await quorate(args, { cwd, env: { GITHUB_ACTIONS: 'true' } })
      expect(exit).not.toBe(0)
      expect((stdout + stderr).toLowerCase().replaceAll(KEY, 'KEY')).not.toContain('KEY')
    })
  }

  test('a private key as a public key is called what it looks like', async () => {
    const text = `${HEAD}users: { alice: { apiKeys: { k: { curve: P256, publicKey: ${KEY} } } } }\n`
    const { diagnostics } = await loadFiles({ 'a.yaml': text })
    expect(renderDiagnostics(diagnostics)).toContain('it looks like a private key, 64 hex characters; not shown')
    expect(renderDiagnostics(diagnostics)).not.toContain(KEY)
    expect(JSON.stringify(diagnostics.map(({ message, help }) => [message, help]))).not.toContain(KEY)
  })

  // Made of the same bytes in the ways in which tools write them; none of them is a public key of its curve.
  const bytes = Buffer.from(KEY, 'hex')
  const pair = Buffer.concat([bytes, bytes])
  test.each([
    ['hex after 0x', 'P256', `0x${KEY}`],
    ['hex between spaces', 'P256', ` ${KEY} `],
    ['32 bytes in base64', 'SECP256K1', bytes.toString('base64')],
    ['32 bytes in base64url', 'P256', bytes.toString('base64url')],
    ['64 bytes in hex', 'ED25519', pair.toString('hex')],
    ['64 bytes in base64', 'ED25519', pair.toString('base64')],
    [
      'PKCS #8 without its PEM lines',
      'P256',
      generateKeyPairSync('ec', { namedCurve: 'P-256' })
        .privateKey.export({ type: 'pkcs8', format: 'der' })
        .toString('base64'),
    ],
    [
      'PKCS #8 in hex',
      'ED25519',
      generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'der' }).toString('hex'),
    ],
  ])('%s as a public key is not shown, and treated as disclosed', async (_, curve, pasted) => {
    const text = `${HEAD}users: { alice: { apiKeys: { k: { curve: ${curve}, publicKey: "${pasted}" } }, emial: x } }\n`
    const { diagnostics } = await loadFiles({ 'a.yaml': text })
    expect(diagnostics.length).toBe(2)
    const shown = renderDiagnostics(diagnostics)
    expect(shown).toMatch(/bad-public-key: .*it looks like a private key, .*; not shown/)
    expect(shown).toContain('treat it as disclosed')
    // Nor any part of it.
    expect(shown).not.toContain(pasted.trim().slice(8, 24))
    expect(JSON.stringify(diagnostics.map(({ message, help }) => [message, help]))).not.toContain(
      pasted.trim().slice(8, 24),
    )
  })

  test('a public key that is written in another way is not called a private key', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const der = publicKey.export({ type: 'spki', format: 'der' })
    for (const pasted of [
      der.toString('base64'),
      der.subarray(-65).toString('hex'),
      der.subarray(-65).toString('base64'),
    ]) {
      const text = `${HEAD}users: { alice: { apiKeys: { k: { curve: P256, publicKey: "${pasted}" } } } }\n`
      const { diagnostics } = await loadFiles({ 'a.yaml': text })
      expect(renderDiagnostics(diagnostics)).toContain('resources/bad-public-key')
      expect(renderDiagnostics(diagnostics)).not.toContain('private key, ')
    }
  })

  test.each([
    ['PEM', `a ${pem} b`],
    ['wallet import format', 'a 5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ b'],
    ['wallet import format, compressed', 'a KwdMAjGmerYanjeui5SHS7JkmpZvVipYvB2LJGU1ZxJwYvP98617 b'],
    ['an extended key', `a xprv${'9s21ZrQH143K'.padEnd(107, '3')} b`],
    ['a JSON Web Key', `{"kty":"EC","d":"${'a'.repeat(43)}"}`],
  ])('%s is recognised', (_, text) => {
    expect(withoutKeys(text)).toContain('not shown')
    expect(findKeyMaterial(text)).toBeDefined()
  })
})

/** What an expression is made of, without the values of its literals. */
function shapeOf(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(shapeOf)
  if (typeof node !== 'object' || node === null) return node
  if (['int', 'bool', 'string'].includes(String((node as { kind?: unknown }).kind))) return 'literal'
  const entries = Object.entries(node).filter(
    ([name]) => !['start', 'end', 'span', 'value', 'text', 'extent'].includes(name),
  )
  return Object.fromEntries(entries.map(([name, one]) => [name, shapeOf(one)]))
}

describe('secrets: values in policies', () => {
  const piece = fc.constantFrom(
    "'",
    '"',
    ' || ',
    'true',
    ' == ',
    '(',
    ')',
    '1',
    '-',
    '0x1',
    ' ',
    '\n',
    '\\',
    '${',
    '}',
    'a',
    'é',
    "' || 'a' == 'a",
    '//',
    '1e9',
    '.',
  )
  // Some that may be taken are given anyway, or chance leaves none of them.
  const value = fc.oneof(
    { weight: 9, arbitrary: fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')) },
    { weight: 1, arbitrary: fc.constantFrom('1', '42') },
  )
  const conditions = [
    { condition: "wallet.id == '${var.x}' && eth.tx.value < 5", benign: 'b' },
    { condition: "wallet.id == 'a ${var.x} b' || '${var.x}' == 'c'", benign: 'b' },
    { condition: "eth.tx.value < ${var.x} && activity.resource == 'WALLET'", benign: '7' },
    { condition: "wallet.id == 'it' && eth.tx.value > ${var.x}", benign: '7' },
  ]
  for (const { condition, benign } of conditions) {
    test(`the tree keeps its shape, or the value is refused: ${condition}`, async () => {
      const load = (x: string) =>
        loadFiles(
          { 'a.yaml': `${HEAD}policies: { p: { effect: allow, condition: "${condition}" } }\n` },
          { env: { ORG: ORGANIZATION_ID }, vars: { x } },
        )
      const textOf = async (x: string) => {
        const { diagnostics, expressions } = await load(x)
        if (diagnostics.some(({ code }) => code === 'definitions/misplaced-value')) return undefined
        return expressions[0]!.fill(() => '').text
      }
      const expected = JSON.stringify(shapeOf(parse((await textOf(benign))!).tree))
      let taken = 0
      await fc.assert(
        fc.asyncProperty(value, async (x) => {
          const text = await textOf(x)
          if (text === undefined) return
          taken++
          const shape = JSON.stringify(shapeOf(parse(text).tree))
          expect(shape).toBe(expected)
        }),
        { numRuns: 300 },
      )
      expect(taken).toBeGreaterThan(0)
    })
  }

  test('the finding: a value with a quote does not rewrite a condition, and is not shown', async () => {
    const x = "x' || 'hushhush' == 'hushhush"
    const { desired, diagnostics } = await loadFiles(
      { 'a.yaml': `${HEAD}policies: { p: { effect: allow, condition: "wallet.id == '\${var.x}'" } }\n` },
      { env: { ORG: ORGANIZATION_ID }, vars: { x } },
    )
    expect(desired).toBeUndefined()
    expect(diagnostics.map(({ code }) => code)).toEqual(['definitions/misplaced-value'])
    expect(renderDiagnostics(diagnostics)).not.toContain('hushhush')
  })
})

describe('secrets: files that are written', () => {
  const hex = 'c0ffee00c0ffee11c0ffee22c0ffee33c0ffee44c0ffee55c0ffee66c0ffee77'
  new Secret(hex)
  const key = Buffer.from(hex, 'hex')
  const der = Buffer.concat([Buffer.from('30770201010420', 'hex'), key, Buffer.from('a00a06082a8648ce3d030107', 'hex')])
  test.each([
    ['hex', hex],
    ['hex in capitals', `0x${hex.toUpperCase()}`],
    ['base64', key.toString('base64')],
    ['base64url', key.toString('base64url')],
    ['base64 after other letters', `abc${key.toString('base64')}`],
    ['PEM', `-----BEGIN EC KEY-----\n${der.toString('base64').replace(/(.{40})/g, '$1\n')}\n-----END EC KEY-----`],
    ['PEM in JSON', JSON.stringify(der.toString('base64').replace(/(.{40})/g, '$1\n'))],
  ])('a key in use is found in a plan as %s, nothing is written and it is not shown', (_, text) => {
    const path = join(testFolder(), 'plan.json')
    for (const write of [writeText, writePrivate]) {
      const error = thrownBy(() => write(path, `{ "notes": "${text}" }\n`))
      expect(error).toMatchObject({ code: 'cli/key-in-file' })
      expect(JSON.stringify([error.message, error.facts]).toLowerCase()).not.toContain(hex)
    }
    expect(existsSync(path)).toBe(false)
  })

  test('digests and public keys are written as they are', () => {
    const path = join(testFolder(), 'plan.json')
    writePrivate(path, `${'ab'.repeat(32)} 02${'cd'.repeat(32)}\n`)
    expect(existsSync(path)).toBe(true)
  })
})

function thrownBy(work: () => void): QuorateError {
  try {
    work()
  } catch (error) {
    return error as QuorateError
  }
  throw new Error('nothing was thrown')
}
