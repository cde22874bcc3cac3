/**
 * Stamps a second: ours, the published client's, and the platform's bare signature with a parsed key. The platform's
 * rate is the ceiling; the aim is 0.95 of it, the header included.
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { ApiKeyStamper } from '@turnkey/api-key-stamper'
import { KEY_CURVES, type KeyCurve } from '../../src/crypto/index.ts'
import { encodeUtf8 } from '../../src/encoding/index.ts'
import { createApiKeyStamper, readStamp, verifyStamp } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { type Contender, compare, type Rate } from './rounds.ts'

const AIM = 0.95

/** A submit of ordinary length. */
const TEXT = JSON.stringify({
  type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
  timestampMs: '1700000000000',
  organizationId: '00000000-0000-4000-8000-000000000001',
  parameters: {
    signWith: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
    payload: 'ab'.repeat(200),
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    hashFunction: 'HASH_FUNCTION_NO_OP',
  },
})
const BODY = encodeUtf8(TEXT)

/** How the platform itself signs on a curve. */
const PLATFORM: Readonly<Record<KeyCurve, { readonly namedCurve: string; readonly hash: 'sha256' | null }>> = {
  p256: { namedCurve: 'prime256v1', hash: 'sha256' },
  secp256k1: { namedCurve: 'secp256k1', hash: 'sha256' },
  ed25519: { namedCurve: 'ed25519', hash: null },
}

/** Prints the comparison for every curve that the platform signs on. */
export async function run(): Promise<void> {
  console.log(
    `body of ${BODY.length} bytes; per second of CPU time, median of rounds in turns; aim ${AIM} of the platform`,
  )
  for (const curve of Object.keys(PLATFORM) as KeyCurve[]) {
    const { privateKey, publicKey } = KEY_CURVES[curve].generateKeyPair()
    const stamper = createApiKeyStamper({ privateKey: new Secret(privateKey), publicKey, curve })
    const key = platformKey(curve, privateKey)
    const { hash } = PLATFORM[curve]
    print(
      `${curve}: make`,
      await compare([
        { name: 'node:crypto, parsed key', once: () => sign(hash, BODY, key) },
        // A key may be in a vault, so the caller has to wait; this is what the waiting alone costs.
        { name: 'node:crypto, awaited', once: async () => sign(hash, BODY, key) },
        { name: 'quorate', once: () => stamper.stamp(BODY) },
        ...(curve === 'p256' ? [published(privateKey, publicKey)] : []),
      ]),
    )
    const { name, value } = await stamper.stamp(BODY)
    const stamp = readStamp({ [name]: value })
    const [publicKeyObject, signature] = [createPublicKey(key), Buffer.from(stamp.signature, 'hex')]
    print(
      `${curve}: verify`,
      await compare([
        { name: 'node:crypto, parsed key', once: () => verify(hash, BODY, publicKeyObject, signature) },
        { name: 'quorate, header included', once: () => verifyStamp(readStamp({ [name]: value }), BODY) },
      ]),
    )
  }
}

function published(apiPrivateKey: string, apiPublicKey: string): Contender {
  const stamper = new ApiKeyStamper({ apiPrivateKey, apiPublicKey })
  return { name: '@turnkey/api-key-stamper', once: () => stamper.stamp(TEXT) }
}

/** Opens a private key through its DER, not through our own code. */
function platformKey(curve: KeyCurve, privateKeyHex: string): KeyObject {
  // RFC 5915 §3 for the curves of ECDSA (the public key may be left out), RFC 8410 §7 for Ed25519.
  const oids = { p256: '06082a8648ce3d030107', secp256k1: '06052b8104000a' } as const
  const tlv = (tag: string, hex: string) => tag + (hex.length / 2).toString(16).padStart(2, '0') + hex
  if (curve === 'ed25519') {
    return createPrivateKey({
      format: 'der',
      type: 'pkcs8',
      key: Buffer.from(`302e020100300506032b657004220420${privateKeyHex}`, 'hex'),
    })
  }
  const sec1 = tlv('30', `020101${tlv('04', privateKeyHex)}${tlv('a0', oids[curve])}`)
  return createPrivateKey({ format: 'der', type: 'sec1', key: Buffer.from(sec1, 'hex') })
}

/** One line for each contender, with its share of the first one's rate. */
function print(title: string, rates: readonly Rate[]): void {
  const ceiling = rates[0]!.perCpuSecond
  console.log(`\n${title}`)
  for (const { name, perCpuSecond } of rates) {
    const rate = Math.round(perCpuSecond).toLocaleString('en-US').padStart(10)
    console.log(`  ${name.padEnd(26)}${rate}/s  ${(perCpuSecond / ceiling).toFixed(3)}`)
  }
}
