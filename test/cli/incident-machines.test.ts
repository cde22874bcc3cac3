/** A key that was marked on one machine is marked on every machine that shares its plan store. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { createPlaces, isThere } from '../activities/store-places.ts'
import { createTestUser, startTestService } from '../service/harness.ts'
import { ACME, environmentOf, quorateShared as quorate, testFolder, writeFiles } from './harness.ts'

const places = createPlaces()
afterAll(() => places.close())

describe.runIf(isThere('PostgreSQL'))('incident', () => {
  test('what one machine marks no machine of the same plan store plans, and a store that is away holds nothing up', async () => {
    const service = await startTestService()
    onTestFinished(() => service.close())
    const postgres = await places.postgres()
    const url = (await postgres.create()).reveal()
    const folder = testFolder()
    const machine = (name: string) => {
      mkdirSync(join(folder, name, 'data'), { recursive: true, mode: 0o700 })
      return environmentOf(service, join(folder, name), service.root.privateKey)
    }
    const [one, other] = [machine('one'), machine('other')]
    const used = await quorate(['plan-store', 'use', url], { env: one })
    expect(used.exit, used.stderr).toBe(0)
    const key = join(one['QUORATE_DATA_DIR']!, 'plans.key')
    const joined = await quorate(['plan-store', 'use', url, '--store-key', key], { env: other })
    expect(joined.exit, joined.stderr).toBe(0)

    const { client } = await createTestUser(service, 'ci-bot')
    const { publicKey } = client
    const users = `${ACME}users: { ci-bot: { apiKeys: { ci-bot-key: { curve: P256, publicKey: ${publicKey} } } } }\n`
    const defs = writeFiles(join(folder, 'defs'), { 'acme.yaml': users })
    expect((await quorate(['plan', defs], { env: other })).exit).toBe(0)
    const cutting = ['--contain', '--delete-user', '--yes', '--json']
    const cut = await quorate(['incident', 'key', publicKey, ...cutting], { env: one })
    expect(cut.stdout, cut.stderr).toContain('mark it in the plan store')
    const plan = await quorate(['plan', defs], { env: other })
    expect([plan.exit, plan.stderr]).toEqual([1, expect.stringContaining('cli/compromised-key')])

    // A user who is cut off anew from the other machine has lost the key, which is looked for inside all the same.
    const rita = await createTestUser(service, 'rita')
    const lost = generateP256KeyPair()
    const apiKeyOf = (apiKeyName: string, its: string) => {
      return { apiKeyName, publicKey: its, curveType: 'API_KEY_CURVE_P256' }
    }
    const apiKeys = [apiKeyOf('second', lost.publicKey)]
    await service.root.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId: rita.userId, apiKeys })
    const rootUsers = [lost, generateP256KeyPair()].map(({ publicKey: its }, at) => ({
      userName: `user ${at}`,
      apiKeys: [apiKeyOf('key', its)],
      authenticators: [],
      oauthProviders: [],
    }))
    const user = ['incident', 'user', rita.userId, '--contain', '--yes', '--json']
    expect((await quorate(user, { env: one })).exit).toBe(0)
    await service.root.submit('ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7', {
      ...{ subOrganizationName: 'late', rootUsers, rootQuorumThreshold: 1 },
    })
    const looked = await quorate(['incident', 'user', rita.userId, '--json'], { env: other })
    const { organizations } = JSON.parse(looked.stdout) as { organizations: { organization: { name: string } }[] }
    expect(organizations.map(({ organization }) => organization.name)).toContain('late')

    const back = Promise.withResolvers<void>()
    const crashed = postgres.crash(back.promise)
    onTestFinished(async () => {
      back.resolve()
      await crashed
    })
    await vi.waitFor(() => expect(postgres.create()).rejects.toThrow(), { timeout: 20_000 })
    const second = await createTestUser(service, 'late-bot')
    const late = await quorate(['incident', 'key', second.client.publicKey, ...cutting], { env: one })
    expect(late.stdout, late.stderr).toContain('other machines may put it back until then')
    const blind = await quorate(user, { env: other })
    expect(blind.stdout, blind.stderr).toContain('find the keys that other machines have marked as this user’s')
    expect(blind.exit).toBe(6)
    const { users: left } = await service.root.query('list_users')
    expect(left.map(({ userId }) => userId)).toEqual([service.rootUserId, rita.userId])
  })
})
