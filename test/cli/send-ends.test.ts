/** Each way in which a send can end, as the sender sees it: a state, an exit code and a reason of its own. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { complete } from '../service/handlers/steps.ts'
import { createTestUser } from '../service/harness.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { TOKEN_ABI } from '../service/sends/token.ts'
import { countActivities, keyFile, quorateShared as quorate, writeFiles } from './harness.ts'
import { PAYROLL, payday, TOKEN } from './payday.ts'

const closers: (() => Promise<void>)[] = []
let day: Awaited<ReturnType<typeof payday>>
beforeAll(async () => {
  day = await payday((close) => closers.push(close))
  await complete(day.service.root, 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE', {
    smartContractAddress: TOKEN,
    smartContractInterface: TOKEN_ABI,
    type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
    label: 'usdc',
  })
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

interface Sent {
  readonly progress: {
    readonly state: string
    readonly transactionHash?: string
    readonly error?: { readonly message: string }
  }
}

const tooMuchToken = { asset: 'usdc', amount: '50', chain: undefined }
const NO_BALANCE = 'execution reverted: InsufficientBalance {"available":"20000000","required":"50000000"}'

test.each<
  [
    string,
    Readonly<Record<string, string | undefined>>,
    { readonly isMined: boolean; readonly reason: RegExp | string },
  ]
>([
  ['one that reverts in a block', { ...tooMuchToken, gas: '100000' }, { isMined: true, reason: NO_BALANCE }],
  ['one that would revert', tooMuchToken, { isMined: false, reason: NO_BALANCE }],
  ['one without the funds', { amount: '1000eth' }, { isMined: false, reason: /insufficient funds/i }],
])('send ends: %s has failed, with the reason', async (name, given, { isMined, reason }) => {
  const before = await day.paid()
  const asked = { ref: name, ...given }
  const { exit, stdout } = await day.send(['--yes', '--json'], asked)
  const { progress } = JSON.parse(stdout) as Sent
  expect({ exit, state: progress.state }).toEqual({ exit: 6, state: isMined ? 'failed' : 'given up' })
  expect(progress.error?.message).toMatch(reason)
  expect(progress.transactionHash !== undefined).toBe(isMined)
  expect(await day.paid()).toBe(before)
})

test('send ends: what may offer too little has not ended, says what it waits for, and goes on by itself', async () => {
  const { anvil, env, folder } = day
  const before = await day.paid()
  const { exit } = await day.send(['--yes', '--detach'], { ref: 'too little', 'max-fee': '1wei', amount: '3wei' })
  expect(exit).toBe(0)
  const list = async () => (await quorate(['sends'], { env, cwd: folder })).stdout
  const waits = /^too little .* stuck .* wei now, and its `maxFeePerGas` is 1: nothing is signed until it costs less$/m
  await expect.poll(list, { interval: 500 }).toMatch(waits)
  const asked = { ref: 'too little', 'max-fee': '1wei', amount: '3wei' }
  const waited = await day.send(['--yes', '--wait', '1s'], asked)
  expect([waited.exit, waited.stderr]).toEqual([
    3,
    expect.stringMatching(/^ {2}open +the send is stuck, last answer: /m),
  ])
  expect(waited.stderr).toMatch(
    /^ {2}next +wait: it goes on by itself as soon as it can; on Ethereum `quorate sends replace`/m,
  )
  expect(await day.paid()).toBe(before)
  await anvil.rpc('anvil_setNextBlockBaseFeePerGas', '0x0')
  await anvil.rpc('evm_mine')
  await expect.poll(list, { interval: 500 }).toMatch(/^too little .* included/m)
  expect(await day.paid()).toBe(before + 3n)
  await anvil.rpc('anvil_setNextBlockBaseFeePerGas', '0x3b9aca00')
  await anvil.rpc('evm_mine')
})

test('send ends: --detach says that nothing is submitted while the node is of another chain, and it is paid once later', async () => {
  const { anvil, env, folder } = day
  const before = await day.paid()
  const served = await anvil.rpc<string>('eth_chainId')
  await anvil.rpc('anvil_setChainId', 1)
  try {
    const { exit, stderr } = await day.send(['--yes', '--detach'], { ref: 'elsewhere', amount: '5wei' })
    expect(exit).toBe(3)
    expect(stderr).toContain('serves chain eip155:1; nothing was accepted')
    expect(stderr).toContain('It is not known to be submitted.')
    const again = await day.send(['--yes', '--detach', '--json'], { ref: 'elsewhere', amount: '5wei' })
    const { progress } = JSON.parse(again.stdout) as Sent
    expect({ exit: again.exit, state: progress.state }).toEqual({ exit: 3, state: 'submitting' })
    expect(progress.error?.message).toContain('serves chain eip155:1')
    expect(await day.paid()).toBe(before)
  } finally {
    await anvil.rpc('anvil_setChainId', Number(served))
  }
  const list = async () => (await quorate(['sends'], { env, cwd: folder })).stdout
  await expect.poll(list, { interval: 500 }).toMatch(/^elsewhere .* included/m)
  expect(await day.paid()).toBe(before + 5n)
})

test('send ends: a token that says that it moves and moves nothing is not included', async () => {
  const { anvil } = day
  // Answers whatever is asked with 6.
  const code = await anvil.rpc<string>('eth_getCode', TOKEN, 'latest')
  await anvil.rpc('anvil_setCode', TOKEN, '0x600660005260206000f3')
  const { exit, stdout } = await day.send(['--yes', '--json'], {
    ref: 'idle',
    asset: 'usdc',
    amount: '1',
    chain: undefined,
  })
  await anvil.rpc('anvil_setCode', TOKEN, code)
  const { progress } = JSON.parse(stdout) as Sent
  expect({ exit, state: progress.state, message: progress.error?.message }).toEqual({
    exit: 6,
    state: 'failed',
    message: 'the transaction is in a block, and the token that it was to move has not moved',
  })
  expect(progress.transactionHash).toMatch(/^0x/)
})

test('send ends: what can only fail is refused before it uses up its reference', async () => {
  const before = await countActivities(day.service)
  const cases: readonly (readonly [Readonly<Record<string, string>>, string, number])[] = [
    [{ chain: 'eip155:1' }, 'error cli/unknown-chain: the API does not send to chain `eip155:1`', 1],
    [{ from: PAYROLL }, `no wallet or private key of the organization has address \`${PAYROLL}\``, 1],
  ]
  for (const [given, message, code] of cases) {
    for (const more of ['--yes', '--dry-run']) {
      const { exit, stderr } = await day.send([more], { ref: 'refused', ...given })
      expect([exit, stderr]).toEqual([code, expect.stringContaining(message)])
    }
  }
  expect(await countActivities(day.service)).toBe(before)
  expect((await day.send(['--yes'], { ref: 'refused', amount: '1wei' })).exit).toBe(0)
})

test('send ends: what has failed is shown as that, and is not sent again', async () => {
  const before = await countActivities(day.service)
  const again = await day.send(['--yes'], { ref: 'one that reverts in a block', ...tooMuchToken, gas: '100000' })
  expect(again.exit).toBe(6)
  expect(again.stderr).toMatch(/^reverted +0x[0-9a-f]{64} .*InsufficientBalance/m)
  expect(again.stderr).toContain(
    'next       its fee is spent and nothing else moved; look at its transaction by another node, correct the cause, and send under a new reference',
  )
  expect(await countActivities(day.service)).toBe(before)
  const { stdout } = await quorate(['sends', '--open'], { env: day.env, cwd: day.folder })
  expect(stdout).toBe('')
})

test('send ends: what was given up was never broadcast: its reference is free, and the same command sends it anew, once', async () => {
  const { anvil, address, env, folder } = day
  const asked = { ref: 'one without the funds', amount: '1000eth' }
  const csv = `ref,from,to,amount,chain\nrow without the funds,${address},payroll,500eth,${SEPOLIA}\n`
  writeFiles(folder, { 'big.csv': csv })
  const batch = () => quorate(['send', 'defs', '--batch', 'big.csv', '--yes', '--json'], { env, cwd: folder })
  const first = await batch()
  expect([first.exit, JSON.parse(first.stdout).counts]).toEqual([6, { 'given up': 1 }])
  const list = await quorate(['sends'], { env, cwd: folder })
  expect(list.stderr).toMatch(/^ {2}next +.*row without the funds: nothing was broadcast and the reference is free: /m)
  expect(list.stdout).toMatch(/^one without the funds .* given up .*insufficient funds/im)
  const { stdout } = await day.send(['--dry-run'], asked)
  expect(stdout).toMatch(/^ {2}already +given up, since it was asked for at /m)
  const before = await day.paid()
  const funded = BigInt(await anvil.rpc<string>('eth_getBalance', address, 'latest')) + 3000n * 10n ** 18n
  await anvil.rpc('anvil_setBalance', address, `0x${funded.toString(16)}`)
  // From two terminals at once.
  const both = await Promise.all([day.send(['--yes'], asked), day.send(['--yes'], asked)])
  expect(both.map(({ exit }) => exit)).toEqual([0, 0])
  expect((await day.send(['--yes'], asked)).exit).toBe(0)
  expect(await day.paid()).toBe(before + 1000n * 10n ** 18n)
  const rows = await Promise.all([batch(), batch()])
  expect(rows.map(({ exit, stdout }) => [exit, JSON.parse(stdout).counts])).toEqual([
    [0, { included: 1 }],
    [0, { included: 1 }],
  ])
  expect(await day.paid()).toBe(before + 1500n * 10n ** 18n)
})

test('send ends: one that policies deny is refused before anything is submitted, by name', async () => {
  const { client, userId } = await createTestUser(day.service, 'bob')
  const bob = keyFile(day.folder, 'bob', client.privateKey)
  const before = await countActivities(day.service)
  const undecided = await day.send(['--yes'], { ref: 'denied' }, { keyFile: bob })
  expect([undecided.exit, undecided.stderr]).toEqual([4, expect.stringContaining('no policy allows this send')])
  await complete(day.service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
    policyName: 'no-sends',
    effect: 'EFFECT_DENY',
    consensus: `approvers.any(user, user.id == '${userId}')`,
    condition: "activity.kind == 'ETH_SEND_TRANSACTION'",
    notes: '',
  })
  const denied = await day.send(['--yes'], { ref: 'denied' }, { keyFile: bob })
  expect([denied.exit, denied.stderr]).toEqual([4, expect.stringContaining('denied by no-sends')])
  // What was sent before is that send, whatever would come of it now.
  const sent = await day.send(['--yes'], { ref: 'refused', amount: '1wei' }, { keyFile: bob })
  expect([sent.exit, sent.stderr]).toEqual([
    0,
    expect.stringMatching(/^ {2}already +included, since it was asked for at /m),
  ])
  expect(await countActivities(day.service)).toBe(before + 1)
})

test('send ends: one that an approver rejects is rejected, and pays nothing', async () => {
  const { service, env, folder } = day
  const carol = await createTestUser(service, 'carol')
  const members = [service.rootUserId, carol.userId]
  await complete(service.root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds: members })
  const waits = await day.send(['--yes', '--json'], { ref: 'rejected', asset: 'usdc', amount: '1', chain: undefined })
  expect(waits.exit).toBe(3)
  const { progress } = JSON.parse(waits.stdout) as { readonly progress: { readonly activityId: string } }
  const key = keyFile(folder, 'carol', carol.client.privateKey)
  const listed = await quorate(['activities', '--waiting', '--key-file', key], { env, cwd: folder })
  expect(listed.stdout).toContain(
    `    reference rejected\n    calls transfer(to: ${PAYROLL}, value: 1000000) of ${TOKEN}\n`,
  )
  const vote = await quorate(['reject', progress.activityId, '--yes', '--key-file', key], { env, cwd: folder })
  // What carol reads is decoded from the request itself, by the organization's interface of the contract.
  expect(vote.stdout).toContain(`  calls      transfer(to: ${PAYROLL}, value: 1000000) of ${TOKEN}\n`)
  const followed = await quorate(['sends', '--follow'], { env, cwd: folder })
  // On a slow machine the workflow has asked by itself before, and nothing is open any more.
  const noticed = followed.stderr.includes('Nothing is open.')
  expect([followed.exit, followed.stdout]).toEqual(
    noticed ? [0, ''] : [6, expect.stringMatching(/^rejected .* rejected +rejected by carol$/m)],
  )
  const ended = await day.send(['--yes'], { ref: 'rejected', asset: 'usdc', amount: '1', chain: undefined })
  expect(ended.exit).toBe(6)
  expect(ended.stderr).toMatch(/^rejected +rejected by carol\n {2}next +nothing was broadcast; ask them why, /m)
  const { stdout } = await quorate(['sends'], { env, cwd: folder })
  expect(stdout).toMatch(/^rejected {2}1 USDC .* rejected/m)
  expect(await day.token.balanceOf(PAYROLL)).toBe(0n)
})
