/**
 * The dear parts of requests, as functions of plain data: many derivations and signatures, and texts that may be as long as a
 * request. Small ones are done where they are asked for, large ones in a thread of their own. The secret, where there is one,
 * is the caller's to wipe, in either place.
 */
import {
  type AccountSpec,
  type AddressFormat,
  addressOf,
  type Curve,
  checkInterface,
  checkSigner,
  createPrivateKey,
  type KeyByAddress,
  openWallet,
  payloadBytes,
  type RawPayload,
  readPayloadFacts,
  readSendFacts,
  readTransactionFacts,
  type SendFacts,
  type SmartContractInterface,
  signBytes,
  signTransaction,
  type TransactionFacts,
  type TransactionRequest,
  type TransactionType,
} from '../../chain/index.ts'
import { randomBytes } from '../../crypto/index.ts'
import { decodeUtf8, encodeHex } from '../../encoding/index.ts'
import { type PolicyText, writeRefusal } from '../../policy/index.ts'
import { type Stamp, verifyStamp } from '../../stamp/index.ts'
import { checkPublicKeys } from './public-keys.ts'
import { createQuorumKey } from './quorum-key.ts'
import { readRegistrations } from './registrations.ts'
import { checkSpark, runSpark } from './spark.ts'
import { verifyApprovals } from './verify-approvals.ts'

export interface DerivedAccounts {
  readonly accounts: readonly { readonly address: string; readonly publicKey: string }[]
  /** 32 bytes for each account, for the caller to wipe. */
  readonly privateKeys: Uint8Array<ArrayBuffer>
}

export interface CreatedKeys {
  readonly keys: readonly { readonly publicKey: string; readonly addresses: readonly string[] }[]
  /** 32 bytes for each key, for the caller to wipe. */
  readonly privateKeys: Uint8Array<ArrayBuffer>
}

export interface KeySpec {
  readonly curve: Curve
  readonly addressFormats: readonly AddressFormat[]
}

export interface PayloadsToSign {
  readonly key: KeyByAddress
  readonly payloads: readonly RawPayload[]
}

/** A signature as the wire has it, in hex. */
export interface WireSignature {
  readonly r: string
  readonly s: string
  readonly v: string
}

/** A transaction and the key that is to sign it. */
export interface TransactionToSign {
  readonly type: TransactionType
  readonly unsignedTransaction: string
  readonly key: KeyByAddress
}

/** What a request to send says of it, by which the calls in it are decoded. */
export interface SendToRead {
  readonly type: Parameters<typeof readSendFacts>[0]
  readonly intent: Parameters<typeof readSendFacts>[1]
  readonly interfaces: readonly SmartContractInterface[]
}

/** The first refusal in the API's words, if there is one. */
export interface Verdict {
  readonly refusal?: string | undefined
}

/** Why texts of policies are refused, and which: the first of the first policy that has one. */
export interface PolicyVerdict extends Verdict {
  readonly at?: { readonly index: number; readonly field: 'consensus' | 'condition' | 'time' }
}

