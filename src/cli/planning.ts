import type { QueryClient } from '../client/index.ts'
import {
  type Place,
  type PlanEvent,
  type Planned,
  type PlanRequest,
  planFolder,
  reader,
  saveLock,
} from '../operations/index.ts'
import { parseAllow } from '../plan/index.ts'
import { asksAgain, type CommandInput } from './command.ts'
import { assertNoKeys } from './files.ts'
import { givenValues } from './given.ts'
import { showDiagnostics } from './views/diagnostics.ts'
import { showReading } from './views/reading.ts'

/** What is planned, as the command line says. */
export function planRequest(input: CommandInput, { folder, place, client = reader(place) }: PlanTarget): PlanRequest {
  const { settings, options } = input
  const { dataDir, requestsPerSecond } = settings
  const allow = [...(options['allowDelete'] ? ['delete'] : []), ...((options['allow'] as string[] | undefined) ?? [])]
  // One that is none is told before anything is read.
  parseAllow(allow)
  return {
    folder,
    place,
    client,
    given: givenValues(input, place.embedded),
    dataDir,
    requestsPerSecond,
    allow,
    askAgain: asksAgain(input),
    ...(options['target'] === undefined ? {} : { targets: options['target'] as string[] }),
    ...(typeof options['as'] === 'string' ? { as: options['as'] } : {}),
  }
}

interface PlanTarget {
  readonly folder: string
  readonly place: Place
  /** @default one that reads */
  readonly client?: QueryClient
}

/** Plans a folder and shows what is wrong, and how far reading has come. */
export function planAndShow(input: CommandInput, target: PlanTarget): Promise<Planned | undefined> {
  return showingPlan(input, (tell) => planFolder(planRequest(input, target), tell))
}

/** Shows what is told while a plan is made. */
export async function showingPlan<T>(
  input: CommandInput,
  work: (tell: (event: PlanEvent) => void) => Promise<T>,
): Promise<T> {
  let queries = 0
  const stop = showReading(input.io, () => queries)
  try {
    return await work((event) => {
      if (event.kind === 'diagnostics') showDiagnostics(input, event.diagnostics)
      else queries = event.queries
    })
  } finally {
    stop()
  }
}

/** Writes the lock; nothing in it may be a key. */
export function saveKeylessLock(planned: Planned, place: Place): Promise<void> {
  return saveLock(planned, { place, check: assertNoKeys })
}
