/** The form of a file of scenarios: one row a key, read by the checks and by the published JSON Schema. */

import type { JsonSchema } from '../resources/index.ts'

export interface KeyRow {
  readonly meaning: string
  readonly schema: JsonSchema
}

const name: JsonSchema = { type: 'string', minLength: 1 }
const names: JsonSchema = { type: 'array', items: name }
const oneOrMore = (item: JsonSchema): JsonSchema => ({ anyOf: [item, { type: 'array', items: item }] })

/** The chains of a transaction: the key, the root of policies that it defines, and the type that the request says. */
export const chains = {
  ethereum: { root: 'eth', type: 'TRANSACTION_TYPE_ETHEREUM' },
  solana: { root: 'solana', type: 'TRANSACTION_TYPE_SOLANA' },
  tron: { root: 'tron', type: 'TRANSACTION_TYPE_TRON' },
  bitcoin: { root: 'bitcoin', type: 'TRANSACTION_TYPE_BITCOIN' },
  tempo: { root: 'tempo', type: 'TRANSACTION_TYPE_TEMPO' },
} as const
export type ChainName = keyof typeof chains

const transaction: JsonSchema = {
  type: 'object',
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
  properties: Object.fromEntries(
    Object.keys(chains).map((chain) => [
      chain,
      {
        description: `The fields that policies read as \`${chains[chain as ChainName].root}.tx\`, or the unsigned transaction in hex.`,
        anyOf: [{ type: 'object' }, { type: 'string' }],
      },
    ]),
  ),
}

/** Who approves: a user's name, or with the credential that was used. */
const approver: JsonSchema = {
  anyOf: [
    name,
    {
      type: 'object',
      additionalProperties: false,
      required: ['user'],
      properties: {
        user: { ...name, description: 'Their name in the definitions.' },
        with: {
          ...name,
          description: 'A credential by name, or a type such as `CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR`.',
        },
      },
    },
  ],
}

/** The keys of a request, which scenarios and rows of tables share. */
export const requestKeys = {
  by: {
    meaning: 'Who approves, the submitter first: names of users, or `{ user, with }` to say with which credential.',
    schema: oneOrMore(approver),
  },
  activity: {
    meaning: 'What is asked for: a kind such as `SIGN_TRANSACTION`, for its newest version, or an exact type.',
    schema: name,
  },
  params: {
    meaning: 'What policies read as `activity.params`. `${user.bob}` stands for an id.',
    schema: { type: 'object' },
  },
  wallet: { meaning: 'The wallet that signs or is exported, by name.', schema: name },
  account: {
    meaning:
      'The address of the wallet account that signs, which policies read as `wallet_account`. Left out, that is missing, also for a wallet with one account: the service derives addresses, and definitions do not know them.',
    schema: { type: 'string' },
  },
  privateKey: {
    meaning: 'The stand-alone private key that signs or is exported: `{ label, tags, imported, exported }`.',
    schema: { type: 'object' },
  },
  wallets: { meaning: 'The wallets that are to be deleted, by name.', schema: names },
  secret: { meaning: 'The secret that is exported: `{ static_properties }`.', schema: { type: 'object' } },
  target: { meaning: 'The user whose credentials it is about, by name.', schema: name },
  transaction: { meaning: 'The transaction, under the name of its chain.', schema: transaction },
  calls: {
    meaning: 'The calls of a request with several; each is decided by itself.',
    schema: { type: 'array', minItems: 1, items: transaction },
  },
  interfaces: {
    meaning:
      'Interfaces of contracts beside those of the definitions, so that calls in the bytes of a transaction are read; of several for one address the last counts.',
    schema: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['address', 'type'],
        properties: {
          address: { ...name, description: 'The address of the contract or program.' },
          type: { enum: ['ethereum', 'solana'], description: 'An ABI for `ethereum`, an Anchor IDL for `solana`.' },
          interface: {
            type: ['array', 'object', 'string'],
            description: 'The ABI or IDL itself, as YAML or as a text of JSON.',
          },
          file: { ...name, description: 'The JSON file that holds it, from this file; instead of `interface`.' },
        },
      },
    },
  },
  typedData: {
    meaning: 'EIP-712 typed data: `{ primary_type, domain, message }`.',
    schema: { type: 'object' },
  },
  authorization: {
    meaning: 'An EIP-7702 authorization: `{ address, chain_id, nonce }`.',
    schema: { type: 'object' },
  },
  time: {
    meaning: 'When it is asked, as RFC 3339. Left out: 2026-01-01T00:00:00Z.',
    schema: { type: 'string' },
  },
} as const satisfies Readonly<Record<string, KeyRow>>

