import { type HeldPower, POWER_WORDS } from '../../analysis/index.ts'
import { amountNote, waysText } from '../../plan/index.ts'

/** What is more than these is left to `quorate who-can`. */
const MOST_LINES = 12

/** What a user may do alone, then what with whom: a line for each set of people and each condition, which names all of its powers. */
export function heldPowerTexts(reach: readonly HeldPower[]): readonly string[] {
  const order = [...reach].sort((a, b) => Number(b.alone) - Number(a.alone))
  const groups = Map.groupBy(order, (held) => JSON.stringify([whoText(held), held.condition]))
  const lines = [...groups.values()].map((those) => {
    const { condition } = those[0]!
    const under = condition === undefined ? '' : `, under condition \`${condition}\`${amountNote(condition)}`
    return `${whoText(those[0]!)}: ${powersText(those)}${under}`
  })
  return lines.length > MOST_LINES
    ? [...lines.slice(0, MOST_LINES), `and ${lines.length - MOST_LINES} more; \`quorate who-can\` has them all`]
    : lines
}

function whoText({ alone, ways }: HeldPower): string {
  if (alone) return 'alone'
  return ways === 'unknown' ? 'perhaps, with others' : `with others (${waysText(ways)})`
}

/** `sign and send wallet.a and wallet.b; import and change policies`: powers over the same things, together. */
function powersText(those: readonly HeldPower[]): string {
  const overs = new Map<string, Set<string>>()
  for (const { power, over } of those) {
    const key = JSON.stringify([power, over.length > 0])
    overs.set(key, new Set([...(overs.get(key) ?? []), ...over]))
  }
  const together = Map.groupBy(overs, ([, over]) => inWords([...over].sort()))
  return [...together]
    .map(([things, rows]) => {
      const powers = rows.map(([key]) => POWER_WORDS[(JSON.parse(key) as [HeldPower['power'], boolean])[0]])
      return things === '' ? inWords(powers) : `${inWords(powers)} ${things}`
    })
    .join('; ')
}

function inWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
