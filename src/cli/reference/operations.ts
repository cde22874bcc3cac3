import { readdirSync, readFileSync } from 'node:fs'
import { listOperations, type OperationFacts } from '../../service/index.ts'
import { cell } from './cell.ts'

const folder = new URL('../../../docs/protocol/', import.meta.url)
const resources = new URL('../../service/resources/', import.meta.url)
const OWN_PAGE = 'operations.md'
/** Made by the tests of published clients, which tell what was called there. */
const calledPage = new URL('../client-operations.md', folder)

/** Renders the table of what the service does with each operation, `docs/protocol/operations.md`. */
export function renderOperations(): string {
  const pages = readdirSync(folder)
    .filter((name) => name.endsWith('.md') && name !== OWN_PAGE && name !== 'README.md')
    .sort()
    .map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }))
  const clients = readClients()
  const folders = readFolders()
  const rows = listOperations().map((row) => {
    const spoken = [`\`${row.name}\``, ...foldersOf(row, folders)]
    const isAbout = (text: string) => spoken.some((part) => text.includes(part))
    const found = pages.filter(({ text }) => isAbout(text)).map(({ name }) => link(name))
    const readings = pages.flatMap(({ name, text }) => readingsOf(isAbout, name, text))
    return {
      ...row,
      pages: found.join(', '),
      readings: readings.join(', '),
      clients: clients.get(row.name)?.join(', ') ?? '',
    }
  })
  const [activities, queries] = (['activity', 'query'] as const).map((sort) => rows.filter((row) => row.sort === sort))
  const done = (of: readonly OperationFacts[]) => of.filter((row) => row.done.length > 0).length
  const lines = activities!.map(
    (row) =>
      `| \`${row.name}\` | ${typesOf(row)} | ${row.since ?? ''} | ${cell(reasonsOf(row))} | ${row.clients} | ${row.pages} | ${row.readings} |`,
  )
  const asked = queries!.map(
    (row) =>
      `| \`${row.name}\` | ${row.done.length > 0 ? 'yes' : 'no'} | ${row.since ?? ''} | ${cell(reasonsOf(row))} | ${row.clients} | ${row.pages} | ${row.readings} |`,
  )
  return `# Operations

What this service does with every operation of the API, generated from its tables by \`npm run generate\`. A row names the pages that
speak of the operation or cite the folder of sources that carries it out, and those of their sections that do so and say which readings
were taken where the public sources are silent. Since is the version of this program that was the first to carry it out. Published
clients are those whose calls this service has answered [in the tests](../client-operations.md), which is by far not all that they
can call.

## Activities

${done(activities!)} of ${activities!.length} are carried out. Types are written without \`ACTIVITY_TYPE_\`, the newest first; all
types of an operation have one path.

| operation | carried out | since | refused, and why | called by published clients | pages | readings |
|---|---|---|---|---|---|---|
${lines.join('\n')}

## Queries

${done(queries!)} of ${queries!.length} are answered.

| query | answered | since | refused, and why | called by published clients | pages | readings |
|---|---|---|---|---|---|---|
${asked.join('\n')}
`
}

/** The published clients that have called an operation, by its name. */
function readClients(): ReadonlyMap<string, readonly string[]> {
  const [, lines] = /^(\| operation \|[\s\S]*?)\n\n/m.exec(readFileSync(calledPage, 'utf8'))!
  const [head, , ...rows] = lines!.split('\n').map((text) =>
    text
      .split('|')
      .map((part) => part.trim())
      .slice(1, -1),
  )
  return new Map<string, readonly string[]>([
    ['get_activity', ['all of them, while they wait']],
    ...rows.map(([name, ...called]): [string, readonly string[]] => [
      name!.replaceAll('`', ''),
      head!.slice(1).filter((_, index) => called[index] === 'yes'),
    ]),
  ])
}

/** The folders of resources, as pages cite them, with their sources. */
function readFolders(): readonly { readonly cited: string; readonly text: string }[] {
  return readdirSync(resources, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => {
      const files = readdirSync(new URL(`${name}/`, resources)).filter((file) => file.endsWith('.ts'))
      const texts = files.map((file) => readFileSync(new URL(`${name}/${file}`, resources), 'utf8'))
      return { cited: `src/service/resources/${name}/`, text: texts.join('\n') }
    })
}

/** The folders that have a row for one of the types of an operation, or for a query. */
function foldersOf({ name, sort, done }: OperationFacts, folders: ReturnType<typeof readFolders>): readonly string[] {
  const keys = sort === 'query' ? [name] : done.map((type) => `ACTIVITY_TYPE_${type}`)
  const isRow = (text: string) => keys.some((key) => new RegExp(`(?:^ {2}|\\{ )${key}[:,(]`, 'm').test(text))
  return folders.filter(({ text }) => isRow(text)).map(({ cited }) => cited)
}

/** The sections of a page that are about an operation and have readings. */
function readingsOf(isAbout: (text: string) => boolean, page: string, text: string): readonly string[] {
  return text
    .split(/^(?=#+ )/m)
    .filter((section) => isAbout(section) && section.includes('**Our reading:**'))
    .map((section) => {
      const title = /^#+ (.*)/.exec(section)?.[1] ?? ''
      return `[${cell(title)}](${page}${section.startsWith('# ') ? '' : `#${anchorOf(title)}`})`
    })
}

/** The anchor that GitHub gives a heading. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
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
