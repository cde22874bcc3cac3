import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** One contract: the bytes that create it, hex with `0x`. */
export interface Compiled {
  readonly creation: string
}

/** Compiles the contracts of a file beside this one. Throws what the compiler has to say. */
export function compile<Name extends string>(file: string, names: readonly Name[]): Record<Name, Compiled> {
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string }
  const content = readFileSync(new URL(file, import.meta.url), 'utf8')
  const output = JSON.parse(
    solc.compile(
      JSON.stringify({
        language: 'Solidity',
        sources: { [file]: { content } },
        settings: { outputSelection: { '*': { '*': ['evm.bytecode.object'] } } },
      }),
    ),
  ) as {
    readonly errors?: readonly { readonly formattedMessage: string }[]
    readonly contracts?: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>
  }
  if (output.errors?.length) throw new Error(output.errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
  const contracts = output.contracts![file]!
  return Object.fromEntries(
    names.map((name) => [name, { creation: `0x${contracts[name]!.evm.bytecode.object}` }]),
  ) as Record<Name, Compiled>
}
