/** The two keys of a pipeline: what they may do is little, and every activity of the catalogue is asked. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { writeLock } from '../../src/definitions/index.ts'
import { authorize, compilePolicy } from '../../src/policy/index.ts'
import { type ActivityType, activities } from '../../src/protocol/index.ts'
import { countActivities, environmentOf, quorateShared as quorate, testFolder, writeFiles } from '../cli/harness.ts'
import { newPrivateKey } from '../service/handlers/steps.ts'
import type { TestClient } from '../service/harness.ts'
import { messageOf, NOT_DONE } from './catalogue.ts'
import { definitionsFolder, type Pipeline, startPipeline } from './pipeline.ts'

const types = Object.keys(activities) as ActivityType[]
/** As the definitions say it, read from their text and not from what became of it. */
const listed = new Set(
  readFileSync(join(definitionsFolder, 'ci.yaml'), 'utf8')
    .split('ci-apply-never-signs')[0]!
    .match(/(?<=')[A-Z_]{6,}(?=')/g),
)
const mayPropose = (type: ActivityType) => listed.has(activities[type].kind ?? '')

let pipeline: Pipeline
let things: Awaited<ReturnType<typeof makeThings>>
beforeAll(async () => {
  pipeline = await startPipeline()
  things = await makeThings()
})
afterAll(() => pipeline.service.close())

const submit = async (client: TestClient, type: ActivityType, parameters: object) => {
  const body = pipeline.service.body(type, parameters)
  const { status, body: answer } = await client.raw(body.path, body.text)
  return { status, answer }
}
async function idsFor(userName: string): Promise<Readonly<Record<string, string>>> {
  const { root } = pipeline.service
  const [{ users }, { policies }, { userTags }] = await Promise.all([
    root.query('list_users'),
    root.query('list_policies'),
    root.query('list_user_tags'),
  ])
  const user = users.find((one) => one.userName === userName)!
  return {
    userId: user.userId,
    apiKeyId: user.apiKeys[0]!.apiKeyId,
    policyId: policies.find(({ policyName }) => policyName === 'ci-plan-only-reads')!.policyId,
    userTagId: userTags[0]!.tagId,
    userTag: userTags[0]!.tagId,
    senderUserId: user.userId,
    ...things,
    signWith: things.privateKeyId,
    url: 'https://hooks.pipeline.test/events',
  }
}

