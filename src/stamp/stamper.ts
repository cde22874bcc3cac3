import { CryptoError, type KeyCurve, type Signer, signP256AndWipe } from '../crypto/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import type { Secret } from '../telemetry/index.ts'
import { keyMalformed, requireFit } from './key-errors.ts'
import { SCHEMES, type SignatureScheme, schemesOf } from './schemes.ts'
import { type CommandKey, signByCommand } from './sign-command.ts'
import { createKeeperSigner, type KeeperKey } from './sign-key.ts'

/** The header that proves who made a request. */
export interface StampHeader {
  readonly name: 'X-Stamp' | 'X-Stamp-Webauthn' | 'X-Stamp-Attested'
  readonly value: string
}

/** Makes stamps with one credential, wherever its private key is kept. */
export interface Stamper {
  /** Lower-case hex. */
  readonly publicKey: string
  /** Stamps exactly these bytes; what is sent must be the same ones. */
  stamp(body: Uint8Array): Promise<StampHeader>
}

/** An API key to stamp with. */
export interface StampingKey {
  readonly privateKey: Secret
  /** Must be the private key's, if given. */
  readonly publicKey?: string
  /** @default 'p256' */
  readonly curve?: KeyCurve
}

/**
 * Creates a stamper of an API key. Throws `stamp/key-malformed`, `stamp/key-mismatch` when the public key given is not
 * the private key's, or `stamp/scheme-unfit` for a scheme of another curve; to stamp with a command throws
 * `stamp/sign-command-failed` and `stamp/sign-command-mismatch`, with a key of a keeper `stamp/sign-key-failed` and
 * `stamp/sign-key-mismatch`.
 * @default scheme the plain one of the key's curve; a secp256k1 key that is at hand may use the EIP-191 one instead
 */
export function createApiKeyStamper(
  key: StampingKey | CommandKey | KeeperKey,
  options: { readonly scheme?: SignatureScheme | undefined } = {},
): Stamper {
  const scheme = chooseScheme(key.curve ?? 'p256', options.scheme)
  const { publicKey, sign } = openBodySigner(key, scheme)
  // The member order of the published TypeScript client (docs/protocol/stamps.md#api-key-stamps). Written once and
  // straight from text: a new object and a byte array for each stamp would take a fifteenth of what signing takes.
  const head = `${JSON.stringify({ publicKey, scheme }).slice(0, -1)},"signature":"`
  // Three bytes at a time are four letters whatever follows, so what is the same each time is encoded once.
  const whole = head.length - (head.length % 3)
  const [first, rest] = [Buffer.from(head.slice(0, whole)).toString('base64url'), head.slice(whole)]
  return {
    publicKey,
    async stamp(body) {
      return {
        name: 'X-Stamp',
        value: first + Buffer.from(`${rest}${await sign(body)}"}`, 'latin1').toString('base64url'),
      }
    },
  }
}

/** Signs a body with one key: hex, in the form of the scheme. */
interface BodySigner {
  readonly publicKey: string
  readonly sign: (body: Uint8Array) => string | Promise<string>
}

function openBodySigner(key: StampingKey | CommandKey | KeeperKey, scheme: SignatureScheme): BodySigner {
  if ('signCommand' in key) return commandSigner(key, scheme)
  return 'signKey' in key ? { publicKey: key.publicKey, sign: createKeeperSigner(key) } : localSigner(key, scheme)
}

function localSigner(key: StampingKey, scheme: SignatureScheme): BodySigner {
  const signer = openSigner(key.privateKey, scheme)
  requireFit('the stamping key', { given: key.publicKey, own: signer.publicKey })
  return { publicKey: signer.publicKey, sign: (body) => signer.sign(body) }
}

/** A command is told the digest of the plain scheme, and no other. */
function commandSigner(key: CommandKey, scheme: SignatureScheme): BodySigner {
  if (scheme !== schemesOf(key.curve)[0]) {
    throw new QuorateError('stamp/scheme-unfit', `a sign command cannot stamp with \`${scheme}\``, {
      next: 'give no scheme, or the private key itself',
    })
  }
  return { publicKey: key.publicKey, sign: (body) => signByCommand(key, body) }
}

function chooseScheme(curve: KeyCurve, asked: SignatureScheme | undefined): SignatureScheme {
  const possible = schemesOf(curve)
  if (asked === undefined) return possible[0]!
  if (possible.includes(asked)) return asked
  throw new QuorateError('stamp/scheme-unfit', `a ${curve} key cannot stamp with \`${asked}\``, {
    facts: { possible: possible.join(', ') },
    next: 'name a scheme of the curve of the key, or none',
  })
}

function openSigner(privateKey: Secret, scheme: SignatureScheme): Signer {
  try {
    return SCHEMES[scheme].createSigner(privateKey.reveal())
  } catch (error) {
    throw keyMalformed('the stamping key', error instanceof CryptoError ? error.message : 'it is no key')
  }
}

/** Stamps once with a P-256 key that is opened for one request, and wipes it. `publicKey` is its own, lower-case hex. */
export function stampAndWipe(privateKey: Uint8Array, publicKey: string, body: Uint8Array): StampHeader {
  const scheme = chooseScheme('p256', undefined)
  const stamp = JSON.stringify({ publicKey, scheme, signature: signP256AndWipe(privateKey, body) })
  return { name: 'X-Stamp', value: Buffer.from(stamp).toString('base64url') }
}
