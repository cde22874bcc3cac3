import { dirname, isAbsolute, join, relative } from 'node:path'
import { checkInterface, type SmartContractInterface } from '../chain/index.ts'
import { NotReadable, readInside } from '../definitions/index.ts'
import { type Diagnostic, diagnostic, type Span } from '../diagnostics/index.ts'
import { childOf, entriesOf, itemsOf, type ScenarioTree, toPlain, wordOf } from './tree.ts'

/** The words for chains that interfaces are of, as definitions write them, and as the service does. */
export const INTERFACE_TYPES = {
  ethereum: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
  solana: 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA',
} as const satisfies Readonly<Record<string, SmartContractInterface['type']>>

export function isInterfaceType(word: string | undefined): word is keyof typeof INTERFACE_TYPES {
  return word !== undefined && Object.hasOwn(INTERFACE_TYPES, word)
}

const interfaceKeys = ['address', 'type', 'interface', 'file'] as const

/** Reads the interfaces that a scenario names: ABIs and IDLs, written in place or in files beside its own. */
export function readInterfaces(
  tree: ScenarioTree | undefined,
  report: (fault: Diagnostic) => void,
): readonly SmartContractInterface[] {
  if (tree === undefined) return []
  if (tree.kind !== 'list') {
    report(diagnostic('scenarios/wrong-type', 'expected `interfaces` to be a list', tree.span))
    return []
  }
  return itemsOf(tree).flatMap((item) => {
    try {
      return [readInterface(item)]
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      report(error.diagnostic)
      return []
    }
  })
}

/** Ends the reading of one interface. */
class Fault extends Error {
  readonly diagnostic: Diagnostic

  constructor(code: `scenarios/${string}`, message: string, span: Span, help?: string) {
    super(message)
    this.diagnostic = diagnostic(code, message, span, { help })
  }
}

function readInterface(item: ScenarioTree): SmartContractInterface {
  for (const { key, keySpan } of entriesOf(item))
    if (!interfaceKeys.some((known) => known === key))
      throw new Fault(
        'scenarios/unknown-key',
        `unknown key \`${key}\` in an interface`,
        keySpan,
        `known here: ${interfaceKeys.join(', ')}`,
      )
  const address = wordOf(childOf(item, 'address'))
  const word = wordOf(childOf(item, 'type'))
  if (address === undefined) throw new Fault('scenarios/missing-key', '`address` of the contract is missing', item.span)
  if (!isInterfaceType(word)) {
    const got = word === undefined ? 'nothing' : `\`${word}\``
    const at = childOf(item, 'type')?.span ?? item.span
    throw new Fault('scenarios/wrong-value', `expected \`type\` to be \`ethereum\` or \`solana\`, got ${got}`, at)
  }
  const { json, span } = readJson(item)
  const type = INTERFACE_TYPES[word]
  const wrong = checkInterface({ type, json })
  if (wrong !== undefined) throw new Fault('scenarios/bad-interface', wrong, span)
  return { address, type, json }
}

function readJson(item: ScenarioTree): { readonly json: string; readonly span: Span } {
  const [written, file] = [childOf(item, 'interface'), childOf(item, 'file')]
  if ((written === undefined) === (file === undefined))
    throw new Fault('scenarios/missing-key', 'expected either `interface` or `file`', item.span)
  if (written !== undefined) {
    const exact = (_: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)
    return { json: wordOf(written) ?? JSON.stringify(toPlain(written), exact), span: written.span }
  }
  const { span } = file!
  const name = wordOf(file) ?? ''
  const folder = dirname(span.source.path)
  const path = join(folder, name)
  // As definitions do: what a repository holds is all that its files may have read.
  if (isAbsolute(name) || relative(folder, path).startsWith('..'))
    throw new Fault('scenarios/wrong-value', `expected a file beside this one or below, got \`${name}\``, span)
  try {
    return { json: new TextDecoder().decode(readInside(folder, path)), span }
  } catch (error) {
    const why = error instanceof NotReadable ? error.message : (error as NodeJS.ErrnoException).code
    throw new Fault('scenarios/bad-interface', `\`${name}\` cannot be read: ${why}`, span)
  }
}
