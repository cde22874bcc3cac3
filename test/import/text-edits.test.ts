/** What is taken out of a YAML text takes its own comments with it, and no other. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isMap, type Node, type Pair, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml'
import { TextEdits } from '../../src/import/text-edits.ts'

/** The text without one item of the collection at a path. */
function without(text: string, path: readonly (string | number)[], item: string | number): string {
  const edits = new TextEdits(text)
  const document = parseDocument(text)
  const holder = (path.length === 0 ? document.contents : document.getIn(path, true)) as YAMLMap | YAMLSeq
  if (isMap(holder)) edits.removePair(holder, holder.items.find(({ key }) => String(key) === item) as Pair)
  else edits.removeItem(holder, (holder as YAMLSeq).items[Number(item)] as Node)
  return edits.apply()
}

describe('text edits: the comments of what is taken out', () => {
  test.each<{ name: string; text: string; path?: readonly (string | number)[]; item: string | number; left: string }>([
    {
      name: 'above the first, where others have none, they are the list’s',
      text: 'users:\n  # See the list of the staff.\n  a: 1\n  b: 2\n',
      item: 'a',
      left: 'users:\n  # See the list of the staff.\n  b: 2\n',
    },
    {
      name: 'above the first, where others have some, they are its own',
      text: 'users:\n  # about a\n  a: 1\n  # about b\n  b: 2\n',
      item: 'a',
      left: 'users:\n  # about b\n  b: 2\n',
    },
    {
      name: 'above the only one they are its own',
      text: 'users:\n  # about a\n  a: 1\nid: x\n',
      item: 'a',
      left: 'users:\nid: x\n',
    },
    {
      name: 'what silences a rule counts for no other',
      text: 'users:\n  # quorate-lint-disable broad-allow: until May\n  a: 1\n  b: 2\n',
      item: 'a',
      left: 'users:\n  b: 2\n',
    },
    {
      name: 'what an empty line sets apart is the list’s',
      text: 'users:\n  # of all\n\n  # about a\n  a: 1\n  # about b\n  b: 2\n',
      item: 'a',
      left: 'users:\n  # of all\n\n  # about b\n  b: 2\n',
    },
    {
      name: 'dashes at the margin have comments as others have',
      text: 'users:\n# about a\n- a\n# about b\n- b\n',
      item: 0,
      left: 'users:\n# about b\n- b\n',
    },
    {
      name: 'behind a dash, the next key keeps its own',
      text: 'users:\n  - x: 1 # of x\n    # about y\n    y: 2\n',
      path: ['users', 0],
      item: 'x',
      left: 'users:\n  - # about y\n    y: 2\n',
    },
    {
      name: 'above the first key of a file they are the file’s',
      text: '# of the file\nusers: 1\n# of tags\ntags: 2\n',
      path: [],
      item: 'users',
      left: '# of the file\n# of tags\ntags: 2\n',
    },
    {
      name: 'above another key of a file they are its own',
      text: '# of the file\nusers: 1\n# of tags\ntags: 2\n',
      path: [],
      item: 'tags',
      left: '# of the file\nusers: 1\n',
    },
  ])('$name', ({ text, path = ['users'], item, left }) => {
    expect(without(text, path, item)).toBe(left)
  })

  test('of any item, at any indentation: its own go where all have some, and what is left is in its order', () => {
    const item = fc.record({ comments: fc.integer({ min: 1, max: 3 }), isBlankAbove: fc.boolean() })
    const list = fc.record({
      items: fc.array(item, { minLength: 1, maxLength: 5 }),
      isMap: fc.boolean(),
      indent: fc.constantFrom(2, 4),
      at: fc.nat(),
    })
    fc.assert(
      fc.property(list, ({ items, isMap, indent, at }) => {
        const gone = at % items.length
        const margin = ' '.repeat(indent)
        const blocks = items.map(({ comments, isBlankAbove }, index) => [
          ...(isBlankAbove ? [''] : []),
          ...Array.from({ length: comments }, (_, line) => `${margin}# ${line} about i${index}.`),
          isMap ? `${margin}i${index}: ${index}` : `${margin}- i${index}`,
        ])
        const lines = (all: readonly (readonly string[])[]) => ['list:', ...all.flat(), 'end: 1', '']
        const left = without(lines(blocks).join('\n'), ['list'], isMap ? `i${gone}` : gone)
        const kept = lines(blocks.map((block, index) => (index === gone ? block.filter((one) => one === '') : block)))
        expect(left).toBe(kept.join('\n'))
      }),
    )
  })
})
