/**
 * The dear parts of requests, as functions of plain data: many derivations, many signatures. Small ones are done where they
 * are asked for, large ones in a thread of their own. The secret is the caller's to wipe, in either place.
 */
import {
  type AccountSpec,
  ChainError,
  type NamedKey,
  openWallet,
  payloadBytes,
  type RawPayload,
  signBytes,
} from '../../chain/index.ts'
import { decodeUtf8, encodeHex } from '../../encoding/index.ts'

export interface DerivedAccounts {
  readonly accounts: readonly { readonly address: string; readonly publicKey: string }[]
  /** 32 bytes for each account, for the caller to wipe. */
  readonly privateKeys: Uint8Array<ArrayBuffer>
}

export interface PayloadsToSign {
  readonly key: NamedKey
  readonly payloads: readonly RawPayload[]
}

/** A signature as the wire has it, in hex. */
export interface WireSignature {
  readonly r: string
  readonly s: string
  readonly v: string
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

  /** The secret is a private key. `v` is the recovery id in two hex digits. */
  signPayloads(secret: Uint8Array, { key, payloads }: PayloadsToSign): readonly WireSignature[] {
    return payloads.map((payload) => {
      const { r, s, recovery } = signBytes({ ...key, privateKey: secret }, payloadBytes(payload, key.curve))
      return { r: encodeHex(r), s: encodeHex(s), v: recovery.toString(16).padStart(2, '0') }
    })
  },
} as const

export type JobName = keyof typeof jobs
export type JobInput<Name extends JobName> = Parameters<(typeof jobs)[Name]>[1]
export type JobResult<Name extends JobName> = ReturnType<(typeof jobs)[Name]>

/** What a thread says of a job that could not be done: a refusal in the API's words, or nothing of what went wrong. */
export type JobFault = { readonly refusal: string } | { readonly fault: true }

/** Says what may be said of an error: no more than the text of a refusal, for another may hold what it was given. */
export function toFault(error: unknown): JobFault {
  return error instanceof ChainError ? { refusal: error.message } : { fault: true }
}

export function fromFault(fault: JobFault): Error {
  return 'refusal' in fault ? new ChainError(fault.refusal) : new Error('a job failed in its thread')
}
