import { execFileSync } from 'node:child_process'
import { createECDH, createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeBase64Url } from '../../src/encoding/index.ts'
import { type KeyReference, type LoadKeyOptions, loadPrivateKey, writePrivateKey } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { faultOf as faultOfAttempt } from './faults.ts'

// docs/protocol/stamps.md#test-vectors
const PRIVATE_KEY = '20fa65df11f24833790ae283fc9a0c215eecbbc589549767977994dc69d05a56'
const PUBLIC_KEY = '0264fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5eb'
const SECP256K1_KEY = '0235a5d602572338e4e6a2fa0b988d5694999ea2914d4da2bb76baa641a7cfbcf6'
const ED25519_KEY = '94049caccc796d7a4f3a60b95ad457bcaa5ece09c9f38cbd173adb31eaa23fbe'
const OTHER_KEY = '026b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-keys-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
function fileOf(text: string, mode = 0o600): string {
  const path = join(folder, `key-${files++}`)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

const inValue = (text: string): KeyReference => ({ kind: 'value', name: 'ACME_KEY', value: new Secret(text) })

/** Loads what must not load, and checks that nothing that is said of it holds a key. */
const faultOf = (reference: KeyReference, options?: LoadKeyOptions) =>
  faultOfAttempt(loadPrivateKey(reference, options), [PRIVATE_KEY])

/** The vector's key as PEM. */
function pem(type: 'pkcs8' | 'sec1', curve: 'P-256' | 'secp256k1' = 'P-256'): string {
  const ecdh = createECDH(curve === 'P-256' ? 'prime256v1' : curve)
  ecdh.setPrivateKey(PRIVATE_KEY, 'hex')
  const point = ecdh.getPublicKey()
  const key = {
    kty: 'EC',
    crv: curve,
    x: encodeBase64Url(point.subarray(1, 33)),
    y: encodeBase64Url(point.subarray(33)),
    d: encodeBase64Url(Buffer.from(PRIVATE_KEY, 'hex')),
  }
  return createPrivateKey({ format: 'jwk', key }).export({ format: 'pem', type }).toString()
}

describe('forms', () => {
  const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n'
  for (const { name, text } of [
    { name: '64 hex digits', text: PRIVATE_KEY },
    { name: 'hex with a line break', text: `${PRIVATE_KEY}\n` },
    { name: 'hex in upper case', text: PRIVATE_KEY.toUpperCase() },
    { name: 'hex marked as P-256', text: `${PRIVATE_KEY}:p256\n` },
    { name: 'JSON with privateKey', text: JSON.stringify({ privateKey: PRIVATE_KEY }) },
    { name: 'JSON with both halves', text: JSON.stringify({ publicKey: PUBLIC_KEY, privateKey: PRIVATE_KEY }) },
    {
      name: 'JSON with the names of an environment and more',
      text: JSON.stringify({ baseUrl: 'x', apiPublicKey: PUBLIC_KEY.toUpperCase(), apiPrivateKey: PRIVATE_KEY }),
    },
    { name: 'PKCS#8 PEM', text: pem('pkcs8') },
    { name: 'SEC1 PEM', text: pem('sec1') },
    { name: 'SEC1 PEM as openssl writes it', text: parameters + pem('sec1') },
  ]) {
    test(`key: ${name} is read from a file, a value and a command alike`, async () => {
      const path = fileOf(text)
      const references: KeyReference[] = [
        { kind: 'file', path },
        inValue(text),
        { kind: 'command', command: `cat ${path}` },
      ]
      for (const reference of references) {
        const { privateKey, ...rest } = await loadPrivateKey(reference)
        expect(privateKey.reveal()).toBe(PRIVATE_KEY)
        expect(rest).toEqual({ publicKey: PUBLIC_KEY, curve: 'p256' })
      }
    })
  }

  const edPem = createPrivateKey({
    format: 'der',
    type: 'pkcs8',
    key: Buffer.from(`302e020100300506032b657004220420${PRIVATE_KEY}`, 'hex'),
  }).export({ format: 'pem', type: 'pkcs8' })
  for (const { name, text, publicKey, curve } of [
    {
      name: 'hex marked as secp256k1',
      text: `${PRIVATE_KEY}:secp256k1\n`,
      publicKey: SECP256K1_KEY,
      curve: 'secp256k1',
    },
    { name: 'hex marked as Ed25519', text: `${PRIVATE_KEY}:ed25519`, publicKey: ED25519_KEY, curve: 'ed25519' },
    {
      name: 'JSON with a curve',
      text: JSON.stringify({ curve: 'secp256k1', privateKey: PRIVATE_KEY, publicKey: SECP256K1_KEY }),
      publicKey: SECP256K1_KEY,
      curve: 'secp256k1',
    },
    {
      name: 'JSON with a marked key',
      text: JSON.stringify({ apiPrivateKey: `${PRIVATE_KEY}:ed25519`, apiPublicKey: ED25519_KEY.toUpperCase() }),
      publicKey: ED25519_KEY,
      curve: 'ed25519',
    },
    { name: 'PKCS#8 PEM of secp256k1', text: pem('pkcs8', 'secp256k1'), publicKey: SECP256K1_KEY, curve: 'secp256k1' },
    { name: 'SEC1 PEM of secp256k1', text: pem('sec1', 'secp256k1'), publicKey: SECP256K1_KEY, curve: 'secp256k1' },
    { name: 'PKCS#8 PEM of Ed25519', text: edPem.toString(), publicKey: ED25519_KEY, curve: 'ed25519' },
  ]) {
    test(`key: ${name} is read with its curve`, async () => {
      const { privateKey, ...rest } = await loadPrivateKey(inValue(text))
      expect(privateKey.reveal()).toBe(PRIVATE_KEY)
      expect(rest).toEqual({ publicKey, curve })
    })
  }

  const pemOf = (curve: string) =>
    generateKeyPairSync('ec', { namedCurve: curve }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  const rsaPem = generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ format: 'pem', type: 'pkcs8' })
    .toString()
  const CURVES = 'that is none of p256, secp256k1, ed25519'
  const encrypted = createPrivateKey(pem('pkcs8'))
    .export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' })
    .toString()
  for (const { name, text, reason } of [
    { name: 'one digit short', text: PRIVATE_KEY.slice(1), reason: 'expected 64 hex digits, got 63 characters' },
    { name: 'one digit long', text: `${PRIVATE_KEY}0`, reason: 'expected 64 hex digits, got 65 characters' },
    { name: 'a letter that is no digit', text: `${PRIVATE_KEY.slice(0, -1)}g`, reason: 'expected 64 hex digits' },
    { name: 'a second key', text: `${PRIVATE_KEY}\n${PRIVATE_KEY}`, reason: 'expected 64 hex digits, got 129' },
    { name: 'another curve', text: `${PRIVATE_KEY}:p384`, reason: `it is marked with a curve ${CURVES}` },
    { name: 'no curve after a colon', text: `${PRIVATE_KEY}:`, reason: `it is marked with a curve ${CURVES}` },
    { name: 'an inherited word for a curve', text: `${PRIVATE_KEY}:constructor`, reason: CURVES },
    { name: 'two curves', text: `${PRIVATE_KEY}:p256:p256`, reason: 'expected 64 hex digits' },
    {
      name: 'JSON of another curve',
      text: JSON.stringify({ privateKey: PRIVATE_KEY, curve: 'P256' }),
      reason: `\`curve\` names a curve ${CURVES}`,
    },
    {
      name: 'JSON with a key for its curve',
      text: JSON.stringify({ privateKey: PRIVATE_KEY, curve: PRIVATE_KEY }),
      reason: `\`curve\` names a curve ${CURVES}`,
    },
    {
      name: 'JSON of two curves',
      text: JSON.stringify({ privateKey: `${PRIVATE_KEY}:ed25519`, curve: 'p256' }),
      reason: '`curve` is p256, and the key is marked as ed25519',
    },
    { name: 'zero of secp256k1', text: `${'0'.repeat(64)}:secp256k1`, reason: 'outside of the range of the curve' },
    { name: 'zero', text: '0'.repeat(64), reason: 'outside of the range of the curve' },
    { name: 'JSON cut off', text: `{"privateKey":"${PRIVATE_KEY}`, reason: 'it starts like JSON and is not' },
    { name: 'JSON without a key', text: '{"key":"a"}', reason: 'no text in `privateKey` or `apiPrivateKey`' },
    { name: 'JSON with a number', text: '{"privateKey":5}', reason: 'no text in `privateKey` or `apiPrivateKey`' },
    { name: 'PEM cut off', text: pem('pkcs8').slice(0, 100), reason: 'the PEM block cannot be opened' },
    { name: 'PEM that is encrypted', text: encrypted, reason: 'the PEM block cannot be opened' },
    { name: 'PEM of RSA', text: rsaPem, reason: 'the PEM block holds a key of another curve' },
    { name: 'PEM of P-384', text: pemOf('secp384r1'), reason: 'the PEM block holds a key of another curve' },
  ]) {
    test(`key: ${name} is malformed, and is not repeated`, async () => {
      const path = fileOf(text)
      expect(await faultOf({ kind: 'file', path })).toEqual({
        code: 'stamp/key-malformed',
        message: expect.stringContaining(reason),
        next: expect.stringContaining('`:secp256k1`'),
      })
      expect((await faultOf({ kind: 'file', path })).message).toContain(`key file \`${path}\``)
      expect((await faultOf(inValue(text))).message).toContain('the value of `ACME_KEY`')
    })
  }

  test('key: an empty file and an empty value say so', async () => {
    expect((await faultOf({ kind: 'file', path: fileOf(' \n') })).message).toMatch(/: it is empty$/)
    expect(await faultOf(inValue(''))).toEqual({
      code: 'stamp/key-unreadable',
      message: 'cannot read `ACME_KEY`: it is empty',
      next: 'set it to a private key',
    })
  })

  test('key: a public key beside it that is not its own is a mismatch', async () => {
    expect(await faultOf(inValue(JSON.stringify({ privateKey: PRIVATE_KEY, publicKey: OTHER_KEY })))).toMatchObject({
      code: 'stamp/key-mismatch',
    })
  })

  test('key: an Ed25519 key beside its private one is not repeated, for it looks like a private key', async () => {
    const text = JSON.stringify({ privateKey: ED25519_KEY, publicKey: PRIVATE_KEY, curve: 'ed25519' })
    expect(await faultOf(inValue(text))).toMatchObject({ code: 'stamp/key-mismatch' })
  })

  test('key: a private key written where the public one belongs is not repeated', async () => {
    const text = JSON.stringify({ privateKey: PRIVATE_KEY, publicKey: PRIVATE_KEY })
    expect(await faultOf(inValue(text))).toMatchObject({ code: 'stamp/key-mismatch' })
  })
})

