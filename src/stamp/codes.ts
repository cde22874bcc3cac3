import type { Codes } from '../diagnostics/index.ts'

/** What can go wrong with stamps and the keys that make them. */
export const stampCodes = {
  'stamp/missing': {
    summary: 'A request carries no stamp.',
    solve: 'Send exactly one of `X-Stamp`, `X-Stamp-Webauthn` and `X-Stamp-Attested`.',
  },
  'stamp/several': {
    summary: 'A request carries more than one stamp.',
    solve: 'Send one stamp; a request is the act of one credential.',
  },
  'stamp/malformed': {
    summary: 'A stamp cannot be decoded, or one of its members is missing or of the wrong form.',
    solve: 'Send base64url of a JSON object with `publicKey`, `scheme` and `signature`.',
  },
  'stamp/unsupported': {
    summary: 'A stamp is of a scheme that is known and not verified here.',
    solve: 'Stamp with a P-256 API key.',
  },
  'stamp/key-unreadable': {
    summary: 'A private key cannot be read from where it was said to be.',
    solve: 'Check the path and who may read it, or make a key.',
  },
  'stamp/key-exposed': {
    summary: 'Others could read or replace the private key file.',
    solve: 'Keep the key in an ordinary file of your own with mode 0600: `chmod 600 <file>`.',
  },
  'stamp/key-malformed': {
    summary: 'What was read is not a P-256 private key.',
    solve: 'Give 64 hex digits, a JSON object with `privateKey`, or a PEM block of a P-256 key.',
  },
  'stamp/key-mismatch': {
    summary: 'A private key does not belong to the public key that stands beside it.',
    solve: 'Use the two halves of one key pair.',
  },
  'stamp/key-command-failed': {
    summary: 'The command that prints the private key failed, took too long or printed too much.',
    solve: 'Run the command by itself; it must print the key alone and exit 0.',
  },
  'stamp/key-unwritable': {
    summary: 'A private key file cannot be created.',
    solve: 'Choose a path that is free, in a folder you may write to; an existing key is never overwritten.',
  },
} as const satisfies Codes
