/**
 * Mnemonics in texts (BIP-39): 12, 15, 18, 21 or 24 words of one list, with the same between each two of them: a blank, a line
 * break, a comma, a number, the quotes of JSON. The last word holds a checksum of the others, so that prose which by chance has
 * words of the list alone is taken for one in one case of sixteen.
 *
 * Node's modules are asked for when they are needed: bundles for workflows and browsers, where there are none and nothing is
 * printed, hold this file too.
 */

/** A stretch of a text. */
export interface Stretch {
  readonly start: number
  readonly end: number
}

interface Word extends Stretch {
  readonly text: string
}

/** The places of a word in the lists that have it, by the name of the list. */
type Places = ReadonlyMap<string, Readonly<Record<string, number>>>

const COUNTS = [24, 21, 18, 15, 12] as const
const FEWEST = 12
/** So many words of one text are tried as the first of a mnemonic: this looks for accidents, and must end soon. */
const MOST_TRIES = 2_000
/** What may stand between two words, such as `",\n      "` of JSON or ` 12. `. */
const MOST_BETWEEN = 40

/** No list has a longer word of the letters a to z alone. */
const LONGEST_IN_ASCII = 9

const LISTS = [
  ...['english', 'simplified-chinese', 'traditional-chinese', 'czech', 'french', 'italian'],
  ...['japanese', 'korean', 'portuguese', 'spanish'],
]

/** Where mnemonics stand in a text; none overlaps another. */
export function findMnemonics(text: string): readonly Stretch[] {
  if (!mayHold(text) || typeof process === 'undefined') return []
  const found: Stretch[] = []
  let tries = 0
  for (const run of runsOf(text)) {
    places ??= readPlaces()
    for (let at = 0; at + FEWEST <= run.length && tries < MOST_TRIES; tries++) {
      const count = COUNTS.find((one) => at + one <= run.length && isMnemonic(run.slice(at, at + one)))
      if (count !== undefined) found.push({ start: run[at]!.start, end: run[at + count - 1]!.end })
      at += count ?? 1
    }
  }
  return found
}

/** Each word stands for 11 bits: those of the entropy, and after them a thirty-second as many of its SHA-256. */
function isMnemonic(words: readonly Word[]): boolean {
  const known = words.map(({ text }) => places!.get(text))
  return Object.keys(known[0] ?? {}).some((list) => {
    if (!known.every((one) => one?.[list] !== undefined)) return false
    const bits = known.map((one) => one![list]!.toString(2).padStart(11, '0')).join('')
    const length = (bits.length * 32) / 33
    const entropy = Buffer.from(
      bits
        .slice(0, length)
        .match(/.{8}/g)!
        .map((byte) => Number.parseInt(byte, 2)),
    )
    const { createHash } = process.getBuiltinModule('node:crypto')
    const [first = 0] = createHash('sha256').update(entropy).digest()
    return first.toString(2).padStart(8, '0').startsWith(bits.slice(length))
  })
}

/**
 * Whether a text may have twelve words with the same between them, told by the first mark between each two: for all but a few
 * texts this is all that is done, and some are of megabytes.
 */
function mayHold(text: string): boolean {
  let [words, letters, between, mark, lastMark] = [0, 0, 0, 0, -1]
  let isAscii = true
  for (let at = 0; at <= text.length; at++) {
    const unit = text.charCodeAt(at)
    // In JSON the letter of an escape such as `\n` is part of the separator between two words.
    const isEscaped = at > 0 && text.charCodeAt(at - 1) === 0x5c
    const isLetter = !isEscaped && (((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a) || isForeignLetter(unit))
    if (isLetter) {
      if (letters === 0) {
        words = between <= MOST_BETWEEN && (words < 2 || mark === lastMark) ? words : Math.min(words, 1)
        lastMark = mark
        isAscii = true
      }
      letters++
      isAscii &&= unit < 0x80
      continue
    }
    if (letters > 0) {
      words = (letters > 2 && letters <= LONGEST_IN_ASCII) || !isAscii ? words + 1 : 0
      if (words >= FEWEST) return true
      letters = between = mark = 0
    }
    between++
    if (mark === 0 && unit > 0x20 && unit !== 0x5c && !isEscaped) mark = unit >= 0x30 && unit <= 0x39 ? 0x30 : unit
  }
  return false
}

/** What is no ASCII, but for spaces and general punctuation. */
function isForeignLetter(unit: number): boolean {
  return unit >= 0xc0 && !(unit >= 0x2000 && unit <= 0x206f) && !(unit >= 0x3000 && unit <= 0x3002) && unit !== 0xfeff
}

/** Twelve words and more with the same between them, of lengths that the lists have; for most texts no list is read. */
function* runsOf(text: string): Generator<readonly Word[]> {
  let run: Word[] = []
  let between: string | undefined
  // An escape of JSON for a line break stands between words, and its letter belongs to neither.
  const plain = text.replace(/\\[nrt]/g, '  ')
  for (const { 0: written, index: start } of plain.matchAll(/[\p{L}\p{M}]+/gu)) {
    const last = run.at(-1)
    const word = { text: written, start, end: start + written.length }
    const isWord = written.length <= 24 && (written.length > 2 || /[^\0-\u02ff]/.test(written))
    const gap = last && start - last.end <= MOST_BETWEEN ? formOf(plain.slice(last.end, start)) : undefined
    const goesOn = isWord && gap !== undefined && (between === undefined || gap === between)
    if (goesOn) {
      between = gap
      run.push(word)
      continue
    }
    if (run.length >= FEWEST) yield inNormalForm(run)
    const startsBefore = isWord && gap !== undefined
    run = startsBefore ? [last!, word] : isWord ? [word] : []
    between = startsBefore ? gap : undefined
  }
  if (run.length >= FEWEST) yield inNormalForm(run)
}

/** The separator between two words in a normal form: any number is 0, any blanks are one. */
function formOf(between: string): string {
  return between === ' ' ? between : between.replace(/\d+/g, '0').replace(/\s+/g, ' ')
}

function inNormalForm(run: readonly Word[]): readonly Word[] {
  return run.map((word) => ({ ...word, text: word.text.normalize('NFKD').toLowerCase() }))
}

let places: Places | undefined

/** The lists of all languages, read when a text first holds twelve words in a row. */
function readPlaces(): Places {
  const { createRequire } = process.getBuiltinModule('node:module')
  // `import.meta` would say where this file is too, and is no syntax in a script for browsers.
  const [here] = process.getBuiltinModule('node:util').getCallSites(1)
  const load = createRequire(here!.scriptName)
  const found = new Map<string, Record<string, number>>()
  for (const list of LISTS) {
    const { wordlist } = load(`@scure/bip39/wordlists/${list}.js`) as { wordlist: readonly string[] }
    wordlist.forEach((word, index) => {
      const key = word.normalize('NFKD')
      found.set(key, { ...found.get(key), [list]: index })
    })
  }
  return found
}
