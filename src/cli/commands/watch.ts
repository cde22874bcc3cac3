import type { WatchSource } from '../../../activities/index.ts'
import { parseDuration, readMode, WATCH_DEFAULTS, type WatchSettings } from '../../definitions/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import {
  type ApplyPlace,
  addWatch,
  addWatchFrom,
  checkGitSource,
  createCommitReader,
  findWatch,
  listWatches,
  type Place,
  pauseWatch,
  planFolder,
  planSource,
  removeWatch,
  resumeWatch,
  runWatch,
  untilLooked,
} from '../../operations/index.ts'
import { KINDS, kinds } from '../../resources/index.ts'
import { findPlace } from '../background/connect.ts'
import { withApplies } from '../background/temporal.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { findPlaceOf } from '../place-of.ts'
import { planRequest, showingPlan } from '../planning.ts'
import { line } from '../screen.ts'
import { renderWatch, watchJson } from '../views/watch.ts'
import { readText } from './show.ts'

/** Plans definitions, keeps them, and has the organization looked at from now on. */
export async function add(input: CommandInput): Promise<ExitCode> {
  const given = readSettings(input)
  const source = readSource(input)
  const folder = input.args[0] ?? '.'
  const place = await (source ? findPlace(input, { acts: true }) : findPlaceOf(input, folder, { acts: true }))
  if (source) return addFrom(input, { source, given, place })
  const request = planRequest(input, { folder, place })
  const planned = await showingPlan(input, (tell) => planFolder(request, tell))
  if (!planned) return EXIT.error
  const written = planned.watch ?? WATCH_DEFAULTS
  const settings = { ...written, ...given, modes: { ...written.modes, ...given.modes } }
  return withApplies(input, place, async (applies) => {
    await addWatch(applies, { request, planned, settings })
    return show(input, applies)
  })
}

/** The same with definitions that come from elsewhere, now and later. */
async function addFrom(
  input: CommandInput,
  { source, given, place }: { readonly source: WatchSource; readonly given: GivenSettings; readonly place: Place },
): Promise<ExitCode> {
  const { folder: _, ...request } = planRequest(input, { folder: '.', place })
  const readCommit = createCommitReader(input.settings.dataDir, input.environment)
  const planned = await showingPlan(input, (tell) => planSource(request, source, { readCommit, tell }))
  if (!planned) return EXIT.error
  const { everyMs, sweepMs } = { ...WATCH_DEFAULTS, ...planned.planned.watch, ...given }
  const settings = { everyMs, sweepMs, modes: given.modes }
  return withApplies(input, place, async (applies) => {
    await addWatchFrom(applies, { baseUrl: place.baseUrl, source, planned, settings })
    return show(input, applies)
  })
}

/** Where definitions come from; undefined for a folder here. Throws `cli/usage`. */
function readSource({ args, options }: CommandInput): WatchSource | undefined {
  const { from, git, branch, allowedSigners } = options as Readonly<Record<string, string | undefined>>
  const keys = ((options['signer'] as string[] | undefined) ?? []).map((text) => text.toLowerCase())
  if (from !== undefined && git !== undefined) throw usage('expected --from push or --git, got both')
  if (from !== undefined) {
    if (from !== 'push') throw usage(line`expected --from to be \`push\`, got \`${from}\``)
    if (args[0] !== undefined) throw usage('expected no folder with --from push: what was pushed is what counts')
    if (keys.length === 0) throw usage('expected --signer with the public key whose pushes count')
    const wrong = keys.find((key) => !/^0[23][0-9a-f]{64}$/.test(key))
    if (wrong !== undefined)
      throw usage('expected --signer to be a compressed P-256 public key in hex, as `quorate push` says it')
    return { kind: 'push', keys: [...new Set(keys)].sort() }
  }
  if (keys.length > 0) throw usage('expected --from push with --signer')
  if (git === undefined) {
    if (branch !== undefined || allowedSigners !== undefined)
      throw usage('expected --git with --branch and --allowed-signers')
    return undefined
  }
  if (branch === undefined || allowedSigners === undefined)
    throw usage('expected --branch and --allowed-signers with --git: what is not pinned and signed is not taken')
  const path = (args[0] ?? '.').replace(/^\.\/(?=.)/, '').replace(/\/+$/, '') || '.'
  const source = { kind: 'git', url: git, branch, path, signers: readText(allowedSigners) } as const
  checkGitSource(source)
  return source
}

/** Says how every organization that is watched from this data folder stands. */
export async function list(input: CommandInput): Promise<ExitCode> {
  const place = await findPlace(input)
  return withApplies(
    input,
    place,
    async (applies) => {
      const all = await listWatches(applies)
      if (input.json) writeJson(input.io, { watches: all.map(watchJson) })
      else if (all.length === 0) input.io.out('Nothing is watched from here.\n')
      else input.io.out(all.map((one) => renderWatch(one, input.io.style, Date.now())).join('\n'))
      return EXIT.done
    },
    { isLook: true },
  )
}

export const pause = (input: CommandInput): Promise<ExitCode> =>
  change(input, (applies) => {
    const { because } = input.options
    return pauseWatch(applies, typeof because === 'string' ? because : '')
  })
export const resume = (input: CommandInput): Promise<ExitCode> => change(input, resumeWatch)
export const run = (input: CommandInput): Promise<ExitCode> =>
  change(input, async (applies) => {
    const sinceMs = Date.now()
    await runWatch(applies)
    if (!(await untilLooked(applies, sinceMs)))
      input.io.say('This look has not ended yet: what is shown is older. `quorate watch list` shows what it finds.\n')
  })

export async function remove(input: CommandInput): Promise<ExitCode> {
  const place = await findPlace(input, { acts: true })
  return withApplies(input, place, async (applies) => {
    await removeWatch(applies)
    if (input.json) writeJson(input.io, { organizationId: applies.organizationId, watch: null })
    else input.io.out('It is watched no longer. What was begun goes on: `quorate status` says how it stands.\n')
    return EXIT.done
  })
}

async function change(input: CommandInput, work: (applies: ApplyPlace) => Promise<void>): Promise<ExitCode> {
  const place = await findPlace(input, { acts: true })
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

type GivenSettings = Partial<WatchSettings> & Pick<WatchSettings, 'modes'>

/** What the options say over what the definitions say. Throws `cli/usage`. */
function readSettings({ options }: CommandInput): GivenSettings {
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
