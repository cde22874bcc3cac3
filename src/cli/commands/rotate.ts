import { join, resolve } from 'node:path'
import {
  isRotationOver,
  type RotationOrder,
  type RotationProgress,
  type RotationSink,
  SECRET_STORES,
} from '../../../activities/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import {
  beginRotation,
  followRotation,
  isRenewed,
  openRotations,
  orderRotation,
  type Place,
  type RenewedFile,
  reader,
  renewDefinitions,
  rotationThatMade,
} from '../../operations/index.ts'
import { isWaiting } from '../../protocol/index.ts'
import { findPlace } from '../background/connect.ts'
import { withApplies } from '../background/temporal.ts'
import { asksAgain, type CommandInput } from '../command.ts'
import { differenceOf } from '../difference.ts'
import { parseDuration } from '../durations.ts'
import { assertNoKeys, writeText } from '../files.ts'
import { givenValues } from '../given.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { looking } from '../looking.ts'
import { line } from '../screen.ts'
import { exitOfRotation, renderRotation, renderRotationOrder } from '../views/rotation.ts'
import { createPatience } from '../waiting.ts'

/** Replaces an API key: registers a new one, verifies it, hands it over, and deletes the old one after an overlap. */
export async function rotateKey(input: CommandInput): Promise<ExitCode> {
  const { options } = input
  const sink = readSink(options)
  const place = await findPlace(input)
  const request = {
    user: required(options, 'user'),
    key: required(options, 'name'),
    drop: textOf(options, 'drop'),
    overlapMs: parseDuration(textOf(options, 'overlap') ?? '24h', '--overlap'),
    sink,
    askAgain: asksAgain(input),
    replaced: (await openRotations(input.settings.dataDir, place.organizationId)).map(({ old }) => old.id),
  }
  const { organizationName } = await reader(place).query('whoami', {})
  const order = await orderRotation(reader(place), request, { now: place.now(), organizationName })
  assertOwnKey(input, place, order)
  if (await finishRenewing(input, order)) return EXIT.done
  if (!input.json) input.io.say(renderRotationOrder(order, input.io.style))
  await assertConfirmed(input, { question: 'Rotate it?', otherwise: 'nothing was submitted' })
  return begin(input, place, order)
}

