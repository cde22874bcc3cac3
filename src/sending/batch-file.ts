/**
 * A file of sends: CSV (RFC 4180) whose first line names the columns as the options of a single send are called. The library
 * says where each cell ends; where it begins follows, so that what is wrong with a cell is said at its place.
 */
import { readFileSync, statSync } from 'node:fs'
import { type CastingContext, CsvError, parse } from 'csv-parse/sync'
import {
  createSource,
  type Diagnostic,
  diagnostic,
  QuorateError,
  type Source,
  type Span,
  spanAt,
  suggest,
} from '../diagnostics/index.ts'
import { OPTIONAL, REQUIRED, type SendField } from './request.ts'

/** How the rows of a batch stand is looked up twice a second while it is submitted: of more, that alone would take long. */
const MOST_BYTES = 4 * 1024 * 1024
const MOST_ROWS = 2_000

/** The text of a cell, and its offsets in bytes. */
interface Cell {
  readonly text: string
  readonly start: number
  readonly end: number
}

export interface FileRow {
  /** From 1; where its first cell begins. */
  readonly line: number
  readonly cells: ReadonlyMap<SendField, Cell>
}

export interface BatchFile {
  readonly source: Source
  readonly rows: readonly FileRow[]
  readonly diagnostics: readonly Diagnostic[]
  /** The place of a cell. */
  readonly at: (cell: Cell | undefined, row: FileRow) => Span
}

const COLUMNS: readonly string[] = [...REQUIRED, ...OPTIONAL]

/** Reads a file of sends; what is wrong with it comes back with the rows that could be read. Throws `cli/usage`. */
export function readBatchFile(path: string): BatchFile {
  const bytes = readBytes(path)
  const source = createSource(path, decode(path, bytes))
  const found: Diagnostic[] = []
  const text = Buffer.from(source.text)
  // Offsets of a source are in UTF-16 units; they are counted only where something is wrong.
  const span = (start: number, end: number) =>
    spanAt(source, text.subarray(0, start).toString().length, text.subarray(0, end).toString().length)
  const { records, fault } = readCells(text)
  if (fault) found.push(diagnostic('cli/csv-malformed', fault.message, span(fault.at, fault.at)))
  const [header, ...body] = records
  const columns = (header ?? []).map(({ text }) => text as SendField)
  if (!header && !fault) found.push(diagnostic('cli/csv-columns', 'the file is empty', span(0, 0), { help: HELP }))
  const wrong = header ? checkColumns(header, span) : []
  found.push(...wrong)
  if (body.length > MOST_ROWS) throw tooLarge(path, `${body.length} rows`, `${MOST_ROWS} rows`)
  const lineOf = createLines(text)
  const rows = body.flatMap((cells): FileRow[] => {
    // Where the columns are not what they should be, nothing can be said of what is below them.
    if (wrong.length > 0) return []
    if (cells.length !== columns.length) {
      // Which of its cells is missing nobody knows: nothing else is said of it.
      const message = `expected ${columns.length} cells, as the first line has, got ${cells.length}`
      found.push(diagnostic('cli/csv-row', message, span(cells[0]!.start, cells.at(-1)!.end)))
      return []
    }
    const named = cells.map((cell, index) => [columns[index]!, cell] as const)
    return [{ line: lineOf(cells[0]!.start), cells: new Map(named) }]
  })
  if (header && !fault && body.length === 0)
    found.push(diagnostic('cli/csv-row', 'the file has no row', span(0, text.length)))
  const at: BatchFile['at'] = (cell, { cells }) => {
    const all = [...cells.values()]
    const { start } = cell ?? all[0]!
    return span(start, (cell ?? all.at(-1)!).end)
  }
  return { source, rows, diagnostics: found, at }
}

const HELP = `the first line names the columns: ${REQUIRED.join(', ')} and any of ${OPTIONAL.join(', ')}`

function readBytes(path: string): Buffer {
  const fail = (why: string) =>
    new QuorateError('cli/usage', `\`${path}\` cannot be read: ${why}`, {
      facts: { submitted: 'nothing' },
      next: 'name a CSV file of sends',
    })
  try {
    const { size } = statSync(path)
    if (size > MOST_BYTES) throw tooLarge(path, `${size} bytes`, `${MOST_BYTES} bytes`)
    return readFileSync(path)
  } catch (error) {
    if (error instanceof QuorateError) throw error
    throw fail((error as Error).message)
  }
}

