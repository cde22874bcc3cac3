/**
 * Names close enough to a mistaken one to be what was meant, best first, at most `limit`.
 * Closeness is the edit distance with transpositions (optimal string alignment), compared without regard to case;
 * a name may differ in a third of its letters, and a name that merely adds a word to the mistaken one counts too.
 * @default limit 5
 */
export function suggest(wrong: string, names: Iterable<string>, limit = 5): readonly string[] {
  const word = wrong.toLowerCase()
  const scored: { name: string; score: number }[] = []
  for (const name of new Set(names)) {
    const other = name.toLowerCase()
    const score = distance(word, other)
    const near = score <= Math.max(1, Math.floor(Math.max(word.length, other.length) / 3))
    if (near || (word.length >= 3 && other.includes(word))) scored.push({ name, score })
  }
  scored.sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1))
  return scored.slice(0, limit).map(({ name }) => name)
}

function distance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1
      let best = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + change)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, beforeLast[j - 2]! + 1)
      row.push(best)
    }
    beforeLast = last
    last = row
  }
  return last[b.length]!
}
