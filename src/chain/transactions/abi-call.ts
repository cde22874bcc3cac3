/**
 * A call of a contract → `function_name`, `function_signature`, `contract_call_args`
 * (docs/protocol/policies.md#contract-interfaces).
 */
import { decodeHex } from '../../encoding/index.ts'
import { parseAbi } from './abi.ts'
import { decodeArguments } from './abi-values.ts'
import { findInterface, type SmartContractInterface, usable } from './interfaces.ts'
import type { Facts } from './refuse.ts'

/** Without an interface, or for a selector that it lacks: texts are empty, the arguments are missing (U-abi-absent). */
export const NO_CALL: Facts = { function_name: '', function_signature: '' }

/**
 * Decodes calldata by the interface uploaded for the receiver. Data that begins with one of its selectors and is not what
 * the function takes is refused: left undecoded, it would slip past a policy that denies by argument.
 */
export function decodeCall(to: string, data: string, interfaces: readonly SmartContractInterface[]): Facts {
  const uploaded = findInterface(interfaces, 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', to)
  if (uploaded === undefined) return NO_CALL
  const selector = data.slice(0, 10)
  const called = usable(uploaded, parseAbi).find((each) => each.selector === selector)
  if (called === undefined) return NO_CALL
  const values = decodeArguments(
    called.inputs.map(({ type }) => type),
    decodeHex(data).subarray(4),
  )
  // A parameter without a name is not reachable.
  const named = called.inputs.flatMap(({ name }, index) => (name === '' ? [] : [[name, values[index]] as const]))
  return {
    function_name: called.name,
    function_signature: called.selector,
    contract_call_args: Object.fromEntries(named),
  }
}
