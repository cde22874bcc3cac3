import { makeSchema } from './schema.ts'

const LINE_WIDTH = 120

/** The text of `quorate.schema.json`, laid out as the formatter lays it out: a list stands on one line where it fits. */
export function renderSchema(): string {
  const text = JSON.stringify(makeSchema(), null, 2)
  const joined = text.replace(/^( *)(.*)\[\n([^[\]{}]*?)\n *\](,?)$/gm, (whole, indent, head, items, comma) => {
    const line = `${indent}${head}[${items
      .split('\n')
      .map((item: string) => item.trim())
      .join(' ')}]${comma}`
    return line.length <= LINE_WIDTH ? line : whole
  })
  return `${joined}\n`
}
