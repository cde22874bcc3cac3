/** An instruction by its program's IDL → `parsed_instruction_data` (docs/protocol/policies.md#contract-interfaces). */
import { encodeHex } from '../../encoding/index.ts'
import { ByteReader } from './byte-reader.ts'
import type { Idl, IdlInstruction } from './idl.ts'
import { decodeFields } from './idl-values.ts'
import { type Facts, refuse } from './refuse.ts'

export interface InstructionCall {
  readonly program: string
  readonly accounts: readonly string[]
  readonly data: Uint8Array
}

/**
 * Decodes an instruction; undefined if the IDL has none that begins so. One that begins so and is not what the IDL says is
 * refused: left undecoded, it would slip past a policy that denies by argument.
 */
export function decodeInstruction(idl: Idl, call: InstructionCall): Facts | undefined {
  const instruction = find(idl, call.data)
  if (instruction === undefined) return undefined
  const { name, discriminator } = instruction
  const reader = new ByteReader(call.data.subarray(discriminator.length))
  const args = decodeFields(idl, instruction.arguments, reader)
  reader.end(`the arguments of \`${name}\``)
  return {
    instruction_name: name,
    discriminator: encodeHex(discriminator),
    named_accounts: nameAccounts(instruction, call),
    program_call_args: args,
  }
}

/** The longest discriminator that the data begins with: lengths may differ. */
function find({ instructions }: Idl, data: Uint8Array): IdlInstruction | undefined {
  const begins = ({ discriminator }: IdlInstruction) => discriminator.every((byte, index) => data[index] === byte)
  return instructions
    .filter(begins)
    .toSorted((a, b) => b.discriminator.length - a.discriminator.length)
    .at(0)
}

/** An optional account that is not given is left out; in Anchor's convention the program stands in its place. */
function nameAccounts({ name, accounts }: IdlInstruction, call: InstructionCall): Facts {
  return Object.fromEntries(
    accounts.flatMap((account, index) => {
      const key = call.accounts[index]
      if (key === undefined && !account.optional)
        refuse(`\`${name}\` is called without the account \`${account.name}\``)
      return key === undefined || (account.optional && key === call.program) ? [] : [[account.name, key] as const]
    }),
  )
}
