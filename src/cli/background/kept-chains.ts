/**
 * The chains of an embedded service are kept with its data folder: brought up again from another terminal, without the variables
 * that named them, it would leave open sends unwatched. The file is its owner's alone, since a node's URL may hold a key.
 */
import { join } from 'node:path'
import { QuorateError } from '../../diagnostics/index.ts'
import { ensurePrivateFolder, readPrivate, writePrivate } from '../../local/index.ts'
import type { FeeSettings, NodeSettings } from '../../sending/index.ts'
import type { ChainsSettings } from '../../service/index.ts'
import { CHAIN_VARIABLES, readChains, readConfirmations, readFeeCaps, readFeeMultiples, readNodes } from '../chains.ts'
import type { CommandInput } from '../command.ts'

type Environment = CommandInput['environment']

/**
 * Reads the chains that an embedded service serves: those of the environment, which are kept, and otherwise those that were kept.
 * Where `QUORATE_CHAINS` is set, also to nothing, what was kept is forgotten; where it is not, what else the variables say of
 * chains counts before what was kept. Throws `cli/usage`.
 */
export function keepChains(dataDir: string, environment: Environment): ChainsSettings {
  const said = chainsOf(environment)
  if (Object.keys(said).length === 0) return readKeptChains(dataDir, environment)
  const meant = withKept(dataDir, said)
  const chains = readChains({}, meant)
  ensurePrivateFolder(dataDir)
  writePrivate(fileOf(dataDir), `${JSON.stringify(meant, undefined, 2)}\n`)
  return chains
}

/** The same for a command that only looks: it keeps nothing. */
export function readKeptChains(dataDir: string, environment: Environment): ChainsSettings {
  return readChains({}, withKept(dataDir, chainsOf(environment)))
}

/** What a send is to know of fees: also for chains of which no node is known here. Throws `cli/usage`. */
export function readFeeSettings({
  settings: { dataDir },
  environment,
}: Pick<CommandInput, 'settings' | 'environment'>): FeeSettings {
  const said = withKept(dataDir, chainsOf(environment))
  const nodes = Object.entries(readNodes(said)).map(([caip2, urls]) => [caip2, urls[0]!])
  return { nodes: Object.fromEntries(nodes), caps: readFeeCaps(said), multiples: readFeeMultiples(said) }
}

/** The user's own nodes, and how many blocks make a send final; nothing is kept by it. Throws `cli/usage`. */
export function readNodeSettings({
  settings: { dataDir },
  environment,
  options,
}: Pick<CommandInput, 'settings' | 'environment' | 'options'>): NodeSettings {
  const said = withKept(dataDir, chainsOf(environment))
  return { nodes: readNodes(said), confirmations: readConfirmations(options, said) }
}

function withKept(dataDir: string, said: Environment): Environment {
  return said['QUORATE_CHAINS'] === undefined ? { ...readKept(dataDir), ...said } : said
}

function chainsOf(environment: Environment): Environment {
  return Object.fromEntries(
    CHAIN_VARIABLES.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
  )
}

function readKept(dataDir: string): Environment {
  const text = readPrivate(fileOf(dataDir))
  if (text === undefined) return {}
  try {
    return chainsOf(JSON.parse(text) as Environment)
  } catch (cause) {
    throw new QuorateError('cli/usage', `\`${fileOf(dataDir)}\` does not hold the chains of the data folder`, {
      cause,
      next: 'name the chains in QUORATE_CHAINS, which writes it anew',
    })
  }
}

function fileOf(dataDir: string): string {
  return join(dataDir, 'chains.json')
}
