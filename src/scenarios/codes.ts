import type { Codes } from '../diagnostics/index.ts'

const FORM = 'write what the message expects; the schema named in the first line of a file lets an editor complete it'

export const codes = {
  'scenarios/syntax': { summary: 'a file is not YAML', solve: 'correct it at the place that is marked' },
  'scenarios/too-many-aliases': {
    summary: 'the YAML aliases expand to too many values',
    solve: 'write out what is meant, or use a table',
  },
  'scenarios/duplicate-key': { summary: 'a key is written twice in one map', solve: 'join the two, or remove one' },
  'scenarios/wrong-type': { summary: 'a value is of another type than expected', solve: FORM },
  'scenarios/wrong-value': { summary: 'a value is none of those allowed', solve: FORM },
  'scenarios/unknown-key': { summary: 'a key is not known at its place', solve: 'correct or remove it' },
  'scenarios/missing-key': { summary: 'a required key is missing', solve: 'add the key that the message names' },
  'scenarios/unknown-name': {
    summary: 'a name is used that the definitions do not define',
    solve: 'correct it, or define it in the definitions beside the test',
  },
  'scenarios/unknown-activity': {
    summary: 'there is no such kind or type of activity',
    solve: 'write a kind such as `SIGN_TRANSACTION`, or a type with its version',
  },
  'scenarios/bad-transaction': {
    summary: 'the bytes of a transaction cannot be decoded',
    solve: 'give the unsigned transaction as the request would carry it, or its fields',
  },
  'scenarios/bad-interface': {
    summary: 'the interface of a contract is none, or its file cannot be read',
    solve: 'give the JSON of an ABI for `ethereum`, of an Anchor IDL for `solana`, as the compiler writes it',
  },
  'scenarios/failed': {
    summary: 'a scenario has another outcome than it expects',
    solve: 'change the policy or the expectation; `quorate policy explain` shows what made the difference',
  },
} as const satisfies Codes
