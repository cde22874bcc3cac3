import type { SendOrder, SendProgress } from '../../../activities/index.ts'
import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import type { CommandInput } from '../command.ts'
import { findPlace } from '../connect.ts'
import { findBatch, readBatchReport } from '../sending/batch-reading.ts'
import { assertReportable, writeReport } from '../sending/batch-report-file.ts'
import { isFinal, ledgerOf } from '../sending/running.ts'
import { toReportCsv } from '../views/batch-report.ts'
import { renderListedSend, toSendJson } from '../views/send.ts'
import { renderBatchEnd } from '../views/send-batch.ts'

interface ListedSend {
  readonly sendId: string
  readonly order: SendOrder
  readonly progress?: SendProgress
}

/** Lists what was sent from here, oldest first, and how each stands; the ledger knows, no service is asked. */
export async function sends(input: CommandInput): Promise<ExitCode> {
  const { io, json, options, settings } = input
  if (typeof options['batch'] === 'string') return reportBatch(input, options['batch'])
  const { organizationId, now } = await findPlace(input)
  const { sends: ledger } = ledgerOf(settings.dataDir)
  const entered = await ledger.list(organizationId)
  const all = await Promise.all(
    entered.map(async (entry): Promise<ListedSend> => {
      const { sendId, order, stopped } = entry
      const progress = stopped
        ? ({ sendId, reference: order.reference, state: 'stopped' } as const)
        : await ledger.getProgress(sendId)
      return { sendId, order, ...(progress === undefined ? {} : { progress }) }
    }),
  )
  const chosen =
    options['open'] === true ? all.filter(({ progress }) => progress === undefined || !isFinal(progress)) : all
  if (json) io.out(`${JSON.stringify({ organizationId, sends: chosen.map(toSendJson) }, null, 2)}\n`)
  else if (chosen.length === 0) io.say('Nothing was sent from here.\n')
  else for (const one of chosen) io.out(renderListedSend(one, io.style, now()))
  return EXIT.done
}

/** What came of each row of a batch, up to now. */
async function reportBatch({ io, json, options, settings }: CommandInput, begins: string): Promise<ExitCode> {
  assertReportable(options['report'])
  const { batches } = ledgerOf(settings.dataDir)
  const report = await readBatchReport(batches, await findBatch(batches, begins))
  writeReport(options['report'], report)
  if (json) io.out(`${JSON.stringify(report, null, 2)}\n`)
  else io.out(options['csv'] === true ? toReportCsv(report) : renderBatchEnd(report, io.style))
  return EXIT.done
}
