import { readdirSync, readFileSync } from 'node:fs'
import { listOperations, type OperationFacts } from '../../service/index.ts'
import { cell } from './cell.ts'

const folder = new URL('../../../docs/protocol/', import.meta.url)
const OWN_PAGE = 'operations.md'

/** Renders the table of what the service does with each operation, `docs/protocol/operations.md`. */
export function renderOperations(): string {
  const pages = readdirSync(folder)
    .filter((name) => name.endsWith('.md') && name !== OWN_PAGE && name !== 'README.md')
    .sort()
    .map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }))
  const rows = listOperations().map((row) => {
    const found = pages.filter(({ text }) => text.includes(`\`${row.name}\``)).map(({ name }) => link(name))
    return { ...row, pages: found.join(', ') }
  })
  const [activities, queries] = (['activity', 'query'] as const).map((sort) => rows.filter((row) => row.sort === sort))
  const done = (of: readonly OperationFacts[]) => of.filter((row) => row.done.length > 0).length
  const lines = activities!.map(
    (row) => `| \`${row.name}\` | ${typesOf(row)} | ${cell(reasonsOf(row))} | ${row.pages} |`,
  )
  const asked = queries!.map(
    (row) => `| \`${row.name}\` | ${row.done.length > 0 ? 'yes' : 'no'} | ${cell(reasonsOf(row))} | ${row.pages} |`,
  )
  return `# Operations

What this service does with every operation of the API, generated from its tables by \`npm run generate\`. A row names the pages that
speak of the operation; what was read into it is said there.

## Activities

${done(activities!)} of ${activities!.length} are carried out. Types are written without \`ACTIVITY_TYPE_\`, the newest first; all
types of an operation have one path.

| operation | carried out | refused, and why | pages |
|---|---|---|---|
${lines.join('\n')}

## Queries

${done(queries!)} of ${queries!.length} are answered.

| query | answered | refused, and why | pages |
|---|---|---|---|
${asked.join('\n')}
`
}

function typesOf({ done }: OperationFacts): string {
  return done.map((type) => `\`${type}\``).join(', ') || 'no'
}

function reasonsOf({ refused, except, sort }: OperationFacts): string {
  const reasons = [...refused].map(([reason, types]) =>
    sort === 'query' ? reason : `${types.map((type) => `\`${type}\``).join(', ')}: ${reason}`,
  )
  return [...reasons, ...(except === undefined ? [] : [`except ${except}`])].join('; ')
}

function link(name: string): string {
  return `[${name.replace('.md', '')}](${name})`
}
