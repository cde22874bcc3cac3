import { QuorateError } from '../diagnostics/index.ts'

// INVARIANT: no error here has a cause or repeats what was read: a parser's own message may quote the key.

/** What was read from `where` is not a P-256 private key; `reason` is a clause that does not repeat it. */
export function keyMalformed(where: string, reason: string): QuorateError {
  return new QuorateError('stamp/key-malformed', `${where} is not a P-256 private key: ${reason}`, {
    next: 'give 64 hex digits, a JSON object with `privateKey`, or a PEM block of an unencrypted P-256 key',
  })
}

/** The private key read from `where` is not the one of the public key beside it. */
export function keyMismatch(where: string, keys: { readonly expected: string; readonly got: string }): QuorateError {
  return new QuorateError('stamp/key-mismatch', `${where} does not belong to the public key given with it`, {
    facts: { 'public key given': keys.expected, 'of the private key': keys.got },
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
