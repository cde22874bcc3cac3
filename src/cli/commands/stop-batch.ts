import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { findBatch, ledgerOf } from '../../sending/index.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'
import { assertReportable, hasUnknown, holdBackRows, tellWorkflow, writeReport } from '../sending/index.ts'
import { renderStopped } from '../views/send-batch.ts'

/** Stops a batch: no row that has not been submitted is submitted any more. It asks nobody, since each second may be a payment. */
export async function stopBatch(input: CommandInput): Promise<ExitCode> {
  const { io, json, options, settings } = input
  assertReportable(options['report'])
  const ledger = ledgerOf(settings.dataDir)
  const { batches } = ledger
  const batch = await findBatch(batches, input.args[0]!)
  await batches.stop(batch, new Date())
  await tellWorkflow(input, batch).catch((error: Error) => {
    io.say(line`${io.style.warning('the workflow could not be told')}: ${error.message}; the stop holds without it\n`)
  })
  const report = await holdBackRows(ledger, batch)
  writeReport(options['report'], report)
  if (json) writeJson(io, report)
  else io.out(renderStopped(report, io.style))
  return hasUnknown(report) ? EXIT.waiting : EXIT.done
}
