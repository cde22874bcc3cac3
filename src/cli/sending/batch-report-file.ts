import { extname } from 'node:path'
import { type BatchReport, toReportCsv, usage } from '../../sending/index.ts'
import { writePrivate } from '../files.ts'
import { jsonText } from '../io.ts'

/** How a report is written, by the end of its file's name. */
const FORMS: Readonly<Record<string, (report: BatchReport) => string>> = {
  '.json': (report) => jsonText(report),
  '.csv': toReportCsv,
}

/** Throws `cli/usage` for a file that no form is for: before anything is sent. */
export function assertReportable(path: unknown): void {
  if (path === undefined || (typeof path === 'string' && Object.hasOwn(FORMS, extname(path)))) return
  throw usage(`expected --report FILE.json or FILE.csv, got \`${String(path)}\``, 'choose one of the two')
}

/** Writes the report where one was asked for; it says who was paid, so it is its owner's alone to read. */
export function writeReport(path: unknown, report: BatchReport): void {
  if (typeof path === 'string') writePrivate(path, FORMS[extname(path)]!(report))
}
