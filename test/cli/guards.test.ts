/** Every guard stops plan and apply as a process (exit 4) before anything is submitted, and its own bypass alone lets it pass. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GUARDS, type GuardName } from '../../src/plan/index.ts'
import { allowAlone, createTestUser, startTestService, type TestService, type TestUser } from '../service/harness.ts'
import {
  ACME,
  countActivities,
  environmentOf,
  planJson,
  quorateShared as quorate,
  testFolder,
  writeFiles,
} from './harness.ts'

let service: TestService
let bob: TestUser
let rootName: string
let before: number
beforeAll(async () => {
  service = await startTestService()
  const userTagName = (n: number) => ({ userTagName: `t${n}`, userIds: [] })
  for (let n = 0; n < 4; n++) await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', userTagName(n))
  bob = await createTestUser(service, 'bob')
  await allowAlone(service, bob, 'true')
  await createTestUser(service, 'carol')
  await service.root.submit('ACTIVITY_TYPE_ENABLE_AUTH_PROXY', {})
  const { user } = await service.root.query('get_user', { userId: service.rootUserId })
  rootName = user.userName
  const userIds = [service.rootUserId, bob.userId]
  await bob.client.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'planted', userIds: [] })
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
  before = await countActivities(service)
})
afterAll(() => service.close())

const keyOf = (name: string, publicKey: string, more = '') =>
  `  ${JSON.stringify(name)}: { apiKeys: { k: { curve: P256, publicKey: ${publicKey}${more} } } }\n`
const root = () => keyOf(rootName, service.root.publicKey)
const bobs = () => keyOf('bob', bob.client.publicKey)

/** For each guard: definitions that it stops, with the lock that they have, what it says, and its bypass. */
interface Case {
  readonly definitions: () => string
  readonly lock?: () => string
  readonly says: string
  readonly bypass: readonly string[]
}
const cases: Readonly<Record<GuardName, Case>> = {
  delete: {
    definitions: () => 'manage: { tags: all }\ntags: { t0: {}, t1: {}, t2: {}, planted: { } }\n',
    says: 'the plan deletes `tag.t3`',
    bypass: ['--allow-delete'],
  },
  deletes: {
    definitions: () => 'limits: { tags: { deletes: 10% } }\ntags: { t0: { delete: true } }\n',
    says: 'deleting 1 of 5 tags is 20 %, over 10 %; to let it pass, add --allow deletes=1',
    bypass: ['--allow', 'deletes=1'],
  },
  removal: {
    definitions: () => '',
    lock: () => `${service.organizationId}:\n  user.bob: ${bob.userId}\n`,
    says: '`user.bob` was managed here, is not defined any more and is live; define it with `delete: true`',
    bypass: ['--allow', 'removal'],
  },
  'lock-out': {
    definitions: () => `users:\n${keyOf('bob', bob.client.publicKey, ', delete: true')}`,
    says: 'nobody could act for the organization',
    bypass: ['--allow', 'lock-out'],
  },
  'quorum-lowered': {
    definitions: () =>
      `rootQuorum: { threshold: 1, users: [${JSON.stringify(rootName)}, bob] }\nusers:\n${root()}${bobs()}`,
    says: 'the root quorum falls from 2 to 1',
    bypass: ['--allow', 'quorum-lowered'],
  },
  'credential-in-use': {
    definitions: () =>
      `rootQuorum: { threshold: 2, users: [${JSON.stringify(rootName)}, bob] }\nusers:\n${keyOf(rootName, service.root.publicKey, ', delete: true')}${bobs()}`,
    says: 'takes away the credential in use',
    bypass: ['--allow', 'credential-in-use'],
  },
  adoption: {
    definitions: () => 'tags: { planted: {} }\n',
    says: '`tag.planted` (created by `bob`) was there before and would be taken as defined',
    bypass: ['--allow', 'adoption'],
  },
  'exclusive-credentials': {
    definitions: () => 'users: { bob: {} }\n',
    says: 'lets quorum members in and is not in the definitions',
    bypass: ['--allow', 'exclusive-credentials'],
  },
  'auth-proxy': {
    definitions: () => 'policies: { Auth Proxy: { delete: true } }\n',
    says: 'is what the service keeps for the authentication proxy',
    bypass: ['--allow', 'auth-proxy'],
  },
  'no-undo': {
    definitions: () => `users:\n${keyOf('bob', bob.client.publicKey, ', delete: true')}`,
    // By the policy of the authentication proxy its user and root may begin a session of bob, perhaps: that is no way to count upon.
    says: 'no set of people could create API key bob-key; Auth Proxy and root could by changing who decides first, perhaps',
    bypass: ['--allow', 'no-undo'],
  },
}

describe('guards', () => {
  test.each(GUARDS.map((guard) => ({ guard, ...cases[guard] })))(
    '$guard stops plan and apply with exit 4, and passes with its own bypass, which the plan records',
    async ({ guard, definitions, lock, says, bypass }) => {
      const folder = testFolder()
      const env = environmentOf(service, folder, service.root.privateKey)
      const defs = writeFiles(join(folder, 'defs'), { 'acme.yaml': ACME + definitions() })
      if (lock) writeFiles(defs, { 'quorate.lock.yaml': lock() })
      const refused = await planJson(env, defs)
      expect(refused.exit).toBe(4)
      // Whatever else stops it is let pass: its own bypass must be what is still missing.
      const all = refused.plan.guards
      const others = all.filter(({ name }) => name !== guard).flatMap((one) => one.bypass.split(' '))
      const applied = await quorate(['apply', defs, '--yes', ...others], { env })
      expect(applied.stdout).toContain(`refused: ${all.find(({ name }) => name === guard)!.message}`)
      expect(applied.stdout.match(/^refused: /gm)).toHaveLength(1)
      expect(applied.stdout).toContain(says)
      expect(applied.stderr).not.toContain(says)
      expect(applied.stderr).toMatch(/error cli\/refused[\s\S]*submitted +nothing/)
      expect(applied.exit).toBe(4)

      const passed = await planJson(env, defs, ...others, ...bypass)
      const found = passed.plan.guards.find(({ name }) => name === guard)
      expect(found).toMatchObject({ allowed: true, bypass: bypass.join(' ') })
      expect(passed.exit).toBe(0)
      expect(await countActivities(service)).toBe(before)
    },
  )
})
