import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createSource,
  diagnostic,
  EXIT,
  hasErrors,
  positionAt,
  QuorateError,
  renderDiagnostics,
  renderError,
  sortDiagnostics,
  spanAt,
  suggest,
  toErrorJson,
  toSpanJson,
} from '../../src/diagnostics/index.ts'

const source = createSource('policies.yaml', "a: 1\n  condition: activity.resorce == 'WALLET'\nend")
const marked = (text: string, of = source) => spanAt(of, of.text.indexOf(text), of.text.indexOf(text) + text.length)

describe('places', () => {
  for (const { text, offset, line, column } of [
    { text: '', offset: 0, line: 1, column: 1 },
    { text: 'abc', offset: 2, line: 1, column: 3 },
    { text: 'abc', offset: 99, line: 1, column: 4 },
    { text: 'a\nb', offset: 1, line: 1, column: 2 },
    { text: 'a\nb', offset: 2, line: 2, column: 1 },
    { text: 'a\r\nb', offset: 3, line: 2, column: 1 },
    { text: '\n\n', offset: 2, line: 3, column: 1 },
    { text: '😀😀x', offset: 4, line: 1, column: 3 },
  ]) {
    test(`place: offset ${offset} of ${JSON.stringify(text)} is ${line}:${column}`, () => {
      expect(positionAt(createSource('a', text), offset)).toEqual({ line, column })
    })
  }

  test('place: asked for in any order, it is what counting from the start comes to', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '\n', '\r\n', '😀', '\ud83d', '\ude00'), maxLength: 60 })
    fc.assert(
      fc.property(text, fc.array(fc.nat(100), { minLength: 1, maxLength: 8 }), (written, offsets) => {
        const one = createSource('a', written)
        for (const offset of offsets) {
          const lines = written.slice(0, offset).split('\n')
          expect(positionAt(one, offset)).toEqual({ line: lines.length, column: [...lines.at(-1)!].length + 1 })
        }
      }),
    )
  })

  test('place: a span never leaves its text and never ends before it starts', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer(), fc.integer(), (text, a, b) => {
        const { start, end } = spanAt(createSource('a', text), a, b)
        expect(0 <= start && start <= end && end <= text.length).toBe(true)
      }),
    )
  })

  test('place: the JSON form has both ends, counted from 1', () => {
    expect(toSpanJson(marked('1\n  condition'))).toEqual({
      path: 'policies.yaml',
      line: 1,
      column: 4,
      endLine: 2,
      endColumn: 12,
    })
  })
})

describe('diagnostics', () => {
  test('diagnostic: an error without help or related places by default', () => {
    const span = marked('resorce')
    expect(diagnostic('policy/unknown-field', 'm', span)).toEqual({
      code: 'policy/unknown-field',
      severity: 'error',
      message: 'm',
      span,
      related: [],
    })
  })

  test('diagnostic: only an error is one', () => {
    const of = (severity: 'error' | 'warning' | 'info') => diagnostic('a/b', 'm', marked('a'), { severity })
    expect(hasErrors([])).toBe(false)
    expect(hasErrors([of('warning'), of('info')])).toBe(false)
    expect(hasErrors([of('warning'), of('error')])).toBe(true)
  })

  test('diagnostic: any order of finding gives one order of showing, and loses none', () => {
    const all = ['b.yaml', 'a.yaml'].flatMap((path) =>
      [3, 0].flatMap((start) =>
        (['z/z', 'a/a'] as const).map((code) => diagnostic(code, 'm', spanAt(createSource(path, 'text'), start))),
      ),
    )
    const shown = sortDiagnostics(all).map(({ span, code }) => `${span.source.path}:${span.start}:${code}`)
    expect(shown.slice(0, 3)).toEqual(['a.yaml:0:a/a', 'a.yaml:0:z/z', 'a.yaml:3:a/a'])
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (shuffled) => {
        expect(sortDiagnostics(shuffled)).toEqual(sortDiagnostics(all))
      }),
    )
  })
})

