/**
 * A pull request adds a row to the lock file: it says that what somebody else made is what a name of ours means. The guard
 * `adoption` asks for it as for a name without a row, unless somebody vouches for the file who may.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { readLock, writeLock } from '../../src/definitions/index.ts'
import { signLock } from '../../src/operations/lock-signature.ts'
import { type Plan, readPlan } from '../../src/plan/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import {
  ACME,
  environmentOf,
  keyFile,
  planJson,
  quorateShared as quorate,
  testFolder,
  writeFiles,
} from '../cli/harness.ts'
import { allowAlone, createTestUser, startTestService, type TestService, type TestUser } from '../service/harness.ts'

let service: TestService
let mallory: TestUser
let carolId: string
let folder: string
let env: Readonly<Record<string, string>>
beforeAll(async () => {
  service = await startTestService()
  mallory = await createTestUser(service, 'mallory')
  await allowAlone(service, mallory, "activity.resource == 'USER' && activity.action == 'CREATE'")
  const apiKeys = [{ apiKeyName: 'k', publicKey: generateP256KeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' }]
  const users = [{ userName: 'carol', apiKeys, authenticators: [], oauthProviders: [], userTags: [] }]
  const made = await mallory.client.submit('ACTIVITY_TYPE_CREATE_USERS_V3', { users })
  carolId = made.result.createUsersResult!.userIds[0]!
  await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'ours', userIds: [] })
  const cwd = testFolder((close) => void closers.push(close))
  env = environmentOf(service, cwd, service.root.privateKey)
  folder = writeFiles(join(cwd, 'defs'), {
    'acme.yaml': `${ACME}tags: { ours: {} }\n`,
  })
})
const closers: (() => Promise<void>)[] = []
afterAll(async () => {
  await service.close()
  for (const close of closers) await close()
})

const lockFile = () => join(folder, 'quorate.lock.yaml')
const plan = (...more: readonly string[]) => planJson(env, folder, ...more)
const adoption = ({ guards }: Plan) =>
  guards.filter(({ name }) => name === 'adoption').map(({ addresses }) => addresses)
const FORGED = () => `  user.carol: ${carolId}\n`
/** What the pull request changes: a user of ours, and the row that says who that is. */
const propose = () => {
  const definitions = readFileSync(join(folder, 'acme.yaml'), 'utf8')
  writeFileSync(join(folder, 'acme.yaml'), `${definitions}users: { carol: {} }\n`)
  const lock = readFileSync(lockFile(), 'utf8')
  const head = `${service.organizationId}:\n`
  writeFileSync(lockFile(), lock.includes(head) ? lock.replace(head, head + FORGED()) : lock + head + FORGED())
}

describe('a forged row', () => {
  beforeAll(async () => {
    // The lock as it is kept: written, and signed, by an apply that found nothing left to do.
    expect((await quorate(['apply', folder, '--yes'], { env })).exit).toBe(0)
    expect(readFileSync(lockFile(), 'utf8')).toMatch(/^signature: [\w-]+$/m)
  })

  test('of a file that was signed before it is asked about, by plan and apply; what is ours is not', async () => {
    const whole = readFileSync(lockFile(), 'utf8')
    expect(await plan()).toMatchObject({ exit: 0, plan: { guards: [] } })
    propose()
    const forged = await plan()
    expect([forged.exit, adoption(forged.plan)]).toEqual([4, [['user.carol']]])
    expect(forged.plan.guards[0]!.message).toContain('`user.carol` (created by `mallory`)')
    const applied = await quorate(['apply', folder, '--yes'], { env })
    expect([applied.exit, applied.stdout]).toEqual([4, expect.stringContaining('created by `mallory`')])

    // Without the signature, with none that is one, and with that of the file as it was.
    const text = readFileSync(lockFile(), 'utf8')
    for (const other of ['', 'signature: e30\n', 'signature: x\n', /^signature:.*\n/m.exec(whole)![0]]) {
      writeFileSync(lockFile(), text.replace(/^signature:.*\n/m, other))
      const { exit, plan: found } = await plan()
      expect([other, exit, adoption(found)]).toEqual([other, 4, [['user.carol']]])
    }
  })

  test('is not vouched for by a key of a user who has no say, nor by one that is no key of anybody', async () => {
    const { lock } = await readLock(folder)
    const outsider = service.client('11'.repeat(32))
    for (const { privateKey, publicKey } of [mallory.client, outsider]) {
      const key = { privateKey: new Secret(privateKey), publicKey }
      await writeLock(folder, lock, { check: () => {}, signature: await signLock(lock, { key }) })
      const { exit, plan: found } = await plan()
      expect([exit, adoption(found)]).toEqual([4, [['user.carol']]])
    }
    // To mallory it is the same with what others made: no member of the quorum has signed it.
    const keyOfMallory = keyFile(join(folder, '..'), 'mallory', mallory.client.privateKey)
    const { plan: other } = await plan('--key-file', keyOfMallory)
    expect(adoption(other)).toEqual([['tag.ours']])
  })

  test('is vouched for once somebody has let it pass, and the file stays as it is from then on', async () => {
    expect((await quorate(['apply', folder, '--yes', '--allow', 'adoption'], { env })).exit).toBe(0)
    const signed = readFileSync(lockFile(), 'utf8')
    expect((await plan()).exit).toBe(0)
    expect((await quorate(['apply', folder, '--yes'], { env })).exit).toBe(0)
    expect(readFileSync(lockFile(), 'utf8')).toBe(signed)
    // For a reader too: a member of the root quorum has signed it.
    const reader = await createTestUser(service, 'reader')
    const path = keyFile(join(folder, '..'), 'reader', reader.client.privateKey)
    const { stdout } = await quorate(['plan', folder, '--json', '--key-file', path], { env })
    expect(adoption(readPlan(stdout))).toEqual([])
  })
})
