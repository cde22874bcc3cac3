import { ChainError } from '../error.ts'
import { refuse } from './refuse.ts'

/**
 * What a caller uploaded about a contract: an ABI, or an IDL in Anchor's form
 * (docs/protocol/policies.md#contract-interfaces).
 */
export interface SmartContractInterface {
  readonly address: string
  readonly type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM' | 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA'
  readonly json: string
}

/**
 * Finds the interface of a contract. Given oldest first: of several for one address the newest counts, alone (the
 * sources leave it open). Addresses of Ethereum are compared without regard to case.
 */
export function findInterface(
  interfaces: readonly SmartContractInterface[],
  type: SmartContractInterface['type'],
  address: string,
): SmartContractInterface | undefined {
  const fold = (text: string) => (type === 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM' ? text.toLowerCase() : text)
  return interfaces.findLast((each) => each.type === type && fold(each.address) === fold(address))
}

/** Reads an uploaded interface while a transaction is read: what is wrong with it is the reason of the refusal. */
export function usable<T>({ address, json }: SmartContractInterface, parse: (json: string) => T): T {
  try {
    return parse(json)
  } catch (error) {
    if (error instanceof ChainError) refuse(`the interface of \`${address}\`: ${error.message}`, error)
    throw error
  }
}
