import {
  codePoint,
  type Diagnostic,
  diagnostic,
  findUnseen,
  type Span,
  spanAt,
  toSpanJson,
} from '../diagnostics/index.ts'

/** A name as it is written, with its place. */
export interface WrittenName {
  readonly name: string
  readonly span: Span
}

/** The rules of a name (docs/protocol/requests.md#field-checks, `tk_label`). Gives what is wrong, or nothing. */
export function checkName({ name, span }: WrittenName): Diagnostic | undefined {
  const unseen = findUnseen(name)
  const wrong =
    name === '' || name.length > 255
      ? `${name.length} characters`
      : unseen
        ? `${codePoint(unseen.character)}, which cannot be seen, as its character ${[...name.slice(0, unseen.index)].length + 1}`
        : name !== name.trim()
          ? 'a blank at an end'
          : name.includes('${')
            ? 'a `${`'
            : undefined
  if (wrong === undefined) return undefined
  const message = `expected a name of 1 to 255 printable characters, got ${wrong}`
  return diagnostic('definitions/bad-name', message, unseen ? placeIn(span, name, unseen) : span, {
    help: 'a name is shown, stored and compared as it is written',
  })
}

/** Where the character stands in the file, unless the name is written there with escapes of YAML. */
function placeIn(span: Span, name: string, { index, character }: NonNullable<ReturnType<typeof findUnseen>>): Span {
  const { source, start, end } = span
  const at = source.text.slice(start, end).indexOf(name)
  return at < 0 ? span : spanAt(source, start + at + index, start + at + index + character.length)
}

/**
 * Takes a name, or says that it is taken: by the same name elsewhere, or by one that differs in its Unicode form only and so looks
 * the same (é as one character, or as e with an accent).
 */
export function checkTaken(one: WrittenName, taken: Map<string, WrittenName>, what: string): Diagnostic | undefined {
  const form = one.name.normalize('NFC')
  const first = taken.get(form)
  if (!first) {
    taken.set(form, one)
    return undefined
  }
  const { path, line, column } = toSpanJson(first.span)
  const related = [{ message: `\`${first.name}\` is defined here`, span: first.span }]
  if (first.name === one.name) {
    const message = `${what} is already defined at ${path}:${line}:${column}`
    return diagnostic('definitions/defined-twice', message, one.span, { related, help: 'join the two, or rename one' })
  }
  const message = `${what} looks like the one at ${path}:${line}:${column} and is another`
  const help = 'write both in the same Unicode form, or rename one'
  return diagnostic('definitions/twin-names', message, one.span, { related, help })
}
