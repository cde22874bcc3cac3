/** Recorded activities decided again: by definitions that are not applied, and without each policy. */
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { generateP256KeyPair } from '@turnkey/crypto'
import { serializeTransaction } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestUser, Refused, startTestService, type TestService, type TestUser } from '../service/harness.ts'
import { ETHEREUM, makeWallet } from '../service/signing/keys.ts'
import { countActivities, environmentOf, quorateShared, readAll, testFolder } from './harness.ts'

type User = TestUser & { readonly privateKey: string }
let service: TestService
let alice: User
let bob: User
let env: Readonly<Record<string, string>>
let folder: string
const atEnd: (() => Promise<void>)[] = []

beforeAll(async () => {
  service = await startTestService()
  const { root } = service
  alice = await createTestUser(service, 'alice')
  bob = await createTestUser(service, 'bob')
  const wallet = await makeWallet(root, ETHEREUM)
  const address = wallet.accounts[0]!.address
  const by = (...users: readonly User[]) =>
    users.map(({ userId }) => `approvers.any(user, user.id == '${userId}')`).join(' && ')
  const policies: readonly (readonly [
    name: string,
    effect: string,
    consensus: string | undefined,
    condition: string,
  ])[] = [
    ['signs', 'ALLOW', by(alice), `activity.action == 'SIGN' && wallet.id == '${wallet.walletId}'`],
    ['exports', 'ALLOW', by(alice, bob), "activity.kind == 'EXPORT_WALLET'"],
    ['keys', 'ALLOW', by(alice), `activity.action == 'SIGN' && private_key.label == 'spare'`],
    [
      'one account',
      'ALLOW',
      by(bob),
      `activity.kind == 'EXPORT_WALLET_ACCOUNT' && wallet_account.address == '${address}'`,
    ],
    ['tags', 'ALLOW', by(bob), "activity.resource == 'USER' || activity.resource == 'POLICY'"],
    ['unused', 'ALLOW', by(bob), "activity.kind == 'CREATE_WALLET'"],
    ['not too much', 'DENY', undefined, "activity.kind == 'SIGN_TRANSACTION' && eth.tx.value > 1000"],
  ]
  for (const [policyName, effect, consensus, condition] of policies)
    await root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName,
      effect: `EFFECT_${effect}`,
      ...(consensus === undefined ? {} : { consensus }),
      condition,
      notes: '',
    })
  const transaction = (value: bigint) =>
    serializeTransaction({
      ...{ type: 'eip1559', chainId: 1, nonce: 1, gas: 21_000n, maxFeePerGas: 9n, maxPriorityFeePerGas: 1n },
      to: `0x${'55'.repeat(20)}`,
      value,
    } as Parameters<typeof serializeTransaction>[0])
  const sign = (value: bigint) =>
    alice.client.submit('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', {
      signWith: address,
      type: 'TRANSACTION_TYPE_ETHEREUM',
      unsignedTransaction: transaction(value),
    })
  await sign(5n)
  await sign(500n)
  await expect(sign(5_000n)).rejects.toThrow(Refused)
  await alice.client.submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', {
    signWith: address,
    payload: '11'.repeat(32),
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    hashFunction: 'HASH_FUNCTION_NO_OP',
  })
  await bob.client.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'team', userIds: [] })
  const waiting = await bob.client.submit('ACTIVITY_TYPE_EXPORT_WALLET', {
    walletId: wallet.walletId,
    targetPublicKey: generateP256KeyPair().publicKeyUncompressed,
  })
  expect(waiting.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
  await bob.client.submit('ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT', {
    address,
    targetPublicKey: generateP256KeyPair().publicKeyUncompressed,
  })
  const privateKeys = [{ privateKeyName: 'spare', curve: 'CURVE_ED25519', addressFormats: [], privateKeyTags: [] }]
  const made = await root.submit('ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys })
  await alice.client.submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOADS', {
    signWith: made.result.createPrivateKeysResultV2!.privateKeys[0]!.privateKeyId,
    payloads: ['11'.repeat(32)],
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    hashFunction: 'HASH_FUNCTION_NOT_APPLICABLE',
  })
  const place = testFolder((end) => atEnd.push(end))
  env = environmentOf(service, place, root.privateKey)
  folder = join(place, 'acme')
  const imported = await quorateShared(['import', folder], { env })
  expect(imported.exit, imported.stderr).toBe(0)
})
afterAll(async () => {
  await service.close()
  for (const end of atEnd) await end()
})

/** A copy of the definitions in which a text is another. */
function changed(from: string, to: string): string {
  const copy = join(testFolder(), 'acme')
  cpSync(folder, copy, { recursive: true })
  const files = readAll(copy).filter(({ path }) => path.endsWith('.yaml'))
  const hits = files.filter(({ text }) => text.includes(from))
  expect(
    hits.map(({ path }) => path),
    from,
  ).toHaveLength(1)
  writeFileSync(hits[0]!.path, hits[0]!.text.replace(from, to))
  return copy
}

const backtest = (...args: readonly string[]) => quorateShared(['policy', 'backtest', ...args], { env })

