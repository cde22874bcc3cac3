/** What ways lead to: requests that use each power over funds, or over who decides about them, such that some of them meet what is open. */

import { generateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { PublicKey } from '@solana/web3.js'
import { encryptPrivateKeyToBundle, encryptWalletToBundle } from '@turnkey/crypto'
import { serializeTransaction } from 'viem'
import type { PowerName } from '../../src/analysis/power-table.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import type { ActivityType, Wire } from '../../src/protocol/index.ts'
import { draftOf, receiver, transferOf } from '../service/sends/solana-drafts.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { accountsOf, ETHEREUM } from '../service/signing/keys.ts'

export const DEVNET = 'solana:devnet'

/** A wallet or private key that funds are held by. */
export interface Held {
  readonly id: string
  readonly ethereum: string
  readonly solana?: string
}

export interface Request {
  readonly type: ActivityType
  readonly parameters: object
}

/** Of whom a request may speak, and what some of them get executed before it. */
export interface Asking {
  readonly organizationId: string
  readonly signerPublicKey: string
  /** Ids of the users who vote for it, of those who were there before. */
  readonly voters: readonly string[]
  /** Of one who could be the root quorum. */
  readonly userId: string
  /** Ids of policies that are still there. */
  readonly policyIds: readonly string[]
  readonly get: (type: ActivityType, parameters: object) => Promise<Wire.Activity | undefined>
}

export interface Goal {
  readonly power: PowerName
  /** How the answer names it. */
  readonly called: string
  /** Whether it is over such a one. @default over any */
  readonly over?: (isWallet: boolean) => boolean
  /** Whether some policy has to be there. @default false */
  readonly needsPolicy?: boolean
  readonly requests: (asking: Asking, held: Held) => readonly Request[] | Promise<readonly Request[]>
}

const HASHES = ['NO_OP', 'SHA256', 'KECCAK256']
const VALUES = [6n, 0n, 1n]
const TO = `0x${'1'.repeat(40)}` as const
const payloads = (encoding: string) => ({ encoding: `PAYLOAD_ENCODING_${encoding}` })
const target = () => ({ targetPublicKey: generateP256KeyPair().publicKey })
const isWallet = (is: boolean) => is
const isKey = (is: boolean) => !is
const ANYTHING = { condition: 'true', consensus: 'true' }

function goal(
  power: PowerName,
  name: string,
  parameters: (asking: Asking, held: Held) => readonly object[] | Promise<readonly object[]>,
  { called = '', ...more }: { readonly called?: string } & Pick<Goal, 'over' | 'needsPolicy'> = {},
): Goal {
  const type = `ACTIVITY_TYPE_${name}` as ActivityType
  return {
    power,
    called: called === '' ? type : `${type} (${called})`,
    ...more,
    requests: async (asking, held) =>
      (await parameters(asking, held)).map((one): Request => ({ type, parameters: one })),
  }
}

const solanaTransfer = ({ solana }: Held) => {
  const from = new PublicKey(solana!)
  return draftOf([transferOf(from, receiver(), 1)], { payer: from }).toString('hex')
}
const HEXADECIMAL = 'PAYLOAD_ENCODING_HEXADECIMAL'
const ETHEREUM_TYPE = 'TRANSACTION_TYPE_ETHEREUM'
const SOLANA_TYPE = 'TRANSACTION_TYPE_SOLANA'

/** A target of each voter's own, which nobody else may import to. */
async function importing<T>(
  { voters, get }: Asking,
  type: ActivityType,
  import_: (userId: string, bundle: string) => Promise<T>,
): Promise<readonly T[]> {
  const all: T[] = []
  for (const userId of voters) {
    const activity = await get(type, { userId })
    const { initImportWalletResult: words, initImportPrivateKeyResult: key } = activity?.result ?? {}
    const bundle = (words ?? key)?.importBundle
    if (bundle !== undefined) all.push(await import_(userId, bundle))
  }
  return all
}

export const SIGNATURE = goal(
  'sign',
  'SIGN_RAW_PAYLOAD_V2',
  (_, { ethereum }) =>
    HASHES.map((hash) => ({
      ...{ signWith: ethereum, payload: '00'.repeat(32), ...payloads('HEXADECIMAL') },
      hashFunction: `HASH_FUNCTION_${hash}`,
    })),
  { called: HEXADECIMAL },
)

export const GOALS: readonly Goal[] = [
  SIGNATURE,
  goal(
    'sign',
    'SIGN_RAW_PAYLOADS',
    (_, { ethereum }) =>
      HASHES.map((hash) => ({
        ...{ signWith: ethereum, payloads: ['00'.repeat(32)], ...payloads('HEXADECIMAL') },
        hashFunction: `HASH_FUNCTION_${hash}`,
      })),
    { called: HEXADECIMAL },
  ),
  goal(
    'sign',
    'SIGN_TRANSACTION_V2',
    (_, { ethereum }) =>
      VALUES.map((value) => ({
        ...{ signWith: ethereum, type: ETHEREUM_TYPE },
        unsignedTransaction: serializeTransaction({
          ...({ type: 'eip1559', chainId: 1, nonce: 4, gas: 21_000n, to: TO, value } as const),
          ...{ maxFeePerGas: 40_000_000_000n, maxPriorityFeePerGas: 1n },
        }),
      })),
    { called: ETHEREUM_TYPE },
  ),
  goal(
    'sign',
    'SIGN_TRANSACTION_V2',
    (_, held) => [{ signWith: held.solana, type: SOLANA_TYPE, unsignedTransaction: solanaTransfer(held) }],
    { called: SOLANA_TYPE, over: isWallet },
  ),
  goal('send', 'ETH_SEND_TRANSACTION', (_, { ethereum: from }) =>
    VALUES.map((value) => ({
      ...{ from, caip2: SEPOLIA, to: TO, value: String(value), gasLimit: '21000' },
      ...{ maxFeePerGas: '9000000000', maxPriorityFeePerGas: '1' },
    })),
  ),
  goal(
    'send',
    'SOL_SEND_TRANSACTION',
    (_, held) => [{ signWith: held.solana, caip2: DEVNET, unsignedTransaction: solanaTransfer(held) }],
    { over: isWallet },
  ),
  goal('export', 'EXPORT_PRIVATE_KEY', (_, { id }) => [{ privateKeyId: id, ...target() }], { over: isKey }),
  goal('export', 'EXPORT_WALLET', (_, { id }) => [{ walletId: id, ...target() }], { over: isWallet }),
  goal('export', 'EXPORT_WALLET_ACCOUNT', (_, { ethereum }) => [{ address: ethereum, ...target() }], {
    over: isWallet,
  }),
  goal('import', 'IMPORT_WALLET', ({ organizationId, signerPublicKey, ...asking }) =>
    importing(
      { organizationId, signerPublicKey, ...asking },
      'ACTIVITY_TYPE_INIT_IMPORT_WALLET',
      async (userId, importBundle) => ({
        userId,
        walletName: 'brought',
        accounts: accountsOf(ETHEREUM),
        encryptedBundle: await encryptWalletToBundle({
          ...{ mnemonic: generateMnemonic(wordlist), importBundle, userId, organizationId },
          dangerouslyOverrideSignerPublicKey: signerPublicKey,
        }),
      }),
    ),
  ),
  goal('import', 'IMPORT_PRIVATE_KEY', ({ organizationId, signerPublicKey, ...asking }) =>
    importing(
      { organizationId, signerPublicKey, ...asking },
      'ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY',
      async (userId, importBundle) => ({
        ...{ userId, privateKeyName: 'brought', curve: 'CURVE_SECP256K1', addressFormats: ['ADDRESS_FORMAT_ETHEREUM'] },
        encryptedBundle: await encryptPrivateKeyToBundle({
          ...{
            privateKey: generateP256KeyPair().privateKey,
            keyFormat: 'HEXADECIMAL',
            importBundle,
            userId,
            organizationId,
          },
          dangerouslyOverrideSignerPublicKey: signerPublicKey,
        }),
      }),
    ),
  ),
  ...(['INIT_IMPORT_WALLET', 'INIT_IMPORT_PRIVATE_KEY'] as const).map((name) =>
    goal('import', name, ({ voters }) => voters.map((userId) => ({ userId }))),
  ),
  goal('policies', 'CREATE_POLICY_V3', () => [{ policyName: 'won', effect: 'EFFECT_ALLOW', ...ANYTHING, notes: '' }]),
  goal('policies', 'CREATE_POLICIES', () => [
    { policies: [{ policyName: 'won', effect: 'EFFECT_ALLOW', ...ANYTHING, notes: '' }] },
  ]),
  goal(
    'policies',
    'UPDATE_POLICY_V2',
    ({ policyIds }) =>
      policyIds.map((policyId) => ({
        policyId,
        policyEffect: 'EFFECT_ALLOW',
        policyCondition: 'true',
        policyConsensus: 'true',
      })),
    { needsPolicy: true },
  ),
  goal('policies', 'DELETE_POLICIES', ({ policyIds }) => policyIds.map((one) => ({ policyIds: [one] })), {
    needsPolicy: true,
  }),
  goal('quorum', 'UPDATE_ROOT_QUORUM', ({ userId }) => [{ threshold: 1, userIds: [userId] }]),
]

/** Whether the answer speaks of a goal. */
export function isOf({ called }: Goal, told: string): boolean {
  return told === called || told === called.replace(/ .*/, '')
}
