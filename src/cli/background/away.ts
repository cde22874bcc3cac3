/** Which part of what carries on open sends is away: looked at for a command that starts nothing and waits for none of them long. */
import { chainName } from '../../chain/index.ts'
import { messageOf, QuorateError } from '../../diagnostics/index.ts'
import { taskQueueOf, workerSeenAt } from '../../operations/index.ts'
import { type NodeSettings, nodeName, readNodeStanding } from '../../sending/index.ts'
import type { CommandInput } from '../command.ts'
import type { SeenApi } from './connect.ts'
import { lookAtBackground, silentBackground } from './control.ts'
import { backgroundEnd, nothingRuns } from './down.ts'
import { LOOK_MS } from './look-time.ts'
import { nodeFault } from './node-fault.ts'
import { findRunningTemporal, namedTemporal } from './temporal.ts'

/** A part that is away. */
export interface Away {
  readonly part: 'background' | 'Temporal' | 'worker' | 'API' | 'node'
  /** Which node, where it is one. */
  readonly node?: string
  readonly found: string
  /** ISO 8601, where it is known. */
  readonly since?: string
  readonly next: string
}

/** A worker asks for work at least this often. Temporal lists a worker that was killed for some minutes. */
export const WORKER_ASKS_MS = 90_000
const GOES_ON = 'what is open goes on then, and nothing is sent twice'

type Looked = Pick<CommandInput, 'settings' | 'environment'>

/**
 * The parts that are away.
 * @param silent the background process, where it was just asked in vain
 */
export async function findAway(
  input: Looked,
  organizationId: string,
  silent?: SeenApi['silent'],
): Promise<readonly Away[]> {
  const { baseUrl } = input.settings
  // The embedded service is one process with what answers for it.
  const api = baseUrl === undefined ? undefined : askApi(baseUrl)
  const parts = await Promise.all([findAwayHere(input, organizationId, silent), api])
  return parts.filter((one) => one !== undefined)
}

/** The nodes of the user's own that do not answer for these chains: what is on its way there may wait for them. */
export async function findNodesAway(
  nodes: NodeSettings['nodes'],
  chains: ReadonlySet<string>,
): Promise<readonly Away[]> {
  const asked = [...chains].flatMap((caip2) => (nodes[caip2] ?? []).map((url) => ({ caip2, url })))
  const found = await Promise.all(
    asked.map(async ({ caip2, url }): Promise<Away | undefined> => {
      const fault = nodeFault({ caip2, url }, await readNodeStanding(url, caip2))
      return fault && { part: 'node', node: `${nodeName(url)} of ${chainName(caip2)}`, ...fault }
    }),
  )
  return found.filter((one) => one !== undefined)
}

/** The background process, or the Temporal server and the worker that work in its place. */
async function findAwayHere(
  input: Looked,
  organizationId: string,
  silent: SeenApi['silent'],
): Promise<Away | undefined> {
  const until = Date.now() + LOOK_MS
  const { dataDir, baseUrl } = input.settings
  const named = namedTemporal(input.environment)
  // With both named nothing of this data folder is worked with.
  if (baseUrl === undefined || !named) {
    const answer = silent ?? (await lookAtBackground(dataDir))
    if (answer?.state !== 'up') return backgroundAway(dataDir, answer)
  }
  return askTemporal(input, { organizationId, isNamed: named !== undefined, until })
}

function backgroundAway(
  dataDir: string,
  answer: Exclude<Awaited<ReturnType<typeof lookAtBackground>>, { state: 'up' }>,
): Away {
  const part = 'background'
  if (answer?.state === 'silent') {
    const { message, next = '' } = silentBackground(dataDir, answer.pid)
    return { part, found: `${message} (pid ${answer.pid})`, next }
  }
  if (answer !== undefined)
    return { part, found: `process ${answer.pid} is ${answer.state}`, next: 'look again in some seconds' }
  const end = backgroundEnd(dataDir)
  const lastWord = end?.lastWordAt === undefined ? '' : `; its log was last written to at ${end.lastWordAt}`
  return {
    part,
    found: `${nothingRuns(dataDir, end)}${lastWord}`,
    ...(end?.at === undefined ? {} : { since: end.at }),
    next: `bring it up with \`quorate up\`: ${GOES_ON}`,
  }
}

async function askTemporal(
  input: Looked,
  {
    organizationId,
    isNamed,
    until,
  }: { readonly organizationId: string; readonly isNamed: boolean; readonly until: number },
): Promise<Away | undefined> {
  const taskQueue = taskQueueOf(organizationId)
  try {
    const temporal = await findRunningTemporal(input)
    if (temporal === undefined) return undefined
    try {
      const { client } = temporal
      const seenAt = await client.withDeadline(until, () => workerSeenAt(client, taskQueue))
      // The embedded server and its worker are one process.
      if (!isNamed || (seenAt !== undefined && Date.now() - seenAt <= WORKER_ASKS_MS)) return undefined
      const since = seenAt === undefined ? undefined : new Date(seenAt).toISOString()
      return {
        part: 'worker',
        found: `no worker polls the task queue \`${taskQueue}\`${since === undefined ? '' : `; the last one did at ${since}`}`,
        ...(since === undefined ? {} : { since }),
        next: `start one with \`quorate worker\`: ${GOES_ON}`,
      }
    } finally {
      await temporal.close()
    }
  } catch (error) {
    const found = error instanceof QuorateError ? error.message : `Temporal gives no answer: ${messageOf(error)}`
    const again = isNamed ? 'see that it runs' : 'end what hangs with `quorate down`, and bring it up with `quorate up`'
    return { part: 'Temporal', found, next: `${again}: ${GOES_ON}` }
  }
}

/** What a proxy answers in the place of an API that is away. */
const IN_ITS_PLACE: readonly number[] = [502, 503, 504]

/** One that refuses the question is there. */
async function askApi(baseUrl: string): Promise<Away | undefined> {
  const why = await whyAway(baseUrl)
  if (why === undefined) return undefined
  const next = 'see that it runs: open sends ask it again by themselves'
  return { part: 'API', found: `the API at \`${new URL(baseUrl).origin}\` ${why}`, next }
}

async function whyAway(baseUrl: string): Promise<string | undefined> {
  try {
    const asked = { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(LOOK_MS) } as const
    const { status } = await fetch(baseUrl, asked)
    return IN_ITS_PLACE.includes(status) ? `answers with ${status}` : undefined
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError')
      return `takes connections and gives no answer within ${LOOK_MS / 1000} s`
    const cause = error instanceof Error && error.cause
    return `cannot be reached: ${cause instanceof Error && 'code' in cause ? cause.code : messageOf(error)}`
  }
}
