/**
 * The guide in CONTRIBUTING.md for an activity that keeps state is followed in a copy of the sources, with one that this service
 * does not carry out and the query of what it makes. What the guide does not list is not touched.
 */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { compileCache } from '../built.ts'
import { testFolder } from '../cli/harness.ts'
import { before, copySources, filesOfGuide, follow, type GuideSteps } from '../guide.ts'

const MOST_FILES = 6
const FOLDER = 'src/service/resources/earn-wrappers'

const HANDLERS = `import type { Wire } from '../../../protocol/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { earnWrapperTable } from './store.ts'

const deploy: TypedHandler<Wire.EarnDeployWrapperIntent, Wire.EarnDeployWrapperResult> = {
  async execute({ tx, organizationId, now, newId }, { vaultAddress, clientFeeBps }) {
    const id = newId()
    const times = { created_at: now, updated_at: now }
    const row = { id, organization_id: organizationId, vault_address: vaultAddress, client_fee_bps: clientFeeBps, ...times }
    await earnWrapperTable.insert(tx, [row])
    return { wrapperAddress: '', splitterAddress: '', deployRequestId: id }
  },
}

export const earnWrapperHandlers = { ACTIVITY_TYPE_EARN_DEPLOY_WRAPPER: deploy } satisfies HandlerRows
`
const STORE = `import { createTable, type InOrder, storedList } from '../../store/index.ts'

export interface EarnWrapperRow {
  id: string
  organization_id: string
  vault_address: string
  client_fee_bps: string
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    earn_wrappers: InOrder<EarnWrapperRow>
  }
}

export const earnWrapperTable = createTable('earn_wrappers')
export const earnWrapperList = storedList('earn_wrappers', ['vault_address', 'client_fee_bps'])
`
const WIRE = `import type { Wire } from '../../../protocol/index.ts'
import type { EarnWrapperRow } from './store.ts'

export function toWireVault(row: EarnWrapperRow): Wire.EarnEnabledVault {
  return { vaultAddress: row.vault_address, clientFeeBps: row.client_fee_bps }
}
`
const QUERIES = `import type { QueryOf, QueryRows } from '../query-table.ts'
import { earnWrapperTable } from './store.ts'
import { toWireVault } from './wire.ts'

const list: QueryOf<'list_earn_enabled_vaults'> = async ({ tx, organizationId }) => ({
  enabledVaults: (await earnWrapperTable.list(tx, organizationId)).map(toWireVault),
})

export const earnWrapperQueries = { list_earn_enabled_vaults: list } satisfies QueryRows
`

const STEPS: GuideSteps = {
  [`${FOLDER}/handlers.ts`]: HANDLERS,
  'src/service/resources/catalogue.ts': [
    before(
      'import { createUserHandlers }',
      `import { earnWrapperHandlers } from './earn-wrappers/handlers.ts'
import { earnWrapperQueries } from './earn-wrappers/queries.ts'
import { earnWrapperList } from './earn-wrappers/store.ts'
`,
    ),
    before('  ...ipAllowlistHandlers,\n', '  ...earnWrapperHandlers,\n'),
    before('  ...historyQueries,\n', '  ...earnWrapperQueries,\n'),
    before('  CREATE_INVITATIONS: [invitationList],\n', '  EARN_DEPLOY_WRAPPER: [earnWrapperList],\n'),
    { old: '  EARN_DEPLOY_WRAPPER: MARKETS,\n', now: '' },
    { old: '  list_earn_enabled_vaults: MARKETS,\n', now: '' },
  ],
  [`${FOLDER}/store.ts`]: STORE,
  [`${FOLDER}/wire.ts`]: WIRE,
  [`${FOLDER}/queries.ts`]: QUERIES,
  'src/service/store/migrations.ts': [
    before(
      ']\n\n/**\n * Brings the database',
      `  {
    name: '9999-earn-wrappers',
    statements: [
      \`create table earn_wrappers (
        id text primary key, organization_id text not null references organizations (id), vault_address text not null,
        client_fee_bps text not null, position integer not null, created_at integer not null, updated_at integer not null
      ) strict\`,
    ],
  },
`,
    ),
    before("  'denials',\n", "  'earn_wrappers',\n"),
  ],
}

const DRIVE = `import { startTestService } from './test/service/harness.ts'
const service = await startTestService()
try {
  const parameters = { vaultAddress: '0x1', chainCaip2: 'eip155:1', clientFeeBps: '10', clientFeeWallet: '0x2' }
  const { status } = await service.root.submit('ACTIVITY_TYPE_EARN_DEPLOY_WRAPPER', parameters)
  await service.restart()
  const { enabledVaults } = await service.root.query('list_earn_enabled_vaults')
  console.log(JSON.stringify({ status, vaults: enabledVaults.map(({ vaultAddress }) => vaultAddress) }))
} finally {
  await service.close()
}
`

test('an activity: one that keeps state is carried out, and its query answered, after the few steps of the guide', async () => {
  const listed = filesOfGuide('Carry out an activity', 'earn-wrappers')
  expect(Object.keys(STEPS)).toEqual(listed)
  expect(listed.length).toBeLessThanOrEqual(MOST_FILES)
  const folder = testFolder()
  copySources(folder, ['src', 'test/service/harness.ts', 'test/service/published-alone.ts', 'test/postgres.ts'])
  follow(STEPS, folder)
  writeFileSync(join(folder, 'drive.ts'), DRIVE)
  const env = { PATH: process.env['PATH'], ...compileCache() }
  const { stdout } = await promisify(execFile)(process.execPath, ['drive.ts'], { cwd: folder, env })
  expect(JSON.parse(stdout)).toEqual({ status: 'ACTIVITY_STATUS_COMPLETED', vaults: ['0x1'] })
})
