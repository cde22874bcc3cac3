/**
 * The revert data of a contract → the reason (Solidity, "control structures": `Error(string)`, `Panic(uint256)`, custom
 * errors).
 */
import { decodeHex } from '../../encoding/index.ts'
import { ChainError } from '../error.ts'
import { parseAbiErrors } from './abi.ts'
import { decodeArguments } from './abi-values.ts'
import { findInterface, type SmartContractInterface, usable } from './interfaces.ts'

/** The reason of a failed call, and its source (docs/protocol/sends.md#reverts). */
export type RevertReason =
  | { readonly kind: 'error-string'; readonly message: string }
  | { readonly kind: 'panic'; readonly code: bigint; readonly message: string }
  /** Nothing was said. */
  | { readonly kind: 'bare' }
  | { readonly kind: 'custom'; readonly name: string; readonly parameters: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unknown'; readonly selector: string; readonly data: string }

const ERROR_STRING = '0x08c379a0'
const PANIC = '0x4e487b71'

/** The codes that the compiler puts in (Solidity, "panic via assert and error via require"). */
const PANICS: Readonly<Record<number, string>> = {
  0: 'a panic of the compiler',
  1: 'an assertion that did not hold',
  17: 'arithmetic beyond its range',
  18: 'a division by zero',
  33: 'a number that no enum member has',
  34: 'a storage byte array that is wrongly encoded',
  49: 'pop on an empty array',
  50: 'an index out of bounds',
  65: 'too much memory allocated',
  81: 'a call of a function that was never set',
}

/** Decodes what the contract at `address` has reverted with; data that is not what it claims to be is unknown. */
export function decodeRevert(
  address: string,
  data: string,
  interfaces: readonly SmartContractInterface[],
): RevertReason {
  if (data.length < 10) return data === '0x' ? { kind: 'bare' } : { kind: 'unknown', selector: '', data }
  const selector = data.slice(0, 10).toLowerCase()
  try {
    return decodeKnown(address, data, selector, interfaces) ?? { kind: 'unknown', selector, data }
  } catch (error) {
    if (error instanceof ChainError) return { kind: 'unknown', selector, data }
    throw error
  }
}

function decodeKnown(
  address: string,
  data: string,
  selector: string,
  interfaces: readonly SmartContractInterface[],
): RevertReason | undefined {
  const bytes = decodeHex(data).subarray(4)
  if (selector === ERROR_STRING) {
    const [message] = decodeArguments([{ kind: 'string' }], bytes)
    return { kind: 'error-string', message: (message as { readonly text: string }).text }
  }
  if (selector === PANIC) {
    const [code] = decodeArguments([{ kind: 'uint', bits: 256 }], bytes) as [bigint]
    return { kind: 'panic', code, message: PANICS[Number(code)] ?? 'a panic of an unknown kind' }
  }
  const uploaded = findInterface(interfaces, 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', address)
  const thrown = uploaded && usable(uploaded, parseAbiErrors).find((each) => each.selector === selector)
  if (thrown === undefined) return undefined
  const values = decodeArguments(
    thrown.inputs.map(({ type }) => type),
    bytes,
  )
  const named = thrown.inputs.map(({ name }, index) => [name === '' ? String(index) : name, toJson(values[index])])
  return { kind: 'custom', name: thrown.name, parameters: Object.fromEntries(named) as Record<string, unknown> }
}

/** Values as JSON has them: numbers are decimal texts, since they may have 256 bits. */
function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== 'object' || value === null) return value
  const { int, text, tuple } = value as { int?: bigint; text?: string; tuple?: readonly unknown[] }
  return int?.toString() ?? text ?? tuple?.map(toJson)
}