export const OUTCOMES = ['allow', 'deny', 'pending', 'error'] as const
export type ExpectedOutcome = (typeof OUTCOMES)[number]

/** The outcome of a policy, in one word. */
export const POLICY_WORDS = {
  OUTCOME_ALLOW: 'allow',
  OUTCOME_DENY_EXPLICIT: 'deny',
  OUTCOME_REQUIRES_CONSENSUS: 'pending',
  OUTCOME_DENY_IMPLICIT: 'none',
  OUTCOME_ERROR: 'error',
  OUTCOME_TIME_INACTIVE: 'inactive',
} as const

export const expectKeys = {
  outcome: {
    meaning: 'allow, deny, pending (it waits for approvals), or error (denied, and some policy erred).',
    schema: { enum: OUTCOMES },
  },
  decidedBy: {
    meaning:
      'The policies that decided, by name, all of them; or `root-quorum`, `own-credentials`, `quorum-begun`, `root-only`, `nothing-allows`.',
    schema: oneOrMore(name),
  },
  errors: { meaning: 'The policies that erred, by name, all of them.', schema: oneOrMore(name) },
  policies: {
    meaning: 'What single policies came to, by name; others are not looked at.',
    schema: { type: 'object', additionalProperties: { enum: Object.values(POLICY_WORDS) } },
  },
  needs: {
    meaning: 'Who else would have to approve: each item, a name or a list of names, is enough by itself; all of them.',
    schema: { type: 'array', items: oneOrMore(name) },
  },
} as const satisfies Readonly<Record<string, KeyRow>>

export const scenarioKeys = {
  ...requestKeys,
  why: { meaning: 'Why it is so; shown when it fails.', schema: { type: 'string' } },
  expect: {
    meaning: 'What should come of it: an outcome, or more.',
    schema: {
      anyOf: [
        { enum: OUTCOMES },
        {
          type: 'object',
          additionalProperties: false,
          properties: Object.fromEntries(
            Object.entries(expectKeys).map(([key, { meaning, schema }]) => [key, { ...schema, description: meaning }]),
          ),
        },
      ],
    },
  },
} as const satisfies Readonly<Record<string, KeyRow>>

export const tableKeys = {
  given: { meaning: 'What every row starts from: keys of a scenario.', schema: { $ref: '#/$defs/scenario' } },
  columns: {
    meaning:
      'What each column says: a key of a scenario, or a dotted path such as `transaction.ethereum.value`, or `name`.',
    schema: { type: 'array', minItems: 1, items: name },
  },
  rows: {
    meaning: 'One scenario each; `~` leaves out what a column says.',
    schema: { type: 'array', items: { type: 'array' } },
  },
} as const satisfies Readonly<Record<string, KeyRow>>

export const fileKeys = {
  defaults: {
    meaning: 'What every scenario and table of this file starts from.',
    schema: { $ref: '#/$defs/scenario' },
  },
  scenarios: {
    meaning: 'Scenarios by name.',
    schema: { type: ['object', 'null'], additionalProperties: { $ref: '#/$defs/scenario' } },
  },
  tables: {
    meaning: 'Tables of scenarios by name, for many cases at once.',
    schema: { type: ['object', 'null'], additionalProperties: { $ref: '#/$defs/table' } },
  },
} as const satisfies Readonly<Record<string, KeyRow>>
