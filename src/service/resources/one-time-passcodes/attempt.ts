import { CryptoError, hpkeOpen, p256PublicKey, uncompressP256 } from '../../../crypto/index.ts'
import { decodeHex, decodeUtf8, encodeHex } from '../../../encoding/index.ts'
import { apiError, isJsonObject } from '../../../protocol/index.ts'
import { readEncryptedBundle } from '../../bundles/index.ts'
import { CountedRefusal, type ExecutionContext } from '../../engine/index.ts'
import { OTP_LIMITS } from '../../readings.ts'
import { isCode } from './code.ts'
import { type PasscodeFlow, passcodePlace } from './new-passcode.ts'
import { countFailedAttempt, endPasscodes, findPasscode, type OneTimePasscodeRow } from './store.ts'

/** What the client gives back: the code, or the bundle that it is encrypted in. */
export type Given = { readonly code: string } | { readonly encryptedBundle: string }

interface Opened {
  readonly code: string
  readonly publicKey?: string
}

/** A code that was right, and the client's key that came with it. */
export interface Proved {
  readonly passcode: OneTimePasscodeRow
  readonly publicKey?: string
}

/**
 * Tries a code, and uses it up. INVARIANT: the transaction holds the store, so however many try at once, each sees the tries of
 * all before it. Throws one refusal for a code that is wrong, expired, used, locked, of another organization or none: nobody
 * learns which (docs/protocol/one-time-passcodes.md#proving-a-contact).
 */
export async function usePasscode(
  context: ExecutionContext,
  otpId: string,
  { flow, given }: { readonly flow: PasscodeFlow; readonly given: Given },
): Promise<Proved> {
  const { tx, organizationId, now } = context
  const passcode = await findPasscode(tx, organizationId, otpId.toLowerCase())
  const { sealed_keys: sealed, code_hash: codeHash } = passcode ?? {}
  // One that was asked for in another way has not been tried.
  if (!passcode || !sealed || !codeHash || passcode.flow !== flow || now >= passcode.expires_at) throw refused()
  const keys = context.unseal(sealed, passcodePlace(passcode.id))
  try {
    const opened: Opened | undefined =
      'code' in given ? given : await openBundle(keys.subarray(32), given.encryptedBundle)
    if (!opened || !isCode(keys.subarray(0, 32), codeHash, opened.code)) {
      const isDead = passcode.failed_attempts + 1 >= OTP_LIMITS.tries
      throw refused((store) => countFailedAttempt(store, organizationId, passcode.id, isDead))
    }
    await endPasscodes(tx, organizationId, [passcode.id])
    return { passcode, ...(opened.publicKey === undefined ? {} : { publicKey: opened.publicKey }) }
  } finally {
    keys.fill(0)
  }
}

function refused(count: CountedRefusal['count'] = async () => {}): CountedRefusal {
  return new CountedRefusal(apiError('invalidOtpCode'), count)
}

/** What does not open, or does not say a code and a key, is a wrong try like any other. */
async function openBundle(privateKey: Uint8Array, bundle: string): Promise<Opened | undefined> {
  const message = readEncryptedBundle(bundle, 'encryptedOtpBundle')
  const publicKey = decodeHex(uncompressP256(p256PublicKey(encodeHex(privateKey)))!)
  let plain: Uint8Array | undefined
  try {
    plain = await hpkeOpen({ privateKey, publicKey }, message)
    const value: unknown = JSON.parse(decodeUtf8(plain))
    if (!isJsonObject(value)) return undefined
    const { otp_code: code, public_key: key } = value
    if (typeof code !== 'string' || typeof key !== 'string' || uncompressP256(key) === undefined) return undefined
    return { code, publicKey: key }
  } catch (error) {
    if (error instanceof CryptoError || error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  } finally {
    plain?.fill(0)
  }
}
