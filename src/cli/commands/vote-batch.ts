/** `quorate approve --batch` and `reject --batch`: the rows of a file against what waits under their references, one question for all. */
import { votesOn } from '../../authority/index.ts'
import { createSubmitClient } from '../../client/index.ts'
import { EXIT, type ExitCode, hasErrors, printable, QuorateError } from '../../diagnostics/index.ts'
import { castVote, isAsVoted, mayBeCast, type Place, submitter } from '../../operations/index.ts'
import { shortCode } from '../../plan/index.ts'
import type { Wire } from '../../protocol/index.ts'
import {
  type AskedRow,
  type BatchFile,
  findAskedRows,
  ledgerOf,
  lookAlikesIn,
  makeOrders,
  partiesOf,
  readBatchFile,
  readKnown,
  type SendField,
  sumUp,
  usage,
} from '../../sending/index.ts'
import { findPlace } from '../background/connect.ts'
import { readFeeSettings } from '../background/kept-chains.ts'
import type { CommandInput } from '../command.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { placeOf, prove, readWay } from '../proof-options.ts'
import { line } from '../screen.ts'
import { readNames } from '../sending/index.ts'
import { sayDiagnostics, toDiagnosticJson } from '../views/diagnostics.ts'
import { type RowVote, renderApprovalRows, renderRowVotes, toRowVoteJson } from '../views/send-approval.ts'
import { keepReason, readReason } from '../vote-reasons.ts'

type Choice = 'approve' | 'reject'

/** Why a row may not be there, and what to do. */
const NOT_SUBMITTED =
  'Of what was not submitted nothing can be voted on: ask the payer whether `quorate send --batch` has been run with this very file, then give this again.\n'

/**
 * Votes on what waits for the rows of a file of sends. Nothing is approved while any row differs from what waits under its
 * reference; to reject, that is no obstacle: what waits under a reference is rejected, whatever it asks for.
 */
export async function voteOnBatch(input: CommandInput, path: string, choice: Choice): Promise<ExitCode> {
  const { io, json, options, args } = input
  if (args.length > 0)
    throw usage('--batch and activities exclude each other', `${choice} the others by a second command`)
  const way = readWay(input)
  if (way !== undefined && way !== 'passkey')
    throw usage(
      '--batch votes with the key in use, or with --passkey',
      'log in first, and vote with the session',
      'batch',
    )
  const place = await findPlace(input, { acts: true })
  // After the key in use is known, which no reason may be.
  const reason = readReason(input)
  const client = submitter(place)
  const file = readBatchFile(path)
  const folder = options['definitions']
  const names = await readNames(input, place, typeof folder === 'string' ? folder : undefined)
  if (!names) return EXIT.error
  const known = await readKnownOf(input, place, { file, names })
  const { sends: ledger } = ledgerOf(input.settings.dataDir)
  const { rows, diagnostics } = await makeOrders(file, { known, client, ledger })
  if (hasErrors(diagnostics)) {
    sayDiagnostics(input, diagnostics)
    if (json) writeJson(io, { diagnostics: diagnostics.map(toDiagnosticJson) })
    else io.say('Nothing was voted.\n')
    return EXIT.error
  }
  const asked = await findAskedRows(client, rows, place.now)
  const { userId: me, userName: by } = known.actual.actor
  const alike = lookAlikesIn(rows)
  const waits = asked.filter(({ kind }) => kind === 'waits')
  const totals = sumUp(waits, names).map(({ total }) => total)
  if (!json) io.out(renderApprovalRows({ file: path, rows: asked, totals, alike }, io.style))
  if (choice === 'approve') {
    assertAsWritten(asked)
    if (alike.length > 0 && options['despiteMismatch'] !== true) throw looksAlike(alike)
  }
  /** By the key in use; whose vote a passkey casts, nobody knows before. */
  const isMine = (activity: Wire.Activity) => {
    if (way !== undefined) return false
    const { approvals, rejections } = votesOn(activity, place.now())
    return (choice === 'approve' ? approvals : rejections).some(({ userId }) => userId === me)
  }
  const waiting = asked.flatMap((row) => waitingOf(row))
  const open = waiting.filter((activity) => !isMine(activity)).length
  const verb = choice === 'approve' ? 'Approve' : 'Reject'
  if (open > 0) await assertConfirmed(input, { question: `${verb} these ${open}?`, otherwise: 'nothing was voted' })
  const votes: RowVote[] = []
  let brokenOff: string | undefined
  for (const row of asked) votes.push(...(await voteOn(row)))
  if (json) writeJson(io, { file: path, rows: votes.map(toRowVoteJson) })
  else io.out(renderRowVotes(votes, io.style))
  if (votes.some(({ outcome }) => outcome === 'absent')) io.say(NOT_SUBMITTED)
  return exitOf(votes, choice)

  async function voteOn(row: AskedRow): Promise<readonly RowVote[]> {
    if (row.kind === 'absent') return [{ row, outcome: 'absent' }]
    if (row.kind === 'ended') return [{ row, outcome: 'ended', status: row.activity.status }]
    const all: RowVote[] = []
    for (const activity of waitingOf(row)) all.push(await voteOnOne(row, activity))
    return all
  }

  async function voteOnOne(row: AskedRow, activity: Wire.Activity): Promise<RowVote> {
    const past = choice === 'approve' ? 'approved' : 'rejected'
    const of = { row, activity }
    if (isMine(activity)) return { ...of, outcome: `${past} before`, status: activity.status }
    if (brokenOff !== undefined) return { ...of, outcome: `not ${past}`, error: brokenOff }
    let status: string | undefined
    try {
      const voter = way === undefined ? client : await byPasskey(row, activity)
      ;({ status } = await castVote(voter, activity.fingerprint, { vote: choice, now: place.now() }))
      if (reason !== undefined) {
        const { id: activityId, fingerprint } = activity
        const at = new Date(place.now()).toISOString()
        const { organizationId } = place
        keepReason(input.settings.dataDir, { at, organizationId, activityId, fingerprint, vote: choice, by, reason })
      }
      return { ...of, outcome: past, status }
    } catch (error) {
      // One row that the API refuses leaves the others as they were asked for; a passkey that is not given is not asked for again.
      if (!(error instanceof QuorateError)) throw error
      if (error.code.startsWith('session/')) brokenOff = error.message
      if (!json) io.say(line`line ${row.row.line}: ${error.message}\n`)
      if (status !== undefined) return { ...of, outcome: past, status, error: error.message }
      return { ...of, outcome: `${mayBeCast(error) ? 'perhaps' : 'not'} ${past}`, error: error.message }
    }
  }

  /** The passkey stamps one request at a time: its page opens for each, and says which payment it is. */
  async function byPasskey({ order, description }: AskedRow, { fingerprint }: Wire.Activity) {
    const pays = `${description.amount.text} to ${order.to} under ${order.reference}`
    const purpose = { title: 'Vote with quorate', does: `${choice}s ${shortCode(fingerprint)}: ${printable(pays)}` }
    const { stamper } = await prove(input, { way: 'passkey', place: placeOf(input, place), purpose })
    const { baseUrl, organizationId } = place
    return createSubmitClient({ baseUrl, organizationId, stamper })
  }
}