describe('files', () => {
  for (const mode of [0o640, 0o604, 0o660, 0o620, 0o610, 0o601, 0o644, 0o666, 0o777]) {
    test(`key file: mode 0${mode.toString(8)} is refused, with the command that closes it`, async () => {
      const path = fileOf(PRIVATE_KEY, mode)
      expect(await faultOf({ kind: 'file', path })).toEqual({
        code: 'stamp/key-exposed',
        message: `refusing key file \`${path}\`: its mode is 0${mode.toString(8)}, so others than its owner may use it`,
        next: `close it: \`chmod 600 ${path}\`; if others could read it, make a new key`,
      })
    })
  }

  test('key file: modes that give others nothing are accepted', async () => {
    for (const mode of [0o600, 0o700, 0o400]) {
      await expect(loadPrivateKey({ kind: 'file', path: fileOf(PRIVATE_KEY, mode) })).resolves.toBeDefined()
    }
  })

  test('key file: a symbolic link is refused, also to a good file', async () => {
    const link = join(folder, 'link')
    symlinkSync(fileOf(PRIVATE_KEY), link)
    expect(await faultOf({ kind: 'file', path: link })).toMatchObject({
      code: 'stamp/key-exposed',
      message: expect.stringContaining('it is a symbolic link'),
    })
  })

  test('key file: a file of another user is refused by name', async () => {
    const path = fileOf(PRIVATE_KEY)
    const owner = statSync(path).uid
    expect(await faultOf({ kind: 'file', path }, { effectiveUser: owner + 1 })).toEqual({
      code: 'stamp/key-exposed',
      message: `refusing key file \`${path}\`: it belongs to user ${owner}, and this process runs as user ${owner + 1}`,
      next: `make it yours: \`chown ${owner + 1} ${path}\``,
    })
  })

  test('key file: a missing file, a folder, a pipe and a huge file are unreadable', async () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', ['-m', '600', pipe])
    mkdirSync(join(folder, 'folder'), { mode: 0o700 })
    for (const { path, reason } of [
      { path: join(folder, 'none'), reason: 'there is no such file' },
      { path: join(folder, 'folder'), reason: 'it is not an ordinary file' },
      { path: pipe, reason: 'it is not an ordinary file' },
      { path: fileOf(PRIVATE_KEY.repeat(2000)), reason: 'it has 128000 bytes, too many for a key' },
    ]) {
      expect(await faultOf({ kind: 'file', path })).toMatchObject({
        code: 'stamp/key-unreadable',
        message: `cannot read key file \`${path}\`: ${reason}`,
        next: expect.any(String),
      })
    }
  })
})

