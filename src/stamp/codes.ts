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
    solve:
      'Send base64url of a JSON object with `publicKey`, `scheme` and `signature`, or for a passkey the JSON object of its assertion.',
  },
  'stamp/unsupported': {
    summary: 'A stamp is of a kind that is known and not accepted here.',
    solve: 'Stamp with an API key, or where they are accepted with a passkey.',
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
    summary: 'What was read is not a private key of P-256, secp256k1 or Ed25519.',
    solve:
      'Give 64 hex digits (followed by `:secp256k1` or `:ed25519` where it is not P-256), a JSON object with `privateKey` and maybe `curve`, or an unencrypted PEM block.',
  },
  'stamp/scheme-unfit': {
    summary: 'A scheme was asked for that a key of this curve cannot stamp with.',
    solve: 'Name a scheme of the curve of the key, or none; EIP-191 needs a secp256k1 key.',
  },
  'stamp/key-mismatch': {
    summary: 'A private key does not belong to the public key that stands beside it.',
    solve: 'Use the two halves of one key pair.',
  },
  'stamp/key-command-failed': {
    summary: 'The command that prints the private key failed, took too long or printed too much.',
    solve: 'Run the command by itself; it must print the key alone and exit 0.',
  },
  'stamp/sign-command-failed': {
    summary: 'The command that signs with an API key failed, took too long or printed too much.',
    solve:
      'Run the command by itself with a text on its stdin and `QUORATE_DIGEST` set; it must print the signature alone and exit 0.',
  },
  'stamp/sign-command-mismatch': {
    summary: 'What the sign command printed is not a signature of the request by the key of the public key given.',
    solve: 'Check the public key and its curve, and that the digest is signed as it is and not hashed again.',
  },
  'stamp/sign-key-failed': {
    summary: 'The keeper of an API key (AWS KMS, Google Cloud KMS, Vault, a PKCS #11 token) did not sign.',
    solve:
      'See whether it is reached from here, its client library is installed, and the credentials may sign with the key.',
  },
  'stamp/sign-key-mismatch': {
    summary: 'What a keeper signed is not of the public key given.',
    solve: 'Give the public key of this very key and version; it must be on P-256.',
  },
  'stamp/key-unwritable': {
    summary: 'A private key file cannot be created.',
    solve: 'Choose a path that is free, in a folder you may write to; an existing key is never overwritten.',
  },
} as const satisfies Codes
