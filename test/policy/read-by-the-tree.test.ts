import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** What the regular expressions in the room of policies read: the lexer reads expressions, all others read one value or one name. */
const READ: Readonly<Record<string, string>> = {
  'activity-params.ts': 'the name of a field of an activity',
  'check.ts': 'the value of a text in an expression',
  'cron.ts': 'the value of a schedule or of a duration',
  'evaluate.ts': 'a value that is sliced',
  'fast/index-of-policies.ts': 'the name of an activity',
  'instant.ts': 'the value of an instant',
  'lexer.ts': 'the text of an expression, which nothing else reads before the parser',
  'load.ts': 'values of the context',
  'parser.ts': 'the value or the symbol of one token',
  'rules/malformed-address.ts': 'the value of a text in an expression',
  'rules/mixed-case-hex.ts': 'the value of a text in an expression',
  'rules/quoted-number.ts': 'the value of a text in an expression',
  'zone.ts': 'the name of a time zone',
}

/** A regular expression in formatted code: after an operator, a bracket or `return`, and not in a comment. */
const REGULAR =
  /^(?!\s*(?:\*|\/\*|\/\/)).*?(?:[=(:,?[!|&]\s?|\breturn )\/(?![/*\s])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[\n])+\/[dgimsuvy]*(?=[.,;)\]\s]|$)|\bnew RegExp\(/m

const EXPRESSION = String.raw`(?:String\()?(?:\b\w+[?!]?\.)*(?:condition|consensus|expression)(?:\.text|Text)?[?!]?\)?`
const SEARCHED = new RegExp(
  [
    String.raw`${EXPRESSION}[?!]?\.(?:match|matchAll|replace|replaceAll|search|split|includes|indexOf|startsWith|endsWith)\(`,
    String.raw`\.(?:test|exec)\(${EXPRESSION}[,)]`,
  ].join('|'),
)

/** JSON that is made to be searched: what it was made of has the values, without its quotes and escapes. */
const SEARCHED_JSON =
  /JSON\.stringify\(.*\)\.(?:match|matchAll|search|split|includes|indexOf|startsWith)\(|\b(?:\w+In|test|exec)\(JSON\.stringify\(/

const sources = globSync('{src,activities,workflows}/**/*.ts', { cwd: root, exclude: ['**/*.gen.ts'] })
const read = (file: string) => readFileSync(join(root, file), 'utf8')

describe('expressions of policies are read by their tree', () => {
  test('in the room of policies, a file with a regular expression says what that reads', () => {
    const found = sources
      .filter((file) => file.startsWith('src/policy/') && REGULAR.test(read(file)))
      .map((file) => file.slice('src/policy/'.length))
    expect(found.sort()).toEqual(Object.keys(READ))
  })

  test('elsewhere, no text of an expression is searched, taken apart or replaced', () => {
    const searching = sources.flatMap((file) =>
      read(file)
        .split('\n')
        .filter((line) => SEARCHED.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    )
    expect(sources.length).toBeGreaterThan(1_000)
    expect(searching).toEqual([])
  })

  test('no text of JSON is searched', () => {
    const searching = sources.flatMap((file) =>
      read(file)
        .split('\n')
        .filter((line) => SEARCHED_JSON.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    )
    expect(searching).toEqual([])
  })

  test.each([
    { line: 'for (const id of idsIn(JSON.stringify(activity.intent))) users.add(id)' },
    { line: 'return JSON.stringify(activity.intent).toLowerCase().includes(about)' },
  ])('a search of JSON would be found: $line', ({ line }) => {
    expect(SEARCHED_JSON.test(line)).toBe(true)
  })

  test.each([
    { line: 'return String(consensus).includes(userId)' },
    { line: 'if (/approvers/.test(policy.condition)) return' },
    { line: "const ids = fields.consensus!.match(/'[^']*'/g)" },
    { line: 'unit.expression.text.replaceAll(from, to)' },
  ])('a search would be found: $line', ({ line }) => {
    expect(SEARCHED.test(line)).toBe(true)
  })

  test.each([
    { line: '  const word = /[A-Za-z_]?\\w*$/.exec(before)![0]' },
    { line: 'const SPACE = /\\s+/g' },
    { line: "  .replaceAll(/'[^']*'/g, '')" },
  ])('a regular expression would be found: $line', ({ line }) => {
    expect(REGULAR.test(line)).toBe(true)
  })
})
