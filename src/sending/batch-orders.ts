/** From the rows of a file to orders; whatever is wrong with any of them is said at its place, all of it at once. */
import { isSameSend, type PlanStore, type SendOrder, sendIdOf } from '../../activities/index.ts'
import type { QueryClient } from '../client/index.ts'
import { type Diagnostic, diagnostic, positionAt, QuorateError, sortDiagnostics } from '../diagnostics/index.ts'
import type { BatchFile, FileRow } from './batch-file.ts'
import { findChainRefusal, unknownChain } from './check-chain.ts'
import { takenBy } from './elsewhere.ts'
import type { SendMeaning } from './meaning.ts'
import { chainOf, makeOrder } from './order.ts'
import { type Known, meaningOf } from './prepare.ts'
import { makeRequest } from './request.ts'

/** A row that can be sent, and what will come of it. */
export interface OrderedRow extends SendMeaning {
  readonly row: FileRow
  readonly order: SendOrder
}

/** Makes the orders of a file; of rows that are wrong, diagnostics. Asks the API about each chain, and the ledger about each reference. */
export async function makeOrders(
  file: BatchFile,
  {
    known,
    client,
    ledger,
  }: { readonly known: Known; readonly client: QueryClient; readonly ledger: PlanStore['sends'] },
): Promise<{ readonly rows: readonly OrderedRow[]; readonly diagnostics: readonly Diagnostic[] }> {
  const found: Diagnostic[] = [...file.diagnostics]
  const ordered: OrderedRow[] = []
  for (const row of file.rows) {
    try {
      const request = makeRequest((name) => row.cells.get(name)?.text)
      const order = { ...(await known.withFeeCeiling(makeOrder(request, known))), by: known.by }
      ordered.push({ row, order, ...meaningOf(order, known) })
    } catch (error) {
      if (!(error instanceof QuorateError)) throw error
      found.push(toDiagnostic(error, { file, row }))
    }
  }
  found.push(...sentTwice(file))
  for (const check of [checkTaken(file, ordered, ledger), checkChains(file, ordered, client)])
    found.push(...(await check))
  return { rows: ordered, diagnostics: sortDiagnostics(found) }
}

/** At the cell that the error is about; at the row where it is about no single one. */
function toDiagnostic(
  { code, message, next, field }: QuorateError,
  { file, row }: { readonly file: BatchFile; readonly row: FileRow },
): Diagnostic {
  const cell = [...row.cells].find(([name]) => name === field)?.[1]
  const plain = (text: string) => text.replaceAll(/--([a-z-]+)/g, '`$1`')
  const help = next === undefined || next.includes('--help') ? undefined : plain(next)
  return diagnostic(code, plain(message), file.at(cell, row), { help })
}

/** One reference is one send. */
function sentTwice(file: BatchFile): readonly Diagnostic[] {
  const first = new Map<string, FileRow>()
  return file.rows.flatMap((row) => {
    const cell = row.cells.get('ref')
    if (cell === undefined || cell.text === '') return []
    const reference = cell.text.normalize('NFC').trim()
    const before = first.get(reference)
    if (before === undefined) {
      first.set(reference, row)
      return []
    }
    const span = file.at(before.cells.get('ref'), before)
    const { line, column } = positionAt(span.source, span.start)
    const related = [{ message: 'it is here first', span }]
    const message = `reference \`${cell.text}\` is there twice, first at ${line}:${column}`
    return [
      diagnostic('cli/reference-twice', message, file.at(cell, row), {
        help: 'give each send a reference of its own',
        related,
      }),
    ]
  })
}

async function checkTaken(
  file: BatchFile,
  ordered: readonly OrderedRow[],
  ledger: PlanStore['sends'],
): Promise<readonly Diagnostic[]> {
  const found: Diagnostic[] = []
  for (const { row, order } of ordered) {
    const entered = await ledger.findOrder(sendIdOf(order))
    if (entered === undefined || isSameSend(entered, order)) continue
    if ((await ledger.getProgress(sendIdOf(order)))?.state === 'given up') continue
    const { amount, from, to, orderedAt } = entered
    const { why, facts, next: help } = takenBy(entered, order)
    const options = Object.values(facts).map((text) => ` (${text})`)
    const message = `reference \`${order.reference}\` ${why}${options.join('')}: ${amount} from ${from} to ${to}, since ${orderedAt}`
    const span = file.at(row.cells.get('ref'), row)
    found.push(diagnostic('cli/reference-taken', message, span, { help }))
  }
  return found
}

/** The API says which chains it knows. */
async function checkChains(
  file: BatchFile,
  ordered: readonly OrderedRow[],
  client: QueryClient,
): Promise<readonly Diagnostic[]> {
  const chains = Map.groupBy(ordered, ({ order }) => chainOf(order))
  const found: Diagnostic[] = []
  for (const [caip2, rows] of chains) {
    const refusal = await findChainRefusal(client, caip2)
    if (refusal === undefined) continue
    for (const { row } of rows) {
      const cell = row.cells.get('chain')?.text ? row.cells.get('chain') : row.cells.get('asset')
      found.push(diagnostic('cli/unknown-chain', unknownChain(caip2), file.at(cell, row), { help: refusal.message }))
    }
  }
  return found
}
