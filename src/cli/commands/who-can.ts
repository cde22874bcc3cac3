import { createHash } from 'node:crypto'
import {
  type IndirectPath,
  indirectPowersOf,
  lineWith,
  POWERS,
  type PowerName,
  type PowerRow,
  powersOf,
  waysOf,
} from '../../analysis/index.ts'
import { usersByName } from '../../authority/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { readActual } from '../../live/index.ts'
import { reader, readReasons } from '../../operations/index.ts'
import type { Actual } from '../../resources/index.ts'
import { organizationOf } from '../../resources/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { renderWhoCan, type WhoCanView } from '../views/who-can.ts'
import { renderWhoCanCsv, renderWhoCanMarkdown } from '../views/who-can-table.ts'

/** Says who has which power in the live organization. Submits nothing: its client has no way to. */
export async function whoCan(input: CommandInput): Promise<ExitCode> {
  const { io, json, args } = input
  const powers = args.length === 0 ? undefined : args.map(readPower)
  const place = await findPlace(input)
  const client = reader(place)
  const actual = await readActual(client, { everything: true })
  const holder = readHolder(actual, input.options)
  const nowMs = place.now()
  const asked = { nowMs, ...(powers === undefined ? {} : { powers }) }
  const ofHolder = <Row extends { readonly over: readonly string[] }>(some: readonly Row[]): readonly Row[] =>
    holder === undefined ? some : some.flatMap((row) => (row.over.includes(holder) ? [{ ...row, over: [holder] }] : []))
  const user = readUser(actual, input.options['user'] as string | undefined)
  const rows = ofHolder(powersOf(actual, asked)).flatMap((row) => withWays(row, user))
  const indirect = input.options['indirect'] === true ? indirectPowersOf(actual, asked) : undefined
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
    organization: { id: place.organizationId, name: actual.organizationName },
    at: new Date(nowMs).toISOString(),
    stateDigest: digestOf(actual),
    // What is inside has powers of its own.
    unread: (actual.unread ?? []).filter((kind) => kind !== 'subOrganization'),
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
    ...(input.options['why'] === true ? { why: await readReasons(client, actual, named) } : {}),
  }
  if (json) writeJson(io, report)
  else if (input.options['csv'] === true) io.out(renderWhoCanCsv(report))
  else if (input.options['markdown'] === true) io.out(renderWhoCanMarkdown(report))
  else io.out(renderWhoCan(report, io.style))
  const isUnknown =
    report.unread.length > 0 ||
    (indirect?.limits.length ?? 0) > 0 ||
    rows.some(({ lines }) => lines.some(({ ways }) => ways === 'unknown'))
  return isUnknown ? EXIT.partial : EXIT.done
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
  const address = new Map(actual.resources.map((one) => [one.id, one.address]))
  const found = Object.entries(users).filter(
    ([called, user]) => called === name || user.name === name || user.id === name || address.get(user.id) === name,
  )
  if (found.length === 1) return found[0]![0]
  throw new QuorateError(
    'cli/unknown-user',
    `there ${found.length === 0 ? 'is no user' : 'are several users'} \`${name}\``,
    {
      facts: { known: Object.keys(users).slice(0, 20).join(', '), submitted: 'nothing' },
      next: 'give the name, address or id of a user',
    },
  )
}

function readPower(text: string): PowerName {
  if (Object.hasOwn(POWERS, text)) return text as PowerName
  throw new QuorateError('cli/unknown-power', `there is no power \`${text}\``, {
    facts: { powers: Object.keys(POWERS).join(', '), submitted: 'nothing' },
    next: 'name one of these, or none to see all',
  })
}

/** The address of the wallet or private key that is asked about, by its name, address or id; undefined for all of them. */
function readHolder({ resources }: Actual, { wallet, key }: CommandInput['options']): string | undefined {
  const name = (wallet ?? key) as string | undefined
  if (name === undefined) return undefined
  if (wallet !== undefined && key !== undefined)
    throw new QuorateError('cli/usage', 'expected `--wallet` or `--key`, got both', { next: 'ask about one of them' })
  const sort = wallet === undefined ? 'private key' : 'wallet'
  const holders = resources.filter(({ kind }) => kind === (wallet === undefined ? 'privateKey' : 'wallet'))
  const found = holders.filter((one) => one.name === name || one.address === name || one.id === name)
  if (found.length === 1) return found[0]!.address
  const known = holders.map(({ address }) => address).sort()
  throw new QuorateError(
    'cli/unknown-wallet',
    `there ${found.length === 0 ? `is no ${sort}` : `are several ${sort}s`} \`${name}\``,
    {
      facts: { known: known.slice(0, 20).join(', '), submitted: 'nothing' },
      next: `give its name, address or id; \`--wallet\` is for wallets, \`--key\` for private keys`,
    },
  )
}

/** Says which state an answer is about: equal for equal states, whatever the order in which they are listed. */
function digestOf({ organizationId, resources }: Actual): string {
  const rows = resources.map((one) => JSON.stringify(one, sortKeys)).sort()
  return `sha256:${createHash('sha256')
    .update(JSON.stringify([organizationId, rows]))
    .digest('hex')}`
}

function sortKeys(_: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