/** What waits for a row: where it is not what the row says, everything that waits under its reference. */
function waitingOf(row: AskedRow): readonly Wire.Activity[] {
  if (row.kind === 'waits') return [row.activity]
  return row.kind === 'refused' ? [row.activity, ...row.beside] : []
}

function readKnownOf(
  input: CommandInput,
  place: Place,
  { file, names }: { readonly file: BatchFile; readonly names: Parameters<typeof readKnown>[1]['names'] },
) {
  const cell = (row: BatchFile['rows'][number], name: SendField) => row.cells.get(name)?.text ?? ''
  const receivers = file.rows.map((row) => cell(row, 'to'))
  const parties = file.rows.flatMap((row, index) => partiesOf({ from: cell(row, 'from'), to: receivers[index]! }))
  const { sends: ledger } = ledgerOf(input.settings.dataDir)
  const asked = { names, parties: [...new Set(parties)], receivers, ledger, fees: readFeeSettings(input) }
  return readKnown(place, asked)
}

/** INVARIANT: before the first vote: of a file that is not what waits, nothing is approved. */
function assertAsWritten(rows: readonly AskedRow[]): void {
  const refused = rows.flatMap((row) => (row.kind === 'refused' ? [row] : []))
  const [first] = refused
  if (first === undefined) return
  throw new QuorateError(
    'cli/not-as-in-file',
    `${refused.length} of ${rows.length} rows are not what waits for approval`,
    {
      exit: EXIT.refused,
      facts: {
        [`line ${first.row.line}`]: `${first.order.reference}: ${first.why}`,
        lines: refused.map(({ row }) => row.line).join(', '),
        activity: shortCode(first.activity.fingerprint),
        voted: 'nothing',
      },
      next: 'ask the sender, and reject it; the other rows are approved with a file that has them alone',
    },
  )
}

function looksAlike(alike: readonly string[]): QuorateError {
  return new QuorateError(
    'cli/not-as-in-file',
    `${alike.length} of what the rows name may be taken for something else`,
    {
      exit: EXIT.refused,
      facts: { beware: alike[0], voted: 'nothing' },
      next: 'look at each; if all are meant, approve with --despite-mismatch',
    },
  )
}

/** What was to be rejected and is paid has not been. */
function exitOf(votes: readonly RowVote[], choice: Choice): ExitCode {
  const isOpen = ({ outcome }: RowVote) => /^absent$|^not |^perhaps /.test(outcome)
  const isAsMeant = ({ status }: RowVote) => status === undefined || isAsVoted(status, choice)
  return votes.some((vote) => isOpen(vote) || !isAsMeant(vote)) ? EXIT.partial : EXIT.done
}