/** What the root quorum makes together, so that there is something to reach for. */
async function makeThings() {
  const { alice, bob } = pipeline
  const make = async (type: ActivityType, parameters: object) => {
    const { id, fingerprint } = await alice.submit(type, parameters)
    await bob.approve(fingerprint)
    const { activity } = await alice.query('get_activity', { activityId: id })
    expect([type, activity.status]).toEqual([type, 'ACTIVITY_STATUS_COMPLETED'])
    return activity.result
  }
  const wallet = await make('ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'reserves', accounts: [] })
  const keys = await make('ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys: [newPrivateKey()] })
  const tag = await make('ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG', { privateKeyTagName: 'cold', privateKeyIds: [] })
  return {
    walletId: wallet.createWalletResult!.walletId,
    privateKeyId: keys.createPrivateKeysResultV2!.privateKeys[0]!.privateKeyId!,
    privateKeyTagId: tag.createPrivateKeyTagResult!.privateKeyTagId,
  }
}

const NOT_FAILED = ['ACTIVITY_STATUS_COMPLETED', 'ACTIVITY_STATUS_CONSENSUS_NEEDED', 'ACTIVITY_STATUS_PENDING'] as const

describe('keys of a pipeline: every activity of the catalogue', () => {
  test('as the policies decide: what is listed waits for a reviewer, nothing else can come to be done', async () => {
    const { service } = pipeline
    const { policies } = await service.root.query('list_policies')
    const compiled = policies.map(({ policyId, policyName, effect, condition, consensus }) =>
      compilePolicy({
        id: policyId,
        name: policyName,
        effect,
        ...(condition ? { condition } : {}),
        ...(consensus ? { consensus } : {}),
      }),
    )
    const { users } = await service.root.query('list_users')
    const approver = (name: string) => {
      const { userId, userTags } = users.find(({ userName }) => userName === name)!
      return { id: userId, tags: userTags }
    }
    const rootQuorum = { userIds: [approver('alice').id, approver('bob').id], threshold: 2 }
    const decide = (type: ActivityType, ...names: readonly string[]) =>
      authorize(compiled, {
        now: 0n,
        activity: { type },
        approvers: names.map(approver),
        // The worst case: it is about the credentials of the very user who asks.
        targetUserId: approver(names[0]!).id,
        rootQuorum,
      }).outcome
    for (const type of types) {
      expect([type, decide(type, 'ci-plan')]).toEqual([type, expect.stringMatching(/^OUTCOME_DENY/)])
      const alone = mayPropose(type) ? 'OUTCOME_REQUIRES_CONSENSUS' : expect.stringMatching(/^OUTCOME_DENY/)
      expect([type, decide(type, 'ci-apply')]).toEqual([type, alone])
      const together = decide(type, 'ci-apply', 'bob')
      if (mayPropose(type)) expect([type, together]).toEqual([type, 'OUTCOME_ALLOW'])
      else expect([type, together]).not.toEqual([type, 'OUTCOME_ALLOW'])
    }
    console.log(`activities=${types.length} listed=${types.filter(mayPropose).length}`)
  })

  test('at the service, the key that plans: none is done, and none waits', async () => {
    const { service, ciPlan } = pipeline
    const ids = await idsFor('ci-plan')
    // What is denied is kept as failed; nothing else may come of it.
    const listed = async () => (await service.root.query('list_activities', { filterByStatus: NOT_FAILED })).activities
    const before = await listed()
    let denied = 0
    for (const type of types) {
      const { status } = await submit(ciPlan, type, messageOf(type, ids))
      expect([type, status]).toEqual([type, expect.toBeOneOf(NOT_DONE)])
      if (status === 403) denied++
    }
    console.log(`ci-plan: activities=${types.length} denied=${denied} refused before=${types.length - denied}`)
    expect(denied).toBeGreaterThan(30)
    expect(await listed()).toEqual(before)
  })

  test('at the service, the key that applies: what is not on its list is not done, and what is waits', async () => {
    const ids = await idsFor('ci-apply')
    let [denied, waits] = [0, 0]
    for (const type of types) {
      const { status, answer } = await submit(pipeline.ciApply, type, messageOf(type, ids))
      const state = (answer['activity'] as { status?: string } | undefined)?.status
      if (status === 403) denied++
      if (mayPropose(type) && state === 'ACTIVITY_STATUS_CONSENSUS_NEEDED') waits++
      else expect([type, status]).toEqual([type, expect.toBeOneOf(NOT_DONE)])
    }
    console.log(`ci-apply: activities=${types.length} denied=${denied} waits=${waits}`)
    expect(waits).toBeGreaterThan(25)
  })

  test.each<{ type: ActivityType; parameters: () => object }>([
    {
      type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
      parameters: () => ({
        signWith: things.privateKeyId,
        payload: '00'.repeat(32),
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_NO_OP',
      }),
    },
    {
      type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM',
      parameters: () => ({ threshold: 1, userIds: [pipeline.service.rootUserId] }),
    },
    {
      type: 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE',
      parameters: () => ({ name: 'FEATURE_NAME_EMAIL_AUTH', value: '' }),
    },
    { type: 'ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME', parameters: () => ({ organizationName: 'taken over' }) },
    {
      type: 'ACTIVITY_TYPE_DELETE_WALLETS',
      parameters: () => ({ walletIds: [things.walletId], deleteWithoutExport: true }),
    },
  ])('at the service, $type is denied to both', async ({ type, parameters }) => {
    const { ciPlan, ciApply } = pipeline
    const statuses = [await submit(ciPlan, type, parameters()), await submit(ciApply, type, parameters())]
    expect(statuses.map(({ status }) => status)).toEqual([403, 403])
  })

  test('neither gives itself another key; the one that applies gets it from a reviewer alone', async () => {
    const { service, ciPlan, ciApply, bob } = pipeline
    const { users } = await service.root.query('list_users')
    const idOf = (name: string) => users.find(({ userName }) => userName === name)!.userId
    const key = { apiKeyName: 'more', publicKey: generateP256KeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' }
    const more = (name: string) => ({ userId: idOf(name), apiKeys: [key] })
    expect((await submit(ciPlan, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', more('ci-plan'))).status).toBe(403)
    const proposed = await ciApply.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', more('ci-apply'))
    expect(proposed.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    expect((await bob.reject(proposed.fingerprint)).status).toBe('ACTIVITY_STATUS_REJECTED')
  })

  test('a reviewer alone cannot do what the pipeline proposes', async () => {
    const { service, bob } = pipeline
    const { activity } = (await submit(bob, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'alone', userIds: [] }))
      .answer as { activity: { status: string } }
    // Bob is of the root quorum, so it waits for the other of them.
    expect(activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    expect((await service.root.query('list_user_tags')).userTags.map(({ tagName }) => tagName)).not.toContain('alone')
  })
})

describe('keys of a pipeline: the commands', () => {
  const scene = async (client: TestClient) => {
    const { service, env, vars, lock, lockSignature } = pipeline
    const folder = testFolder()
    const files = Object.fromEntries(
      ['organization.yaml', 'ci.yaml'].map((name) => [name, readFileSync(join(definitionsFolder, name), 'utf8')]),
    )
    writeFiles(join(folder, 'defs'), { ...files, 'more.yaml': 'tags: { treasury: {} }\n' })
    await writeLock(join(folder, 'defs'), lock, { check: () => {}, signature: lockSignature })
    const given = Object.entries(vars).flatMap(([name, value]) => ['--var', `${name}=${value}`])
    return { folder, given, env: environmentOf(service, folder, client.privateKey, env) }
  }

  test('plan works with the key that may only read; its apply fails before the first submit and names what is missing', async () => {
    const { folder, given, env } = await scene(pipeline.ciPlan)
    const before = await countActivities(pipeline.service)
    const planned = await quorate(['plan', 'defs', ...given], { env, cwd: folder })
    expect(planned.stdout.split('\n')[0]).toBe('pipeline: 1 change in 1 activity, 1 would be denied')
    const applied = await quorate(['apply', 'defs', '--yes', ...given], { env, cwd: folder })
    expect(applied.stderr).toContain('error cli/denied: ci-plan may not create tag treasury')
    expect(applied.stderr).toContain('submitted  nothing')
    expect(applied.exit).toBe(4)
    expect(await countActivities(pipeline.service)).toBe(before)
  })

  test('doctor warns where a pipeline has the key of the root quorum, and nowhere else', async () => {
    const doctor = async (client: TestClient, more: Readonly<Record<string, string>>) =>
      (await quorate(['doctor'], { env: { ...(await scene(client)).env, ...more } })).stdout
    const warning = /! API .*alice.*root quorum.*\n.*next\s+give the pipeline a user of its own/
    expect(await doctor(pipeline.alice, { CI: 'true' })).toMatch(warning)
    expect(await doctor(pipeline.alice, { CI: '' })).not.toMatch(/root quorum/)
    expect(await doctor(pipeline.ciApply, { CI: 'true' })).not.toMatch(/root quorum/)
  })
})