function tooLarge(path: string, size: string, most: string): QuorateError {
  return new QuorateError('cli/usage', `\`${path}\` has ${size}, over ${most}`, {
    facts: { submitted: 'nothing' },
    next: 'send it in several files',
  })
}

/** A byte order mark is none of the text. */
function decode(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new QuorateError('cli/usage', `\`${path}\` is not UTF-8`, {
      facts: { submitted: 'nothing' },
      next: 'save it as CSV in UTF-8',
    })
  }
}

function readCells(text: Buffer): {
  readonly records: readonly (readonly Cell[])[]
  readonly fault?: { readonly message: string; readonly at: number }
} {
  const records: Cell[][] = []
  let end = -1
  const take = (value: string, { index, bytes }: CastingContext) => {
    const start = index === 0 ? end : end + 1
    end = bytes
    const cell = trimmed(text, Math.max(start, 0), end)
    if (index === 0) records.push([])
    records.at(-1)!.push({ text: value, ...cell })
    return value
  }
  try {
    parse(text, { cast: take, relax_column_count: true, skip_empty_lines: true, trim: true })
    return { records: records.filter(isRow) }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const message = FAULTS[error.code] ?? `this is not CSV: ${error.code}`
    // The last record is one that could not be read to its end.
    return {
      records: records.slice(0, -1).filter(isRow),
      fault: { message, at: trimmed(text, end + 1, text.length).start },
    }
  }
}

const FAULTS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'the quotes of this cell are not closed',
  CSV_INVALID_CLOSING_QUOTE: 'something follows the quotes of this cell; a quote inside of them is doubled',
  INVALID_OPENING_QUOTE: 'quotes stand inside this cell; put all of it in quotes, and double them',
}

/** A line of nothing but spaces is none. */
function isRow(cells: readonly Cell[]): boolean {
  return cells.length > 1 || cells[0]!.text !== ''
}

const BLANK = new Set([' ', '\t', '\r', '\n'].map((each) => each.charCodeAt(0)))

function trimmed(text: Buffer, from: number, to: number): { readonly start: number; readonly end: number } {
  let [start, end] = [from, to]
  while (start < end && BLANK.has(text[start]!)) start++
  while (end > start && BLANK.has(text[end - 1]!)) end--
  return { start, end }
}

function checkColumns(header: readonly Cell[], span: (start: number, end: number) => Span): readonly Diagnostic[] {
  const names = header.map(({ text }) => text)
  const [separator] = header.length === 1 ? (/[;\t|]/.exec(names[0]!) ?? []) : []
  if (separator !== undefined) {
    const { start, end } = header[0]!
    const what = separator === '\t' ? 'tabs' : `\`${separator}\``
    const help = 'save it with commas between the cells, as CSV in English does'
    return [diagnostic('cli/csv-columns', `cells are separated by commas, got ${what}`, span(start, end), { help })]
  }
  const wrong = header.flatMap(({ text, start, end }, index) => {
    const say = (message: string, help?: string) => [diagnostic('cli/csv-columns', message, span(start, end), { help })]
    if (names.indexOf(text) < index) return say(`column \`${text}\` is there twice`)
    if (COLUMNS.includes(text)) return []
    const [near] = suggest(text, COLUMNS)
    return say(`there is no column \`${text}\``, near === undefined ? HELP : `did you mean \`${near}\`?`)
  })
  const missing = REQUIRED.filter((name) => !names.includes(name))
  if (missing.length === 0) return wrong
  const whole = span(header[0]!.start, header.at(-1)!.end)
  return [
    ...wrong,
    diagnostic('cli/csv-columns', `expected a column \`${missing.join('`, `')}\``, whole, { help: HELP }),
  ]
}

/** Lines of offsets that only grow. */
function createLines(text: Buffer): (offset: number) => number {
  let [line, seen] = [1, 0]
  return (offset) => {
    for (; seen < offset; seen++) if (text[seen] === 0x0a) line++
    return line
  }
}
