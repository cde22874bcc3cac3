/** Plan, apply, approve and go on, as separate processes, against a real service and a real Temporal server. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ApplyProgress } from '../../activities/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { insertWebhookFailure } from '../../src/service/resources/webhook-endpoints/deliveries-store.ts'
import { loadPayloadSeal } from '../../src/worker/index.ts'
import { countByIntent } from '../faults/count.ts'
import { openHistory } from '../open-history.ts'
import { openStoreOf } from '../postgres.ts'
import { createTestUser, startTestService } from '../service/harness.ts'
import { connectTestTemporal, testTemporalEnvironment } from '../temporal.ts'
import {
  countActivities,
  environmentOf,
  keyFile,
  quorateShared as quorate,
  readAll,
  testFolder,
  writeFiles,
} from './harness.ts'
import { onlyTags, scene } from './scene.ts'
import { canMakeTerminals, onTerminal } from './terminal.ts'

// Each test runs the CLI several times, and each run is a process that starts from nothing.
describe('apply: from definitions to an empty plan', () => {
  test('a second person approves in the middle, each intent is one activity, and the lock says which id is whose', async () => {
    const { service, folder, env } = await scene()
    const bob = generateP256KeyPair()
    const defs = writeFiles(join(folder, 'defs'), {
      'acme.yaml': `${onlyTags(['treasury'])}
users:
  root: { apiKeys: { root: { curve: P256, publicKey: ${service.root.publicKey} } } }
  bob: { tags: [treasury], apiKeys: { laptop: { curve: P256, publicKey: ${bob.publicKey} } } }
rootQuorum: { threshold: 2, users: [root, bob] }
features: { EMAIL_AUTH: true }
`,
    })
    const first = await quorate(['apply', defs, '--yes', '--json'], { env })
    expect(first.exit).toBe(3)
    expect(first.stderr).toContain('waits for bob')
    const waiting = (JSON.parse(first.stdout) as ApplyProgress).batches.filter(({ state }) => state === 'waiting')
    expect(waiting).toHaveLength(1)

    const submitted = await countActivities(service)
    const again = await quorate(['apply', defs, '--yes', '--json'], { env })
    expect(again.exit).toBe(3)
    expect(await countActivities(service)).toBe(submitted)
    // Its own plan has fewer activities than that of the run, which it joins.
    expect(again.stderr).toContain('waits for bob')
    expect(JSON.parse(again.stdout).batches).toContainEqual(
      expect.objectContaining({ state: 'waiting', needs: expect.objectContaining({ needed: [['bob']] }) }),
    )

    const bobKey = keyFile(folder, 'bob', bob.privateKey)
    const listed = await quorate(['activities', '--waiting', '--json', '--key-file', bobKey], { env })
    const [{ code }] = JSON.parse(listed.stdout).activities
    const standing = await quorate(['status'], { env })
    expect(standing.exit, 'status, while it waits').toBe(3)
    expect(standing.stdout).toMatch(/^([0-9a-f]{4}-[0-9a-f]{4}) waits for \w+.*, who votes with `quorate approve \1`$/m)
    const vote = await quorate(['approve', code, '--yes', '--key-file', bobKey], { env })
    expect(vote.stdout).toContain('+ feature.EMAIL_AUTH')
    expect(vote.stdout).toContain('COMPLETED')
    expect(vote.exit).toBe(0)

    const status = await quorate(['status', '--follow', '--json'], { env })
    expect((JSON.parse(status.stdout).apply as ApplyProgress).state).toBe('done')
    const last = await quorate(['apply', defs, '--yes'], { env })
    expect(last.stdout).toContain('No changes.')
    expect(last.exit).toBe(0)
    expect(await countActivities(service)).toBe(submitted)
    const { userTags } = await service.root.query('list_user_tags')
    expect(readFileSync(join(defs, 'quorate.lock.yaml'), 'utf8')).toContain(`tag.treasury: ${userTags[0]!.tagId}`)
  })
})

describe('apply: a part', () => {
  test('`--target` carries out what it names and needs; the rest is said, stays, and is in the next plan of everything', async () => {
    const { service, folder, env } = await scene()
    const bob = generateP256KeyPair()
    const users = `users:\n  bob: { tags: [one], apiKeys: { laptop: { curve: P256, publicKey: ${bob.publicKey} } } }\n`
    const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': `${onlyTags(['one', 'two'])}${users}` })
    const wrong = await quorate(['plan', defs, '--target', 'user.bop'], { env })
    expect(wrong.stderr).toContain('did you mean `user.bob`')
    expect(wrong.exit).toBe(1)

    const planned = await quorate(['plan', defs, '--target', 'user.bob', '--out', join(folder, 'part.json')], { env })
    expect(planned.stdout).toContain('with tag.one, which user.bob needs')
    const again = await quorate(['apply', join(folder, 'part.json'), '--target', 'tag.two', '--yes'], { env })
    expect(again.stderr).toContain('a saved plan is applied as it is')
    expect(await countActivities(service)).toBe(0)

    const applied = await quorate(['apply', defs, '--target', 'user.bob', '--yes'], { env })
    expect(applied.exit, applied.stdout + applied.stderr).toBe(0)
    expect(applied.stdout).toContain('left out: 1 other change (create tag.two)')
    const { userTags } = await service.root.query('list_user_tags')
    expect(userTags.map(({ tagName }) => tagName)).toEqual(['one'])
    const lock = readFileSync(join(defs, 'quorate.lock.yaml'), 'utf8')
    expect(lock).toContain('user.bob')
    expect(lock).not.toContain('tag.two')
    const rest = await quorate(['plan', defs, '--detailed-exitcode', '--json'], { env })
    expect(rest.exit).toBe(2)
    const { changes } = JSON.parse(rest.stdout) as { changes: { action: string; address: string }[] }
    expect(changes.map(({ action, address }) => `${action} ${address}`)).toEqual(['create tag.two'])
    const none = await quorate(['plan', defs, '--target', 'user.bob', '--detailed-exitcode'], { env })
    expect(none.stdout).toContain('No changes in what `--target` names.')
    expect(none.exit).toBe(0)
  })
})

describe('apply: detached', () => {
  test('it returns as soon as it is started, and goes on', async () => {
    const { service, folder, env } = await scene()
    const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['one']) })
    expect((await quorate(['doctor'], { env })).stdout).toMatch(
      /✓ worker +one polled the task queue `quorate\/.* at \d{4}-/,
    )
    const started = await quorate(['apply', defs, '--yes', '--detach'], { env })
    expect(started.stderr).toContain('quorate status --follow')
    expect(started.stderr).toContain('Once it is done, `quorate apply FOLDER` writes the lock')
    expect(started.exit).toBe(0)
    const followed = await quorate(['status', '--follow', '--json'], { env })
    expect((JSON.parse(followed.stdout).apply as ApplyProgress).state).toBe('done')
    expect(await countActivities(service)).toBe(1)
  })

  test('what it changed when no command waited is no drift to the next plan; what somebody changes after that is', async () => {
    const { service, folder, env } = await scene()
    const define = (condition: string) =>
      writeFiles(join(folder, 'defs'), {
        'a.yaml': `${onlyTags([])}policies: { desk: { effect: deny, condition: "activity.action == '${condition}'" } }\n`,
      })
    const defs = define('SIGN')
    expect((await quorate(['apply', defs, '--yes'], { env })).exit).toBe(0)
    define('EXPORT')
    await quorate(['apply', defs, '--yes', '--detach'], { env })
    await quorate(['status', '--follow'], { env })
    define('IMPORT')
    const planned = await quorate(['plan', defs], { env })
    expect(planned.stdout).toMatch(/~ policy\.desk .*, its definition changed$/m)
    expect(planned.stdout).not.toContain('drift')

    const { policies } = await service.root.query('list_policies')
    const { policyId } = policies.find(({ policyName }) => policyName === 'desk')!
    await service.root.submit('ACTIVITY_TYPE_UPDATE_POLICY_V2', { policyId, policyNotes: 'by hand' })
    expect((await quorate(['plan', defs], { env })).stdout).toMatch(/~ policy\.desk .*drift: somebody changed it/m)
  })

  test('an apply of a part settles what it applied: what another one changed meanwhile is no drift after it either', async () => {
    const { folder, env } = await scene()
    const define = (condition: string, tags: readonly string[]) =>
      writeFiles(join(folder, 'defs'), {
        'a.yaml': `${onlyTags(tags)}policies: { desk: { effect: deny, condition: "activity.action == '${condition}'" } }\n`,
      })
    const defs = define('SIGN', [])
    expect((await quorate(['apply', defs, '--yes'], { env })).exit).toBe(0)
    define('EXPORT', [])
    await quorate(['apply', defs, '--yes', '--detach'], { env })
    await quorate(['status', '--follow'], { env })
    define('IMPORT', ['one'])
    const part = await quorate(['apply', defs, '--target', 'tag.one', '--yes'], { env })
    expect(part.exit, part.stderr).toBe(0)
    const runs = () => readdirSync(join(env['QUORATE_DATA_DIR']!, 'plans', 'run-unlocked'))
    expect(runs(), 'the run of the part is settled').toHaveLength(1)
    const planned = await quorate(['plan', defs], { env })
    expect(planned.stdout).toMatch(/~ policy\.desk .*, its definition changed$/m)
    expect(planned.stdout).not.toContain('drift')
    expect((await quorate(['apply', defs, '--yes'], { env })).exit).toBe(0)
    expect(runs()).toEqual([])
  })
})

describe('apply: one at a time', () => {
  test.skipIf(!canMakeTerminals)(
    'a person who says yes after somebody else has applied the same definitions is told so, and nothing is done twice',
    async () => {
      const { service, folder, env } = await scene()
      const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['one', 'two']) })
      let other: { readonly exit: number | null } | undefined
      const { exit, shown } = await onTerminal(['apply', defs], {
        env,
        async answer() {
          other = await quorate(['apply', defs, '--yes'], { env })
          return 'y\r'
        },
      })
      expect(other?.exit).toBe(0)
      expect(shown).toContain('somebody else has made these changes meanwhile')
      expect(shown).toContain('No changes.')
      expect(exit, shown).toBe(0)
      expect(await countActivities(service)).toBe(2)
    },
  )

  test('while one waits, changed definitions are refused whole; after it the newest are applied, and those between never', async () => {
    const { service, folder, env } = await scene()
    const bob = await createTestUser(service, 'bob')
    const userIds = [service.rootUserId, bob.userId]
    await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
    const define = (...tags: string[]) => writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(tags) })
    const apply = (wait = '5s') => quorate(['apply', join(folder, 'defs'), '--yes', '--wait', wait], { env })
    const stateNow = async () =>
      JSON.parse((await quorate(['status', '--json'], { env })).stdout) as {
        readonly apply?: { readonly state: string }
      }
    /** Approves by bob what waits, until the apply is done. */
    const approveAll = () =>
      vi.waitFor(
        async () => {
          const filterByStatus = ['ACTIVITY_STATUS_CONSENSUS_NEEDED' as const]
          const { activities } = await service.root.query('list_activities', { filterByStatus })
          for (const { fingerprint } of activities) await bob.client.approve(fingerprint)
          expect((await stateNow()).apply?.state).toBe('done')
        },
        { interval: 500 },
      )

    define('one')
    const first = await apply()
    expect(first.exit, first.stderr).toBe(3)
    await vi.waitFor(async () => expect((await stateNow()).apply?.state).toBe('waiting'), {
      timeout: 60_000,
      interval: 500,
    })
    const before = await countActivities(service)
    for (const between of [
      ['one', 'two'],
      ['one', 'three'],
    ]) {
      define(...between)
      const refused = await apply()
      expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining('cli/apply-runs')])
      expect(refused.stderr).toContain('nothing of this plan')
    }
    expect(await countActivities(service)).toBe(before)
    await approveAll()

    const next = await apply()
    expect(next.exit, next.stderr).toBe(3)
    await approveAll()
    const { userTags } = await service.root.query('list_user_tags', {})
    expect(userTags.map(({ tagName }) => tagName).toSorted()).toEqual(['one', 'three'])
    const counts = await countByIntent(service.root, service.organizationId)
    expect(Math.max(...counts.values())).toBe(1)
  })
})

