import { suggest } from '../diagnostics/index.ts'
import { type Address, formatAddress, KINDS, kinds, parseNames } from '../resources/index.ts'

/** A piece of a text with `${…}` in it; offsets are into that text. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string; readonly start: number; readonly end: number }
  | { readonly kind: 'reference'; readonly address: Address; readonly start: number; readonly end: number }
  | { readonly kind: 'env' | 'var'; readonly name: string; readonly start: number; readonly end: number }
  | {
      readonly kind: 'bad'
      readonly message: string
      readonly help?: string
      readonly start: number
      readonly end: number
    }

/** Kinds whose ids a text may name. */
const REFERABLE = KINDS.filter((kind) => kinds[kind].referable)

/**
 * Splits a text at its references.
 *
 *     text      = { "$${" | "${" reference "}" | any character }
 *     reference = word name
 *     name      = "." letters, digits, `_` and `-` | `["` JSON string `"]`
 *
 * `$${` is a `${` that stands for itself.
 */
export function parseTemplate(text: string): readonly Piece[] {
  if (text !== '' && !text.includes('${')) return [{ kind: 'text', text, start: 0, end: text.length }]
  const pieces: Piece[] = []
  let plain = ''
  let plainStart = 0
  let at = 0
  const flush = () => {
    if (plain !== '') pieces.push({ kind: 'text', text: plain, start: plainStart, end: at })
    plain = ''
  }
  const take = (piece: string, length: number) => {
    // A piece of text is a stretch of what was written, so one with an escape in it ends there.
    if (plain === '') plainStart = at
    plain += piece
    at += length
  }
  while (at < text.length) {
    if (text.startsWith('$${', at)) {
      flush()
      take('${', 3)
      flush()
    } else if (text.startsWith('${', at)) {
      flush()
      const end = closing(text, at)
      pieces.push(end === undefined ? unclosed(text, at) : reference(text.slice(at + 2, end), at, end + 1))
      at = end === undefined ? text.length : end + 1
    } else {
      const next = text.indexOf('$', at + 1)
      const stretch = text.slice(at, next < 0 ? text.length : next)
      take(stretch, stretch.length)
    }
  }
  flush()
  return pieces
}

function unclosed(text: string, start: number): Piece {
  const end = text.indexOf('\n', start)
  return {
    kind: 'bad',
    message: 'a `${` is not closed',
    help: 'close it with `}`, or write `$${` for itself',
    start,
    end: end < 0 ? text.length : end,
  }
}

/** Where the `}` of a reference stands; one inside a quoted name does not count. */
function closing(text: string, start: number): number | undefined {
  const inside = /\$\{(?:[^"}\n]|"(?:[^"\\\n]|\\.)*")*\}/y
  inside.lastIndex = start
  const match = inside.exec(text)
  return match ? start + match[0].length - 1 : undefined
}

function reference(inside: string, start: number, end: number): Piece {
  const word = /^[A-Za-z]*/.exec(inside)![0]
  const bad = (message: string, help?: string): Piece => ({
    kind: 'bad',
    message,
    start,
    end,
    ...(help ? { help } : {}),
  })
  const rest = inside.slice(word.length)
  if (word === 'env' || word === 'var') {
    const name = /^\.([A-Za-z_][A-Za-z0-9_]*)$/.exec(rest)?.[1]
    return name === undefined
      ? bad(
          `\`\${${inside}}\` names no ${word === 'env' ? 'environment variable' : 'variable'}`,
          `write \`\${${word}.NAME}\` with letters, digits and \`_\``,
        )
      : { kind: word, name, start, end }
  }
  const kind = REFERABLE.find((one) => one === word)
  if (!kind) {
    const [near] = suggest(word, [...REFERABLE, 'env', 'var'])
    const known = [...REFERABLE, 'env', 'var'].map((one) => `\`${one}\``).join(', ')
    return bad(
      `\`\${${inside}}\` refers to nothing that has a name`,
      near ? `did you mean \`\${${near}${rest}}\`?` : `it may start with ${known}`,
    )
  }
  const names = parseNames(rest)
  if (names?.length !== 1) {
    return bad(
      `\`\${${inside}}\` names no ${kinds[kind].one}`,
      `write \`\${${kind}.name}\` or \`\${${kind}["a name"]}\``,
    )
  }
  return { kind: 'reference', address: formatAddress(kind, names[0]!), start, end }
}
