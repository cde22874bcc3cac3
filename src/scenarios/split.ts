import type { Source } from '../diagnostics/index.ts'

/** A file of scenarios or a part of one, which is a file of scenarios by itself. Plain data. */
export interface SuitePart {
  readonly source: Source
  /** Of a part: for each of its lines, which line of the file it is. */
  readonly lines?: readonly number[]
}

/** A key that is what is written, and starts a scenario of a block map. */
const PLAIN_KEY = /^ *([\p{L}\p{N}_][^:#'"]*?)\s*:(?:\s|$)/u

/**
 * Splits a large file between its named scenarios, so that threads can share the reading too, which takes longer than
 * the playing. Each part has the file's defaults, and the last its tables.
 *
 * A line that is indented as the first scenario is starts a scenario: what belongs to one is indented further, or the file
 * is no YAML (YAML 1.2.2 §8.2.2, §7.4). What could reach over a cut leaves the file whole: anchors, documents, keys in
 * quotes, tabs, names that are written twice.
 */
export function splitFile(source: Source, count: number): readonly SuitePart[] {
  const whole = [{ source }]
  const { path, text } = source
  if (count < 2 || /(?:^|[\s,[{:?-])[&*]\S|\t|^(?:---|\.\.\.|%)|\r(?!\n)/m.test(text)) return whole
  const lines = text.split('\n')
  const sections = topSections(lines)
  const scenarios = sections.find(({ key }) => key === 'scenarios')
  if (scenarios === undefined || new Set(sections.map(({ key }) => key)).size < sections.length) return whole
  if (!/^scenarios:\s*$/.test(lines[scenarios.start]!)) return whole
  const starts = scenarioStarts(lines, scenarios)
  if (starts.length < count) return whole

  const cuts = Array.from({ length: count }, (_, i) => starts[Math.floor((i * starts.length) / count)]!)
  return cuts.map((from, i): SuitePart => {
    const to = cuts[i + 1] ?? scenarios.end
    const isLast = i === count - 1
    const numbers: number[] = []
    for (let n = 0; n < scenarios.start; n++) numbers.push(n)
    numbers.push(scenarios.start)
    for (let n = from; n < to; n++) numbers.push(n)
    for (let n = scenarios.end; n < lines.length; n++) numbers.push(n)
    const tables = sections.find(({ key }) => key === 'tables')
    const kept = tables === undefined || isLast ? numbers : numbers.filter((n) => n < tables.start || n >= tables.end)
    return {
      source: { path, text: kept.map((n) => lines[n]).join('\n') },
      lines: kept.map((n) => n + 1),
    }
  })
}

interface Section {
  readonly key: string
  /** Lines, the end exclusive. */
  readonly start: number
  readonly end: number
}

/** The keys at the top with their lines; a file without such a key cannot be split. */
function topSections(lines: readonly string[]): readonly Section[] {
  const starts = lines.flatMap((line, n) => (/^[^\s#]/.test(line) ? [n] : []))
  return starts.map((start, i) => ({
    key: PLAIN_KEY.exec(lines[start]!)?.[1] ?? '',
    start,
    end: starts[i + 1] ?? lines.length,
  }))
}

/** The lines at which scenarios start; none when that cannot be told for sure. */
function scenarioStarts(lines: readonly string[], { start, end }: Section): readonly number[] {
  const starts: number[] = []
  const names = new Set<string>()
  let indent: number | undefined
  for (let n = start + 1; n < end; n++) {
    const line = lines[n]!
    const own = line.search(/\S/)
    if (own < 0 || line[own] === '#') continue
    indent ??= own
    if (own > indent) continue
    const name = PLAIN_KEY.exec(line)?.[1]
    if (own < indent || name === undefined || names.has(name)) return []
    names.add(name)
    starts.push(n)
  }
  return starts
}
