import { parseTemplate } from './template.ts'

/** An expression in which references that stand outside of quotes are numbers, so that it can be parsed. */
export interface HiddenReferences {
  readonly text: string
  /** The offset in what was written of an offset in `text`. */
  readonly back: (offset: number) => number
  /** Puts the references back into any text that has the numbers in it. */
  readonly show: (text: string) => string
}

/**
 * Hides `${…}` where it stands for a part of an expression: `eth.tx.value < ${var.limit}`. Inside of quotes it is a text
 * like any other and stays.
 */
export function hideReferences(value: string): HiddenReferences {
  const shown = new Map<string, string>()
  const parts: { readonly text: string; readonly start: number; readonly end: number }[] = []
  let quoted = false
  for (const { kind, start, end } of parseTemplate(value)) {
    const written = value.slice(start, end)
    if (kind === 'text' || quoted) {
      if (kind === 'text' && written.split("'").length % 2 === 0) quoted = !quoted
      parts.push({ text: written, start, end })
      continue
    }
    const number = placeholder(value, shown.size)
    shown.set(number, written)
    parts.push({ text: number, start, end })
  }
  return {
    text: parts.map(({ text }) => text).join(''),
    back: (offset) => {
      let before = 0
      for (const { text, start, end } of parts) {
        if (offset < before + text.length) return text.length === end - start ? start + (offset - before) : start
        before += text.length
      }
      return value.length
    },
    show: (text) => {
      let result = text
      for (const [number, written] of shown) result = result.replaceAll(number, () => written)
      return result
    },
  }
}

/** A number that the text does not have, and of which none is a part of another. */
function placeholder(value: string, index: number): string {
  let number = 10n ** 30n + BigInt(index)
  while (value.includes(String(number))) number += 10n ** 6n
  return String(number)
}
