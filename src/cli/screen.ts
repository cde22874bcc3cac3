/**
 * What may move on a reader's screen. Text on its way out is printable (`printable.ts`) but for what the functions here put
 * in: colours, and lines that are written over. They mark it with a number that is drawn when the process starts, so that
 * no text from outside can ask for the same; `toTerminal` alone turns marks into control sequences (ECMA-48).
 */
import { randomBytes } from 'node:crypto'
import { printable, printableDeep, printableLines } from '../diagnostics/index.ts'

const NUMBER = randomBytes(16).toString('hex')
/** Stands for `ESC [`. */
const CSI = `\u0001${NUMBER}[`
/** Stands for the `::` of a workflow command. */
const COMMAND = `\u0001${NUMBER}:`

/** A text between two settings of its rendition (SGR); inside of it, another that ends alike goes back to this one. */
export function rendition(on: number, off: number): (text: string) => string {
  const [start, end] = [`${CSI}${on}m`, `${CSI}${off}m`]
  return (text) => `${start}${text.replaceAll(end, end + start)}${end}`
}

/** To the start of the line, which is erased (CHA, EL). */
export const overLine = `${CSI}G${CSI}K`

/** Up over so many lines, and erases to the end of the screen (CPL, ED). */
export function overLines(count: number): string {
  return count === 0 ? '' : `${CSI}${count}F${CSI}J`
}

/** Lines of which each takes one row, however long it is (DECAWM): what is written over later must be counted now. */
export function oneRowEach(text: string): string {
  return `${CSI}?7l${text}${CSI}?7h`
}

/** Lines that a job of GitHub Actions carries out; to be used on nothing but what `views/github.ts` makes. */
export function workflowCommands(text: string): string {
  return text.replace(/^::/gm, COMMAND)
}

/** A template whose own line breaks stay, and in whose every value they are shown as escapes. */
export function line(
  template: TemplateStringsArray,
  ...values: readonly (string | number | bigint | boolean)[]
): string {
  return template.map((text, index) => text + (index < values.length ? oneLine(String(values[index])) : '')).join('')
}

function oneLine(text: string): string {
  return text.split(CSI).map(printable).join(CSI)
}

/**
 * Makes a view: every text in what it is given is printable, so that whatever the view puts where stays there. Line breaks
 * stay under the keys `lines`: those are what the view indents.
 */
export function view<Given extends readonly unknown[]>(
  render: (...given: Given) => string,
  { lines = [] }: { readonly lines?: readonly string[] } = {},
): (...given: Given) => string {
  return (...given) => render(...printableDeep(given, { lines }))
}

/** The text for the stream: marks become control sequences; of other unprintable characters only line ends and tabs stay. */
export function toTerminal(text: string): string {
  return text
    .split(CSI)
    .map((part) =>
      part
        .split(COMMAND)
        .map((piece) => disarm(printableEnds(piece)))
        .join('::'),
    )
    .join('\u001b[')
}

function printableEnds(text: string): string {
  return text
    .split(/(\r\n|\t)/)
    .map((part, index) => (index % 2 === 1 ? part : printableLines(part)))
    .join('')
}

/** A job of GitHub Actions takes a line that begins with `::` for a command, and `##[` wherever it stands. */
function disarm(text: string): string {
  return text.replace(/^(\s*)::/gm, '$1\\u{3a}:').replaceAll('##[', '\\u{23}#[')
}

/** `1 error`, `2 errors`: a number with what it counts. @default many: `one` with an s */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}
