/** The meaning of the error numbers of programs, as Anchor's IDLs say it: `errors`, of before and after 0.30 alike. */
import { ChainError } from '../error.ts'
import { asObject, parseJson } from './abi.ts'
import { findInterface, type SmartContractInterface } from './interfaces.ts'

export interface ProgramError {
  readonly name: string
  /** What the program's author says of it. */
  readonly message?: string
}

/**
 * Finds what a program (base58) means by an error code, by the IDL that was uploaded of it; nothing where that does not say it.
 * Of Anchor's own errors, below 6000, programs say the names in their logs.
 */
export function decodeProgramError(
  program: string,
  code: number,
  interfaces: readonly SmartContractInterface[],
): ProgramError | undefined {
  const uploaded = findInterface(interfaces, 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA', program)
  return uploaded && parseIdlErrors(uploaded.json).get(code)
}

/** Entries that are no errors are left out: the IDL was uploaded for its instructions. */
function parseIdlErrors(json: string): ReadonlyMap<number, ProgramError> {
  try {
    const { errors } = asObject(parseJson(json), 'the IDL')
    const list: readonly unknown[] = Array.isArray(errors) ? errors : []
    return new Map(list.flatMap(parseError))
  } catch (error) {
    if (error instanceof ChainError) return new Map()
    throw error
  }
}

function parseError(value: unknown): [number, ProgramError][] {
  if (typeof value !== 'object' || value === null) return []
  const { code, name, msg } = value as { readonly code?: unknown; readonly name?: unknown; readonly msg?: unknown }
  if (typeof code !== 'number' || typeof name !== 'string' || name === '') return []
  return [[code, { name, ...(typeof msg === 'string' && msg !== '' && { message: msg }) }]]
}
