/** What a voter reads and votes on: each activity rebuilt from its own intent, and held against the plan that they approved. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { readPlan, shortCode } from '../../src/plan/index.ts'
import { type ActivityType, fingerprintOf, type Wire } from '../../src/protocol/index.ts'
import { startBetween } from '../faults/between.ts'
import { createTestUser, startTestService, type TestService, type TestUser } from '../service/harness.ts'
import { startIssuer, type TestIssuer } from '../service/oidc/issuer.ts'
import { createPasskey } from '../service/passkey.ts'
import { environmentOf, keyFile, quorateShared as quorate, testFolder, writeFiles } from './harness.ts'

const cleanups: (() => Promise<void>)[] = []
let issuer: TestIssuer
let service: TestService
let folder: string
let saved: string
let env: Readonly<Record<string, string>>
let [bob, dana]: readonly TestUser[] = []
let [planned, changed, outside]: readonly Wire.Activity[] = []

const definitions = (threshold: string) => `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
tags: { treasury: {} }
policies:
  payouts:
    effect: allow
    consensus: approvers.count() >= ${threshold}
    condition: activity.kind == 'SIGN_TRANSACTION'
`

const as = (user: TestUser | undefined, name: string) => ['--key-file', keyFile(folder, name, user!.client.privateKey)]

beforeAll(async () => {
  issuer = await startIssuer()
  service = await startTestService({ privateIssuers: [issuer.url], allowedWebhookHosts: ['127.0.0.1:9'] })
  folder = testFolder((work) => cleanups.push(async () => work()))
  env = environmentOf(service, folder, service.root.privateKey)
  ;[bob, dana] = [await createTestUser(service, 'bob'), await createTestUser(service, 'dana')]
  const erin = { userName: 'erin', userEmail: 'erin@acme.test', userTags: [], authenticators: [], oauthProviders: [] }
  const { publicKey } = generateP256KeyPair()
  const key = { apiKeyName: 'over at once', publicKey, curveType: 'API_KEY_CURVE_P256', expirationSeconds: '1' }
  await service.root.submit('ACTIVITY_TYPE_CREATE_USERS_V3', { users: [{ ...erin, apiKeys: [key] }] })
  await service.root.submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'hot', accounts: [] })
  await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'treasury', userIds: [] })
  await service.root.submit('ACTIVITY_TYPE_CREATE_POLICIES', {
    policies: [
      {
        policyName: 'payouts',
        effect: 'EFFECT_ALLOW',
        consensus: 'approvers.count() >= 3',
        condition: "activity.kind == 'SIGN_TRANSACTION'",
        notes: '',
      },
    ],
  })
  const userIds = [service.rootUserId, bob!.userId]
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })

  saved = join(folder, 'plan.json')
  writeFiles(join(folder, 'defs'), { 'acme.yaml': definitions('2') })
  const made = await quorate(['plan', join(folder, 'defs'), '--out', saved, '--allow', 'adoption'], { env })
  expect(made.exit, made.stderr).toBe(0)
  const [batch] = readPlan(readFileSync(saved, 'utf8')).batches
  const parameters = batch!.parameters as Readonly<Record<string, string>>
  const type = batch!.type as ActivityType
  planned = await service.root.submit(type, parameters)
  changed = await service.root.submit(type, { ...parameters, policyConsensus: 'approvers.count() >= 1' })
  outside = await service.root.submit('ACTIVITY_TYPE_CREATE_POLICIES', {
    policies: [{ policyName: 'backdoor', effect: 'EFFECT_ALLOW', notes: '' }],
  })
  // What is younger than half a second was requested `just now`.
  await delay(600)
})
afterAll(async () => {
  await service.close()
  await issuer.close()
  for (const clean of cleanups) await clean()
})

describe('approvals', () => {
  test('lists what waits for the reader, oldest first, with the plan that asks for it or that none does', async () => {
    const { stdout, stderr, exit } = await quorate(['approvals', '--plan', saved, ...as(bob, 'bob')], { env })
    expect(exit).toBe(0)
    const codes = [planned, changed, outside].map((one) => shortCode(one!.fingerprint))
    expect([...stdout.matchAll(/^([0-9a-f]{4}-[0-9a-f]{4}) /gm)].map(([, code]) => code)).toEqual(codes)
    expect(stderr).toMatch(/^Look at one with `quorate review CODE`; vote with `quorate approve CODE` or /m)
    const [first, second, third] = stdout.split(/^(?=[0-9a-f]{4}-[0-9a-f]{4} )/m)
    const { digest } = readPlan(readFileSync(saved, 'utf8'))
    expect(first).toMatch(/UPDATE_POLICY_V2 {2}policy\.payouts {2}by .+ ago/)
    expect(first).toContain(`plan   ${digest.slice(0, 12)} of `)
    expect(first).toContain('bob; your approval counts')
    expect(first).toMatch(/votes +lapse in (1 day|23 hours) unless the activity completes first/)
    expect(second).toContain('it is NOT what plan')
    expect(third).toContain('made outside: no plan that is known here asks for it (1 looked at)')
  })

  test('a list of what waits is oldest first, names what each would change, and says how many more wait', async () => {
    const { stdout, exit } = await quorate(['activities', '--waiting', '--all'], { env })
    expect(exit).toBe(0)
    const lines = stdout.split('\n').filter((line) => / by .* ago /.test(line))
    expect(lines.map((line) => line.split(/ {2,}/)[2])).toEqual(['policy.payouts', 'policy.payouts', 'policy.backdoor'])
    const oldest = await quorate(['activities', '--waiting', '--all', '--limit', '1'], { env })
    expect(oldest.stdout).toContain(shortCode(planned!.fingerprint))
    expect(oldest.stdout.match(/ by .* ago /g)).toHaveLength(1)
    expect(oldest.stderr).toContain('2 more wait: --limit 3 shows them.')
  })

  test('what no change is rebuilt of is named all the same: what it makes by its name, and what it touches by theirs', async () => {
    const endpoint = { name: 'ops', url: 'http://127.0.0.1:9/hooks', subscriptions: [] }
    const { id } = await service.root.submit('ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', endpoint)
    const created = (await quorate(['approvals', ...as(bob, 'bob')], { env })).stdout
    expect(created).toMatch(/CREATE_WEBHOOK_ENDPOINT {2}webhook\.ops {2}by /)
    await quorate(['approve', id, '--yes', ...as(bob, 'bob')], { env })
    const { webhookEndpoints } = await service.root.query('list_webhook_endpoints')
    const { endpointId } = webhookEndpoints![0]!
    const deleting = await service.root.submit('ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT', { endpointId })
    const deleted = (await quorate(['activities', '--waiting', '--all'], { env })).stdout
    expect(deleted).toMatch(/DELETE_WEBHOOK_ENDPOINT +webhook\.ops {2}/)
    await quorate(['approve', deleting.id, '--yes', ...as(bob, 'bob')], { env })
  })

  test('a user whose approval counts for nothing is told so, and sees the list with --all', async () => {
    const { stdout, stderr } = await quorate(['approvals', ...as(dana, 'dana')], { env })
    expect(stdout).toBe('Nothing waits for your approval.\n')
    expect(stderr).toContain('3 for which your approval does not count')
    expect(stderr).not.toMatch(/Not shown: 0|, and 0/)
    const all = await quorate(['approvals', '--all', '--json', ...as(dana, 'dana')], { env })
    expect(JSON.parse(all.stdout)).toMatchObject({ approvals: [{}, {}, {}], approvedByMe: 0, forOthers: 3 })
  })

  test.each([[['approvals']], [['activities', '--waiting']]])(
    '%s: what the reader has approved is left out',
    async (command) => {
      const { stdout, stderr } = await quorate(command, { env })
      expect(stdout).toBe('Nothing waits for your approval.\n')
      expect(stderr).toContain('3 that you have approved')
    },
  )

  test('`activities --waiting` lists what waits for the vote of the key in use; --all alone is a mistake', async () => {
    const waiting = async (...options: string[]) => quorate(['activities', '--waiting', '--json', ...options], { env })
    const asBob = JSON.parse((await waiting(...as(bob, 'bob'))).stdout)
    expect(asBob).toMatchObject({ activities: [{}, {}, {}], approvedByMe: 0, forOthers: 0 })
    const asDana = JSON.parse((await waiting(...as(dana, 'dana'))).stdout)
    expect(asDana).toMatchObject({ activities: [], approvedByMe: 0, forOthers: 3 })
    expect(JSON.parse((await waiting()).stdout)).toMatchObject({ activities: [], approvedByMe: 3 })
    expect(JSON.parse((await waiting('--all')).stdout).activities).toHaveLength(3)
    const alone = await quorate(['activities', '--all'], { env })
    expect([alone.exit, alone.stderr]).toEqual([1, expect.stringContaining('give --waiting too')])
  })
})

describe('review', () => {
  test('shows before and after, power, whose approval is missing and until when the others count, in 40 lines', async () => {
    const { stdout } = await quorate(['review', planned!.id, '--plan', saved, ...as(bob, 'bob')], { env })
    expect(stdout.split('\n').length).toBeLessThanOrEqual(40)
    expect(stdout).toContain('~ policy.payouts')
    expect(stdout).toContain('approvers.count() >= 3 → approvers.count() >= 2')
    expect(stdout).toMatch(/Power\n +~ sign transaction.* of wallet\.hot: /)
    expect(stdout).toMatch(/needs +bob; your approval counts/)
    expect(stdout).toMatch(/votes +lapse in (1 day|23 hours) unless/)
    expect(stdout).not.toContain('it asks for')
  })

  test('an intent that no row rebuilds whole is shown itself', async () => {
    const name = { organizationName: 'acme incorporated' }
    const { id } = await service.root.submit('ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME', name)
    const { stdout } = await quorate(['review', id, ...as(bob, 'bob')], { env })
    expect(stdout).toContain('it asks for')
    expect(stdout).toMatch(/needs +bob; your approval counts/)
    expect(stdout).toContain('plan       unknown: no plan is known here')
    expect(stdout).not.toContain('made outside')
    await quorate(['reject', id, '--yes', ...as(bob, 'bob')], { env })
  })

  test('a credential that somebody is given tells as whom its holder acts, and with which powers', async () => {
    const { userId } = bob!
    const { publicKey } = generateP256KeyPair()
    const apiKeys = [{ apiKeyName: 'ci', publicKey, curveType: 'API_KEY_CURVE_P256', expirationSeconds: '60' }]
    const oidcToken = await issuer.token({ sub: 'mallory' })
    const oauthProviders = [{ providerName: 'google', oidcToken }]
    const asked = [
      ['ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2', { authenticators: [createPasskey().register()] }],
      ['ACTIVITY_TYPE_CREATE_API_KEYS_V2', { apiKeys }],
      ['ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2', { oauthProviders }],
    ] as const
    const shown: string[] = []
    const said: string[] = []
    for (const [type, parameters] of asked) {
      const { id } = await service.root.submit(type, { userId, ...parameters })
      const { stdout } = await quorate(['review', id, ...as(bob, 'bob')], { env })
      shown.push(stdout)
      const json = JSON.parse((await quorate(['review', id, '--json', ...as(bob, 'bob')], { env })).stdout)
      expect(json.activity.review.credentials).toMatchObject([
        { user: 'bob', powers: expect.arrayContaining([expect.anything()]) },
      ])
      for (const command of [['approvals'], ['activities'], ['reject', id, '--yes'], ['activities', '--json']]) {
        const { stdout, stderr } = await quorate([...command, ...as(bob, 'bob')], { env })
        said.push(stdout, stderr)
      }
      said.push(stdout, JSON.stringify(json))
    }
    // Its holder logs in by a token, whoever reads of it: each part of one is looked for.
    for (const part of oidcToken.split('.')) expect(said.join('')).not.toContain(part)
    const [passkey, key, provider] = shown
    expect(passkey).toMatch(/\+ authenticator\.bob\./)
    expect(passkey).toMatch(
      /the holder of authenticator .* acts as bob\n +with others \(bob and root\): sign.* wallet\.hot/,
    )
    expect(key).toContain('the holder of API key ci acts as bob\n')
    for (const text of [passkey, key]) expect(text).not.toContain('it asks for')
    expect(provider).toContain('the holder of OAuth provider google acts as bob\n')
    // Whom its token is of is for the voter to read.
    expect(provider).toContain('it asks for')
    const of = { issuer: issuer.url, audience: 'client', subject: 'mallory' }
    for (const [name, value] of Object.entries(of)) expect(provider).toMatch(new RegExp(`${name}:? +${value}\\n`))
    expect(JSON.parse(said.at(-1)!).activity.parameters.oauthProviders).toEqual([
      { providerName: 'google', oidcToken: { ...of, token: '[not shown]' } },
    ])
  })

  test('a feature by which somebody logs in gives them power, and one that is removed is told', async () => {
    const feature = { name: 'FEATURE_NAME_EMAIL_AUTH', value: '' }
    const { id } = await service.root.submit('ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', feature)
    const set = await quorate(['review', id, ...as(bob, 'bob')], { env })
    expect(set.stdout).toContain('+ feature.EMAIL_AUTH')
    expect(set.stdout).toMatch(/Power\n +~ sign transaction.* of wallet\.hot\n/)
    expect(set.stdout).toContain('dana and erin gain: with others')
    expect(set.stdout).not.toContain('it asks for')
    await quorate(['approve', id, '--yes', ...as(bob, 'bob')], { env })
    // The service keeps a feature that is somebody's only way in; with a second one nobody loses anything.
    const second = { name: 'FEATURE_NAME_OTP_EMAIL_AUTH', value: '' }
    const other = await service.root.submit('ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', second)
    await quorate(['approve', other.id, '--yes', ...as(bob, 'bob')], { env })
    const { name } = feature
    const removing = await service.root.submit('ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', { name })
    const removed = await quorate(['review', removing.id, ...as(bob, 'bob')], { env })
    expect(removed.stdout).toContain('- feature.EMAIL_AUTH')
    expect(removed.stdout).toContain('no change in who can sign')
    await quorate(['reject', removing.id, '--yes', ...as(bob, 'bob')], { env })
  })
})

describe('votes', () => {
  test('what differs from its plan by one character is not approved, unless somebody insists', async () => {
    const refused = await quorate(['approve', changed!.id, '--yes', '--plan', saved, ...as(bob, 'bob')], { env })
    expect(refused.exit).toBe(4)
    expect(refused.stderr).toMatch(
      /error cli\/not-as-planned: [0-9a-f-]{9} asks for something else than activity 1 of plan [0-9a-f]{12}\n/,
    )
    expect(refused.stdout).toMatch(/not as planned\n +policyConsensus\n +planned .*>= 2.*\n +asked .*>= 1/)
    expect(refused.stdout).toContain('planned  "approvers.count() >= 2"\n')
    const { activity } = await service.root.query('get_activity', { activityId: changed!.id })
    expect(activity.votes).toHaveLength(1)
    const insisted = ['approve', changed!.id, '--yes', '--plan', saved, '--despite-mismatch', ...as(bob, 'bob')]
    expect((await quorate(insisted, { env })).stdout).toContain('now COMPLETED')
    // As the plan found it.
    await service.root.submit('ACTIVITY_TYPE_UPDATE_POLICY_V2', { policyId: await policyId(), policyConsensus: 'true' })
  })

  test('a plan says what waits already, by the code that its voter reads', async () => {
    const markdown = join(folder, 'plan.md')
    const fresh = ['plan', join(folder, 'defs'), '--markdown', markdown, '--allow', 'adoption']
    const { stdout } = await quorate(fresh, { env })
    const code = shortCode(planned!.fingerprint)
    expect(stdout).toContain(`already waiting as ${code}`)
    expect(stdout).toMatch(/^read by \d+ requests; 0 to submit$/m)
    expect(readFileSync(markdown, 'utf8')).toContain(`\`quorate approve ${code}\``)
  })

  test('a reason is kept in a file of the voter alone; voting again says how it ended', async () => {
    const vote = ['approve', planned!.id, '--yes', '--reason', 'as agreed in #42', ...as(bob, 'bob')]
    const { stdout, stderr } = await quorate(vote, { env })
    expect(stdout).toContain('now COMPLETED')
    const file = join(env['QUORATE_DATA_DIR']!, 'vote-reasons.ndjson')
    expect(stderr).toContain(file)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      activityId: planned!.id,
      vote: 'approve',
      by: 'bob',
      reason: 'as agreed in #42',
    })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    // What it has changed lives by now: held against that, it would seem to change nothing.
    const done = (await quorate(['review', planned!.id, ...as(bob, 'bob')], { env })).stdout
    expect(done).toMatch(/because +bob: as agreed in #42 \(kept on this machine\)\n {2}it asked for\n {4}policyId: /)
    expect(done).not.toContain('Power')
    const again = await quorate(vote, { env })
    expect(again.stderr).toMatch(/^[0-9a-f]{4}-[0-9a-f]{4} has ended as COMPLETED; there is nothing to approve/m)
    expect(again.exit).toBe(0)
    // Whoever asks for a rejection does not read a success.
    const late = await quorate(['reject', planned!.id, '--yes', ...as(bob, 'bob')], { env })
    expect([late.exit, late.stderr]).toEqual([
      6,
      expect.stringMatching(/^[0-9a-f]{4}-[0-9a-f]{4} has ended as COMPLETED; there is nothing to reject/m),
    ])
    // Also by its code, which only those that wait are found by at first.
    const byCode = await quorate(['approve', shortCode(planned!.fingerprint), '--yes', ...as(bob, 'bob')], { env })
    expect(byCode.stderr).toMatch(/^[0-9a-f]{4}-[0-9a-f]{4} has ended as COMPLETED; there is nothing to approve/m)
    expect(byCode.stdout).toContain(planned!.id)
  })

  test('a code that another activity has as well names neither, also once one of the two has ended', async () => {
    const parameters = (walletName: string) => ({ walletName, accounts: [] })
    const now = Date.now()
    const bodies = (walletName: string) =>
      Array.from({ length: 100_000 }, (_, before) => {
        const timestampMs = now - before
        const made = service.body('ACTIVITY_TYPE_CREATE_WALLET', parameters(walletName), { timestampMs })
        return [shortCode(fingerprintOf(made.text)), made] as const
      })
    const honest = new Map(bodies('as agreed'))
    const twins = ['twin', 'twin 2', 'twin 3'].flatMap(bodies).filter(([code]) => honest.has(code))
    const [code, twin] = twins[0]!
    const [one, other] = [await service.root.send(honest.get(code)!), await service.root.send(twin)]
    const votes = async () => await quorate(['approve', code, '--yes', ...as(bob, 'bob')], { env })
    const both = await votes()
    expect([both.exit, both.stderr]).toEqual([1, expect.stringContaining(`2 activities are called \`${code}\``)])
    await quorate(['reject', one.id, '--yes', ...as(bob, 'bob')], { env })
    const left = await votes()
    expect([left.exit, left.stdout]).toEqual([1, ''])
    expect(left.stderr).toContain('equal codes hardly come about by chance')
    expect(left.stderr).toContain(`${one.id} ACTIVITY_STATUS_REJECTED`)
    await quorate(['reject', other.id, '--yes', ...as(bob, 'bob')], { env })
  })

  test('several at once: nothing is voted while one of them is not as planned, and those that have ended are said', async () => {
    const wallet = (walletName: string) =>
      service.root.submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName, accounts: [] })
    const [one, other] = [await wallet('one'), await wallet('other')]
    const parameters = { policyId: await policyId(), policyConsensus: 'approvers.count() >= 4' }
    const deviating = await service.root.submit('ACTIVITY_TYPE_UPDATE_POLICY_V2', parameters)
    const ids = [one.id, shortCode(other.fingerprint), planned!.id]
    const votesOf = async ({ id }: Wire.Activity) =>
      (await service.root.query('get_activity', { activityId: id })).activity.votes.length
    const refused = await quorate(['approve', ...ids, deviating.id, '--yes', '--plan', saved, ...as(bob, 'bob')], {
      env,
    })
    expect(refused.exit).toBe(4)
    expect([await votesOf(one), await votesOf(other), await votesOf(deviating)]).toEqual([1, 1, 1])
    const { stdout, exit } = await quorate(
      ['approve', ...ids, '--yes', '--json', '--reason', 'both', ...as(bob, 'bob')],
      { env },
    )
    expect(exit).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      votes: [
        { voted: false, activity: { id: planned!.id } },
        { voted: true, reason: 'both', activity: { id: one.id, status: 'ACTIVITY_STATUS_COMPLETED' } },
        { voted: true, reason: 'both', activity: { id: other.id, status: 'ACTIVITY_STATUS_COMPLETED' } },
      ],
    })
    const why = ['--reason', 'four is too many']
    const rejected = await quorate(['reject', deviating.id, '--yes', ...why, ...as(bob, 'bob')], { env })
    expect(rejected.stdout).toContain('now REJECTED')
    const ended = (await quorate(['review', deviating.id, ...as(bob, 'bob')], { env })).stdout
    expect(ended).toMatch(/because +bob: four is too many .*\n {2}it would have changed\n {4}~ policy\.payouts\n/)
    expect(ended).not.toContain('Power')
  })

  test.each([['approve'], ['reject']] as const)(
    '%s of several, and the service goes away at the second: what was cast, what is unknown and what was not is said, and how to go on',
    async (choice) => {
      const ids: string[] = []
      for (const walletName of ['first', 'second', 'third'])
        ids.push(
          (
            await service.root.submit('ACTIVITY_TYPE_CREATE_WALLET', {
              walletName: `${choice} ${walletName}`,
              accounts: [],
            })
          ).id,
        )
      const between = await startBetween(service.url)
      onTestFinished(() => between.close())
      let sent = 0
      between.meddle = ({ submits }) => {
        if (submits) sent++
        if (sent < 2) return undefined
        // The second is carried out, and its answer is lost with everything after it.
        return submits && sent === 2 ? { kind: 'cut after' } : { kind: 'cut before' }
      }
      const vote = [choice, ...ids, '--yes', ...as(bob, 'bob')]
      const { exit, stdout, stderr } = await quorate([...vote, '--json'], {
        env: { ...env, QUORATE_BASE_URL: between.url },
      })
      const [first, second, third] = ids
      expect(exit, stderr).toBe(6)
      expect(stderr).toContain('error cli/votes-broken-off')
      expect(stderr).toMatch(new RegExp(`^ +cast +\\S+ \\(${first}\\)$`, 'm'))
      expect(stderr).toMatch(new RegExp(`^ +unknown +\\S+ \\(${second}\\)$`, 'm'))
      expect(stderr).toMatch(new RegExp(`^ +not cast +\\S+ \\(${third}\\)$`, 'm'))
      expect(stderr).toContain(`\`quorate review ${second}\``)
      expect(JSON.parse(stdout)).toMatchObject({
        votes: [
          { voted: true, activity: { id: first } },
          { voted: 'unknown', activity: { id: second } },
          { voted: false, activity: { id: third } },
        ],
        error: { code: 'cli/votes-broken-off' },
      })
      const statuses = async () =>
        Promise.all(
          ids.map(async (id) =>
            (await service.root.query('get_activity', { activityId: id })).activity.status.slice(16),
          ),
        )
      const end = choice === 'approve' ? 'COMPLETED' : 'REJECTED'
      expect(await statuses()).toEqual([end, end, 'CONSENSUS_NEEDED'])
      const next = stderr.match(/then give `quorate ([^`]+)`/)![1]!.split(' ')
      const again = await quorate([...next, '--yes', ...as(bob, 'bob')], { env })
      expect([again.exit, again.stderr]).toEqual([0, expect.stringContaining(`has ended as ${end}`)])
      expect(await statuses()).toEqual([end, end, end])
    },
  )

  test('several of which the first is refused: nothing was cast', async () => {
    const wallet = async (walletName: string) =>
      (await service.root.submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName, accounts: [] })).id
    const ids = [await wallet('busy'), await wallet('idle')]
    const between = await startBetween(service.url, ({ submits }) =>
      submits ? { kind: 'answer', status: 429, body: '{}' } : undefined,
    )
    onTestFinished(() => between.close())
    const { exit, stdout, stderr } = await quorate(['approve', ...ids, '--yes', ...as(bob, 'bob')], {
      env: { ...env, QUORATE_BASE_URL: between.url },
    })
    expect([exit, stdout]).toEqual([1, expect.not.stringContaining('Approved')])
    expect(stderr).toMatch(/^error client\/rate-limited: [\s\S]*^ +voted +nothing$/m)
    await quorate(['reject', ...ids, '--yes', ...as(bob, 'bob')], { env })
  })
})

test('what a command asks for without a plan is named as its own where its data folder is, and made outside elsewhere', async () => {
  const { exit } = await quorate(['incident', 'user', 'erin', '--contain', '--yes'], { env })
  expect([3, 6]).toContain(exit)
  const of = async (more: Readonly<Record<string, string>> = {}) =>
    (await quorate(['approvals', '--plan', saved, ...as(bob, 'bob')], { env: { ...env, ...more } })).stdout
      .split(/^(?=[0-9a-f]{4}-[0-9a-f]{4} )/m)
      .find((one) => one.includes('policy["incident user'))
  expect(await of()).toContain('order  `quorate incident user erin` of this data folder: deny whatever erin approves\n')
  expect(await of({ QUORATE_DATA_DIR: join(folder, 'elsewhere') })).toContain('plan   made outside: ')
})

async function policyId(): Promise<string> {
  const { policies } = await service.root.query('list_policies', {})
  return policies.find(({ policyName }) => policyName === 'payouts')!.policyId
}
