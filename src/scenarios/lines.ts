import type { Span } from '../diagnostics/index.ts'
import type { FilePosition } from './model.ts'
import type { SuitePart } from './split.ts'

/** Says where a span starts, as reports say it. */
export type Locate = (span: Span) => FilePosition

/**
 * Finds places in one file, for which its lines are counted once: a file of ten thousand scenarios asks for as many
 * places, and counting from its start for each is most of the time of playing it.
 */
export function createLocate({ source: { path, text }, lines }: SuitePart): Locate {
  const starts = [0]
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) starts.push(i + 1)
  return ({ start }) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]! <= start) low = middle
      else high = middle - 1
    }
    return { path, line: lines?.[low] ?? low + 1, column: [...text.slice(starts[low], start)].length + 1 }
  }
}
