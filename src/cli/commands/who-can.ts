import {
  declaredThings,
  type IndirectPath,
  indirectPowersOf,
  lineWith,
  POWERS,
  type PowerName,
  type PowerRow,
  powerCalled,
  powersOf,
  waysOf,
} from '../../analysis/index.ts'
import { usersByName } from '../../authority/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { readActual } from '../../live/index.ts'
import { reader, readReasons, userCalled } from '../../operations/index.ts'
import { type Actual, formatAddress, organizationOf, type Resource } from '../../resources/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { loadPolicies } from '../policies.ts'
import { showingComputing } from '../views/reading.ts'
import { renderWhoCan, type WhoCanView } from '../views/who-can.ts'
import { renderWhoCanCsv, renderWhoCanMarkdown } from '../views/who-can-table.ts'
import { formerThings, readTime } from './former.ts'
import { digestOf, readHolder } from './who-can-asked.ts'
import { showDifference } from './who-can-diff.ts'

/** Says who has which power in the live organization. Submits nothing: its client has no way to. */
export async function whoCan(input: CommandInput): Promise<ExitCode> {
  const { args } = input
  const powers = args.length === 0 ? undefined : args.map(readPower)
  const [form, other] = ['json', 'csv', 'markdown'].filter((name) =>
    name === 'json' ? input.json : input.options[name],
  )
  if (form !== undefined && other !== undefined) throw notBoth(`--${form}`, `--${other}`)
  if (input.options['diff'] !== undefined) return showDifference(input, powers)
  const subject = await readSubject(input)
  if (!subject) return EXIT.error
  const { actual, nowMs, client, unknown, beganMs } = subject
  if (beganMs !== undefined) {
    show(input, { ...headOf(subject), unread: [], beganAt: new Date(beganMs).toISOString(), rows: [] }, actual)
    return EXIT.done
  }
  const holder = readHolder(actual, input.options)
  const asked = { nowMs, ...(powers === undefined ? {} : { powers }) }
  const ofHolder = <Row extends { readonly over: readonly string[] }>(some: readonly Row[]): readonly Row[] =>
    holder === undefined ? some : some.flatMap((row) => (row.over.includes(holder) ? [{ ...row, over: [holder] }] : []))
  const user = readUser(actual, input.options['user'] as string | undefined)
  const { direct, indirect } = showingComputing(input.io, () => ({
    direct: powersOf(actual, asked),
    indirect: input.options['indirect'] === true ? indirectPowersOf(actual, asked) : undefined,
  }))
  const rows = ofHolder(direct).flatMap((row) => withWays(row, user))
  const ofUser = (paths: readonly IndirectPath[]) =>
    paths.filter(({ people }) => user === undefined || people.includes(user))
  const indirectRows = indirect
    ? ofHolder(indirect.rows).flatMap((row) => {
        const paths = ofUser(row.paths)
        return paths.length === 0 ? [] : [{ ...row, paths }]
      })
    : []
  const named = new Set([
    ...rows.flatMap(({ lines }) => lines.flatMap(({ policies }) => policies)),
    ...indirectRows.flatMap(({ paths }) => paths.flatMap(({ steps }) => steps.flatMap(({ policies }) => policies))),
  ])
  const report: WhoCanView = {
    ...headOf(subject),
    // What is inside has powers of its own.
    unread: (actual.unread ?? []).filter((kind) => kind !== 'subOrganization'),
    ...(unknown.length > 0 ? { unknown } : {}),
    ...(user === undefined ? {} : { user }),
    rows,
    ...(indirect
      ? {
          indirect: {
            rows: indirectRows,
            roots: ofUser(indirect.roots),
            limits: indirect.limits,
          },
        }
      : {}),
    ...(client && input.options['why'] === true ? { why: await readReasons(client, actual, named) } : {}),
  }
  show(input, report, actual)
  const isUnknown =
    report.unread.length > 0 ||
    unknown.length > 0 ||
    (indirect?.limits.length ?? 0) > 0 ||
    rows.some(({ lines }) => lines.some(({ ways }) => ways === 'unknown'))
  return isUnknown ? EXIT.partial : EXIT.done
}

function headOf({ actual, nowMs }: Subject): Pick<WhoCanView, 'organization' | 'at' | 'stateDigest'> {
  const organization = { id: actual.organizationId, name: actual.organizationName }
  return { organization, at: new Date(nowMs).toISOString(), stateDigest: digestOf(actual) }
}

function show({ io, json, options }: CommandInput, report: WhoCanView, { resources }: Pick<Actual, 'resources'>): void {
  if (json) writeJson(io, report)
  else if (options['csv'] === true) io.out(renderWhoCanCsv(report, policyIdsOf(resources)))
  else if (options['markdown'] === true) io.out(renderWhoCanMarkdown(report))
  else io.out(renderWhoCan(report, io.style))
}

