import {
  ChainError,
  type Facts,
  readTransactionFacts,
  type SmartContractInterface,
  type TransactionRequest,
} from '../../../src/chain/index.ts'

type Options = Partial<Omit<TransactionRequest, 'type' | 'unsignedTransaction'>>

const roots = { ETHEREUM: 'eth', SOLANA: 'solana', TRON: 'tron', BITCOIN: 'bitcoin', TEMPO: 'tempo' } as const
export type Kind = keyof typeof roots
export const kinds = Object.keys(roots) as Kind[]

/** The facts of a transaction: what its root has as `tx`. */
export function read(kind: Kind, unsignedTransaction: string | Uint8Array, options: Options = {}): Facts {
  const facts = readTransactionFacts({
    type: `TRANSACTION_TYPE_${kind}`,
    unsignedTransaction,
    interfaces: [],
    ...options,
  })
  return (facts[roots[kind]] as { readonly tx: Facts }).tx
}

/** What a refusal says; whatever else is thrown passes through, and nothing thrown is `read`. */
export function refusal(action: () => unknown): string {
  try {
    action()
    return 'read'
  } catch (error) {
    if (error instanceof ChainError) return error.message
    throw error
  }
}

export function refusalOf(kind: Kind, unsignedTransaction: string | Uint8Array, options: Options = {}): string {
  return refusal(() => read(kind, unsignedTransaction, options))
}

/** Whether it was read, or refused in the API's words for one that cannot be read or is not supported. */
export function isAnswer(said: string): boolean {
  return (
    said === 'read' ||
    said.startsWith('failed to parse transaction: ') ||
    /is not supported$|: UnrecognizedScript$/.test(said)
  )
}

export function ethereumInterface(address: string, abi: unknown): SmartContractInterface {
  return { address, type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', json: JSON.stringify(abi) }
}

export function solanaInterface(address: string, idl: unknown): SmartContractInterface {
  return { address, type: 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA', json: JSON.stringify(idl) }
}
