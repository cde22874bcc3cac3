import type { Codes } from '../diagnostics/index.ts'

export const codes = {
  'resources/malformed-record': {
    summary: 'a record in an answer of the API lacks a member or has one of another type',
    solve: 'check that the base URL is that of the API and that nothing on the way changes its answers',
  },
  'resources/unknown-feature': {
    summary: 'a feature is named that the API does not have',
    solve: 'correct its name; the reference lists them',
  },
  'resources/feature-without-value': {
    summary: 'a feature that only works with a value is set to `true`',
    solve: 'write the value, such as the origin or the URL',
  },
  'resources/quorum-never-met': {
    summary: 'the root quorum asks for more approvals than it has members, which would lock everybody out',
    solve: 'lower the threshold or add members',
  },
  'resources/bad-public-key': {
    summary: 'the public key of an API key is not a key of its curve',
    solve: 'write it in hex: 33 bytes compressed for P256 and SECP256K1, 32 bytes for ED25519',
  },
  'resources/bad-path': {
    summary: 'the derivation path of a wallet account cannot be read',
    solve: "write it as BIP-32 does, such as m/44'/60'/0'/0/0",
  },
  'resources/curve-does-not-fit': {
    summary: 'the address format of a wallet account does not exist on its curve',
    solve: 'write the curve of the format: secp256k1 for Ethereum and Bitcoin, ed25519 for Solana',
  },
} as const satisfies Codes
