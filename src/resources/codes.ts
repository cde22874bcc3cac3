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
  'resources/bad-contract-address': {
    summary: 'the address of a smart contract interface is no address of its chain',
    solve: 'write the address of the contract, not its name, and the `type` of its chain',
  },
  'resources/bad-interface': {
    summary: 'a smart contract interface is no ABI or IDL that the API takes, or is longer than 400,000 bytes',
    solve: 'write the JSON array of an ABI, or an Anchor IDL with `instructions` and `types`',
  },
  'resources/no-interface': {
    summary: 'a smart contract interface says neither what it is nor which file holds it',
    solve: 'write the JSON under `interface:`, or the path of its file under `interfaceFile:`',
  },
  'resources/bad-url': {
    summary: 'the address of a webhook endpoint is none that events can be posted to',
    solve: 'write a whole https address without user name and password',
  },
  'resources/plain-http': {
    summary: 'the address of a webhook endpoint is not https, which the API asks for',
    solve: 'write https, or have a service of your own take http to that host by `--allow-webhook-host`',
  },
  'resources/bad-subscription': {
    summary: 'a webhook endpoint subscribes to what is no event, twice to one, or with filters that are too long',
    solve: 'correct the event; the reference lists them',
  },
  'resources/incomplete-attestation': {
    summary: 'what is written of a passkey is not enough to register it, or names an unknown transport',
    solve: 'write what the authenticator answered, with the challenge; or have its user register it',
  },
  'resources/bad-encrypted-secret': {
    summary: "a client secret is not encrypted to the service's key",
    solve: 'encrypt it as the API asks, and give the result by an environment variable',
  },
  'resources/bad-cidr': {
    summary: 'an IP allow-list holds a block that the API does not take, one twice, or too many',
    solve: 'write blocks such as `203.0.113.0/24`: at most 10 of IPv4, /20 wide or less, and 10 of IPv6, /48 or less',
  },
  'resources/bad-origin': {
    summary: 'an origin of the authentication proxy is none, or has a wildcard in it',
    solve: 'write exact origins such as `https://app.example.com`, or `*` alone for any',
  },
} as const satisfies Codes
