/** `quorate send --batch`: read a file, say all that is wrong with it or what it means, ask, begin, follow, report. */
import { basename } from 'node:path'
import { batchIdOf, type SendBatch, type SendOrder, sendIdOf, withoutFeeCeiling } from '../../../activities/index.ts'
import { type Diagnostic, EXIT, type ExitCode, hasErrors, QuorateError } from '../../diagnostics/index.ts'
import { type Place, reader } from '../../operations/index.ts'
import {
  alikeWords,
  assertFirstAlike,
  assertFunded,
  assertNotAlike,
  type BatchFile,
  beginBatch,
  checkTokens,
  countRows,
  createHeldByApi,
  enterAgain,
  exitOfBatch,
  type FileRow,
  type FollowedBatch,
  findAlikeRows,
  followBatch,
  ledgerOf,
  makeOrders,
  memberOf,
  OPTIONAL,
  partiesOf,
  REQUIRED,
  readBatchFile,
  readBatchReport,
  readKnown,
  releaseGivenUp,
  rowsAsTheyStand,
  type SendField,
  simulateSends,
  sumUp,
  usage,
  whyDenied,
  withFunds,
} from '../../sending/index.ts'
import { readFeeSettings, readNodeSettings } from '../background/kept-chains.ts'
import { carrierOf, withApplies } from '../background/temporal.ts'
import { asksAgain, type CommandInput } from '../command.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { looking } from '../looking.ts'
import { findPlaceOf } from '../place-of.ts'
import { line } from '../screen.ts'
import { sayDiagnostics, toDiagnosticJson } from '../views/diagnostics.ts'
import {
  countsInWords,
  createSendBatchEvents,
  createSendBatchView,
  isOpen,
  type PreparedSendBatch,
  renderSendBatch,
  renderSendBatchEnd,
  toPreparedJson,
  wouldBeDenied,
} from '../views/send-batch.ts'
import { createPatience } from '../waiting.ts'
import { assertReportable, writeReport } from './batch-report-file.ts'
import { notElsewhere, readAlike, readNot } from './carry-out.ts'
import { readNames } from './names.ts'

/** Sends the rows of a file; nothing is sent while anything is wrong with any row. */
export async function sendBatch(input: CommandInput, path: string): Promise<ExitCode> {
  const { io, json, options } = input
  assertAlone(options)
  assertReportable(options['report'])
  const place = await findPlaceOf(input, input.args[0], { acts: options['dryRun'] !== true })
  const names = await readNames(input, place, input.args[0])
  if (!names) return EXIT.error
  const { batch, diagnostics } = await prepare(input, place, { file: readBatchFile(path), names, path })
  if (!batch) return refuse(input, diagnostics)
  const isDryRun = options['dryRun'] === true
  const skipsDenied = options['skipDenied'] === true
  const shown = renderSendBatch(batch, { style: io.style, rows: isDryRun, skipsDenied })
  if (isDryRun) {
    if (json) writeJson(io, toPreparedJson(batch))
    else io.out(shown)
    return EXIT.done
  }
  if (!json) io.say(shown)
  if (options['resume'] !== true) assertNotStopped(batch)
  const chosen = leaveOut(batch, skipsDenied)
  assertNotAlike(batch.alike, readNot(input))
  const open = batch.rows.filter((row) => isOpen(row) && !wouldBeDenied(row))
  const rejected = new Map(
    batch.rows.flatMap(({ rejected, order }) => (rejected === undefined ? [] : [[order, rejected]])),
  )
  const rows = await joinElsewhere(input, place, { batch: chosen, rejected })
  // What is joined may have taken its funds already.
  if (rows.rows.every(({ order }) => order.bodyTimeMs === undefined)) assertFunded(batch.simulations)
  // What was begun before goes on by itself, and is only looked at.
  if (open.length > 0)
    await assertConfirmed(input, { question: `Send these ${open.length}?`, otherwise: 'nothing was sent' })
  const { dataDir } = input.settings
  const { sends: ledger } = ledgerOf(dataDir)
  for (const { order, leftOut } of rows.rows)
    if (leftOut === undefined && (await isFree(ledger, sendIdOf(order))))
      await assertFirstAlike(ledger, order, readNot(input))
  for (const [index, { order, leftOut }] of rows.rows.entries())
    if (rejected.has(batch.rows[index]!.order) && leftOut === undefined)
      await enterAgain(reader(place), { dataDir, order })
  for (const { order } of chosen.rows.filter((_, index) => batch.rows[index]!.state === 'given up'))
    await releaseGivenUp(reader(place), { dataDir, sendId: sendIdOf(order) })
  return carryOut(input, place, rows)
}

