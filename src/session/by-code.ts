import { ClientError } from '../client/index.ts'
import { compressP256, hpkeSeal, type RandomBytes, uncompressP256, verifyP256 } from '../crypto/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import { decodeHex, encodeHex, encodeUtf8 } from '../encoding/index.ts'
import type { LoginProxy } from './login-proxy.ts'
import { createSessionKey, isSigned, notGenuine, type PinnedKeys, type SessionKey } from './proof.ts'
import { createAttestedStamper, type LoginPlace, type Proof } from './stamped-login.ts'

/** A contact that is to be proved by a code that is sent there. */
export interface CodeProof extends Pick<LoginPlace, 'keys'> {
  readonly proxy: LoginProxy
  readonly otpType: 'OTP_TYPE_EMAIL' | 'OTP_TYPE_SMS'
  readonly contact: string
  readonly randomBytes: RandomBytes
  /** Asks the person for the code; undefined when they give up. `again` is the refusal of the code before. */
  readonly askCode: (again: string | undefined) => Promise<string | undefined>
}

/** The tries that a code has (docs/protocol/one-time-passcodes.md). */
const TRIES = 3

/**
 * Has a person prove a contact: requests are stamped with the token that the service gives for the code, and with the key that
 * the token is bound to. Throws `session/…`, or what the proxy refuses with.
 */
export async function proveByCode(asked: CodeProof): Promise<Proof> {
  const key = createSessionKey(asked.randomBytes)
  const verificationToken = await proveContact(asked, key)
  return { key, stamper: createAttestedStamper(key, verificationToken, 'VERIFICATION_TOKEN') }
}

/**
 * Proves a contact: has a code sent to it, encrypts what the person types to the service together with the public key, and gives
 * the verification token about both. Throws `session/…`, or what the proxy refuses with.
 */
export async function proveContact(
  { proxy, keys, otpType, contact, randomBytes, askCode }: CodeProof,
  { publicKey }: SessionKey,
): Promise<string> {
  const { otpId, otpEncryptionTargetBundle } = await proxy.initOtp({ otpType, contact })
  const target = readTarget(otpEncryptionTargetBundle, keys)
  const verificationToken = await verify(askCode, async (code) => {
    const plain = encodeUtf8(JSON.stringify({ otp_code: code, public_key: publicKey }))
    const { encappedPublic, ciphertext } = await hpkeSeal(target, plain, randomBytes)
    const encryptedOtpBundle = JSON.stringify({
      encappedPublic: encodeHex(encappedPublic),
      ciphertext: encodeHex(ciphertext),
    })
    return (await proxy.verifyOtp({ otpId, encryptedOtpBundle })).verificationToken
  })
  if (keys.tlsFetcherPublicKey && !isSigned(verificationToken, keys.tlsFetcherPublicKey))
    throw notGenuine('the verification token is not signed by the service')
  return verificationToken
}

/** Asks for the code until it is right, as often as it may be wrong. */
async function verify(askCode: CodeProof['askCode'], tryCode: (code: string) => Promise<string>): Promise<string> {
  let again: string | undefined
  for (let tries = 1; ; tries++) {
    const code = (await askCode(again))?.trim()
    if (!code)
      throw new QuorateError('session/given-up', 'no code was given', { next: 'log in again; nothing was kept' })
    try {
      return await tryCode(code)
    } catch (error) {
      // What the proxy answered is the cause of what is said of it.
      const { cause } = error as Error
      const isWrong = cause instanceof ClientError && cause.refusal === 'INVALID_OTP_CODE'
      if (!isWrong || tries === TRIES) throw error
      again = 'This is not the code that was sent.'
    }
  }
}

/** The key that a code is encrypted to, signed by the service (docs/protocol/one-time-passcodes.md). */
function readTarget(bundle: string, { tlsFetcherPublicKey: pinned }: PinnedKeys): Uint8Array {
  let parts: { readonly data?: unknown; readonly dataSignature?: unknown; readonly enclaveQuorumPublic?: unknown }
  let target: unknown
  try {
    parts = Object(JSON.parse(bundle))
    target = Object(JSON.parse(new TextDecoder().decode(decodeHex(String(parts.data)))))['targetPublic']
  } catch {
    throw notGenuine('the target for the code cannot be read')
  }
  const signer = pinned ?? String(parts.enclaveQuorumPublic)
  if (pinned && parts.enclaveQuorumPublic !== pinned)
    throw notGenuine('the target for the code is signed by another key')
  const publicKey = compressP256(signer)
  const body = decodeHex(String(parts.data))
  if (!publicKey || !verifyP256({ publicKey, body, signatureHex: String(parts.dataSignature) }))
    throw notGenuine('the target for the code is not signed by the service')
  const point = uncompressP256(String(target))
  if (!point) throw notGenuine('the target for the code is no key')
  return decodeHex(point)
}
