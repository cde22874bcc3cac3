import { readFileSync } from 'node:fs'
import { relative, sep } from 'node:path'
import { proposalsOf, usageOf } from '../../../analysis/index.ts'
import { EXIT, type ExitCode } from '../../../diagnostics/index.ts'
import { readActual } from '../../../live/index.ts'
import { type Place, reader, textsFor } from '../../../operations/index.ts'
import { findPlace } from '../../background/connect.ts'
import type { CommandInput } from '../../command.ts'
import { differenceOf } from '../../difference.ts'
import { givenValues } from '../../given.ts'
import { writeJson } from '../../io.ts'
import { planAndShow } from '../../planning.ts'
import { line } from '../../screen.ts'
import { renderUsage } from '../../views/backtest.ts'
import { showingComputing } from '../../views/reading.ts'
import { readRecordings } from './recordings.ts'

/** Says for each live policy when an activity last hung on it. Submits nothing. */
export async function usage(input: CommandInput): Promise<ExitCode> {
  const { io, json, options } = input
  const place = await findPlace(input)
  const { propose: folder } = options
  if (typeof folder === 'string') return propose(input, { place, folder })
  const actual = await readActual(reader(place), { everything: true })
  const { recordings, recording } = await readRecordings(input, place)
  const report = { ...recording, ...showingComputing(io, () => usageOf(recordings, actual.resources)) }
  if (json) writeJson(io, report)
  else io.out(renderUsage(report, io.style))
  return recording.isCut || report.unknown > 0 ? EXIT.partial : EXIT.done
}

/** Prints a patch of definitions that takes power away and decides every activity on record as it was. Writes nothing. */
async function propose(
  input: CommandInput,
  { place, folder }: { readonly place: Place; readonly folder: string },
): Promise<ExitCode> {
  const { io, json } = input
  const planned = await planAndShow(input, { folder, place })
  if (!planned) return EXIT.error
  const { recordings, recording } = await readRecordings(input, place)
  const { proposals, things } = showingComputing(io, () => proposalsOf(recordings, planned.actual.resources))
  const given = givenValues(input, place.embedded)
  const texts = await textsFor(things, { planned, folder, given })
  const files = [...texts].map(([path, after]) => ({ path: shownPath(path), text: readFileSync(path, 'utf8'), after }))
  const patch = files.map(({ after, ...source }) => differenceOf(source, after, json ? PLAIN : io.style)).join('')
  if (json) writeJson(io, { ...recording, proposals, patch })
  else io.out(patch)
  io.say(
    line`${proposals.length} policies could let through less and decide these ${recording.activities} activities as they were decided\n`,
  )
  return recording.isCut ? EXIT.partial : EXIT.done
}

/** A path as a patch of the current folder has it. */
function shownPath(path: string): string {
  return relative(process.cwd(), path).replaceAll(sep, '/')
}

const PLAIN = { added: (text: string) => text, removed: (text: string) => text }