describe('apply: what cannot work submits nothing', () => {
  test('a key without rights plans, and is refused before the first submit with what it may not do', async () => {
    const { service, folder, env } = await scene()
    const reader = await createTestUser(service, 'reader')
    const before = await countActivities(service)
    const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['one']) })
    const key = ['--key-file', keyFile(folder, 'reader', reader.client.privateKey)]
    const planned = await quorate(['plan', defs, ...key], { env })
    expect(planned.stdout).toContain('denied')
    expect(planned.exit).toBe(0)
    const ran = await quorate(['apply', defs, '--yes', ...key], { env })
    expect(ran.stderr).toContain('error cli/denied: reader may not create tag one')
    expect(ran.exit).toBe(4)
    expect(await countActivities(service)).toBe(before)

    // What is submitted all the same is denied, and can be looked into.
    const made = await service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'no-tags',
      effect: 'EFFECT_DENY',
      condition: 'true',
      consensus: 'true',
      notes: '',
    })
    const { policyId } = made.result.createPolicyResult!
    await expect(
      reader.client.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'one', userIds: [] }),
    ).rejects.toThrow()
    const text = await quorate(['activities'], { env })
    const why = `The following policies denied this action: ${policyId}`
    expect(text.stdout).toMatch(new RegExp(`CREATE_USER_TAG .*FAILED .*by reader.*\\n +${why}\\n`))
    const [denied] = JSON.parse((await quorate(['activities', '--json'], { env })).stdout).activities
    expect(denied.failureDetails[0].policyEvaluations).toEqual([{ policyId, outcome: 'OUTCOME_DENY_EXPLICIT' }])
  })

  test('a new user without a way in is denied in the plan with the API’s words, and made once their login is set', async () => {
    const { service, folder, env } = await scene()
    const text = `${onlyTags(['one'])}users:\n  erin: { email: erin@acme.test }\n`
    const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': text })
    const planned = await quorate(['plan', defs], { env })
    expect(planned.stdout).toMatch(/create user erin\s+denied: `user missing valid credential: erin`/)
    expect(planned.exit).toBe(0)
    const ran = await quorate(['apply', defs, '--yes'], { env })
    expect(ran.stderr).toMatch(/error cli\/denied: the API would refuse to create user erin: `user missing valid/)
    expect(ran.stderr).toMatch(/from +user\.erin, .*a\.yaml:5:3/)
    expect(ran.stderr).toContain('or set `EMAIL_AUTH` or `OTP_EMAIL_AUTH` under `features`')
    expect(ran.exit).toBe(4)
    expect(await countActivities(service)).toBe(0)

    writeFiles(defs, { 'a.yaml': `${text}features: { OTP_EMAIL_AUTH: true }\n` })
    const applied = await quorate(['apply', defs, '--yes'], { env })
    expect(applied.exit).toBe(0)
    expect((await service.root.query('list_users')).users.map(({ userName }) => userName)).toContain('erin')

    // Who lives already is left as they are, and nothing stands in the way.
    const again = await quorate(['apply', defs, '--yes'], { env })
    expect(again.stdout).toContain('No changes.')
  })

  test('a clock that is two hours off is named as that, and nothing is done', async () => {
    const { service, folder, env } = await scene({ clock: () => Date.now() + 2 * 60 * 60 * 1000 })
    const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['one']) })
    const ran = await quorate(['apply', defs, '--yes'], { env })
    expect(ran.stdout + ran.stderr).toMatch(/clock/)
    expect(ran.exit).toBe(1)
    expect(await countActivities(service)).toBe(0)
  })
})

describe('apply: no worker', () => {
  test('a server that nobody works at is an error before anything is started', async () => {
    const folder = testFolder()
    const dataDir = join(folder, 'data', 'service')
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    chmodSync(join(folder, 'data'), 0o700)
    const service = await startTestService({ dataDir, proxy: {} })
    onTestFinished(() => service.close())
    const env = environmentOf(service, folder, service.root.privateKey, await testTemporalEnvironment())
    const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['one']) })
    const ran = await quorate(['apply', defs, '--yes'], { env })
    expect(ran.stderr).toContain(
      `error cli/no-worker: no worker polls the task queue \`quorate/${service.organizationId}\``,
    )
    expect(ran.stderr).toContain('quorate worker')
    expect(ran.exit).toBe(1)
    const doctor = await quorate(['doctor'], { env })
    expect([doctor.exit, doctor.stdout]).toEqual([
      1,
      expect.stringMatching(
        /✗ worker +none polls the task queue `quorate\/[-0-9a-f]+`\n +next start one with `quorate worker`/,
      ),
    ])
    const nothing = `Nothing has been applied to organization ${service.organizationId} from here.\n`
    expect((await quorate(['status'], { env })).stdout).toBe(nothing)
    expect(await countActivities(service)).toBe(0)

    await service.root.submit('ACTIVITY_TYPE_ENABLE_AUTH_PROXY', {})
    const { authProxyUrl, authProxyConfigId } = service.service.bootstrap
    const headers = { 'x-auth-proxy-config-id': authProxyConfigId! }
    const code = JSON.stringify({ otpId: 'x', encryptedOtpBundle: '{}' })
    expect((await fetch(`${authProxyUrl}/v1/otp_verify_v2`, { method: 'POST', headers, body: code })).ok).toBe(false)
    expect((await quorate(['status'], { env })).stdout).toBe(
      `${nothing}The authentication proxy ${authProxyUrl} answers for configuration ${authProxyConfigId}; pages of any origin may ask.\n`,
    )
    // So is what nobody else would see: webhooks that were given up of late.
    const database = await openStoreOf(dataDir, { now: Date.now() })
    const endpoint = { organization_id: service.organizationId, endpoint_id: 'ops', host: 'hooks.example.com' }
    const failure = { ...endpoint, event_type: 'ACTIVITY_UPDATES', subject: null, body: null, attempts: 9 } as const
    const old = Date.now() - 8 * 24 * 3_600_000
    for (const [event_id, failed_at] of [
      ['old', old],
      ['new', Date.now()],
    ] as const) {
      expect((await quorate(['status'], { env })).stdout).not.toContain('Webhooks')
      await database.write((tx) =>
        insertWebhookFailure(tx, { ...failure, event_id, failed_at, reason: 'answered 500' }),
      )
    }
    await database.close()
    expect((await quorate(['status'], { env })).stdout).toMatch(
      /^Webhooks: 2 given up, the last one at \S+Z: hooks\.example\.com, answered 500; see them with `quorate webhooks deliveries`\.$/m,
    )
    const { webhooksGivenUp } = JSON.parse((await quorate(['status', '--json'], { env })).stdout)
    expect(webhooksGivenUp).toMatchObject({ count: 2, last: { host: 'hooks.example.com', reason: 'answered 500' } })
    // Whatever else is there: what it is reached by is what its clients were told.
    const file = join(dataDir, 'bootstrap.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace(authProxyUrl!, 'http://127.0.0.1:1'))
    expect((await quorate(['status'], { env })).stdout).toContain(
      `${nothing}The authentication proxy http://127.0.0.1:1 does not answer: `,
    )
  })
})