describe('commands', () => {
  const run = (command: string, options?: LoadKeyOptions) => faultOf({ kind: 'command', command }, options)

  test('key command: a failure says its status and the first line of what it complained of', async () => {
    expect(await run('echo "the vault is locked" >&2; echo "more of it" >&2; exit 3')).toEqual({
      code: 'stamp/key-command-failed',
      message: expect.stringMatching(/ failed: it ended with status 3 and said: the vault is locked$/),
      next: 'run the command by itself; it must print the key alone and exit 0',
    })
  })

  test('key command: a key in the command, in its output or in its complaint is not repeated', async () => {
    expect(await run(`echo ${PRIVATE_KEY}; echo ${PRIVATE_KEY} >&2; exit 1`)).toEqual({
      code: 'stamp/key-command-failed',
      message:
        'the key command `echo [secret]; echo [secret] >&2; exit 1` failed: it ended with status 1 and said: [secret]',
      next: expect.any(String),
    })
  })

  test('key command: one that is killed, unknown or silent fails', async () => {
    expect((await run('kill -TERM $$')).message).toContain('it ended with SIGTERM')
    expect((await run('no-such-command-here')).message).toContain('it ended with status 127')
    expect(await run('true')).toMatchObject({ code: 'stamp/key-malformed', message: expect.stringContaining('empty') })
  })

  test('key command: one that takes too long is given up, also when a child of it holds its output', async () => {
    const { code, message } = await run('sleep 2 & wait', { timeoutMs: 50 })
    expect(code).toBe('stamp/key-command-failed')
    expect(message).toContain('it took longer than 0.05 s')
  })

  test('key command: one that prints without end is stopped', async () => {
    expect((await run('yes')).message).toContain('it printed more than a key')
  })

  test('key command: it cannot wait for an answer on its standard input', async () => {
    expect((await run('read line || exit 9')).message).toContain('it ended with status 9')
  })

  test('key command: what it says beside the key does not matter when it succeeds', async () => {
    const command = `echo "unlocking" >&2; echo ${PRIVATE_KEY}`
    await expect(loadPrivateKey({ kind: 'command', command })).resolves.toMatchObject({ publicKey: PUBLIC_KEY })
  })
})

