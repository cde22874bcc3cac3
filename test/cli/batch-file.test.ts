import { expect, test } from 'vitest'
import { positionAt } from '../../src/diagnostics/index.ts'
import { readBatchFile } from '../../src/sending/batch-file.ts'
import { testFolder, writeFiles } from './harness.ts'

const read = (csv: string | Buffer) =>
  readBatchFile(`${writeFiles(testFolder(), { 'pay.csv': csv as string })}/pay.csv`)

const faults = (csv: string) =>
  read(csv).diagnostics.map(({ code, message, span, help }) => {
    const { line, column } = positionAt(span.source, span.start)
    return [`${line}:${column} ${code.slice('cli/'.length)}: ${message}`, ...(help === undefined ? [] : [help])].join(
      '; ',
    )
  })

const NAMES = 'the first line names the columns: ref, from, to and any of amount, asset, chain, data, max-fee, gas'

test.each([
  ['', [`1:1 csv-columns: the file is empty; ${NAMES}`]],
  ['ref,from,to,amount\n', ['1:1 csv-row: the file has no row']],
  [
    'ref,frm,to,to\na,b,c,d\n',
    [
      '1:5 csv-columns: there is no column `frm`; did you mean `from`?',
      '1:12 csv-columns: column `to` is there twice',
      `1:1 csv-columns: expected a column \`from\`; ${NAMES}`,
    ],
  ],
  ['ref,from,to\n"A,b,c\n', ['2:1 csv-malformed: the quotes of this cell are not closed']],
  [
    'ref,from,to\nA,"b"x,c\n',
    ['2:3 csv-malformed: something follows the quotes of this cell; a quote inside of them is doubled'],
  ],
  [
    'ref,from,to\nA,b"x,c\n',
    ['2:3 csv-malformed: quotes stand inside this cell; put all of it in quotes, and double them'],
  ],
  [
    'ref,from,to\nA,b,c,d\nA,b\n',
    [
      '2:1 csv-row: expected 3 cells, as the first line has, got 4',
      '3:1 csv-row: expected 3 cells, as the first line has, got 2',
    ],
  ],
  [
    'ref;from;to\nA;b;c\n',
    [
      '1:1 csv-columns: cells are separated by commas, got `;`; save it with commas between the cells, as CSV in English does',
    ],
  ],
  [
    '# a note\nref,from,to\nA,b,c\n',
    [
      `1:1 csv-columns: there is no column \`# a note\`; ${NAMES}`,
      `1:1 csv-columns: expected a column \`ref\`, \`from\`, \`to\`; ${NAMES}`,
    ],
  ],
])('batch file: what is wrong with %j', (csv, expected) => {
  expect(faults(csv)).toEqual(expected)
})

test('batch file: quotes, byte order mark, CRLF, spaces, empty lines, and letters of several bytes', () => {
  const file = read('\uFEFFref, from ,to\r\n"Ä ""1"", b",ö,ü\r\n\r\n  \r\n"two\r\nlines",  x ,""\r\nlast,y,z')
  expect(file.diagnostics).toEqual([])
  const cells = file.rows.map((row) => [row.line, ...[...row.cells.values()].map(({ text }) => text)])
  expect(cells).toEqual([
    [2, 'Ä "1", b', 'ö', 'ü'],
    [5, 'two\r\nlines', 'x', ''],
    [7, 'last', 'y', 'z'],
  ])
  const places = file.rows.map((row) =>
    [...row.cells.values()].map((cell) => {
      const { line, column } = positionAt(file.source, file.at(cell, row).start)
      return `${line}:${column}`
    }),
  )
  expect(places).toEqual([
    ['2:1', '2:14', '2:16'],
    ['5:1', '6:10', '6:13'],
    ['7:1', '7:6', '7:8'],
  ])
})

test('batch file: one that is too large, not UTF-8 or not there is refused with what to do', () => {
  expect(() => read('x'.repeat(5 * 1024 * 1024))).toThrow(/has 5242880 bytes, over 4194304 bytes/)
  expect(() => read(Buffer.from([0x72, 0x65, 0x66, 0xe4]))).toThrow(/is not UTF-8/)
  expect(() => readBatchFile('/nowhere/pay.csv')).toThrow(/cannot be read: ENOENT/)
})
