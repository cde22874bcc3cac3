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
const FOLDER = 'src/service/resources/tvc-apps'

const HANDLERS = `import type { Wire } from '../../../protocol/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { tvcAppTable } from './store.ts'

const create: TypedHandler<Wire.CreateTvcAppIntent, Wire.CreateTvcAppResult> = {
  async execute({ tx, organizationId, now, newId }, { name, quorumPublicKey }) {
    const id = newId()
    await tvcAppTable.insert(tx, [
      { id, organization_id: organizationId, name, quorum_public_key: quorumPublicKey, created_at: now, updated_at: now },
    ])
    const none = { manifestSetId: '', manifestSetOperatorIds: [], manifestSetThreshold: 0 }
    return { appId: id, ...none, shareSetId: '', shareSetOperatorIds: [], shareSetThreshold: 0 }
  },
}

export const tvcAppHandlers = { ACTIVITY_TYPE_CREATE_TVC_APP: create } satisfies HandlerRows
`
const STORE = `import { createTable, type InOrder, storedList } from '../../store/index.ts'

export interface TvcAppRow {
  id: string
  organization_id: string
  name: string
  quorum_public_key: string
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    tvc_apps: InOrder<TvcAppRow>
  }
}

export const tvcAppTable = createTable('tvc_apps')
export const tvcAppList = storedList('tvc_apps', ['name', 'quorum_public_key'])
`
const WIRE = `import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { TvcAppRow } from './store.ts'

export function toWireTvcApp(row: TvcAppRow): Wire.TvcApp {
  const times = { createdAt: toTimestamp(row.created_at), updatedAt: toTimestamp(row.updated_at) }
  const nobody = { id: '', name: '', organizationId: '', operators: [], threshold: 0, ...times }
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    quorumPublicKey: row.quorum_public_key,
    manifestSet: nobody,
    shareSet: nobody,
    enableEgress: false,
    enableDebugModeDeployments: false,
    publicDomain: '',
    ...times,
  }
}
`
const QUERIES = `import type { QueryOf, QueryRows } from '../query-table.ts'
import { tvcAppTable } from './store.ts'
import { toWireTvcApp } from './wire.ts'

const list: QueryOf<'list_tvc_apps'> = async ({ tx, organizationId }) => ({
  tvcApps: (await tvcAppTable.list(tx, organizationId)).map(toWireTvcApp),
})

export const tvcAppQueries = { list_tvc_apps: list } satisfies QueryRows
`

const STEPS: GuideSteps = {
  [`${FOLDER}/handlers.ts`]: HANDLERS,
  'src/service/resources/catalogue.ts': [
    before(
      'import { createUserHandlers }',
      `import { tvcAppHandlers } from './tvc-apps/handlers.ts'
import { tvcAppQueries } from './tvc-apps/queries.ts'
import { tvcAppList } from './tvc-apps/store.ts'
`,
    ),
    before('  ...ipAllowlistHandlers,\n', '  ...tvcAppHandlers,\n'),
    before('  ...historyQueries,\n', '  ...tvcAppQueries,\n'),
    before('  CREATE_INVITATIONS: [invitationList],\n', '  CREATE_TVC_APP: [tvcAppList],\n'),
    { old: '  CREATE_TVC_APP: ENCLAVES,\n', now: '' },
    { old: "  list_tvc_apps: { member: 'tvcApps', madeBy: ['CREATE_TVC_APP'] },\n", now: '' },
  ],
  [`${FOLDER}/store.ts`]: STORE,
  [`${FOLDER}/wire.ts`]: WIRE,
  [`${FOLDER}/queries.ts`]: QUERIES,
  'src/service/store/migrations.ts': [
    before(
      ']\n\n/**\n * Brings the database',
      `  {
    name: '9999-tvc-apps',
    statements: [
      \`create table tvc_apps (
        id text primary key, organization_id text not null references organizations (id), name text not null,
        quorum_public_key text not null, position integer not null, created_at integer not null, updated_at integer not null
      ) strict\`,
    ],
  },
`,
    ),
    before("  'denials',\n", "  'tvc_apps',\n"),
  ],
}

const DRIVE = `import { startTestService } from './test/service/harness.ts'
const service = await startTestService()
try {
  const parameters = { name: 'payroll', quorumPublicKey: '04ab' }
  const { status } = await service.root.submit('ACTIVITY_TYPE_CREATE_TVC_APP', parameters)
  await service.restart()
  const { tvcApps } = await service.root.query('list_tvc_apps')
  console.log(JSON.stringify({ status, names: tvcApps.map(({ name }) => name) }))
} finally {
  await service.close()
}
`

test('an activity: one that keeps state is carried out, and its query answered, after the few steps of the guide', async () => {
  const listed = filesOfGuide('Carry out an activity', 'tvc-apps')
  expect(Object.keys(STEPS)).toEqual(listed)
  expect(listed.length).toBeLessThanOrEqual(MOST_FILES)
  const folder = testFolder()
  copySources(folder, ['src', 'test/service/harness.ts', 'test/postgres.ts'])
  follow(STEPS, folder)
  writeFileSync(join(folder, 'drive.ts'), DRIVE)
  const env = { PATH: process.env['PATH'], ...compileCache() }
  const { stdout } = await promisify(execFile)(process.execPath, ['drive.ts'], { cwd: folder, env })
  expect(JSON.parse(stdout)).toEqual({ status: 'ACTIVITY_STATUS_COMPLETED', names: ['payroll'] })
})