describe('write', () => {
  const key = { privateKey: new Secret(PRIVATE_KEY), publicKey: PUBLIC_KEY }

  for (const written of [
    { ...key, name: 'P-256, not said' },
    { ...key, name: 'P-256', curve: 'p256' },
    { ...key, name: 'secp256k1', curve: 'secp256k1', publicKey: SECP256K1_KEY },
    { ...key, name: 'Ed25519', curve: 'ed25519', publicKey: ED25519_KEY },
  ] as const) {
    test(`key file: what is written is closed to others and loads again (${written.name})`, async () => {
      const path = join(folder, `written ${written.name}`)
      await writePrivateKey(path, written)
      expect(statSync(path).mode & 0o777).toBe(0o600)
      const { privateKey, publicKey, curve } = await loadPrivateKey({ kind: 'file', path })
      const expected = 'curve' in written ? written.curve : 'p256'
      expect([privateKey.reveal(), publicKey, curve]).toEqual([PRIVATE_KEY, written.publicKey, expected])
    })
  }

  test('key file: an existing file is never overwritten, and a missing folder is named', async () => {
    const path = fileOf('mine')
    await expect(writePrivateKey(path, key)).rejects.toMatchObject({
      code: 'stamp/key-unwritable',
      message: `cannot create key file \`${path}\`: there is a file already, and a key is never overwritten`,
    })
    expect(readFileSync(path, 'utf8')).toBe('mine')
    await expect(writePrivateKey(join(folder, 'none', 'key'), key)).rejects.toMatchObject({
      message: expect.stringMatching(/: its folder does not exist$/),
    })
  })

  test('key file: a link at the path is not followed', async () => {
    const link = join(folder, 'dangling')
    symlinkSync(join(folder, 'elsewhere'), link)
    await expect(writePrivateKey(link, key)).rejects.toMatchObject({ code: 'stamp/key-unwritable' })
  })
})
