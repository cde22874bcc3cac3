import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatDefinitions, isTestFile, LOCK_FILE } from '../../src/definitions/index.ts'
import { createSource, renderDiagnostics } from '../../src/diagnostics/index.ts'
import { canonicalJson } from '../../src/encoding/index.ts'
import { runs } from '../runs.ts'
import { loadFiles, ORGANIZATION_ID, splitFixture } from './harness.ts'

const repository = join(import.meta.dirname, '../..')

function format(text: string): string {
  const { text: formatted, diagnostics } = formatDefinitions(createSource('a.yaml', text))
  expect(renderDiagnostics(diagnostics)).toBe('')
  expect(formatDefinitions(createSource('a.yaml', formatted)).text).toBe(formatted)
  return formatted
}

describe('fmt', () => {
  const cases: readonly { readonly name: string; readonly given: string; readonly expected: string }[] = [
    {
      name: 'sections and fields stand in the order of the schema; names stay in the order they were written in',
      given:
        'users:\n  zoe:\n    tags: [ops]\n    email: z@b.test\n  al: {}\ntags: { ops: {} }\nid: x\norganization: acme\n',
      expected:
        'organization: acme\nid: x\ntags: { ops: {} }\nusers:\n  zoe:\n    email: z@b.test\n    tags: [ops]\n  al: {}\n',
    },
    {
      name: 'comments go with what they stand above, beside or in; the head of the file stays on top',
      given: [
        '# about the file',
        '',
        '# People.',
        'users: # all of them',
        '  # Bob.',
        '  bob:',
        '    # What he is for.',
        '    tags: [ops] # only this',
        '    # his address',
        '    email: b@b.test',
        '    # phone: +1',
        '  # nobody else yet',
        '',
        '# Who we are.',
        'organization: acme',
        '# the end',
        '',
      ].join('\n'),
      expected: [
        '# about the file',
        '',
        '# Who we are.',
        'organization: acme',
        '',
        '# People.',
        'users: # all of them',
        '  # Bob.',
        '  bob:',
        '    # his address',
        '    email: b@b.test',
        '    # What he is for.',
        '    tags: [ops] # only this',
        '    # phone: +1',
        '  # nobody else yet',
        '# the end',
        '',
      ].join('\n'),
    },
    {
      name: 'two columns a level, lists as well, and of blank lines one',
      given:
        'users:\n\n\n\n    bob:\n        tags:\n        - ops\n        # more\n        - dev\n    al:\n     email: a@b.test\n',
      expected: 'users:\n\n  bob:\n    tags:\n      - ops\n      # more\n      - dev\n  al:\n    email: a@b.test\n',
    },
    {
      name: 'a map behind a dash keeps its dash',
      given: 'wallets:\n  w:\n    accounts:\n    -   format: ethereum\n        path: "m/0"\n        curve: secp256k1\n',
      expected:
        'wallets:\n  w:\n    accounts:\n      -   path: "m/0"\n          curve: secp256k1\n          format: ethereum\n',
    },
    {
      name: 'between braces the pairs change places, however deep',
      given: 'policies: { a: { condition: "true", effect: allow }, b: { notes: "x, y", effect: deny } } # two\n',
      expected: 'policies: { a: { effect: allow, condition: "true" }, b: { effect: deny, notes: "x, y" } } # two\n',
    },
    {
      name: 'a block of text moves whole, and expressions are formatted',
      given:
        "policies:\n  a:\n    notes: |\n      # no comment\n        further in\n\n    condition: wallet.id=='w'\n    effect: allow\n",
      expected:
        "policies:\n  a:\n    effect: allow\n\n    condition: wallet.id == 'w'\n    notes: |\n      # no comment\n        further in\n",
    },
    {
      name: 'the line for the editor stays first, and `---` above all',
      given: '---\n# yaml-language-server: $schema=x\nusers: {}\n# why\ntags: {}\n',
      expected: '---\n# yaml-language-server: $schema=x\n# why\ntags: {}\nusers: {}\n',
    },
    {
      name: 'a key that nobody knows keeps its map as it is',
      given: 'policies:\n  a:\n    conditon: "true"\n    effect: allow\n',
      expected: 'policies:\n  a:\n    conditon: "true"\n    effect: allow\n',
    },
    {
      name: 'where an alias or a kept line end would suffer, lines stay where they are',
      given: 'users:\n  a: &a { tags: [x], email: a@b.test }\n  b: *a\ntags: { x: {} }\n',
      expected: 'users:\n  a: &a { tags: [x], email: a@b.test }\n  b: *a\ntags: { x: {} }\n',
    },
    { name: 'line ends of Windows stay', given: 'tags: {}\r\nid: x\r\n', expected: 'id: x\r\ntags: {}\r\n' },
    {
      name: 'values that begin on the line below, and lines that are folded, move whole',
      given:
        'policies:\n   a:\n     notes:\n        some plain text\n        goes on\n     condition: "wallet.id == \'w\'\n       && true"\n     effect: allow\n\n\n',
      expected:
        'policies:\n  a:\n    effect: allow\n    condition: "wallet.id == \'w\' && true"\n    notes:\n       some plain text\n       goes on\n',
    },
    { name: 'an empty file is formatted', given: '', expected: '' },
    { name: 'a file of comments is formatted', given: '# soon\n', expected: '# soon\n' },
  ]
  test.each(cases)('$name', ({ given, expected }) => {
    expect(format(given)).toBe(expected)
  })

  test.each([
    { name: 'what is not YAML', text: 'users: [\ntags: {}\n', code: 'definitions/syntax' },
    { name: 'a key that is written twice', text: 'tags: {}\nid: x\ntags: {}\n', code: 'definitions/duplicate-key' },
    { name: 'a pasted secret', text: 'users: {}\nid: x\nprivateKey: abc\n', code: 'definitions/secret' },
  ])('$name is left as it is, and said', ({ text, code }) => {
    const { text: after, diagnostics } = formatDefinitions(createSource('a.yaml', text))
    expect(after).toBe(text)
    expect(diagnostics.map((one) => one.code)).toContain(code)
  })

  test('no mistake in a definition stops it, and none makes it say anything else', () => {
    let files = 0
    for (const folder of ['valid', 'invalid']) {
      for (const name of readdirSync(join(import.meta.dirname, folder))) {
        const fixture = splitFixture(readFileSync(join(import.meta.dirname, folder, name), 'utf8'))
        for (const text of Object.values(fixture.files)) {
          files++
          const once = formatDefinitions(createSource('a.yaml', text)).text
          expect(formatDefinitions(createSource('a.yaml', once)).text, name).toBe(once)
        }
      }
    }
    expect(files).toBeGreaterThan(100)
  })

  test('the examples are formatted', () => {
    const folder = join(repository, 'definitions')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const definitions = files.filter((name) => /\.yaml$/.test(name) && !isTestFile(name) && !name.endsWith(LOCK_FILE))
    expect(definitions.length).toBeGreaterThan(8)
    for (const name of definitions) {
      const text = readFileSync(join(folder, name), 'utf8')
      expect(format(text), name).toBe(text)
    }
  })

  test('whatever way definitions are written: they mean the same, no comment is lost, and twice is once', async () => {
    const name = fc.constantFrom('alice', 'b b', 'c-1', 'd.e', '7')
    const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
    const notes = fc.constantFrom('a', 'x: y', '# z', 'two\nlines\n', ' lead', "it's", '')
    const shape = fc.record({
      manage: optional(fc.constant({ tags: 'all', policies: 'all' })),
      tags: optional(fc.dictionary(name, fc.constant({}), { maxKeys: 3 })),
      users: optional(
        fc.dictionary(name, fc.record({ email: optional(fc.constant('a@b.test')), tags: optional(fc.constant([])) }), {
          maxKeys: 3,
        }),
      ),
      policies: optional(
        fc.dictionary(
          name,
          fc.record({
            effect: fc.constantFrom('allow', 'deny'),
            consensus: optional(fc.constantFrom('true', 'approvers.count()>=2')),
            condition: optional(fc.constantFrom("wallet.id=='w'", "activity.kind == 'SIGN_TRANSACTION'")),
            notes: optional(notes),
          }),
          { maxKeys: 3 },
        ),
      ),
      wallets: optional(
        fc.dictionary(
          name,
          fc.record({
            accounts: optional(
              fc.uniqueArray(
                fc.record({
                  path: fc.constantFrom("m/44'/60'/0'/0/0", "m/44'/60'/0'/0/1"),
                  curve: fc.constant('secp256k1'),
                  format: fc.constant('ethereum'),
                }),
                { maxLength: 2, selector: ({ path }) => path },
              ),
            ),
          }),
          { maxKeys: 2 },
        ),
      ),
    })
    let [moved, commented] = [0, 0]
    await fc.assert(
      fc.asyncProperty(shape, fc.integer(), async (definitions, seed) => {
        const text = new Scribe(seed).write({ organization: 'acme', id: ORGANIZATION_ID, ...definitions })
        const once = format(text)
        const meaning = async (yaml: string) => {
          const { desired, diagnostics } = await loadFiles({ 'a.yaml': yaml })
          expect(renderDiagnostics(diagnostics)).toBe('')
          const { digest, ...rest } = desired!
          return canonicalJson({
            ...rest,
            manageAll: [...rest.manageAll],
            resources: rest.resources.map(({ span, fieldSpans, ...one }) => ({ ...one, fields: flatten(one.fields) })),
          })
        }
        expect(await meaning(once)).toBe(await meaning(text))
        const comments = (yaml: string) => [...yaml.matchAll(/# c\d+c/g)].map(([one]) => one).sort()
        expect(comments(once)).toEqual(comments(text))
        moved += Number(once !== text)
        commented += comments(text).length
      }),
      { numRuns: runs(25) },
    )
    expect(moved).toBeGreaterThan(12)
    expect(commented).toBeGreaterThan(25)
  })
})

/** Expressions mean the same with other blanks. */
function flatten(fields: object): object {
  return JSON.parse(JSON.stringify(fields).replaceAll(' ', ''))
}

/** Writes definitions the way nobody should: any indentation, any order, blanks and comments anywhere. */
class Scribe {
  #state: number
  #comments = 0

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  write(definitions: object): string {
    const head = this.#one(['', '---\n', '# head\n\n', '\n\n'])
    return head + this.#map(definitions, 0).join('\n') + this.#one(['', '\n', '\n\n', '\n# c0c\n'])
  }

  #map(value: object, column: number): readonly string[] {
    const pad = ' '.repeat(column)
    const pairs = Object.entries(value).filter(([, one]) => one !== undefined)
    const shuffled = pairs.map((pair) => ({ pair, rank: this.#next() })).sort((a, b) => a.rank - b.rank)
    return shuffled.flatMap(({ pair: [key, one] }) => [
      ...this.#around(column),
      ...this.#pair(`${pad}${this.#scalar(key)}:`, one, column),
    ])
  }

  #pair(head: string, value: unknown, column: number): readonly string[] {
    const deeper = column + 1 + (this.#next() % 5)
    if (typeof value === 'string' && value.includes('\n') && this.#next() % 2 === 0) {
      const lines = value.trimEnd().split('\n')
      return [`${head} |`, ...lines.map((line) => ' '.repeat(deeper) + line)]
    }
    if (typeof value !== 'object' || value === null) return [`${head} ${this.#scalar(value)}${this.#behind()}`]
    const isEmpty = Object.keys(value).length === 0
    if (isEmpty || this.#next() % 3 === 0) return [`${head} ${this.#flow(value)}${this.#behind()}`]
    if (!Array.isArray(value)) return [`${head}${this.#behind()}`, ...this.#map(value, deeper)]
    const dashes = column + (this.#next() % 3)
    return [
      `${head}${this.#behind()}`,
      ...value.flatMap((item) => {
        const gap = 1 + (this.#next() % 3)
        const [first, ...rest] = this.#map(item, dashes + 1 + gap).filter(
          (line) => line.trim() !== '' && !line.trim().startsWith('#'),
        )
        return [...this.#around(dashes), `${' '.repeat(dashes)}-${first!.slice(dashes + 1)}`, ...rest]
      }),
    ]
  }

  #flow(value: unknown): string {
    if (Array.isArray(value)) return `[${value.map((one) => this.#flow(one)).join(', ')}]`
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const pairs = Object.entries(value).filter(([, one]) => one !== undefined)
    return `{ ${pairs.map(([key, one]) => `${JSON.stringify(key)}: ${this.#flow(one)}`).join(', ')} }`
  }

  #scalar(value: unknown): string {
    const text = String(value)
    if (/^(?!true$)[a-z][\w@.=()>-]*$/i.test(text) && this.#next() % 2 === 0) return text
    return text.includes('\n') || this.#next() % 2 === 0 ? JSON.stringify(text) : `'${text.replaceAll("'", "''")}'`
  }

  #around(column: number): readonly string[] {
    const comment = () => `${' '.repeat(Math.max(0, column + this.#one([0, 0, -1, 3])))}# c${++this.#comments}c`
    return this.#one([() => [], () => [], () => [''], () => [comment()], () => ['', comment(), '', comment()]])()
  }

  #behind(): string {
    return this.#next() % 4 === 0 ? ` # c${++this.#comments}c` : ''
  }

  #one<T>(choices: readonly T[]): T {
    return choices[this.#next() % choices.length]!
  }

  #next(): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0
    return this.#state >>> 8
  }
}
