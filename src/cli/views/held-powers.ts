import { type HeldPower, POWER_WORDS } from '../../analysis/index.ts'
import { waysText } from '../../plan/index.ts'

/** What is more than these is left to `quorate who-can`. */
const MOST_POWERS = 12

/** Alone first, then with others; each power once for each set of people and condition. */
export function heldPowerTexts(reach: readonly HeldPower[]): readonly string[] {
  const texts = [...reach]
    .sort((a, b) => Number(b.alone) - Number(a.alone))
    .map(({ power, over, condition, alone, ways }) => {
      const who = alone ? 'alone' : ways === 'unknown' ? 'perhaps, with others' : `with others (${waysText(ways)})`
      const under = condition === undefined ? '' : ` under condition ${condition}`
      return `${[POWER_WORDS[power], ...over].join(' ')}: ${who}${under}`
    })
  const all = [...new Set(texts)]
  return all.length > MOST_POWERS
    ? [...all.slice(0, MOST_POWERS), `and ${all.length - MOST_POWERS} more; \`quorate who-can\` has them all`]
    : all
}
