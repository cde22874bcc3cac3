import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { activities, proxyEndpoints, queries } from '../../src/protocol/index.ts'
import { OPERATIONS_FOLDER } from './operations.ts'

const PAGE = join(import.meta.dirname, '../../docs/client-operations.md')

/** The operations of the API by name, and those of its proxy. */
function catalogue(): readonly string[] {
  const names = [
    ...Object.values(activities).map(({ operation }) => operation),
    ...Object.values(queries).map(({ path }) => path.split('/').at(-1)!),
  ].sort()
  return [...new Set([...names, ...Object.values(proxyEndpoints).map(({ name }) => `proxy ${name}`)])]
}

test('the page of operations says which published clients have called them', async () => {
  const called = new Map<string, Set<string>>()
  for (const file of readdirSync(OPERATIONS_FOLDER).sort()) {
    const client = file.split('.')[0]!
    const names = readFileSync(join(OPERATIONS_FOLDER, file), 'utf8').trim().split('\n')
    called.set(client, new Set([...(called.get(client) ?? []), ...names]))
  }
  const clients = [...called.keys()]
  const by = (operation: string) => clients.map((client) => called.get(client)!.has(operation))
  const all = catalogue()
  const rows = all.filter((operation) => by(operation).includes(true))
  const others = all.filter((operation) => !rows.includes(operation) && operation !== 'get_activity')
  const heads = clients.map((client) => (/^[a-z]/.test(client) ? `\`@turnkey/${client}\`` : client))
  const lines = [
    '# Operations by published client',
    '',
    'Made from the tests of published clients (`test/clients`): a yes is a call of that client that this service has answered there.',
    '`@turnkey/viem` and `@turnkey/solana` call through `@turnkey/http` or `@turnkey/sdk-server`; `proxy` stands for the authentication proxy.',
    '',
    `| operation | ${heads.join(' | ')} |`,
    `| --- | ${heads.map(() => '---').join(' | ')} |`,
    ...rows.map(
      (row) =>
        `| \`${row}\` | ${by(row)
          .map((yes) => (yes ? 'yes' : ''))
          .join(' | ')} |`,
    ),
    '',
    `\`get_activity\` is called by all of them while they wait. No published client calls the other ${others.length} there:`,
    `${others.map((name) => `\`${name}\``).join(', ')}.`,
    '',
  ]
  await expect(lines.join('\n')).toMatchFileSnapshot(PAGE)
})
