import { encodeDerSignature, type KeyCurve, sha256 } from '../crypto/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import { encodeHex } from '../encoding/index.ts'
import { runCommand, withoutSecrets } from './run-command.ts'
import { SCHEMES, schemesOf } from './schemes.ts'

/** An API key whose private half stays where it is kept, such as a key management service: a command signs with it. */
export interface CommandKey {
  /** Run with `/bin/sh -c` once a request, see `signByCommand`. */
  readonly signCommand: string
  /** Lower-case hex of the compressed point, or of the 32 bytes of Ed25519. */
  readonly publicKey: string
  readonly curve: KeyCurve
}

/**
 * Has a command sign a body. It finds the body on its stdin and the SHA-256 of it, which ECDSA signs, in `QUORATE_DIGEST` (hex)
 * and `QUORATE_DIGEST_BASE64`. It prints the signature: DER or `r ‖ s`, or the 64 bytes of Ed25519, each as bytes, hex or
 * base64, the last also after `vault:v1:` as HashiCorp Vault writes it. What it prints is checked with the public key before it
 * is used. Gives the signature in the form of the plain scheme of the curve, hex. Throws `stamp/sign-command-failed` and
 * `stamp/sign-command-mismatch`.
 * @default timeoutMs 30 s
 */
export async function signByCommand(key: CommandKey, body: Uint8Array, { timeoutMs = 30_000 } = {}): Promise<string> {
  const digest = Buffer.from(sha256(body))
  const output = await runCommand({
    command: `export QUORATE_DIGEST=${digest.toString('hex')} QUORATE_DIGEST_BASE64=${digest.toString('base64')}\n${key.signCommand}`,
    input: body,
    timeoutMs,
    expected: 'a signature',
    failed: (reason) => commandFailed(key, reason),
  })
  const { verify } = SCHEMES[schemesOf(key.curve)[0]!]
  const signature = readings(output, key.curve).find((signatureHex) =>
    verify({ publicKey: key.publicKey, body, signatureHex }),
  )
  if (signature === undefined) throw mismatch(key, output)
  return signature
}

/** Every way to read what was printed as a signature, hex in the form of the scheme; the public key tells which it is. */
function readings(output: Buffer, curve: KeyCurve): readonly string[] {
  const text = output
    .toString('latin1')
    .trim()
    .replace(/^vault:v\d+:/, '')
  const written = [output, Buffer.from(text, 'hex'), Buffer.from(text, 'base64')].filter(({ length }) => length > 0)
  if (curve === 'ed25519') return written.map(encodeHex)
  return written.map((bytes) => encodeHex(bytes.length === 64 ? encodeDerSignature(bytes) : bytes))
}

function commandFailed({ signCommand, publicKey }: CommandKey, reason: string): QuorateError {
  const what = `the sign command \`${withoutSecrets(signCommand)}\` failed: ${reason}`
  return new QuorateError('stamp/sign-command-failed', what, {
    facts: { 'public key': publicKey, submitted: 'nothing by this request' },
    next: 'run the command by itself with a text on its stdin and QUORATE_DIGEST set; it must print the signature alone and exit 0',
  })
}

/** What it printed is not shown: a command that prints the private key instead is a likely mistake. */
function mismatch({ signCommand, publicKey }: CommandKey, output: Buffer): QuorateError {
  const what = `the sign command \`${withoutSecrets(signCommand)}\` printed ${output.length} bytes that are no signature of the request`
  return new QuorateError('stamp/sign-command-mismatch', what, {
    facts: { 'public key': publicKey, submitted: 'nothing by this request' },
    next: 'check that the command signs with the key of this public key, and the digest as it is (ECDSA) or the body itself (Ed25519)',
  })
}
