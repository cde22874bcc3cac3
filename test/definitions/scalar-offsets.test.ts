import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDocument, type Scalar, type YAMLMap } from 'yaml'
import { scalarOffsets } from '../../src/definitions/scalar-offsets.ts'

function offsetsOf(text: string) {
  const document = parseDocument(text, { keepSourceTokens: true })
  const scalar = (document.contents as YAMLMap).items[0]!.value as Scalar<string>
  const token = scalar.srcToken as Parameters<typeof scalarOffsets>[0]
  return { value: scalar.value, offsets: scalarOffsets(token, scalar.value) }
}

describe('places in scalars', () => {
  const forms: { name: string; text: string }[] = [
    { name: 'a plain scalar', text: 'k: one two\n' },
    { name: 'a plain scalar over lines', text: 'k: one\n  two\n\n  three\n' },
    { name: 'single quotes', text: "k: 'it''s  one'\n" },
    { name: 'single quotes over lines', text: "k: 'one  \n\n\n   two'\n" },
    { name: 'double quotes', text: 'k: "a \\"b\\" \\x41 \\u00e9 \\U0001F511 \\t\\\\ z"\n' },
    { name: 'double quotes over lines', text: 'k: "one\\\n    two\n    three\\n four"\n' },
    { name: 'a literal block', text: 'k: |\n  one\n    two\n\n  three\n' },
    { name: 'a literal block with a remark and chomping', text: 'k: |- # why\n    one\n    two\n\n' },
    { name: 'a literal block that keeps its end', text: 'k: |+\n  one\n\n\n' },
    { name: 'a literal block with a given indentation', text: 'k: |2\n    one\n   two\n' },
    { name: 'a folded block', text: 'k: >\n  one\n  two\n\n  three\n    four\n  five\n' },
    { name: 'a folded block that begins with a blank line', text: 'k: >-\n\n  one\n  two\n' },
    { name: 'a block with CR LF', text: 'k: |\r\n  one\r\n  two\r\n' },
    { name: 'a block that the file ends in', text: 'k: |\n  one\n  two' },
  ]
  for (const { name, text } of forms) {
    test(`places: every letter in ${name} is found where it stands`, () => {
      const { value, offsets } = offsetsOf(text)
      expect(offsets).toHaveLength(value.length + 1)
      for (let i = 0; i < value.length; i++) {
        if (/[a-z]/.test(value[i]!) && text[offsets![i]!] !== '\\') expect(text[offsets![i]!]).toBe(value[i])
        if (i > 0) expect(offsets![i]).toBeGreaterThanOrEqual(offsets![i - 1]!)
      }
    })
  }

  test('places: whatever is written in whichever style, no letter is found where another stands', () => {
    const word = fc.stringMatching(/^[a-z]{1,6}$/)
    const line = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '))
    const lines = fc.array(fc.oneof(line, fc.constant('')), { minLength: 1, maxLength: 5 })
    const indicator = fc.constantFrom('|', '|-', '|+', '>', '>-', '>+')
    fc.assert(
      fc.property(indicator, line, lines, fc.integer({ min: 1, max: 6 }), (style, first, more, indent) => {
        const text = `k: ${style}\n${[first, ...more].map((one) => (one === '' ? '' : ' '.repeat(indent) + one)).join('\n')}\n`
        const { value, offsets } = offsetsOf(text)
        expect(offsets, JSON.stringify(text)).toHaveLength(value.length + 1)
        for (let i = 0; i < value.length; i++) if (/[a-z]/.test(value[i]!)) expect(text[offsets![i]!]).toBe(value[i])
      }),
    )
  })
})
