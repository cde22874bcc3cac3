/** Keys that never leave where they are kept: a command signs, here OpenSSL's and, where it is installed, a PKCS#11 token's. */
import { execFileSync, spawnSync } from 'node:child_process'
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type CommandKey, createApiKeyStamper, readStamp, type Stamp, verifyStamp } from '../../src/stamp/index.ts'
import { faultOf } from './faults.ts'

const folder = mkdtempSync(join(tmpdir(), 'quorate-sign-'))
afterAll(() => rmSync(folder, { recursive: true }))

const BODY = new TextEncoder().encode('{"type":"ACTIVITY_TYPE_CREATE_POLICY_V3","ünï":"\\u2028"}')
const PEM = {
  p256: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  secp256k1: generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey,
  ed25519: generateKeyPairSync('ed25519').privateKey,
}
const fileOf = (curve: keyof typeof PEM) => {
  const path = join(folder, `${curve}.pem`)
  writeFileSync(path, PEM[curve].export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
  return path
}

/** Lower-case hex, as API keys write it. */
function publicKeyOf(curve: keyof typeof PEM): string {
  const der = createPublicKey(createPrivateKey(PEM[curve].export({ format: 'pem', type: 'pkcs8' }))).export({
    format: 'der',
    type: 'spki',
  })
  return curve === 'ed25519' ? der.subarray(-32).toString('hex') : compressed(der.subarray(-64))
}

const compressed = (point: Buffer) => `0${2 + (point[63]! & 1)}${point.subarray(0, 32).toString('hex')}`

const fromHex = `node -e 'process.stdout.write(Buffer.from(process.env.QUORATE_DIGEST, "hex"))'`
const fromBase64 = 'printf %s "$QUORATE_DIGEST_BASE64" | base64 -d'
const signDigest = (path: string) => `openssl pkeyutl -sign -inkey ${path}`
/** `r ‖ s` of 32 bytes each from DER, as tokens give it. */
const halves = `node -e 'const d=require("fs").readFileSync(0);const n=(i)=>Buffer.from(d.subarray(i+2,i+2+d[i+1]).toString("hex").padStart(64,"0").slice(-64),"hex");process.stdout.write(Buffer.concat([n(2),n(4+d[3])]))'`

const p256 = (signCommand: string): CommandKey => ({ signCommand, publicKey: publicKeyOf('p256'), curve: 'p256' })

async function expectStamp(key: CommandKey): Promise<void> {
  const stamper = createApiKeyStamper(key)
  const { name, value } = await stamper.stamp(BODY)
  expect([name, stamper.publicKey]).toEqual(['X-Stamp', key.publicKey])
  const stamp = readStamp({ 'x-stamp': value }) as Stamp
  expect(stamp).toMatchObject({ publicKey: key.publicKey })
  expect(verifyStamp(stamp, BODY)).toBe(true)
}

describe('sign command', () => {
  const path = fileOf('p256')
  const signed = `${fromHex} | ${signDigest(path)}`
  for (const { name, command } of [
    { name: 'DER as bytes, of the digest in hex', command: signed },
    { name: 'DER as bytes, of the digest in base64', command: `${fromBase64} | ${signDigest(path)}` },
    { name: 'DER in base64', command: `${signed} | base64 -w0` },
    { name: 'DER in hex, with a line break', command: `${signed} | od -An -v -tx1 | tr -d ' \\n'; echo` },
    { name: 'DER in base64 as Vault writes it', command: `printf vault:v12:; ${signed} | base64 -w0` },
    { name: 'r and s as bytes', command: `${signed} | ${halves}` },
    { name: 'r and s in base64', command: `${signed} | ${halves} | base64 -w0` },
    { name: 'DER of the body on its stdin', command: `openssl dgst -sha256 -sign ${path}` },
    { name: 'DER of the body, opened as a file', command: `openssl dgst -sha256 -sign ${path} /dev/stdin` },
  ]) {
    test(`${name}: the stamp is the key's over the body`, () => expectStamp(p256(command)))
  }

  test('a secp256k1 key signs the digest, an Ed25519 key the body itself', async () => {
    const command = `${fromHex} | ${signDigest(fileOf('secp256k1'))}`
    await expectStamp({ signCommand: command, publicKey: publicKeyOf('secp256k1'), curve: 'secp256k1' })
    const body = `cat > ${folder}/body; openssl pkeyutl -sign -rawin -inkey ${fileOf('ed25519')} -in ${folder}/body`
    await expectStamp({ signCommand: body, publicKey: publicKeyOf('ed25519'), curve: 'ed25519' })
    await expectStamp({ signCommand: `(${body}) | base64 -w0`, publicKey: publicKeyOf('ed25519'), curve: 'ed25519' })
  })

  const secret = 'deadbeef'.repeat(8)
  for (const { name, command } of [
    { name: 'another key', command: `${fromHex} | ${signDigest(fileOf('secp256k1'))}` },
    { name: 'a digest of the digest', command: `${fromHex} | openssl dgst -sha256 -sign ${path}` },
    { name: 'the private key itself', command: `echo ${secret}` },
    { name: 'nothing', command: 'true' },
  ]) {
    test(`${name}: what is printed is refused before it is sent, and not shown`, async () => {
      const fault = await faultOf(createApiKeyStamper(p256(command)).stamp(BODY), [secret])
      expect(fault).toMatchObject({ code: 'stamp/sign-command-mismatch' })
      expect(fault.message).toMatch(/printed \d+ bytes that are no signature of the request/)
    })
  }

  test('a command that fails says why by its first line; one that does not read its stdin is none', async () => {
    const fault = await faultOf(createApiKeyStamper(p256('echo "no such token" >&2; exit 3')).stamp(BODY), [secret])
    expect(fault).toMatchObject({ code: 'stamp/sign-command-failed' })
    expect(fault.message).toContain('it ended with status 3 and said: no such token')
    const large = new Uint8Array(1 << 20)
    const { value } = await createApiKeyStamper(p256(signed)).stamp(large)
    expect(verifyStamp(readStamp({ 'x-stamp': value }) as Stamp, large)).toBe(true)
  })

  test('another scheme than the plain one of the curve is refused', () => {
    const key: CommandKey = { signCommand: 'true', publicKey: publicKeyOf('secp256k1'), curve: 'secp256k1' }
    expect(() => createApiKeyStamper(key, { scheme: 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191' })).toThrow(
      expect.objectContaining({ code: 'stamp/scheme-unfit' }),
    )
  })
})

const MODULE = '/usr/lib/softhsm/libsofthsm2.so'
const hasToken = existsSync(MODULE) && spawnSync('pkcs11-tool', ['--version']).error === undefined

test.skipIf(!hasToken)('a key of a PKCS#11 token stamps, and never leaves it', async () => {
  const tokens = join(folder, 'tokens')
  mkdirSync(tokens)
  const settings = join(folder, 'softhsm2.conf')
  writeFileSync(settings, `directories.tokendir = ${tokens}\n`)
  const env = { ...process.env, SOFTHSM2_CONF: settings }
  const token = (...args: readonly string[]) => execFileSync('pkcs11-tool', ['--module', MODULE, ...args], { env })
  token('--init-token', '--slot-index', '0', '--label', 'custody', '--so-pin', '0000')
  token('--init-pin', '--token-label', 'custody', '--so-pin', '0000', '--pin', '1234')
  const own = ['--token-label', 'custody', '--login', '--pin', '1234']
  token(...own, '--keypairgen', '--key-type', 'EC:prime256v1', '--id', '01', '--usage-sign')
  const point = token(...own, '--read-object', '--type', 'pubkey', '--id', '01').subarray(-64)
  const options = `--module ${MODULE} ${own.join(' ')} --id 01 --sign --mechanism ECDSA --input-file /dev/stdin`
  const signCommand = `export SOFTHSM2_CONF=${settings}; ${fromBase64} | pkcs11-tool ${options}`
  await expectStamp({ signCommand, publicKey: compressed(point), curve: 'p256' })
})