/** Rows that the ledger does not have are looked for among what was sent from elsewhere. */
async function joinElsewhere(
  input: CommandInput,
  place: Place,
  { batch, rejected }: { readonly batch: SendBatch; readonly rejected: ReadonlyMap<SendOrder, number> },
): Promise<SendBatch> {
  const { sends: ledger } = ledgerOf(input.settings.dataDir)
  const isNew = await Promise.all(
    batch.rows.map(
      async ({ order, leftOut }) =>
        leftOut === undefined && (rejected.has(order) || (await isFree(ledger, sendIdOf(order)))),
    ),
  )
  const asked = batch.rows.filter((_, index) => isNew[index])
  const unknown = asked.map(({ order }) => order)
  const inFile = new Set(unknown)
  // Those of the file itself have been said with their lines.
  const alike = (await readAlike(input.settings.dataDir, unknown)).filter(({ like }) => !inFile.has(like))
  assertNotAlike(alike, readNot(input))
  const { io } = input
  for (const one of alike) io.say(line`${io.style.warning('beware')} ${alikeWords(one)}\n`)
  const orders = await notElsewhere(input, place, { orders: unknown, rejected })
  const joined = new Map(asked.map((row, index) => [row, orders[index]!]))
  return { ...batch, rows: batch.rows.map((row) => ({ ...row, order: joined.get(row) ?? row.order })) }
}

/** What was given up is sent anew. */
async function isFree(ledger: ReturnType<typeof ledgerOf>['sends'], sendId: string): Promise<boolean> {
  if ((await ledger.findOrder(sendId)) === undefined) return true
  return (await ledger.getProgress(sendId))?.state === 'given up'
}

/** A file says all that the options of one send would. */
function assertAlone(options: CommandInput['options']): void {
  const given = [...REQUIRED, ...OPTIONAL].filter((name) => options[memberOf(name)] !== undefined)
  if (given.length > 0) {
    throw usage(`--batch and --${given[0]} exclude each other`, `give column \`${given[0]}\` in the file`)
  }
}