export const jobs = {
  /** The secret is a mnemonic. */
  deriveAccounts(secret: Uint8Array, accounts: readonly AccountSpec[]): DerivedAccounts {
    const wallet = openWallet(decodeUtf8(secret))
    const privateKeys = new Uint8Array(32 * accounts.length)
    try {
      const derived = accounts.map((account, at) => {
        const { address, publicKey, privateKey } = wallet.deriveKey(account)
        privateKeys.set(privateKey, 32 * at)
        privateKey.fill(0)
        return { address, publicKey: encodeHex(publicKey) }
      })
      return { accounts: derived, privateKeys }
    } finally {
      wallet.close()
    }
  },

  /** The secret is 32 random bytes for each key: the key itself, but for a draw outside of the range of its curve. */
  createPrivateKeys(secret: Uint8Array, specs: readonly KeySpec[]): CreatedKeys {
    const privateKeys = new Uint8Array(32 * specs.length)
    const keys = specs.map(({ curve, addressFormats }, at) => {
      let drawn: Uint8Array | undefined = secret.slice(32 * at, 32 * (at + 1))
      const key = createPrivateKey(curve, (length) => {
        const first = drawn
        drawn = undefined
        return first ?? randomBytes(length)
      })
      privateKeys.set(key.privateKey, 32 * at)
      key.privateKey.fill(0)
      const addresses = addressFormats.map((format) => addressOf(curve, key.publicKey, format))
      return { publicKey: key.publicKey, addresses }
    })
    return { keys, privateKeys }
  },

  /** The secret is a private key. `v` is the recovery id in two hex digits. */
  signPayloads(secret: Uint8Array, { key, payloads }: PayloadsToSign): readonly WireSignature[] {
    return payloads.map((payload) => {
      const { r, s, recovery } = signBytes({ ...key, privateKey: secret }, payloadBytes(payload, key.curve))
      return { r: encodeHex(r), s: encodeHex(s), v: recovery.toString(16).padStart(2, '0') }
    })
  },

  /** Throws for the first payload that a key of the curve cannot sign. */
  checkPayloads(
    _: Uint8Array,
    { curve, payloads }: { readonly curve: Curve; readonly payloads: readonly RawPayload[] },
  ) {
    for (const payload of payloads) payloadBytes(payload, curve)
    return {}
  },

  readPayloads(
    _: Uint8Array,
    { encoding, payloads }: { readonly encoding: string; readonly payloads: readonly string[] },
  ): readonly TransactionFacts[] {
    return payloads.map((payload) => readPayloadFacts({ encoding, payload }))
  },

  readTransaction: (_: Uint8Array, transaction: TransactionRequest): TransactionFacts =>
    readTransactionFacts(transaction),

  readSend: (_: Uint8Array, { type, intent, interfaces }: SendToRead): SendFacts =>
    readSendFacts(type, intent, { interfaces }),

  /** Throws unless the key may sign the transaction. */
  checkSigner(_: Uint8Array, { type, unsignedTransaction, key }: TransactionToSign) {
    checkSigner(type, unsignedTransaction, key)
    return {}
  },

  /** The secret is a private key; what comes back is hex. */
  signTransaction(secret: Uint8Array, { type, unsignedTransaction, key }: TransactionToSign) {
    return { signed: encodeHex(signTransaction(type, unsignedTransaction, { ...key, privateKey: secret })) }
  },

  checkInterface: (_: Uint8Array, uploaded: Parameters<typeof checkInterface>[0]): Verdict => ({
    refusal: checkInterface(uploaded),
  }),

  checkPolicies(
    _: Uint8Array,
    policies: readonly Partial<Pick<PolicyText, 'consensus' | 'condition' | 'time'>>[],
  ): PolicyVerdict {
    for (const [index, policy] of policies.entries()) {
      for (const field of ['consensus', 'condition', 'time'] as const) {
        const refusal = writeRefusal({ [field]: policy[field] })
        if (refusal !== undefined) return { refusal, at: { index, field } }
      }
    }
    return {}
  },

  /** Whether the stamp's key signed the body. */
  verifyStamp: (_: Uint8Array, { stamp, body }: { readonly stamp: Stamp; readonly body: Uint8Array }) => ({
    isVerified: verifyStamp(stamp, body),
  }),

  /** The secret is the seed of the key. */
  createQuorumKey,
  verifyApprovals,
  checkPublicKeys,
  readRegistrations,
  checkSpark,
  /** The secret is a mnemonic. */
  runSpark,
} as const

export type JobName = keyof typeof jobs
export type JobInput<Name extends JobName> = Parameters<(typeof jobs)[Name]>[1]
export type JobResult<Name extends JobName> = ReturnType<(typeof jobs)[Name]>
