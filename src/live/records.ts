import { takeList, takeRecord, type WireRecord } from '../resources/index.ts'

/** The records of a list in an answer. */
export function recordsOf(answer: unknown, list: string): readonly WireRecord[] {
  return takeList(takeRecord(answer, 'the answer'), list, 'answer').map((one) =>
    takeRecord(one, `a record of \`${list}\``),
  )
}