test('policy backtest: by what lives everything comes out as it was recorded, also what was denied and what waits', async () => {
  const before = await countActivities(service)
  const { exit, stdout, stderr } = await backtest(folder, '--json')
  expect(exit, stderr).toBe(0)
  const { rows, activities } = JSON.parse(stdout)
  expect(activities).toBe(before)
  const recorded = rows.map((row: { recorded: string }) => row.recorded)
  expect(new Set(recorded)).toEqual(new Set(['executed', 'denied', 'waits']))
  for (const row of rows)
    expect([row.type, row.before.outcome, row.after.outcome]).toEqual([row.type, row.recorded, row.recorded])
  expect(await countActivities(service)).toBe(before)
})

test('policy backtest: a lower limit denies what was executed, a higher one executes what was denied, and each is expected or not', async () => {
  const lower = changed('eth.tx.value > 1000', 'eth.tx.value > 100')
  const said = await backtest(lower)
  expect(said.exit, said.stderr).toBe(0)
  expect(said.stdout).toMatch(/^would be denied: 1\n {2}SIGN_TRANSACTION_V2 by alice: not too much denies it /m)
  expect((await backtest(lower, '--expect', 'narrower')).exit).toBe(0)
  const refused = await backtest(lower, '--expect', 'wider')
  expect(refused.exit).toBe(1)
  expect(refused.stderr).toContain('expected every decision to be equal or wider; 1 would not be')
  const higher = changed('eth.tx.value > 1000', 'eth.tx.value > 9000')
  expect((await backtest(higher)).stdout).toMatch(
    /^would be executed: 1\n {2}SIGN_TRANSACTION_V2 by alice: signs allows it /m,
  )
  expect((await backtest(higher, '--expect', 'narrower')).exit).toBe(1)
  const odd = await backtest(folder, '--expect', 'same')
  expect(odd.exit).toBe(1)
  expect(odd.stderr).toContain('expected `--expect` to be equal, narrower or wider')
})

test('policy backtest: one that would wait says for whom, and what is not on record is said as unknown', async () => {
  const stricter = changed(
    "'${user.bob}')\n    condition: activity.resource",
    "'${user.bob}') && approvers.any(user, user.id == '${user.alice}')\n    condition: activity.resource",
  )
  // Nobody but bob has ever asked for it, so the one vote that there was is not enough.
  const waits = await backtest(stricter)
  expect(waits.exit, waits.stderr).toBe(0)
  expect(waits.stdout).toMatch(/^would wait for approvals: 1\n {2}CREATE_USER_TAG by bob: any 1 of alice, root /m)
  const imported = changed("activity.kind == 'EXPORT_WALLET'", "activity.kind == 'EXPORT_WALLET' && !wallet.imported")
  const said = await backtest(imported)
  expect(said.exit).toBe(6)
  expect(said.stdout).toMatch(
    /^cannot be told: 1\n {2}EXPORT_WALLET by bob: whether the key had been imported or exported is not on record /m,
  )
})

test('policy usage: a policy is decisive where an activity would have come out otherwise without it', async () => {
  const { exit, stdout, stderr } = await quorateShared(['policy', 'usage', '--json'], { env })
  expect(exit, stderr).toBe(0)
  const { policies, changed: moved, unknown } = JSON.parse(stdout)
  expect([moved, unknown]).toEqual([0, 0])
  const counts = policies.map(({ policy, tookPart, decisive }: never) => [policy, tookPart, decisive])
  expect(counts).toEqual([
    ['exports', 0, 0],
    ['keys', 1, 1],
    ['not too much', 1, 1],
    ['one account', 1, 1],
    ['signs', 3, 3],
    ['tags', 1, 1],
    ['unused', 0, 0],
  ])
  const { stdout: text } = await quorateShared(['policy', 'usage'], { env })
  expect(text).toMatch(/^ {2}signs +allow {2}decisive 3 times; last \S+ SIGN_RAW_PAYLOAD_V2 by alice$/m)
  expect(text).toMatch(/^ {2}unused +allow {2}never decisive$/m)
})

test('policy usage: what is proposed is a patch that applies, takes what no activity needed, and passes the backtest', async () => {
  const copy = join(testFolder(), 'acme')
  cpSync(folder, copy, { recursive: true })
  const texts = readAll(copy)
  const { exit, stdout, stderr } = await quorateShared(['policy', 'usage', '--propose', 'acme'], {
    env,
    cwd: dirname(copy),
  })
  expect(exit, stderr).toBe(0)
  expect(readAll(copy)).toEqual(texts)
  expect(stderr).toContain('4 policies could let through less')
  writeFileSync(join(dirname(copy), 'less.patch'), stdout)
  execFileSync('git', ['apply', '-p0', 'less.patch'], { cwd: dirname(copy) })
  const after = readFileSync(join(copy, 'policies.yaml'), 'utf8')
  expect(after).not.toContain('unused')
  expect(after).toContain('exports')
  expect(after).toContain("activity.kind == 'CREATE_USER_TAG' && (activity.resource == 'USER' || activity.resource ==")
  const tried = await backtest(copy, '--expect', 'equal')
  expect(tried.exit, tried.stdout + tried.stderr).toBe(0)
})
