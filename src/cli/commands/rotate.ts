import { resolve } from 'node:path'
import { isRotationOver, type RotationOrder, type RotationProgress } from '../../../activities/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import {
  beginRotation,
  followRotation,
  isRenewed,
  openRotations,
  orderedWhere,
  orderRotation,
  type Place,
  reader,
  rotationThatMade,
} from '../../operations/index.ts'
import { isWaiting } from '../../protocol/index.ts'
import { findPlace } from '../background/connect.ts'
import { bootstrapPath } from '../background/index.ts'
import { withApplies } from '../background/temporal.ts'
import { asksAgain, type CommandInput } from '../command.ts'
import { parseDuration } from '../durations.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { looking } from '../looking.ts'
import { assertRenewable, readAway, readSink, renew, rewrittenJson, textOf, usage } from '../rotation/index.ts'
import { line } from '../screen.ts'
import { exitOfRotation, renderRotation, renderRotationOrder } from '../views/rotation.ts'
import { createPatience } from '../waiting.ts'

/** Replaces an API key: registers a new one, verifies it, hands it over, and deletes the old one after an overlap. */
export async function rotateKey(input: CommandInput): Promise<ExitCode> {
  const { options } = input
  if (options['all'] === true) return (await import('./rotate-all.ts')).rotateAll(input)
  for (const name of ['olderThan', 'except'])
    if (options[name] !== undefined)
      throw usage(`--${name === 'except' ? name : 'older-than'} is for many keys`, 'give --all')
  const sink = readSink(options)
  const place = await findPlace(input, { acts: true })
  const request = {
    user: required(options, 'user'),
    key: required(options, 'name'),
    drop: textOf(options, 'drop'),
    overlapMs: parseDuration(textOf(options, 'overlap') ?? '24h', '--overlap'),
    ...readAway(options),
    sink,
    askAgain: asksAgain(input),
    replaced: (await openRotations(input.settings.dataDir, place.organizationId)).map(({ old }) => old.id),
  }
  const client = reader(place)
  const order = await orderRotation(client, request, await orderedWhere(client, place.now()))
  assertOwnKey(input, place, order)
  if (await finishRenewing(input, order)) return EXIT.done
  await assertRenewable(input, place, [order])
  if (!input.json) input.io.say(renderRotationOrder(order, input.io.style))
  await assertConfirmed(input, { question: 'Rotate it?', otherwise: 'nothing was submitted' })
  return begin(input, place, order)
}

function begin(input: CommandInput, place: Place, order: RotationOrder): Promise<ExitCode> {
  const { io, json, options } = input
  const detached = options['detach'] === true
  return withApplies(input, place, async (applies, answers) => {
    const isOwn = order.key.publicKey === place.key.publicKey
    const { handle, joined, continued } = await beginRotation(
      applies,
      order,
      isOwn && 'privateKey' in place.key ? place.key.privateKey : undefined,
    )
    if (joined && !json) io.say('It is being rotated already; this follows it.\n')
    if (continued && !json)
      io.say('It was ended at Temporal; this continues it as it was ordered, with the same new key.\n')
    const client = reader(place)
    const isResting = async ({ state, waiting, deletesAt }: RotationProgress) => {
      patience.look(() => (waiting ? `waiting for approval (${state})` : state), hasNews)
      hasNews = false
      // The timer is Temporal's; nobody has to watch it.
      if (state === 'overlap' && options['wait'] !== true && Date.parse(deletesAt!) > place.now()) return true
      if (detached) return waiting !== undefined
      if (io.terminal || waiting === undefined) return false
      // It may have been decided since the workflow looked.
      const { activity } = await client.query('get_activity', { activityId: waiting.activityId })
      if (isWaiting(activity.status)) return true
      await handle.signal('nudge').catch(() => {})
      return false
    }
    let unsaid = ''
    const enough = async (progress: RotationProgress) => {
      const isEnough = await isResting(progress)
      // Where it rests is the result, which is written next.
      if (!isEnough && unsaid !== '') io.say(unsaid)
      unsaid = ''
      return isEnough
    }
    const otherwise = '`quorate status` shows how it stands.'
    const patience = createPatience({ io, options: {} }, { what: 'the rotation', next: otherwise })
    patience.asking(answers)
    let hasNews = false
    const show = (progress: RotationProgress) => {
      const isKnown = progress.old.id !== ''
      hasNews = true
      if (!json && isKnown && !isRotationOver(progress)) unsaid = renderRotation(progress, io.style, place.now())
    }
    const progress = await looking(io, { what: 'the rotation', otherwise, patience }, () =>
      followRotation(handle, show, enough),
    )
    const renewed = isRenewed(progress) ? await renew(input, [progress]) : undefined
    if (json) writeJson(io, { ...progress, ...rewrittenJson(renewed) })
    else if (renewed) io.say(renderRotation(progress, io.style, place.now()))
    else io.out(renderRotation(progress, io.style, place.now()))
    if (!json && options['definitions'] !== undefined && !isRenewed(progress) && !isRotationOver(progress))
      io.say('The definitions name the old key still: give the same command again when the new one is handed over.\n')
    return detached && !isRotationOver(progress) ? EXIT.done : exitOfRotation(progress)
  })
}

/** Whether the definitions still name the key before the one to rotate: that rotation is finished in them, and none is begun. */
async function finishRenewing(input: CommandInput, { key }: RotationOrder): Promise<boolean> {
  const { io, json, settings } = input
  const before = await rotationThatMade(settings.dataDir, key.id)
  if (!before || !isRenewed(before)) return false
  const renewed = await renew(input, [before], { isQuiet: true })
  if (renewed === undefined || renewed.files.length === 0) return false
  if (json) writeJson(io, { ...before, ...rewrittenJson(renewed) })
  else io.say(line`Nothing was rotated: the definitions name the key that \`${key.name}\` has replaced already.\n`)
  return true
}

/** Whoever acts with the key after this rotation, the worker of tomorrow among them, must find the new one where the old one was. */
function assertOwnKey({ settings }: CommandInput, place: Place, { key, sink }: RotationOrder): void {
  if (key.publicKey !== place.key.publicKey) return
  const from = settings.key?.kind === 'file' ? resolve(settings.key.path) : undefined
  if (from !== undefined && sink.kind === 'file' && sink.path === from) return
  const isEmbedded = place.embedded && settings.key === undefined
  throw new QuorateError('rotate/own-key', `\`${key.name}\` is the key that this command works with`, {
    exit: EXIT.refused,
    facts: {
      'it is read from': isEmbedded ? bootstrapPath(settings.dataDir) : (from ?? 'no file'),
      submitted: 'nothing',
    },
    next: isEmbedded
      ? 'the root key of an embedded service is not rotated; one that is to be rotated is kept in a file (QUORATE_API_KEY_FILE), for a service that `quorate serve` runs'
      : from === undefined
        ? 'keep it in a file (QUORATE_API_KEY_FILE), and give --to-file with its path'
        : `give --to-file ${from}, or work with another key`,
  })
}

function required(options: CommandInput['options'], name: string): string {
  const text = textOf(options, name)
  if (text !== undefined && text !== '') return text
  throw usage(`--${name} is missing`, 'see `quorate help rotate key`')
}
