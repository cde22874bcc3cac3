/** Which definitions count for a watch now: those that were taken last from its source, or what it offers since. */
import type { ApplyCode } from './codes.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { ApplyError } from './error.ts'
import type { OfferedDefinitions, TakenDefinitions, Watch, WatchSource } from './watch-model.ts'

/** A watch as a person began it, with what its source has for it. */
export interface Sourced {
  readonly own: Watch
  /** The definitions that count; absent where the watch has no source. */
  readonly taken?: TakenDefinitions
  readonly refused?: Trouble
  readonly away?: Trouble
}

interface Trouble {
  readonly code: string
  readonly why: string
}

/** What is offered and not believed; anything else that goes wrong is a source that does not answer. */
const REFUSALS: ReadonlySet<string> = new Set<ApplyCode>(['apply/push-refused', 'apply/commit-refused'])

/** Asks the source of a watch, and takes what it offers if that is verified. */
export async function askSource(
  deps: Pick<ActivityDependencies, 'planStore' | 'clock' | 'readCommit'>,
  own: Watch,
): Promise<Sourced> {
  const { source, organizationId } = own
  if (source === undefined) return { own }
  const { watches } = deps.planStore
  const before = await watches.takenOf(organizationId)
  try {
    const found = await offerOf(deps, own, { source, before })
    if (!found && before) return { own, taken: before }
    const { definitions: offered, ...rest } = found!
    const definitions = await watches.putDefinitions(offered)
    const { settings } = before ?? {}
    const taken: TakenDefinitions = { ...rest, definitions, ...(settings ? { settings } : {}) }
    await watches.putTaken(organizationId, taken)
    return { own, taken }
  } catch (error) {
    if (!(error instanceof ApplyError)) throw error
    const trouble = { code: error.code, why: error.message }
    const kept = { own, ...(before ? { taken: before } : {}) }
    return REFUSALS.has(error.code) ? { ...kept, refused: trouble } : { ...kept, away: trouble }
  }
}

/** The watch with the definitions that count, and with what they say of it under what the person said. */
export function watchOf({ own, taken }: Pick<Sourced, 'own' | 'taken'>): Watch {
  if (!taken) return own
  const { definitions, given, settings } = taken
  const { modes = {}, ...told } = settings ?? {}
  return { ...own, ...told, definitions, given, modes: { ...modes, ...own.modes } }
}

function offerOf(
  { planStore, clock, readCommit }: Pick<ActivityDependencies, 'planStore' | 'clock' | 'readCommit'>,
  { organizationId, given }: Watch,
  { source, before }: { readonly source: WatchSource; readonly before: TakenDefinitions | undefined },
): Promise<OfferedDefinitions | undefined> {
  if (source.kind === 'push')
    return planStore.pushes.newest(organizationId, { keys: source.keys, nowMs: clock(), since: before?.at })
  if (!readCommit) throw new ApplyError('apply/source-away', 'this worker reads no Git repositories')
  return readCommit(source, { given, after: before?.commit })
}
