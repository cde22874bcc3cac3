import { parseDuration, readMode, WATCH_DEFAULTS, type WatchSettings } from '../../definitions/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import {
  type ApplyPlace,
  addWatch,
  findWatch,
  listWatches,
  pauseWatch,
  planFolder,
  removeWatch,
  resumeWatch,
  runWatch,
} from '../../operations/index.ts'
import { KINDS, kinds } from '../../resources/index.ts'
import { findPlace } from '../background/connect.ts'
import { withApplies } from '../background/temporal.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { planRequest, showingPlan } from '../planning.ts'
import { line } from '../screen.ts'
import { renderWatch, watchJson } from '../views/watch.ts'

/** Plans a folder, keeps its definitions, and has the organization looked at from now on. */
export async function add(input: CommandInput): Promise<ExitCode> {
  const given = readSettings(input)
  const place = await findPlace(input)
  const request = planRequest(input, { folder: input.args[0] ?? '.', place })
  const planned = await showingPlan(input, (tell) => planFolder(request, tell))
  if (!planned) return EXIT.error
  const written = planned.watch ?? WATCH_DEFAULTS
  const settings = { ...written, ...given, modes: { ...written.modes, ...given.modes } }
  return withApplies(input, place, async (applies) => {
    await addWatch(applies, { request, planned, settings })
    return show(input, applies)
  })
}

/** Says how every organization that is watched from this data folder stands. */
export async function list(input: CommandInput): Promise<ExitCode> {
  const place = await findPlace(input)
  return withApplies(input, place, async (applies) => {
    const all = await listWatches(applies)
    if (input.json) writeJson(input.io, { watches: all.map(watchJson) })
    else if (all.length === 0) input.io.out('Nothing is watched from here.\n')
    else input.io.out(all.map((one) => renderWatch(one, input.io.style, Date.now())).join('\n'))
    return EXIT.done
  })
}

export const pause = (input: CommandInput): Promise<ExitCode> =>
  change(input, (applies) => {
    const { because } = input.options
    return pauseWatch(applies, typeof because === 'string' ? because : '')
  })
export const resume = (input: CommandInput): Promise<ExitCode> => change(input, resumeWatch)
export const run = (input: CommandInput): Promise<ExitCode> => change(input, runWatch)

export async function remove(input: CommandInput): Promise<ExitCode> {
  const place = await findPlace(input)
  return withApplies(input, place, async (applies) => {
    await removeWatch(applies)
    if (input.json) writeJson(input.io, { organizationId: applies.organizationId, watch: null })
    else input.io.out('It is watched no longer. What was begun goes on: `quorate status` says how it stands.\n')
    return EXIT.done
  })
}

async function change(input: CommandInput, work: (applies: ApplyPlace) => Promise<void>): Promise<ExitCode> {
  const place = await findPlace(input)
  return withApplies(input, place, async (applies) => {
    await work(applies)
    return show(input, applies)
  })
}

async function show({ io, json }: CommandInput, applies: ApplyPlace): Promise<ExitCode> {
  const watched = await findWatch(applies)
  if (json) writeJson(io, watchJson(watched))
  else io.out(renderWatch(watched, io.style, Date.now()))
  return EXIT.done
}

/** What the options say over what the definitions say. Throws `cli/usage`. */
function readSettings({ options }: CommandInput): Partial<WatchSettings> & Pick<WatchSettings, 'modes'> {
  const timeOf = (name: 'every' | 'sweep'): number | undefined => {
    const text = options[name]
    if (typeof text !== 'string') return undefined
    const ms = parseDuration(text)
    if (ms === undefined)
      throw usage(`expected --${name} to be a time such as \`30s\`, \`5m\` or \`1h\`, got \`${text}\``)
    return ms
  }
  const [everyMs, sweepMs] = [timeOf('every'), timeOf('sweep')]
  return {
    ...(everyMs === undefined ? {} : { everyMs }),
    ...(sweepMs === undefined ? {} : { sweepMs }),
    modes: Object.fromEntries(((options['kind'] as string[] | undefined) ?? []).map(readKind)),
  }
}

function readKind(text: string): [string, WatchSettings['modes'][keyof WatchSettings['modes']]] {
  const [key = '', word = ''] = text.split('=')
  const kind = KINDS.find((one) => kinds[one].form.key === key)
  const mode = readMode(word)
  if (kind && mode) return [kind, mode]
  throw usage(
    line`expected --kind to be such as \`policies=repair\` (ignore, report, propose, repair), got \`${text}\``,
  )
}

function usage(message: string): QuorateError {
  return new QuorateError('cli/usage', message, { next: 'see `quorate watch add --help`' })
}
