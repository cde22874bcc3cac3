import type { Codes } from '../diagnostics/index.ts'

export const configCodes = {
  'config/invalid': {
    summary: 'a setting has a value it cannot have',
    solve: 'correct the flag or the environment variable that the message names',
  },
  'config/several-keys': {
    summary: 'more than one API key was given',
    solve: 'give one: a file, a command, or the variable QUORATE_API_KEY',
  },
  'config/public-key-missing': {
    summary: 'a command signs with a private key that stays elsewhere, and nothing says which public key is its own',
    solve: 'give the public key with --public-key or QUORATE_API_PUBLIC_KEY',
  },
} as const satisfies Codes
