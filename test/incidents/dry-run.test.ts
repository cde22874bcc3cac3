/**
 * The second family of incidents: a dry run that wrote. What only looks has no client that can submit, by type; and every
 * command that is not in the short list of those that act is run as it stands in its own help, with a change to make before
 * it: nothing is submitted. A new command is in this by itself.
 */
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands/index.ts'
import { createQueryClient } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import {
  countActivities,
  environmentOf,
  keyFile,
  quorateShared as quorate,
  testFolder,
  writeFiles,
} from '../cli/harness.ts'
import { type Between, startBetween } from '../faults/between.ts'
import { createTestUser, startTestService, type TestService } from '../service/harness.ts'
import { testTemporalEnvironment } from '../temporal.ts'

/** Commands that act at the API when they are told to, and the one that runs until it is stopped. */
const ACTING: Readonly<Record<string, string>> = {
  up: 'applies definitions to the embedded organization',
  down: 'ends processes, not activities',
  apply: 'submits',
  approve: 'votes',
  reject: 'votes',
  worker: 'submits for applies',
  background: 'submits for applies',
  serve: 'is the service, and runs until it is stopped',
  'codec-server': 'opens payloads until it is stopped, and asks no API',
  'webhooks listen': 'has the organization tell it of what happens, until it is stopped',
}
/** None of the others takes that long, also where it waits for what does not come. */
const A_COMMAND_MS = 150_000
const looking = commands.filter(({ name }) => !(name in ACTING))

let service: TestService
let between: Between
beforeAll(async () => {
  service = await startTestService()
  await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'stray', userIds: [] })
  between = await startBetween(service.url)
})
afterAll(async () => {
  await between.close()
  await service.close()
})

const acme = `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
tags: { treasury: {} }
users: { carol: {} }
policies:
  no-exports: { effect: deny, condition: activity.action == 'EXPORT' }
`

/** A folder in which every example of the help finds what it names, and the environment for it. */
async function scene() {
  const folder = testFolder()
  writeFiles(folder, {
    'definitions/acme/acme.yaml': acme,
    'definitions/acme/p.test.yaml': '',
    'request.yaml': 'by: carol\nactivity: { type: ACTIVITY_TYPE_CREATE_WALLET, walletName: w }\n',
  })
  const env = environmentOf(service, folder, service.root.privateKey, {
    QUORATE_BASE_URL: between.url,
    ...(await testTemporalEnvironment()),
  })
  return { folder, env }
}

let passedBefore = 0
beforeEach(() => {
  passedBefore = between.passed.length
})
/** What the test itself had submitted. */
const submits = () =>
  between.passed
    .slice(passedBefore)
    .filter((one) => one.submits)
    .map(({ path }) => path)

describe('dry run: by type', () => {
  test('a client that reads has no way to submit', () => {
    const { privateKey } = generateP256KeyPair()
    const stamper = createApiKeyStamper({ privateKey: new Secret(privateKey) })
    const client = createQueryClient({ baseUrl: 'http://127.0.0.1:1', organizationId: 'o', stamper })
    // @ts-expect-error It cannot be called either.
    expect(client.submit).toBeUndefined()
    expect(Object.keys(client).sort()).toEqual(['baseUrl', 'organizationId', 'publicKey', 'query'])
  })

  test('a client that submits is made for those who act, and for nobody else', () => {
    const folder = join(import.meta.dirname, '../../src')
    const makers = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.startsWith('client/'))
      .filter((name) =>
        /\b(submitter|createClients|createSubmitClient|createOrganizationWorker)\(/.test(
          readFileSync(join(folder, name), 'utf8'),
        ),
      )
    expect(makers.sort()).toEqual([
      'cli/background/come-up.ts',
      'cli/commands/incident-contain.ts',
      'cli/commands/logout.ts',
      'cli/commands/rotate-auth-proxy.ts',
      'cli/commands/rotate-oauth2.ts',
      'cli/commands/up.ts',
      'cli/commands/vote-batch.ts',
      'cli/commands/vote.ts',
      'cli/commands/webhook-listen.ts',
      'cli/commands/worker.ts',
      // Where it is declared.
      'cli/organization-worker.ts',
      'operations/clients.ts',
      // Logging in is a submit.
      'session/check-proxy.ts',
      'session/stamped-login.ts',
      // Applies definitions to a service that somebody tests with.
      'testing/apply-definitions.ts',
    ])
  })
})

describe('dry run: every command that only looks, as its help shows it', () => {
  test('nothing is submitted', async () => {
    const { folder, env } = await scene()
    const before = await countActivities(service)
    const run = async ({ name, example }: { readonly name: string; readonly example: string }) => {
      const timeout = AbortSignal.timeout(A_COMMAND_MS)
      const late = once(timeout, 'abort').then(() => Promise.reject(new Error(`\`${name}\` does not end by itself`)))
      return Promise.race([quorate(wordsOf(example), { env, cwd: folder, input: '' }), late])
    }
    // First what writes the plan that others show.
    const isPlan = ({ name }: { readonly name: string }) => name === 'plan'
    const exits: Record<string, number | null> = {}
    for (const row of [...looking.filter(isPlan), ...looking.filter((row) => !isPlan(row))]) {
      exits[row.name] = (await run(row)).exit
    }
    expect(submits()).toEqual([])
    expect(await countActivities(service)).toBe(before)
    // They did what they are for, or this would show nothing.
    for (const name of ['plan', 'show', 'import', 'init', 'unmanaged', 'validate', 'activities', 'doctor']) {
      // Nobody works at this Temporal server, which `doctor` finds.
      expect([name, exits[name]]).toEqual([name, name === 'doctor' ? 1 : 0])
    }
    expect(between.passed.length - passedBefore).toBeGreaterThan(30)
    console.log(
      `commands=${looking.length} requests=${between.passed.length - passedBefore} submits=${submits().length}`,
    )
  })

  test('a policy that is asked about the live organization, and a plan that is only shown, submit nothing', async () => {
    const { folder, env } = await scene()
    const explained = await quorate(['policy', 'explain', '--live', '--request', 'request.yaml'], { env, cwd: folder })
    expect(explained.stderr + explained.stdout).not.toContain('error cli/')
    await quorate(['apply', 'definitions/acme'], { env, cwd: folder })
    expect(submits()).toEqual([])
  })

  test('a vote is seen here: what counts submits does count', async () => {
    const { folder, env } = await scene()
    const bob = await createTestUser(service, 'bob')
    const users = [service.rootUserId, bob.userId]
    await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds: users })
    const tag = await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'late', userIds: [] })
    const key = keyFile(folder, 'bob', bob.client.privateKey)
    const ran = await quorate(['approve', tag.id, '--yes', '--key-file', key], { env, cwd: folder })
    expect(ran.exit).toBe(0)
    expect(submits()).toEqual(['/public/v1/submit/approve_activity'])
  })
})

/** The words of a line of a shell without anything but quotes in it, after the program's name. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].slice(1).map(([, quoted, plain]) => quoted ?? plain!)
}
