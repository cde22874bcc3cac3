/** `quorate approve --batch`: the rows of a file against what waits under their references, one question, one vote for each row. */
import { votesOn } from '../../authority/index.ts'
import { EXIT, type ExitCode, hasErrors, QuorateError } from '../../diagnostics/index.ts'
import { castVote, type Place, submitter } from '../../operations/index.ts'
import { shortCode } from '../../plan/index.ts'
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
  usage,
} from '../../sending/index.ts'
import { findPlace } from '../background/connect.ts'
import { readFeeSettings } from '../background/kept-chains.ts'
import type { CommandInput } from '../command.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { readWay } from '../proof-options.ts'
import { line } from '../screen.ts'
import { readNames } from '../sending/names.ts'
import { sayDiagnostics, toDiagnosticJson } from '../views/diagnostics.ts'
import { type RowVote, renderApprovalRows, renderRowVotes, toRowVoteJson } from '../views/send-approval.ts'
import { keepReason, readReason } from '../vote-reasons.ts'

/** Approves the rows of a file of sends; nothing is voted while any row differs from what waits under its reference. */
export async function approveBatch(input: CommandInput, path: string): Promise<ExitCode> {
  const { io, json, options, args } = input
  if (args.length > 0)
    throw usage('--batch and activities exclude each other', 'approve the others by a second command')
  if (readWay(input) !== undefined) {
    throw usage('--batch votes with the key in use', 'prove who you are for one activity at a time', 'batch')
  }
  const reason = readReason(input)
  const place = await findPlace(input)
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
  if (!json) io.out(renderApprovalRows({ file: path, rows: asked, alike }, io.style))
  assertAsWritten(asked)
  if (alike.length > 0 && options['despiteMismatch'] !== true) throw looksAlike(alike)
  const isMine = (row: AskedRow) =>
    row.kind === 'waits' && votesOn(row.activity, place.now()).approvals.some(({ userId }) => userId === me)
  const open = asked.filter((row) => row.kind === 'waits' && !isMine(row)).length
  if (open > 0) await assertConfirmed(input, { question: `Approve these ${open}?`, otherwise: 'nothing was voted' })
  const votes: RowVote[] = []
  for (const row of asked) votes.push(await voteOn(row))
  if (json) writeJson(io, { file: path, rows: votes.map(toRowVoteJson) })
  else io.out(renderRowVotes(votes, io.style))
  return exitOf(votes)

  async function voteOn(row: AskedRow): Promise<RowVote> {
    if (row.kind === 'absent') return { row, outcome: 'absent' }
    const { activity } = row
    if (row.kind === 'ended') return { row, outcome: 'ended', status: activity.status }
    if (isMine(row)) return { row, outcome: 'approved before', status: activity.status }
    try {
      const { status } = await castVote(client, activity.fingerprint, { vote: 'approve', now: place.now() })
      if (reason !== undefined) {
        const { id: activityId, fingerprint } = activity
        const at = new Date(place.now()).toISOString()
        const { organizationId } = place
        const kept = { at, organizationId, activityId, fingerprint, vote: 'approve' as const, by, reason }
        keepReason(input.settings.dataDir, kept)
      }
      return { row, outcome: 'approved', status }
    } catch (error) {
      // One row that the API refuses leaves the others as they were asked for.
      if (!(error instanceof QuorateError)) throw error
      if (!json) io.say(line`line ${row.row.line}: ${error.message}\n`)
      return { row, outcome: 'not approved', error: error.message }
    }
  }
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

function exitOf(votes: readonly RowVote[]): ExitCode {
  const isOpen = ({ outcome }: RowVote) => outcome === 'absent' || outcome === 'not approved'
  const isUnpaid = ({ outcome, status }: RowVote) => outcome === 'ended' && status !== 'ACTIVITY_STATUS_COMPLETED'
  return votes.some((vote) => isOpen(vote) || isUnpaid(vote)) ? EXIT.partial : EXIT.done
}
