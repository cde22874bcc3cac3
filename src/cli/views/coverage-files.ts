/** Coverage for other programs (lcov's tracefile) and for a browser (one HTML page without anything from outside). */
import { printable, printableLines, type Source } from '../../diagnostics/index.ts'
import type { Coverage, CoveredClause } from '../../scenarios/index.ts'

/**
 * lcov's tracefile: a line counts as hit as often as the clauses that begin on it were evaluated; each clause is a
 * branch point with two branches, true and false.
 */
export function renderLcov({ clauses }: Coverage): string {
  return [...byFile(clauses)]
    .map(([path, all]) => {
      const lines = new Map<number, number>()
      for (const { line, timesTrue, timesFalse, timesError } of all) {
        lines.set(line, Math.max(lines.get(line) ?? 0, timesTrue + timesFalse + timesError))
      }
      const branches = all.flatMap(({ line, timesTrue, timesFalse, timesError }, block) =>
        [timesTrue, timesFalse].map(
          (times, branch) =>
            `BRDA:${line},${block},${branch},${timesTrue + timesFalse + timesError === 0 ? '-' : times}\n`,
        ),
      )
      const hit = all.flatMap(({ timesTrue, timesFalse }) => [timesTrue, timesFalse]).filter((times) => times > 0)
      return [
        `TN:\nSF:${printable(path)}\n`,
        ...branches,
        `BRF:${2 * all.length}\nBRH:${hit.length}\n`,
        ...[...lines].sort(([a], [b]) => a - b).map(([line, times]) => `DA:${line},${times}\n`),
        `LF:${lines.size}\nLH:${[...lines.values()].filter((times) => times > 0).length}\nend_of_record\n`,
      ].join('')
    })
    .join('')
}

const STYLE = `body{font:14px/1.5 system-ui,sans-serif;margin:2rem;color:#222;background:#fff}
pre{font:13px/1.6 ui-monospace,monospace;background:#f7f7f8;padding:1rem;overflow:auto}
mark{background:#ffe2a8;border-bottom:2px solid #c77700}mark.never-evaluated{background:#ffd0d0;border-color:#b00020}
.n{color:#888;user-select:none;display:inline-block;width:4ch;text-align:right;margin-right:2ch}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#111}pre{background:#1b1b1d}mark{background:#5a4100;color:inherit}mark.never-evaluated{background:#5c1620}}`

/** A page with the files of policies in which what no scenario saw is marked; hovering says what is missing. */
export function renderCoverageHtml(coverage: Coverage, sources: readonly Source[]): string {
  const files = [...byFile(coverage.clauses)].flatMap(([path, clauses]) => {
    const source = sources.find((one) => one.path === path)
    return source === undefined ? [] : [`<h2>${html(path)}</h2>\n<pre>${markedText(source.text, clauses)}</pre>\n`]
  })
  return (
    `<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Policy coverage: ${coverage.percent} %</title>\n` +
    `<style>${STYLE}</style>\n<h1>Policy coverage: ${coverage.percent} %</h1>\n` +
    `<p>${coverage.covered} of ${coverage.outcomes} outcomes of ${coverage.clauses.length} clauses were seen. ` +
    `Marked is what no scenario made true, made false, or evaluated at all.</p>\n${files.join('')}</html>\n`
  )
}

function byFile(clauses: readonly CoveredClause[]): ReadonlyMap<string, readonly CoveredClause[]> {
  return Map.groupBy(clauses, ({ path }) => path)
}

/** The text with what is missing marked, line by line, so that a mark never crosses a line number. */
function markedText(text: string, clauses: readonly CoveredClause[]): string {
  const missing = clauses.filter((clause) => clause.missing !== undefined)
  return text
    .split('\n')
    .map((line, index) => {
      const number = index + 1
      const characters = [...line]
      const first = characters.findIndex((c) => c.trim() !== '')
      let out = `<span class="n">${number}</span>`
      const here = missing.filter((clause) => clause.line <= number && number <= clause.endLine)
      characters.forEach((character, at) => {
        const column = at + 1
        for (const clause of here) if (column === startColumn(clause, number, first)) out += openMark(clause)
        out += html(character)
        for (const clause of here) if (column === endColumn(clause, number, characters.length)) out += '</mark>'
      })
      return out
    })
    .join('\n')
}

function startColumn({ line, column }: CoveredClause, number: number, first: number): number {
  return line === number ? column : first + 1
}

function endColumn({ endLine, endColumn: end }: CoveredClause, number: number, length: number): number {
  return endLine === number ? Math.max(1, end - 1) : length
}

function openMark({ missing, policy, field }: CoveredClause): string {
  return `<mark class="${missing!.replaceAll(' ', '-')}" title="${html(`${missing} (${policy}, ${field})`)}">`
}

function html(text: string): string {
  return printableLines(text).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!)
}
