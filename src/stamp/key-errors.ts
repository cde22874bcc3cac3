import { QuorateError } from '../diagnostics/index.ts'

// INVARIANT: no error here has a cause or repeats what was read: a parser's own message may quote the key.

/** What was read from `where` is not a private key; `reason` is a clause that does not repeat it. */
export function keyMalformed(where: string, reason: string): QuorateError {
  return new QuorateError('stamp/key-malformed', `${where} is not a private key: ${reason}`, {
    next: 'give 64 hex digits (followed by `:secp256k1` or `:ed25519` where it is not P-256), a JSON object with `privateKey`, or an unencrypted PEM block',
  })
}

/**
 * Requires that a public key given beside a private one, if any, is its own. Throws `stamp/key-mismatch`, which shows
 * what was given only if it cannot be a private key put there by mistake: a compressed point.
 */
export function requireFit(where: string, keys: { readonly given: unknown; readonly own: string }): void {
  const { given, own } = keys
  if (given === undefined || (typeof given === 'string' && given.toLowerCase() === own)) return
  const isPoint = typeof given === 'string' && /^0[23][0-9a-fA-F]{64}$/.test(given)
  const facts = { 'public key given': isPoint ? given.toLowerCase() : 'not shown', 'of the private key': own }
  throw new QuorateError('stamp/key-mismatch', `${where} does not belong to the public key given with it`, {
    facts,
    next: 'use the two halves of one key pair',
  })
}

/** The key file or variable cannot be read at all. */
export function keyUnreadable(where: string, reason: string, next: string): QuorateError {
  return new QuorateError('stamp/key-unreadable', `cannot read ${where}: ${reason}`, { next })
}

/** The key file is not the owner's alone. */
export function keyExposed(where: string, reason: string, next: string): QuorateError {
  return new QuorateError('stamp/key-exposed', `refusing ${where}: ${reason}`, { next })
}
