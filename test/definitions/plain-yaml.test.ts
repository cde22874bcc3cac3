/** The reader of the plain part against the general parser: the same tree, place by place, or none. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseAnyYaml } from '../../src/definitions/parse.ts'
import { readPlainYaml } from '../../src/definitions/plain-yaml.ts'
import type { Tree } from '../../src/definitions/tree.ts'
import { createSource, type Span } from '../../src/diagnostics/index.ts'
import { runs } from '../runs.ts'

const range = ({ start, end }: Span) => `${start}-${end}`

/** All that a tree says: its shape, its values, its places, and the place of every stretch of a text. */
function everything(tree: Tree): unknown {
  switch (tree.kind) {
    case 'map':
      return {
        map: range(tree.span),
        entries: tree.entries.map(({ key, keySpan, value }) => [key, range(keySpan), everything(value)]),
      }
    case 'list':
      return { list: range(tree.span), items: tree.items.map(everything) }
    case 'scalar': {
      const length = typeof tree.value === 'string' ? Math.min(tree.value.length, 30) : 1
      const edges = Array.from({ length: length + 1 }, (_, at) => at)
      const places = edges.flatMap((start) => [start, start + 1, length].map((end) => range(tree.locate(start, end))))
      return { value: tree.value, at: range(tree.span), places: places.join(' ') }
    }
    default:
      return tree satisfies never
  }
}

/** Whether it was read; what was read must be what the general parser reads. */
function reads(text: string): boolean {
  const source = createSource('a.yaml', text)
  const plain = readPlainYaml(source)
  if (!plain) return false
  const general = parseAnyYaml(source)
  expect(general.diagnostics, text).toEqual([])
  expect(general.source.text, text).toBe(text)
  expect(everything(plain), text).toEqual(everything(general.tree!))
  return true
}

describe('the plain part of YAML', () => {
  test.each([
    { name: 'maps in maps', text: 'a:\n  b:\n    c: d\n  e: f\ng: h\n' },
    { name: 'remarks everywhere', text: '# top\n\na: # why\n  # in\n  b: c # d\n\n # odd\ne: f\n# end' },
    { name: 'a key without a value', text: 'a:\nb: # nothing\nc:\n  d:\n' },
    { name: 'lists, deeper and not', text: 'a:\n  - b\n  - c: d\n    e: f\ng:\n- h\n- i: [j]\n  k:\n  - l\n' },
    { name: 'flow maps and lists', text: 'a: { b: c, \'d\': [e, "f"], g: {} } # h\ni: []\n' },
    { name: 'quotes and escapes', text: 'a: \'it\'\'s\'\n"b: c": "d \\"e\\" \\u00e9 \\x41 \\t"\n' },
    {
      name: 'words that are no texts',
      text: 'a: ~\nb: null\nc: true\nd: FALSE\ne: 12\nf: -1.5\ng: 0264\nh: 1e5\ni: .inf\n',
    },
    { name: 'what looks like more', text: 'a: b:c#d[e]{f}, \'g\' "h" -i\n-j: -k\nl: ünï\n' },
    { name: 'blocks', text: 'a: |\n  b\n    c\n\n  d\n\ne: >-\n  f\n  g\n\n\n  h\ni:\n  - |-\n    j\n' },
    { name: 'no line break at the end', text: 'a: b' },
  ])('plain YAML: $name are read', ({ text }) => {
    expect(reads(text)).toBe(true)
  })

  test.each([
    { name: 'nothing', text: '' },
    { name: 'an anchor and an alias', text: 'a: &x b\nc: *x\n' },
    { name: 'a tag', text: 'a: !!str 1\n' },
    { name: 'a second document', text: 'a: b\n---\nc: d\n' },
    { name: 'a directive', text: '%YAML 1.2\n---\na: b\n' },
    { name: 'a tab', text: 'a:\tb\n' },
    { name: 'a carriage return', text: 'a: b\r\n' },
    { name: 'a scalar over lines', text: 'a: b\n  c\n' },
    { name: 'an explicit key', text: '? a\n: b\n' },
    { name: 'a key that is there twice', text: 'a: b\na: c\n' },
    { name: 'a key that is a secret', text: 'privateKey: b\n' },
    { name: 'a map in one line with another', text: 'a: b: c\n' },
    { name: 'a line that stands between two depths', text: 'a:\n    b: c\n  d: e\n' },
    { name: 'an open bracket', text: 'a: [b\n' },
    { name: 'an open quote', text: 'a: "b\n' },
    { name: 'a text that ends in a blank of another kind', text: 'a: b\u00a0\n' },
    { name: 'an escape that is none', text: 'a: "\\q"\n' },
    { name: 'depth without end', text: `a: ${'['.repeat(5_000)}` },
  ])('plain YAML: $name is left to the general parser', ({ text }) => {
    expect(reads(text)).toBe(false)
  })

  test('plain YAML: every example is read', () => {
    const folder = join(import.meta.dirname, '../../definitions')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.yaml'))
    expect(files.length).toBeGreaterThan(5)
    for (const path of files) expect(reads(readFileSync(join(folder, path), 'utf8')), path).toBe(true)
  })

  test('plain YAML: whatever is written, it is read as the general parser reads it, or not at all', () => {
    const piece = fc.constantFrom(
      ...[
        'a',
        'b',
        'key',
        ':',
        ': ',
        ' ',
        '  ',
        '\n',
        '\n  ',
        '\n    ',
        '\n- ',
        '\n  - ',
        '- ',
        ', ',
        '[',
        ']',
        '{',
        '}',
      ],
      ...[
        "'",
        '"',
        '#',
        ' # c',
        '\n# c',
        '\n  # c',
        '|',
        '>',
        '>-\n  x',
        '|\n  x\n',
        '\\',
        '\\n',
        "''",
        '~',
        'null',
        '1',
        '-',
        '?',
      ],
      ...['...', '---', '&', '*', '!', '%', '@', '\u00a0', 'é', '0x1', '1.50', '$' + '{tag.a}'],
    )
    const soup = fc.array(piece, { maxLength: 24 }).map((pieces) => `k: ${pieces.join('')}`)
    let read = 0
    fc.assert(
      fc.property(soup, (text) => {
        if (reads(text)) read++
      }),
      { numRuns: runs(1_000) },
    )
    expect(read).toBeGreaterThan(20)
  })

  test('plain YAML: a document with a piece of another in it is read as the general parser reads it, or not at all', () => {
    const sample = [
      '# top',
      'tags: { a: {}, "b c": ~ }',
      'users:',
      '  alice: # first',
      '    email: alice@acme.test',
      "    tags: [a, 'b c']",
      '',
      '    # her keys',
      '    keys:',
      '      - { name: k, curve: P256 }',
      '      - name: l',
      '        curve: "P\\x32"',
      'policies:',
      '  p:',
      '    condition: >-',
      "      wallet.id == 'x'",
      '      && true',
      '',
      '      || false',
      '    notes: |',
      '      one',
      '        two',
      '  q:',
      'last: 12',
      '',
    ].join('\n')
    const offset = fc.nat(sample.length)
    let read = 0
    fc.assert(
      fc.property(offset, fc.nat(12), offset, fc.nat(12), (at, removed, from, taken) => {
        const text = sample.slice(0, at) + sample.slice(from, from + taken) + sample.slice(at + removed)
        if (reads(text)) read++
      }),
      { numRuns: runs(1_000) },
    )
    expect(read).toBeGreaterThan(100)
  })
})
