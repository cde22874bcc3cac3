/**
 * The guide in CONTRIBUTING.md for a kind of resource is followed in a copy of the sources, with a made-up kind: a client at
 * Discord, which the service keeps as one of its OAuth 2.0 credentials. What the guide does not list is not touched.
 */
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Plan } from '../../src/plan/index.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import { compileCache } from '../built.ts'
import { environmentOf, testFolder, writeFiles } from '../cli/harness.ts'
import { before, copySources, filesOfGuide, follow, type GuideSteps } from '../guide.ts'
import { startTestService, type TestService } from '../service/harness.ts'

const root = join(import.meta.dirname, '../..')
const MOST_FILES = 8
/** Generated, as the guide says. */
const SCHEMA = 'src/definitions/quorate.schema.json'

const ROW = `import type { ResourceKind } from './kind.ts'
import * as wire from './wire/discord-client.ts'
import { recordsOf } from './wire/record.ts'

export const discordClient: ResourceKind = {
  kind: 'discordClient',
  one: 'client at Discord',
  many: 'clients at Discord',
  form: { key: 'discordClients', shape: 'map' },
  fields: {
    clientId: { compare: 'exact', meaning: 'Its id.', required: true, schema: { type: 'string' } },
    sealed: { compare: 'never', meaning: 'What it proves itself with, encrypted.', required: true, schema: { type: 'string' } },
  },
  referable: true,
  deleteNeedsTombstone: false,
  rides: false,
  changedBy: ['CREATE_OAUTH2_CREDENTIAL', 'DELETE_OAUTH2_CREDENTIAL'],
  identity: ({ fields }) => String(fields['clientId']),
  read: {
    query: 'list_oauth2_credentials',
    from: (answer) => recordsOf(answer, 'oauth2Credentials').flatMap((record) => wire.fromWire(record) ?? []),
  },
  create: {
    type: 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL',
    carries: 'one',
    parameters: ([change]) => wire.toIntent(change!.desired!),
    produces: ([change]) => [
      { address: change!.desired!.address, at: ['createOauth2CredentialResult', 'oauth2CredentialId'] },
    ],
  },
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL',
    carries: 'one',
    parameters: ([change]) => ({ oauth2CredentialId: change!.actual!.id! }),
  },
  power: () => 'loosens',
}
`
const WIRE = `import { formatAddress } from '../address.ts'
import type { Resource, Value } from '../model.ts'
import { takeText, type WireRecord } from './record.ts'

const PROVIDER = 'OAUTH2_PROVIDER_DISCORD'

export function fromWire(record: WireRecord): Resource | undefined {
  if (record['provider'] !== PROVIDER) return undefined
  const clientId = takeText(record, 'clientId', 'client')
  return {
    address: formatAddress('discordClient', clientId),
    kind: 'discordClient',
    name: clientId,
    id: takeText(record, 'oauth2CredentialId', 'client'),
    fields: { clientId },
  }
}

export function toIntent({ fields }: Resource): { readonly [member: string]: Value } {
  return { provider: PROVIDER, clientId: fields['clientId']!, encryptedClientSecret: fields['sealed']! }
}
`

/** What the guide's steps ask for. */
const STEPS: GuideSteps = {
  'src/resources/discord-client.ts': ROW,
  'src/resources/wire/discord-client.ts': WIRE,
  'src/resources/model.ts': [before('  policy: { names: 1 },\n', '  discordClient: { names: 1 },\n')],
  'src/resources/catalogue.ts': [
    before("import { feature } from './feature.ts'\n", "import { discordClient } from './discord-client.ts'\n"),
    before('  policy,\n', '  discordClient,\n'),
  ],
  'src/live/creators.ts': [
    before(
      '  authProxy: [],\n',
      "  discordClient: [{ family: /^ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL$/, ids: 'oauth2CredentialId' }],\n",
    ),
  ],
}

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

test('a kind: the guide lists few files, and they are those that know one that there is', () => {
  const listed = filesOfGuide('Add a kind of resource', 'oauth2-credential').filter((file) => file !== SCHEMA)
  expect(listed.length).toBeLessThanOrEqual(MOST_FILES)
  const knowing = globSync('src/**/*.ts', { cwd: root })
    .filter((file) => !/^src\/(service|protocol)\/|\.gen\.ts$/.test(file))
    .filter((file) => /\boauth2Credential\b|oauth2-credential\.ts/.test(readFileSync(join(root, file), 'utf8')))
  expect(knowing.sort()).toEqual(listed.filter((file) => file.startsWith('src/')).toSorted())
})

test('a kind: a made-up one is planned against the service after the steps of the guide and nothing else', async () => {
  expect([...Object.keys(STEPS), SCHEMA].sort()).toEqual(
    filesOfGuide('Add a kind of resource', 'discord-client')
      .filter((file) => file.startsWith('src/'))
      .toSorted(),
  )
  const folder = testFolder()
  copySources(folder, ['src', 'activities', 'workflows'])
  follow(STEPS, folder)
  await promisify(execFile)(process.execPath, ['src/definitions/generate.ts'], { cwd: folder })
  expect(readFileSync(join(folder, SCHEMA), 'utf8')).toContain('"discordClients"')
  writeFiles(folder, {
    'defs/acme.yaml': `organization: acme
id: ${service.organizationId}
discordClients:
  login: { clientId: "42", sealed: "0xabcd" }
policies:
  who: { effect: deny, consensus: "true", condition: "wallet.id == '\${discordClient.login}'" }
`,
  })
  const plan = async (...options: readonly string[]) => {
    const env = {
      PATH: process.env['PATH'],
      ...compileCache(),
      ...environmentOf(service, folder, service.root.privateKey),
    }
    const args = ['src/cli/main.ts', 'plan', 'defs', '--out', 'plan.json', ...options]
    await promisify(execFile)(process.execPath, args, { cwd: folder, env })
    return JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')) as Plan
  }
  const first = await plan()
  expect(first.changes.map(({ action, address }) => `${action} ${address}`)).toEqual([
    'create discordClient.login',
    'create policy.who',
  ])
  const [batch] = first.batches
  await service.root.submit(batch!.type as ActivityType, batch!.parameters as object)
  const second = await plan()
  expect(second.changes.map(({ action, address }) => `${action} ${address}`)).toEqual(['create policy.who'])
  // Nothing of the definitions asks for it now: whoever made it is found by `changedBy`.
  writeFiles(folder, {
    'defs/acme.yaml': `organization: acme
id: ${service.organizationId}
manage: { discordClients: all }
`,
  })
  const third = await plan('--allow-delete', '--allow', 'deletes=1')
  expect(third.changes).toMatchObject([
    {
      action: 'delete',
      kind: 'discordClient',
      cause: 'live only',
      author: { type: 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', userName: 'root' },
    },
  ])
})