describe('apply: secrets', () => {
  test('no private key is in any output, log, plan, state file or workflow history', async () => {
    const { service, folder, env } = await scene()
    const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['one', 'two']) })
    const outputs = [
      await quorate(['plan', defs, '--json'], { env }),
      await quorate(['apply', defs, '--yes'], { env }),
      await quorate(['status', '--json'], { env }),
      await quorate(['doctor'], { env }),
    ]
    const connections = await connectTestTemporal()
    onTestFinished(() => connections.close())
    const history = await connections.client.workflow.getHandle(`apply/${service.organizationId}`).fetchHistory()
    const seal = await loadPayloadSeal(join(folder, 'data'))
    const payloads = await openHistory(history, `apply/${service.organizationId}`, seal)
    const artefacts = [
      ...outputs.flatMap(({ stdout, stderr }) => [stdout, stderr]),
      ...readAll(join(folder, 'data')).map(({ text }) => text),
      ...readAll(defs).map(({ text }) => text),
      payloads,
    ]
    expect(payloads).toContain('planDigest')
    const secret = service.root.privateKey
    const forms = [
      secret,
      Buffer.from(secret, 'hex').toString('base64'),
      Buffer.from(secret, 'hex').toString('base64url'),
    ]
    for (const form of forms) expect(artefacts.filter((text) => text.includes(form))).toEqual([])
  })
})
