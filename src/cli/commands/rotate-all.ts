import { isRotationOver, type RotationOrder, type RotationProgress } from '../../../activities/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import {
  type ApplyPlace,
  beginRotation,
  followRotation,
  openRotations,
  orderedWhere,
  orderRotations,
  type Place,
  type ReportedRotation,
  reader,
  rotationsSince,
} from '../../operations/index.ts'
import { isWaiting } from '../../protocol/index.ts'
import { findPlace } from '../background/connect.ts'
import { withApplies } from '../background/temporal.ts'
import { asksAgain, type CommandInput } from '../command.ts'
import { parseDuration } from '../durations.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { looking } from '../looking.ts'
import { assertRenewable, readAway, renew, rewrittenJson, sinksOfMany, textOf, usage } from '../rotation/index.ts'
import { line } from '../screen.ts'
import { exitOfRotation } from '../views/rotation.ts'
import { type NotBegun, renderOrders, renderRotationsReport } from '../views/rotation-of-many.ts'
import { createPatience, type TemporalAnswers } from '../waiting.ts'

/**
 * Replaces every API key that is old enough, one after the other: the next is begun when the new key of the one before is handed over, or
 * when it waits for people. Where one fails, no other is begun. Each is a workflow of its own, so ending this command pauses it:
 * the same command goes on with what is still due.
 */
export async function rotateAll(input: CommandInput): Promise<ExitCode> {
  const { io, json, options, settings } = input
  for (const name of ['user', 'name', 'drop', 'detach'])
    if (options[name] !== undefined) throw usage(`--${name} is for one key`, 'leave it or --all out')
  const age = textOf(options, 'olderThan')
  if (age === undefined) throw usage('--older-than is missing', 'say how old a key must be, such as --older-than 90d')
  const olderThanMs = parseDuration(age, '--older-than')
  const place = await findPlace(input, { acts: true })
  const now = place.now()
  const open = await openRotations(settings.dataDir, place.organizationId)
  const request = {
    olderThanMs,
    except: (options['except'] as readonly string[] | undefined) ?? [],
    overlapMs: parseDuration(textOf(options, 'overlap') ?? '24h', '--overlap'),
    ...readAway(options),
    sinkOf: sinksOfMany(options),
    askAgain: asksAgain(input),
    own: place.key.publicKey.toLowerCase(),
    replaced: open.map(({ old }) => old.id),
  }
  const { orders, left } = await orderRotations(reader(place), request, await orderedWhere(reader(place), now))
  await assertRenewable(input, place, orders)
  if (!json) io.say(renderOrders({ orders, left }, io.style))
  if (orders.length > 0) await assertConfirmed(input, { question: 'Rotate them?', otherwise: 'nothing was submitted' })
  const { reached, notBegun } =
    orders.length > 0
      ? await withApplies(input, place, (applies, answers) =>
          // Also between two of them, where nothing is followed.
          looking(io, { what: 'what was begun', otherwise: OTHERWISE }, () =>
            rotateEach(input, { place, applies, answers, orders }),
          ),
        )
      : { reached: new Map<string, RotationProgress>(), notBegun: [] }
  const kept = await rotationsSince(settings.dataDir, place.organizationId, now - olderThanMs)
  // What this command has seen is newer than what the workflow has kept.
  const rotations = kept.map((one): ReportedRotation => ({ ...one, ...reached.get(one.rotationId) }))
  const rewritten = await renew(input, rotations, { isQuiet: true })
  const report = { rotations, left, notBegun }
  if (json) writeJson(io, { ...report, ...rewrittenJson(rewritten) })
  else io.out(renderRotationsReport(report, io.style, place.now()))
  return exitOf([...reached.values()], notBegun)
}

/** What Ctrl-C is answered with. */
const OTHERWISE = 'No other key is begun; the same command goes on with the rest.'

interface Each {
  readonly place: Place
  readonly applies: ApplyPlace
  readonly answers: TemporalAnswers
  readonly orders: readonly RotationOrder[]
}

interface Reached {
  /** How far each came, by the id of its rotation. */
  readonly reached: ReadonlyMap<string, RotationProgress>
  readonly notBegun: readonly NotBegun[]
}

async function rotateEach(input: CommandInput, { orders, ...where }: Each): Promise<Reached> {
  const { io, json } = input
  const reached = new Map<string, RotationProgress>()
  const notBegun: NotBegun[] = []
  /** Users of whom a key is in its overlap, or waits: one is rotated at a time. */
  const busy = new Set<string>()
  let failed: RotationProgress | undefined
  for (const [index, order] of orders.entries()) {
    const { user, key } = order
    const skip = (why: NotBegun['why']) => notBegun.push({ user: user.name, key: key.name, keyId: key.id, why })
    if (failed) skip('another one failed')
    else if (busy.has(user.id)) skip('one at a time')
    else {
      const progress = await rotateOne(input, { ...where, order })
      if (progress === undefined) skip('one at a time')
      else {
        reached.set(progress.rotationId, progress)
        if (!json) io.say(line`${index + 1} of ${orders.length}: ${key.name} of ${user.name}: ${stateOf(progress)}\n`)
        if (!isRotationOver(progress)) busy.add(user.id)
        else if (progress.state !== 'done') failed = progress
      }
    }
  }
  return { reached, notBegun }
}

/** Until it is handed over, waits for people, or is over. Undefined: another key of the user is being rotated. */
async function rotateOne(
  { io, options }: CommandInput,
  { place, applies, answers, order }: Omit<Each, 'orders'> & { readonly order: RotationOrder },
): Promise<RotationProgress | undefined> {
  const begun = await beginRotation(applies, order).catch((error: unknown) => {
    if (error instanceof QuorateError && error.code === 'rotate/other-runs') return undefined
    throw error
  })
  if (!begun) return undefined
  const { handle } = begun
  const next = 'Those that were begun go on; the same command goes on with the rest.'
  const patience = createPatience({ io, options: {} }, { what: 'the rotation', next })
  patience.asking(answers)
  let shown = ''
  const enough = async ({ state, waiting, deletesAt }: RotationProgress) => {
    patience.look(() => (waiting ? `waiting for approval (${state})` : state), shown !== state)
    shown = state
    if (state === 'overlap' && options['wait'] !== true && Date.parse(deletesAt!) > place.now()) return true
    if (waiting === undefined) return false
    // It may have been decided since the workflow looked.
    const { activity } = await reader(place).query('get_activity', { activityId: waiting.activityId })
    if (isWaiting(activity.status)) return true
    await handle.signal('nudge').catch(() => {})
    return false
  }
  return patience.during(() => followRotation(handle, () => {}, enough))
}

function stateOf({ state, waiting, deletesAt, error }: RotationProgress): string {
  if (waiting) return `waits for approval (${state})`
  if (state === 'overlap') return `handed over; the old key is deleted at ${deletesAt}`
  return error === undefined ? state : `${state}: ${error.message}`
}

function exitOf(reached: readonly RotationProgress[], notBegun: readonly NotBegun[]): ExitCode {
  const exits = reached.map(exitOfRotation)
  const worst = [EXIT.partial, EXIT.error, EXIT.waiting].find((exit) => exits.includes(exit))
  return worst ?? (notBegun.length > 0 ? EXIT.partial : EXIT.done)
}