/** By the names that answers have. */
function policyIdsOf(resources: readonly Resource[]): ReadonlyMap<string, string> {
  return new Map(resources.flatMap(({ kind, name, id }) => (kind === 'policy' && id !== undefined ? [[name, id]] : [])))
}

/** An organization that is asked about, and when. */
interface Subject {
  readonly actual: Actual
  readonly nowMs: number
  /** Absent where nothing was asked of the API. */
  readonly client?: ReturnType<typeof reader>
  /** What is not known of it, in words. */
  readonly unknown: readonly string[]
  /** When it began, where that was later than what is asked about. */
  readonly beganMs?: number
}

/** What lives, what lived at a time, or what definitions alone say; undefined where these have errors, which are shown. */
async function readSubject(input: CommandInput): Promise<Subject | undefined> {
  const { at, asCode, why } = input.options
  if (at !== undefined && asCode !== undefined) throw notBoth('--at', '--as-code')
  if (why === true && (at !== undefined || asCode !== undefined))
    throw notBoth('--why', at === undefined ? '--as-code' : '--at')
  if (typeof asCode === 'string') return readDefinitions(input, asCode)
  const place = await findPlace(input)
  const client = reader(place)
  const actual = await readActual(client, { everything: true })
  if (at === undefined) return { actual, nowMs: place.now(), client, unknown: [] }
  const nowMs = readTime(String(at), { option: '--at', nowMs: place.now() })
  const { things, ...told } = await formerThings({ client, actual }, nowMs)
  return { actual: { ...actual, resources: things }, nowMs, client, ...told }
}

/** The definitions of a folder as an organization that has nothing else. Whose credentials they leave open has one. */
async function readDefinitions(input: CommandInput, folder: string): Promise<Subject | undefined> {
  const { desired } = (await loadPolicies(input, folder)) ?? {}
  if (!desired) return undefined
  const declared = declaredThings(desired)
  const able = new Set(
    organizationOf(declared).users.flatMap(({ id, credentials }) => (credentials.length > 0 ? [id] : [])),
  )
  const open = declared.filter(({ kind, id }) => kind === 'user' && !able.has(id!))
  const keys = open.map(({ id, name, address }): Resource => {
    const key = formatAddress('apiKey', name, 'not defined')
    const fields = { curve: 'P256', publicKey: id! }
    return {
      address: key,
      kind: 'apiKey',
      name: 'not defined',
      parent: address,
      parentId: id!,
      id: `${id} key`,
      fields,
    }
  })
  const { organizationId, organization: organizationName } = desired
  const actor = { userId: '', userName: '', publicKey: '' }
  const actual = { organizationId, organizationName, resources: [...declared, ...keys], actor }
  return { actual, nowMs: Date.now(), unknown: [] }
}

function notBoth(one: string, other: string): QuorateError {
  return new QuorateError('cli/usage', `expected \`${one}\` or \`${other}\`, got both`, { next: 'ask for one of them' })
}

/** A row with its sets written out, of those with a user where one is asked for; none where the user is in no set. */
function withWays(row: PowerRow, user: string | undefined): readonly WhoCanView['rows'][number][] {
  const lines = row.lines.flatMap((line) => (user === undefined ? line : (lineWith(line, user) ?? [])))
  if (lines.length === 0) return []
  return [{ ...row, lines: lines.map(({ people, ...line }) => ({ ...line, ways: waysOf({ ...line, people }) })) }]
}

/** The name by which answers call a user, by name, address or id. */
function readUser(actual: Actual, name: string | undefined): string | undefined {
  if (name === undefined) return undefined
  const users = usersByName(organizationOf(actual.resources).users)
  // As answers call one of several of a name.
  if (Object.hasOwn(users, name)) return name
  const user = userCalled(actual, name)
  const found = Object.entries(users).find(([, { id }]) => id === user?.id)
  if (found) return found[0]
  throw new QuorateError('cli/unknown-user', `there is no user \`${name}\``, {
    facts: { known: Object.keys(users).slice(0, 20).join(', '), submitted: 'nothing' },
    next: 'give the name, address or id of a user',
  })
}

function readPower(text: string): PowerName {
  if (Object.hasOwn(POWERS, text)) return text as PowerName
  // As a plan calls it.
  const called = powerCalled(text)
  if (called?.isWhole) return called.power
  throw new QuorateError('cli/unknown-power', `there is no power \`${text}\``, {
    facts: { powers: Object.keys(POWERS).join(', '), submitted: 'nothing' },
    next: called ? `that is a part of \`${called.power}\`: name this` : 'name one of these, or none to see all',
  })
}