async function prepare(
  input: CommandInput,
  place: Place,
  {
    file,
    names,
    path,
  }: {
    readonly file: BatchFile
    readonly names: Parameters<typeof readKnown>[1]['names']
    readonly path: string
  },
): Promise<{ readonly batch?: PreparedSendBatch; readonly diagnostics: readonly Diagnostic[] }> {
  // Without its columns no row can be read.
  if (file.diagnostics.some(({ code }) => code !== 'cli/csv-row')) return { diagnostics: file.diagnostics }
  const named = (row: FileRow, name: SendField) => row.cells.get(name)?.text ?? ''
  const receivers = file.rows.map((row) => named(row, 'to'))
  const parties = file.rows.flatMap((row, index) => partiesOf({ from: named(row, 'from'), to: receivers[index]! }))
  const { sends: ledger, batches } = ledgerOf(input.settings.dataDir)
  const asked = { names, parties: [...new Set(parties)], receivers, ledger, fees: readFeeSettings(input) }
  const known = await readKnown(place, asked)
  const client = reader(place)
  const { rows, diagnostics } = await makeOrders(file, { known, client, ledger })
  if (hasErrors(diagnostics)) return { diagnostics }
  await checkTokens(place, rows, known)
  const { organization, now: orderedAt } = known
  const orders = rows.map(({ order }) => order)
  // Of what the user wrote: what recent blocks took makes no other batch of the same file.
  const batchId = batchIdOf(organization.id, orders.map(withoutFeeCeiling))
  const batch = { batchId, organization, file: basename(path), orderedAt: new Date(orderedAt).toISOString() }
  // Before it is read which are rejected: another machine may ask again meanwhile, and its round is then found in the list.
  const roundOf = async (order: SendOrder) => (await ledger.findOrder(sendIdOf(order)))?.round ?? 0
  const rounds = asksAgain(input) ? await Promise.all(orders.map(roundOf)) : undefined
  const stands = await batches.survey({ ...batch, rows: orders.map((order) => ({ line: 0, order })) })
  const nodes = readNodeSettings(input)
  // What is told of them is what is so now; what is done follows from the ledger, which their own workflows write.
  const current = await rowsAsTheyStand(ledger, stands, { nodes, api: async () => client, now: place.now })
  const standing = rows.map((row, index) => {
    const { state } = stands[index]!
    return {
      ...row,
      state,
      stands: current[index]!,
      ...(rounds && state === 'rejected' ? { rejected: rounds[index]! } : {}),
    }
  })
  const open = standing.filter(isOpen)
  const heldByApi = createHeldByApi(client)
  // Two that were both begun before are two by now.
  const begun = new Set(standing.filter((row) => !isOpen(row)).map(({ order }) => order))
  const alike = findAlikeRows(standing.filter((row) => !wouldBeDenied(row))).filter(
    ({ order, like }) => !(begun.has(order) && begun.has(like)),
  )
  const [sent, denied] = [open.filter((row) => !wouldBeDenied(row)), open.filter(wouldBeDenied)]
  const totals = await withFunds(sumUp(sent, known.directory), heldByApi)
  const deniedTotals = sumUp(denied, known.directory).map(({ total }) => total)
  const { assets } = known.directory
  const simulations = await simulateSends(sent, { nodes: nodes.nodes, heldByApi, assets })
  const stoppedAt = await batches.stoppedAt(batchId)
  return {
    diagnostics,
    batch: {
      ...batch,
      rows: standing,
      alike,
      totals,
      deniedTotals,
      simulations,
      ...(stoppedAt === undefined ? {} : { stoppedAt }),
    },
  }
}

/** A batch that a user stopped, for a reason, goes on only with `--resume`. */
function assertNotStopped({ batchId, stoppedAt, rows }: PreparedSendBatch): void {
  const held = rows.filter(({ state }) => state === 'stopped')
  if (held.length === 0) return
  throw new QuorateError(
    'cli/batch-stopped',
    `this batch was stopped, and ${held.length} of ${rows.length} rows were not submitted`,
    {
      exit: EXIT.refused,
      facts: { stopped: stoppedAt, submitted: 'nothing by this command' },
      next: `send them too with --resume, or correct the file; \`quorate sends --batch ${batchId.slice(0, 12)}\` says how each row stands`,
    },
  )
}

function refuse(input: CommandInput, diagnostics: readonly Diagnostic[]): ExitCode {
  const { io, json } = input
  sayDiagnostics(input, diagnostics)
  if (json) writeJson(io, { diagnostics: diagnostics.map(toDiagnosticJson) })
  else io.say(line`${diagnostics.length} ${diagnostics.length === 1 ? 'fault' : 'faults'}; nothing was submitted.\n`)
  return EXIT.error
}

