import { ChainError } from '../error.ts'
import { parseAbi } from './abi.ts'
import { parseIdl } from './idl.ts'
import type { SmartContractInterface } from './interfaces.ts'

/** Bytes of an interface (docs/protocol/policies.md#contract-interfaces). */
export const INTERFACE_MAX_BYTES = 400_000

/** Whether an interface can be used for reading transactions: what is wrong with it if not, else nothing. */
export function checkInterface({ type, json }: Pick<SmartContractInterface, 'type' | 'json'>): string | undefined {
  if (Buffer.byteLength(json) > INTERFACE_MAX_BYTES) {
    return `invalid smart contract interface: it is longer than ${INTERFACE_MAX_BYTES} bytes`
  }
  try {
    if (type === 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM') parseAbi(json)
    else parseIdl(json)
    return undefined
  } catch (error) {
    if (error instanceof ChainError) return error.message
    throw error
  }
}