function begin(input: CommandInput, place: Place, order: RotationOrder): Promise<ExitCode> {
  const { io, json, options } = input
  const detached = options['detach'] === true
  return withApplies(input, place, async (applies) => {
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
    const enough = async ({ state, waiting, deletesAt }: RotationProgress) => {
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
    const otherwise = '`quorate status` shows how it stands.'
    const patience = createPatience({ io, options: {} }, { what: 'the rotation', next: otherwise })
    let hasNews = false
    const show = (progress: RotationProgress) => {
      const isKnown = progress.old.id !== ''
      hasNews = true
      if (!json && isKnown && !isRotationOver(progress)) io.say(renderRotation(progress, io.style, place.now()))
    }
    const progress = await looking(io, { what: 'the rotation', otherwise }, () => followRotation(handle, show, enough))
    const renewed = isRenewed(progress) ? await renew(input, progress) : undefined
    if (json) writeJson(io, { ...progress, ...(renewed ? { definitions: renewed.map(({ path }) => path) } : {}) })
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
  const files = await renew(input, before, { isQuiet: true })
  if (files === undefined || files.length === 0) return false
  if (json) writeJson(io, { ...before, definitions: files.map(({ path }) => path) })
  else io.say(line`Nothing was rotated: the definitions name the key that \`${key.name}\` has replaced already.\n`)
  return true
}

/** The new key in the definitions: in their files with `--write`, otherwise as a patch. */
async function renew(
  input: CommandInput,
  rotated: RotationProgress,
  { isQuiet = false } = {},
): Promise<readonly RenewedFile[] | undefined> {
  const { io, json, options, settings } = input
  const folder = textOf(options, 'definitions')
  if (folder === undefined) return undefined
  // A key that rotated itself vouches for the lock as the new one.
  const place = await findPlace(input)
  const given = givenValues(input, place.embedded)
  const writes = options['write'] === true ? { write: writeText } : {}
  const common = { folder: join(folder), place, given, dataDir: settings.dataDir, rotated, check: assertNoKeys }
  const files = await renewDefinitions({ ...common, ...writes })
  if (!json && !options['write'])
    for (const { path, before, after } of files) io.out(differenceOf({ path, text: before }, after, io.style))
  if (!json && !isQuiet && files.length === 0) {
    const said = line`No file of ${folder} names the old key: where it comes from a variable, give that the new one.\n`
    io.say(said)
  }
  return files
}

/** Whoever acts with the key after this rotation, the worker of tomorrow among them, must find the new one where the old one was. */
function assertOwnKey({ settings }: CommandInput, place: Place, { key, sink }: RotationOrder): void {
  if (key.publicKey !== place.key.publicKey) return
  const from = settings.key?.kind === 'file' ? resolve(settings.key.path) : undefined
  if (from !== undefined && sink.kind === 'file' && sink.path === from) return
  throw new QuorateError('rotate/own-key', `\`${key.name}\` is the key that this command works with`, {
    exit: EXIT.refused,
    facts: { 'it is read from': from ?? 'no file', submitted: 'nothing' },
    next:
      from === undefined
        ? 'keep it in a file (QUORATE_API_KEY_FILE), and give --to-file with its path'
        : `give --to-file ${from}, or work with another key`,
  })
}

function readSink(options: CommandInput['options']): RotationSink {
  const [file, env, command, store] = ['toFile', 'toEnv', 'toCommand', 'toStore'].map((name) => textOf(options, name))
  if ([file, env, command, store].filter((one) => one !== undefined).length !== 1) {
    throw usage(
      'where the new key goes is not said, or more than once',
      'give one of --to-file, --to-env, --to-store and --to-command',
    )
  }
  if (file !== undefined) return { kind: 'file', path: resolve(file) }
  if (command !== undefined) return { kind: 'command', command }
  if (store !== undefined) return readStore(store)
  const [, path, variable] = /^(.+):([A-Za-z_][A-Za-z0-9_]*)$/.exec(env!) ?? []
  if (path === undefined) throw usage('--to-env names no variable', 'give it as --to-env .env:QUORATE_API_KEY')
  return { kind: 'env-file', path: resolve(path), variable: variable! }
}

/** How each store names a secret. */
const SECRET_PATHS: Record<(typeof SECRET_STORES)[number], { readonly path: RegExp; readonly example: string }> = {
  vault: { path: /^[\w.-]+(?:\/[\w.@-]+)+$/, example: 'vault:secret/ci#key' },
  'aws-secrets-manager': { path: /^[\w/+=.@:-]+$/, example: 'aws-secrets-manager:prod/ci' },
  kubernetes: { path: /^[a-z0-9-]+\/[a-z0-9.-]+$/, example: 'kubernetes:default/ci#key' },
}

function readStore(text: string): RotationSink {
  const [, name, path = '', field] = /^([a-z-]+):([^#]+)(?:#([\w.-]+))?$/.exec(text) ?? []
  const store = SECRET_STORES.find((one) => one === name)
  const isDots = path.split('/').some((part) => part === '.' || part === '..')
  if (store && SECRET_PATHS[store].path.test(path) && !isDots)
    return { kind: 'store', store, path, ...(field === undefined ? {} : { field }) }
  const examples = SECRET_STORES.map((one) => SECRET_PATHS[one].example)
  throw usage('--to-store names no secret of a store', `give it as ${examples.join(', or ')}`)
}

function required(options: CommandInput['options'], name: string): string {
  const text = textOf(options, name)
  if (text !== undefined && text !== '') return text
  throw usage(`--${name} is missing`, 'see `quorate help rotate key`')
}

function textOf(options: CommandInput['options'], name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

function usage(message: string, next: string): QuorateError {
  return new QuorateError('cli/usage', message, { facts: { submitted: 'nothing' }, next: line`${next}` })
}
