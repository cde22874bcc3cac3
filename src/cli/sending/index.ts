/** What `quorate send` and `quorate sends` share: carries out an order or a file of them, follows it, stops it, writes its report. */
export { createAwayWatch } from './away-watch.ts'
export { sendBatch } from './batch.ts'
export { assertReportable, writeReport } from './batch-report-file.ts'
export { hasUnknown, holdBackRows, tellWorkflow } from './batch-stopping.ts'
export { begin, carryOut } from './carry-out.ts'
export { followListed, isOver, type ListedSend } from './following.ts'
export { readNames } from './names.ts'