/** Denied rows stop the whole batch, or are left out with `--skip-denied`. */
function leaveOut({ rows, batchId, organization, file, orderedAt }: PreparedSendBatch, skips: boolean): SendBatch {
  const denied = rows.filter(wouldBeDenied)
  if (denied.length > 0 && !skips) {
    const [first] = denied
    throw new QuorateError('cli/send-denied', `${denied.length} of ${rows.length} rows would be denied`, {
      facts: {
        [`line ${first!.row.line}`]: whyDenied(first!.explanation),
        lines: denied.map(({ row }) => row.line).join(', '),
        submitted: 'nothing',
      },
      exit: EXIT.refused,
      next: 'look at each with --dry-run, or leave them out with --skip-denied',
    })
  }
  return {
    ...{ batchId, organization, file, orderedAt },
    rows: rows.map((one) => ({
      line: one.row.line,
      order: one.order,
      ...(wouldBeDenied(one) ? { leftOut: whyDenied(one.explanation) } : {}),
    })),
  }
}

function carryOut(input: CommandInput, place: Place, batch: SendBatch): Promise<ExitCode> {
  const { io, json, options } = input
  const events = options['events'] === true ? createSendBatchEvents(io, Date.now) : undefined
  events?.begun(batch)
  return withApplies(input, place, async (applies, answers) => {
    const stopOnFailure = options['stopOnFailure'] === true
    const handle = await beginBatch(applies, { batch, stopOnFailure, resumes: options['resume'] === true })
    const view = events ?? createSendBatchView(io, batch.rows.length)
    const detaches = options['detach'] === true
    const next = `run the same command again, or look with \`quorate sends --batch ${batch.batchId.slice(0, 12)}\``
    const patience = createPatience(input, { what: 'the batch', next, carrier: carrierOf(input) })
    patience.asking(answers)
    let before = ''
    const until = (progress: FollowedBatch, first: FollowedBatch) => {
      const now = JSON.stringify(progress.counts)
      patience.look(
        () => countsInWords(progress.counts) + (progress.error ? `, last answer: ${progress.error.message}` : ''),
        now !== before,
      )
      before = now
      return progress.submitted && (detaches || (!io.terminal && waitsForPeople(progress, first)))
    }
    const id = batch.batchId.slice(0, 12)
    const otherwise = `\`quorate sends stop ${id}\` stops it, \`quorate sends --batch ${id}\` says how it stands.`
    const ledger = ledgerOf(input.settings.dataDir)
    const asking = { api: async () => reader(place), now: place.now }
    const count = ({ asks }: { readonly asks: boolean }) => countRows(ledger, batch, asks ? asking : undefined)
    const progress = await looking(io, { what: 'the batch', otherwise, patience }, () =>
      followBatch(applies, handle, { count, show: view.progress, until }),
    )
    const report = await readBatchReport(ledger, batch, {
      nodes: readNodeSettings(input),
      ...asking,
    })
    view.ended()
    writeReport(options['report'], report)
    if (progress.error) io.say(line`${io.style.error(progress.error.message)}\n`)
    const exit = detaches && !progress.over ? EXIT.done : exitOfBatch(report, progress)
    if (events) events.reported(report, exit)
    else if (json) writeJson(io, report)
    else io.out(renderSendBatchEnd(report, io.style))
    if (!json && (report.counts.waiting ?? 0) > 0) io.say(nextForApprovers(input))
    return exit
  })
}

/** How those who are waited for vote on all rows at once. */
function nextForApprovers({ args, options, io }: CommandInput): string {
  const named = args[0] === undefined ? '' : ` --definitions ${args[0]}`
  return line`  ${io.style.dim('next'.padEnd(10))} with this file its approvers vote by \`quorate approve --batch ${String(options['batch'])}${named}\`; the same command goes on then\n`
}

/**
 * Where nobody watches, approvals are not waited for: the same command takes the batch up again. The second look in which
 * nothing is new was begun after this command.
 */
function waitsForPeople({ counts, quiet }: FollowedBatch, first: FollowedBatch): boolean {
  const isMoving = counts.submitting || counts.unknown || counts.broadcasting || counts.stuck
  const waits = counts.waiting !== undefined && !isMoving
  return waits && quiet >= first.quiet + 2
}
