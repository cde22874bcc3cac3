import { setTimeout as delay } from 'node:timers/promises'
import { QuorateError } from '../../diagnostics/index.ts'
import { type ApplyPlace, type Place, taskQueueOf } from '../../operations/index.ts'
import {
  atTemporal,
  connectTemporal,
  loadPayloadSeal,
  type TemporalConnections,
  type TemporalSettings,
} from '../../worker/index.ts'
import type { CommandInput } from '../command.ts'
import { line } from '../screen.ts'
import type { Carrier, TemporalAnswers } from '../waiting.ts'
import { backgroundStart } from './connect.ts'
import { findBackground } from './control.ts'
import { embeddedTemporalTls } from './embedded-temporal.ts'
import { LOOK_MS } from './look-time.ts'
import type { BackgroundStatus } from './model.ts'
import { ensureBackground } from './start.ts'

/** The Temporal server that the environment names, by address or by a profile of the Temporal CLI; undefined: none. */
export function namedTemporal(environment: CommandInput['environment']): TemporalSettings | undefined {
  return environment['TEMPORAL_ADDRESS'] || environment['TEMPORAL_PROFILE'] ? { environment } : undefined
}

/** What goes on with what a command has begun: the background process that it brings up, or a worker at the named Temporal server. */
export function carrierOf({ environment }: Pick<CommandInput, 'environment'>): Carrier {
  return namedTemporal(environment) ? 'worker' : 'background'
}

/** The Temporal server of a command: the named one, or the embedded one, which is brought up with a worker of its own. */
export async function findTemporalServer(
  { settings, environment, io }: Pick<CommandInput, 'settings' | 'environment' | 'io'>,
  place: Place,
): Promise<TemporalConnections> {
  const named = namedTemporal(environment)
  const seal = await loadPayloadSeal(settings.dataDir, settings.payloadKey)
  if (named) return connectTemporal(named, seal)
  const status = await ensureBackground(await backgroundStart(settings, place), {
    publicKey: place.key.publicKey,
    announce: (text) => io.say(line`${text}\n`),
  })
  return connectTemporal(temporalOf(status, settings), seal)
}

/** The Temporal server of a command where one runs: nothing is brought up for it. */
export async function findRunningTemporal({
  settings,
  environment,
}: Pick<CommandInput, 'settings' | 'environment'>): Promise<TemporalConnections | undefined> {
  const named = namedTemporal(environment)
  const running = named ? undefined : await findBackground(settings.dataDir)
  const at = named ?? (running && temporalOf(running, settings))
  return at && connectTemporal({ ...at, callMs: LOOK_MS }, await loadPayloadSeal(settings.dataDir, settings.payloadKey))
}

/** The same for a command that cannot do without one. Throws `cli/background-down`. */
async function findTemporalToAsk({
  settings,
  environment,
  io,
}: Pick<CommandInput, 'settings' | 'environment' | 'io'>): Promise<TemporalConnections> {
  const named = namedTemporal(environment)
  const announce = (text: string) => io.say(line`${text}\n`)
  const at =
    named ?? temporalOf(await ensureBackground({ dataDir: settings.dataDir }, { announce, isLook: true }), settings)
  return connectTemporal(at, await loadPayloadSeal(settings.dataDir, settings.payloadKey))
}

/** The Temporal server that a background process works at. */
export function temporalOf(
  { temporalAddress: address, embeddedTemporal, namespace }: BackgroundStatus,
  { dataDir }: Pick<CommandInput['settings'], 'dataDir'>,
): TemporalSettings {
  return {
    address,
    namespace,
    ...(embeddedTemporal ? { tls: embeddedTemporalTls(dataDir) } : {}),
  }
}

/**
 * Works with the applies of an organization at its Temporal server. A command that only looks (`isLook`) takes the server that runs,
 * whatever key its worker has, and starts none: it throws `cli/background-down`. Where Temporal is away it throws
 * `worker/temporal-unreachable`: one look (`follows` is more) within ten seconds, all else after `AWAY_MS`.
 */
export async function withApplies<T>(
  input: Pick<CommandInput, 'settings' | 'environment' | 'io' | 'deadline'>,
  place: Place,
  work: (applies: ApplyPlace, answers: TemporalAnswers) => Promise<T>,
  { isLook = false, follows = false }: { readonly isLook?: boolean; readonly follows?: boolean } = {},
): Promise<T> {
  const temporal = isLook ? await findTemporalToAsk(input) : await findTemporalServer(input, place)
  if (!isLook) input.deadline.handOver()
  try {
    const { organizationId } = place
    const { dataDir } = input.settings
    const applies = { client: temporal.client, organizationId, taskQueue: taskQueueOf(organizationId), dataDir }
    const worked = () => atTemporal(temporal, () => work(applies, temporal.answers))
    return await whileThere(temporal, worked, isLook && !follows ? LOOK_MS : AWAY_MS)
  } finally {
    await temporal.close()
  }
}

/** How long Temporal may leave a command that acts or follows without any answer, which is told of long before. */
const AWAY_MS = 20_000
/** A worker may be busy for longer, while the server answers: of that it is asked now and then. */
const QUIET_MS = 4_000
const PROBE_MS = 3_000
const PAUSE_MS = 1_000

/** Works for as long as the server answers now and then: a call that it takes and never answers would be waited for much longer. */
async function whileThere<T>(
  { address, namespace, answers }: Pick<TemporalConnections, 'address' | 'namespace' | 'answers'>,
  work: () => Promise<T>,
  awayMs: number,
): Promise<T> {
  const away = Promise.withResolvers<never>()
  let isOver = false
  const watch = async () => {
    let answeredAt = performance.now()
    const isAway = () => performance.now() - answeredAt >= awayMs
    const within = (ms: number) => Math.max(1, Math.min(ms, answeredAt + awayMs - performance.now()))
    for (await pause(QUIET_MS); !isOver; await pause(within(PAUSE_MS))) {
      if (await answers(within(PROBE_MS))) answeredAt = performance.now()
      else if (isAway()) break
    }
    if (isOver) return
    away.reject(
      new QuorateError('worker/temporal-unreachable', `the Temporal server at \`${address}\` answers no more`, {
        facts: { address, namespace, begun: 'what was begun is kept, and goes on when the server answers' },
        next: 'look whether it hangs (`quorate doctor`), and run the same command again: it finds what was begun',
      }),
    )
  }
  void watch()
  const worked = work()
  // Its calls end once the connection is closed, and nobody waits for them then.
  worked.catch(() => {})
  try {
    return await Promise.race([worked, away.promise])
  } finally {
    isOver = true
  }
}

const pause = (ms: number) => delay(ms, undefined, { ref: false })
