import { createSource, QuorateError } from '../../../diagnostics/index.ts'
import type { PolicyContext } from '../../../policy/index.ts'
import {
  readRequestFile,
  readTransaction,
  type World,
  worldOfActual,
  worldOfDefinitions,
} from '../../../scenarios/index.ts'
import type { CommandInput } from '../../command.ts'
import { loadPolicies } from '../../policies.ts'
import { showDiagnostics } from '../../views/diagnostics.ts'
import { readText } from './cases.ts'

/** A request, and the world in which it is to be decided. */
export interface AskedRequest {
  readonly world: World
  readonly context: PolicyContext
}

/** Reads the request of `--request` for definitions, or with `--live` for the organization; undefined when it has mistakes, which are shown. */
export async function readAsked(input: CommandInput): Promise<AskedRequest | undefined> {
  const { request } = input.options
  if (typeof request !== 'string') {
    throw new QuorateError('cli/usage', 'expected --request FILE with what is asked for', {
      next: 'write a file with `by:` and `activity:`, like a scenario without `expect:`',
    })
  }
  const source = createSource(request, readText(request))
  const world = await findWorld(input)
  if (world === undefined) return undefined
  const { context, diagnostics } = readRequestFile(source, { world, readTransaction })
  showDiagnostics(input, diagnostics)
  return context && { world, context }
}

async function findWorld(input: CommandInput): Promise<World | undefined> {
  if (input.options['live'] !== true) {
    const loaded = await loadPolicies(input, input.args[0] ?? '.')
    return loaded && worldOfDefinitions(loaded)
  }
  // Loaded only here: nothing else of this command knows a network.
  const [{ findPlace }, { reader }, { readActual }] = await Promise.all([
    import('../../background/connect.ts'),
    import('../../../operations/index.ts'),
    import('../../../live/index.ts'),
  ])
  const place = await findPlace(input)
  return worldOfActual(await readActual(reader(place)), place.now())
}
