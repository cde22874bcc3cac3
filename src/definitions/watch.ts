import type { Diagnostic } from '../diagnostics/index.ts'
import { KINDS, type KindName, kinds } from '../resources/index.ts'
import { type NoticeSink, readNotify } from './notify.ts'
import { onlyEntry } from './organization.ts'
import { MODES } from './schema.ts'
import { childOf, type Tree, textOf } from './tree.ts'

/** What `watch:` says; what has the wrong shape is the schema's to report. */
export interface WatchSettings {
  readonly everyMs: number
  readonly sweepMs: number
  readonly modes: Readonly<Partial<Record<KindName, (typeof MODES)[number]>>>
  /** Who is told of what; absent for nobody. */
  readonly notify?: readonly NoticeSink[]
}

export const WATCH_DEFAULTS: WatchSettings = { everyMs: 60_000, sweepMs: 3_600_000, modes: {} }

/** Reads `watch:`, which may stand in one of the files. */
export function readWatch(files: readonly Tree[]): {
  readonly settings: WatchSettings | undefined
  readonly diagnostics: readonly Diagnostic[]
} {
  const diagnostics: Diagnostic[] = []
  const entry = onlyEntry('watch', files, diagnostics)
  if (entry?.value.kind !== 'map') return { settings: undefined, diagnostics }
  const written = childOf(entry.value, 'kinds')
  const modes = KINDS.flatMap((kind): [KindName, (typeof MODES)[number]][] => {
    const mode = readMode(textOf(childOf(written, kinds[kind].form.key)) ?? '')
    return mode === undefined ? [] : [[kind, mode]]
  })
  const timeOf = (key: string) => parseDuration(textOf(childOf(entry.value, key)) ?? '')
  const notify = readNotify(childOf(entry.value, 'notify'), diagnostics)
  return {
    settings: {
      everyMs: timeOf('every') ?? WATCH_DEFAULTS.everyMs,
      sweepMs: timeOf('sweep') ?? WATCH_DEFAULTS.sweepMs,
      modes: Object.fromEntries(modes),
      ...(notify.length > 0 ? { notify } : {}),
    },
    diagnostics,
  }
}

export function readMode(text: string): (typeof MODES)[number] | undefined {
  return MODES.find((mode) => mode === text)
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads `30s`, `5m`, `1h` or `2d` as milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit] = /^([1-9][0-9]{0,5})([smhd])$/.exec(text) ?? []
  return number === undefined ? undefined : Number(number) * UNITS[unit!]!
}