describe('render', () => {
  const help = 'did you mean `resource`?'
  const fault = diagnostic('policy/unknown-field', '`activity` has no field `resorce`', marked('resorce'), {
    help,
    related: [{ message: 'the policy starts here', span: marked('a: 1') }],
  })

  test('render: place, severity, code, message, the marked line, related places and help', () => {
    expect(renderDiagnostics([fault])).toBe(
      [
        'policies.yaml:2:23: error policy/unknown-field: `activity` has no field `resorce`',
        "   2 │   condition: activity.resorce == 'WALLET'",
        '     │                       ^^^^^^^',
        '  policies.yaml:1:1: the policy starts here',
        '  help: did you mean `resource`?',
        '',
      ].join('\n'),
    )
  })

  test('render: none is no text, several stand apart', () => {
    expect(renderDiagnostics([])).toBe('')
    expect(renderDiagnostics([fault, fault]).split('\n\n')).toHaveLength(2)
  })

  test('render: only the severity is coloured, by its own style', () => {
    const styles = { error: (text: string) => `<e>${text}</e>`, warning: (text: string) => `<w>${text}</w>` }
    expect(renderDiagnostics([fault], styles)).toContain(': <e>error</e> policy/unknown-field: ')
    const warning = { ...fault, severity: 'warning' as const }
    expect(renderDiagnostics([warning], styles)).toContain(': <w>warning</w> policy/unknown-field: ')
  })

  /** The two lines of the excerpt, without their margin. */
  const excerpt = (text: string, word: string) => {
    const of = createSource('a', text)
    return renderDiagnostics([diagnostic('a/b', 'm', marked(word, of))])
      .split('\n')
      .slice(1, 3)
      .map((line) => line.replace(/^.*?│ ?/, ''))
  }

  for (const { name, text, word, lines } of [
    { name: 'a tab before it', text: '\tkey: bad', word: 'bad', lines: ['\tkey: bad', '\t     ^^^'] },
    { name: 'an emoji before it', text: '😀 bad', word: 'bad', lines: ['😀 bad', '  ^^^'] },
    {
      name: 'a control character before it',
      text: 'x\u001b[1mbad',
      word: 'bad',
      lines: ['x\\u{1b}[1mbad', '          ^^^'],
    },
    { name: 'more than one line marked', text: 'one\ntwo', word: 'e\ntw', lines: ['one', '  ^'] },
    { name: 'a line that ends in CR LF', text: 'one\r\ntwo', word: 'one', lines: ['one', '^^^'] },
  ]) {
    test(`render: the marks stand below what is marked with ${name}`, () => {
      expect(excerpt(text, word)).toEqual(lines)
    })
  }

  test('render: an empty line is not shown', () => {
    expect(renderDiagnostics([diagnostic('a/b', 'm', spanAt(createSource('a', '\n\nx'), 0))])).toBe(
      'a:1:1: error a/b: m\n',
    )
  })

  test('render: nothing from outside can forge a line or move the cursor', () => {
    const evil = 'x\u001b[2J\u0007\r\n\u009b1m\u2028\u202e'
    const of = createSource(`path${evil}.yaml`, `key: ${evil}`)
    const text = renderDiagnostics([
      diagnostic('a/b', evil, marked('key', of), { help: evil, related: [{ message: evil, span: marked('key', of) }] }),
    ])
    const error = renderError(new QuorateError('a/b', evil, { facts: { name: evil }, next: evil }))
    for (const shown of [text, error]) {
      expect(shown.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\u2028|\u202e/u)
    }
    expect(text.split('\n')).toHaveLength(6)
    expect(error.split('\n')).toHaveLength(4)
  })
})

describe('errors', () => {
  const error = new QuorateError('client/activity-failed', 'the API rejected batch 3', {
    facts: { activity: '0191', of: 7, from: undefined },
    next: 'rename it',
    cause: new Error('private detail'),
  })

  test('error: text has the message, the facts as a table, and what is next', () => {
    expect(renderError(error)).toBe(
      'error client/activity-failed: the API rejected batch 3\n  activity  0191\n  of        7\n  next      rename it\n',
    )
  })

  test('error: a sentence that the message has said already is not said again, and stays in the JSON form', () => {
    const said = 'could not find public key'
    const refused = new QuorateError('a/b', `the API answered: ${said}`, {
      facts: { 'API message': said, status: 401 },
    })
    expect(renderError(refused)).toBe('error a/b: the API answered: could not find public key\n  status  401\n')
    expect(toErrorJson(refused).facts).toEqual({ 'API message': said, status: 401 })
  })

  test('error: the JSON form says the same, and no cause', () => {
    expect(toErrorJson(error)).toEqual({
      code: 'client/activity-failed',
      message: 'the API rejected batch 3',
      facts: { activity: '0191', of: 7 },
      next: 'rename it',
    })
  })

  test('error: it is an Error with its cause, and exits 1 unless it says otherwise', () => {
    expect(error).toBeInstanceOf(Error)
    expect((error.cause as Error).message).toBe('private detail')
    expect([error.exit, new QuorateError('a/b', 'm', { exit: EXIT.stale }).exit]).toEqual([1, 5])
  })

  test('error: whatever else is thrown is unexpected, and says so', () => {
    for (const thrown of [new TypeError('boom'), 'boom']) {
      expect(toErrorJson(thrown)).toMatchObject({ code: 'internal/unexpected', message: 'boom', facts: {} })
    }
    expect(toErrorJson(undefined)).toMatchObject({ message: 'undefined' })
  })
})

describe('suggest', () => {
  const names = ['resource', 'action', 'type', 'kind', 'params', 'id']
  for (const { wrong, expected } of [
    { wrong: 'resorce', expected: ['resource'] },
    { wrong: 'Resource', expected: ['resource'] },
    { wrong: 'resoucre', expected: ['resource'] },
    { wrong: 'tpye', expected: ['type'] },
    { wrong: 'knd', expected: ['kind'] },
    { wrong: 'source', expected: ['resource'] },
    { wrong: 'wallet', expected: [] },
    { wrong: '', expected: [] },
  ]) {
    test(`suggest: for \`${wrong}\` ${expected.length > 0 ? `\`${expected}\`` : 'nothing'}`, () => {
      expect(suggest(wrong, names)).toEqual(expected)
    })
  }

  test('suggest: the nearest first, at most five, each once, whatever the order of names', () => {
    const near = ['tag', 'tags', 'tag1', 'tag2', 'tag3', 'tag4', 'tag4', 'taq']
    expect(suggest('tag', near)).toEqual(['tag', 'tag1', 'tag2', 'tag3', 'tag4'])
    expect(suggest('tag', near.toReversed())).toEqual(suggest('tag', near))
    expect(suggest('tag', near, 1)).toEqual(['tag'])
  })

  test('suggest: a name always suggests itself first', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.string(), (others, name) => {
        expect(suggest(name, [...others, name])[0]?.toLowerCase()).toBe(name.toLowerCase())
      }),
    )
  })
})
