/** `quorate who-can --diff A..B`: what changes in who can do what, from one state of an organization to another. */
import { existsSync, statSync } from 'node:fs'
import { accessBetween, POWER_WORDS, type PowerName, thingsAfter } from '../../analysis/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { readActual } from '../../live/index.ts'
import { reader } from '../../operations/index.ts'
import type { Actual } from '../../resources/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { planAndShow } from '../planning.ts'
import { showingComputing } from '../views/reading.ts'
import { renderWhoCanDiff, type WhoCanDiffView } from '../views/who-can-diff.ts'
import { formerThings, parseTime, readTime } from './former.ts'
import { digestOf, readHolder } from './who-can-asked.ts'

const NOW = 'now'
/** What is asked of one state alone. */
const OF_ONE = ['at', 'asCode', 'why', 'indirect', 'user', 'csv', 'markdown'] as const

/** Shows the differences; undefined where definitions have errors, which are shown. */
export async function showDifference(input: CommandInput, powers: readonly PowerName[] | undefined): Promise<ExitCode> {
  const { io, json, options } = input
  const other = OF_ONE.find((name) => options[name] !== undefined && options[name] !== false)
  if (other !== undefined)
    throw new QuorateError('cli/usage', `expected \`--diff\` without \`--${other === 'asCode' ? 'as-code' : other}\``, {
      next: 'ask for the difference alone',
    })
  const names = splitSides(String(options['diff']))
  const place = await findPlace(input)
  const client = reader(place)
  const actual = await readActual(client, { everything: true })
  const sides: Side[] = []
  for (const name of names) {
    const side = await readSide(input, name, { place, client, actual })
    if (!side) return EXIT.error
    sides.push(side)
  }
  const [before, after] = sides as [Side, Side]
  const holder = readHolder(
    { ...actual, resources: [...new Map([...before.things, ...after.things].map((one) => [one.id, one])).values()] },
    options,
  )
  const words = powers?.map((power): string => POWER_WORDS[power])
  const all = showingComputing(io, () => accessBetween(before.things, after.things, { nowMs: after.atMs }))
  const changes = all.filter(
    ({ power, wallet }) => (words?.includes(power) ?? true) && (holder === undefined || wallet === holder),
  )
  const told = ({ name, atMs, things, unknown, beganMs }: Side) => ({
    name,
    at: new Date(atMs).toISOString(),
    stateDigest: digestOf({ ...actual, resources: things }),
    unknown,
    ...(beganMs === undefined ? {} : { beganAt: new Date(beganMs).toISOString() }),
  })
  const report: WhoCanDiffView = {
    organization: { id: actual.organizationId, name: actual.organizationName },
    before: told(before),
    after: told(after),
    unread: (actual.unread ?? []).filter((kind) => kind !== 'subOrganization'),
    ...(words === undefined ? {} : { compared: words }),
    changes,
  }
  if (json) writeJson(io, report)
  else io.out(renderWhoCanDiff(report, io.style))
  const isUnknown =
    report.unread.length > 0 ||
    sides.some(({ unknown }) => unknown.length > 0) ||
    changes.some((one) => one.before.unknown !== undefined || one.after.unknown !== undefined)
  return isUnknown ? EXIT.partial : EXIT.done
}

/** One of the two states. */
interface Side {
  readonly name: string
  readonly atMs: number
  readonly things: Actual['resources']
  readonly unknown: readonly string[]
  /** When the organization began, where it was not there yet. */
  readonly beganMs?: number
}

/** `A..B`, wherever both are something: a folder may have dots of its own. */
function splitSides(text: string): readonly [string, string] {
  const splits = [...text.matchAll(/(?=\.\.)/g)].map(
    ({ index }) => [text.slice(0, index), text.slice(index + 2)] as const,
  )
  const isSide = (name: string) =>
    name === NOW || parseTime(name) !== undefined || (existsSync(name) && statSync(name).isDirectory())
  const found = splits.find((both) => both.every(isSide))
  if (found) return found
  throw new QuorateError(
    'cli/usage',
    `expected \`--diff\` to be A..B, each a time, \`now\` or a folder of definitions, got \`${text}\``,
    {
      next: 'write, for example, `--diff 2026-06-30..now` or `--diff now..definitions/acme`',
    },
  )
}

async function readSide(
  input: CommandInput,
  name: string,
  {
    place,
    client,
    actual,
  }: {
    readonly place: Awaited<ReturnType<typeof findPlace>>
    readonly client: ReturnType<typeof reader>
    readonly actual: Actual
  },
): Promise<Side | undefined> {
  const nowMs = place.now()
  if (name === NOW) return side({ name, atMs: nowMs, things: actual.resources, unknown: [] })
  if (parseTime(name) !== undefined) {
    const atMs = readTime(name, { option: '--diff', nowMs })
    return side({ name, atMs, ...(await formerThings({ client, actual }, atMs)) })
  }
  const planned = await planAndShow(input, { folder: name, place, client })
  if (!planned) return undefined
  // What planning did not read is as it lives.
  const unread = new Set(planned.actual.unread)
  const others = actual.resources.filter(({ kind }) => unread.has(kind))
  return side({ name, atMs: nowMs, things: [...thingsAfter(planned.plan, planned), ...others], unknown: [] })
}

/** Without credentials that had expired by then. */
function side(given: Side): Side {
  return {
    ...given,
    things: given.things.filter(({ known }) => (known?.expiresAt ?? Number.POSITIVE_INFINITY) > given.atMs),
  }
}
