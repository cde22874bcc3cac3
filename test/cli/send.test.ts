import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPlanStore } from '../../activities/index.ts'
import { complete, makeUser } from '../service/handlers/steps.ts'
import { createPasskey } from '../service/passkey.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { TOKEN_ABI } from '../service/sends/token.ts'
import { countActivities, quorateShared as quorate, writeFiles } from './harness.ts'
import { PAYROLL, payday, TOKEN } from './payday.ts'

const closers: (() => Promise<void>)[] = []
let day: Awaited<ReturnType<typeof payday>>
beforeAll(async () => {
  day = await payday((close) => closers.push(close))
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

test('send: a dry run says who is paid, how much in both units, and what will come of it; nothing is submitted', async () => {
  const before = await countActivities(day.service)
  const { exit, stdout } = await day.send(['--dry-run'])
  expect({ exit, stdout }).toEqual({
    exit: 0,
    stdout: [
      '  reference  INV-42',
      `  from       ${day.walletName} (${day.address})`,
      `  to         payroll (${PAYROLL})`,
      '  amount     1.5 ETH, 1500000000000000000 wei',
      `  chain      ${SEPOLIA}`,
      '  fee        at most 500 gwei a unit of gas (the cap of the chain; --max-fee sets another); the service chooses how many units, --gas bounds them',
      '  sender     100 ETH now, as reported by the API',
      `  simulated  nothing: QUORATE_CHAINS names no node of ${SEPOLIA}`,
      '  forecast   allow: the root quorum has approved, and policies are not asked',
      '',
    ].join('\n'),
  })
  expect(await countActivities(day.service)).toBe(before)
})

test('send: a reference is sent once, however often it is asked, and stands for one send alone', async () => {
  const [one, two] = await Promise.all([day.send(['--yes', '--json']), day.send(['--yes', '--json'])])
  const [first, second] = [one, two].map(
    ({ stdout }) => JSON.parse(stdout) as { progress: { transactionHash: string } },
  )
  expect([one.exit, two.exit, first!.progress]).toEqual([0, 0, second!.progress])
  expect(await day.paid()).toBe(1_500_000_000_000_000_000n)

  const third = await day.send(['--yes'])
  expect(third.exit).toBe(0)
  expect(third.stderr).toContain(`included      ${first!.progress.transactionHash}`)
  const other = await day.send([], { amount: '2eth' })
  expect(other.exit).toBe(4)
  expect(other.stderr).toContain('reference `INV-42` stands for another send')
  // Nothing is confirmed, since nothing is sent.
  expect((await day.send([], { ref: ' INV-42' })).exit).toBe(0)
  expect(await day.paid()).toBe(1_500_000_000_000_000_000n)

  const { stdout } = await quorate(['sends'], { env: day.env, cwd: day.folder })
  const { transactionHash } = first!.progress
  const listed = `INV-42  1.5 ETH from ${day.walletName} to payroll  included      ${transactionHash}  in block `
  expect(stdout.startsWith(listed)).toBe(true)
  expect(stdout.slice(listed.length)).toMatch(/^[1-9]\d*, for a fee of 0\.0000\d+ ETH, as reported by the API\n$/)
})

test('send: what is wrong is said before anything is submitted', async () => {
  const before = await countActivities(day.service)
  const cases: readonly (readonly [Readonly<Record<string, string | undefined>>, string])[] = [
    [{ to: 'payrol' }, 'there is no receiver `payrol`'],
    [{ amount: '1.5' }, 'expected an amount with its unit, got `1.5`'],
    [{ ref: '' }, 'expected --ref'],
  ]
  for (const [given, message] of cases) {
    const { exit, stderr } = await day.send(['--yes'], given)
    expect([exit, stderr]).toEqual([1, expect.stringContaining(message)])
  }
  writeFiles(day.folder, {
    'wrong/more.yaml': 'addressBook: { exchange: "0x52908400098527886E0F7030069857D2E4169ee7" }\n',
  })
  const { exit, stderr } = await day.send(['--yes'], {}, { defs: 'wrong' })
  expect(exit).toBe(1)
  expect(stderr).toContain('more.yaml:1:26: error definitions/bad-address')
  const asset = `{ chain: "${SEPOLIA}", address: "${TOKEN}", decimals: 18 }`
  const finerDefinitions = `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
addressBook: { payroll: "${PAYROLL}" }
assets: { usdc: ${asset} }
`
  writeFiles(day.folder, { 'finer/acme.yaml': finerDefinitions })
  const finer = await day.send(['--yes'], { asset: 'usdc', amount: '1', chain: undefined }, { defs: 'finer' })
  expect(finer.exit).toBe(4)
  expect(finer.stderr).toContain('asset `usdc` is defined with 18 decimals, and its contract has 6')
  expect(await countActivities(day.service)).toBe(before)
})

test('send: where nobody is asked and nothing says yes, it is not sent', async () => {
  const before = await countActivities(day.service)
  const { exit, stderr } = await day.send([], { ref: 'unasked' })
  expect([exit, stderr]).toEqual([1, expect.stringContaining('it was not sent')])
  expect(await countActivities(day.service)).toBe(before)
})

test('send: the fee has a ceiling by default, by the cap or by recent blocks; it is what is signed, and the reference keeps it', async () => {
  const given = { ref: 'CEILING', amount: '3gwei' }
  const caps = { QUORATE_FEE_CAPS: `${SEPOLIA}=40` }
  const blocks = { QUORATE_CHAINS: `${SEPOLIA}=${day.anvil.url}` }
  const priceOf = async (environment: Readonly<Record<string, string>>) => {
    const { exit, stdout } = await day.send(['--dry-run'], given, { environment })
    expect(exit).toBe(0)
    return /^ {2}fee +at most (.*) gwei a unit of gas \((.*); --max-fee/m.exec(stdout)?.slice(1)
  }
  expect(await priceOf({})).toEqual(['500', 'the cap of the chain'])
  expect(await priceOf(caps)).toEqual(['40', 'the cap of the chain'])
  const [ceiling, by] = (await priceOf(blocks))!
  expect(by).toBe('4 times what recent blocks took, cap 500 gwei')
  expect(Number(ceiling)).toBeLessThan(40)
  const [half, times] = (await priceOf({ ...blocks, QUORATE_FEE_MULTIPLES: `${SEPOLIA}=2` }))!
  expect([Number(half), times]).toEqual([Number(ceiling) / 2, '2 times what recent blocks took, cap 500 gwei'])
  expect(await priceOf({ ...blocks, QUORATE_FEE_CAPS: `${SEPOLIA}=2` })).toEqual([
    '2',
    '4 times what recent blocks took, cap 2 gwei',
  ])

  const { stdout } = await day.send(['--yes', '--json'], given, { environment: caps })
  const { progress } = JSON.parse(stdout) as { progress: { transactionHash: string } }
  const signed = await day.anvil.rpc<{ maxFeePerGas: string }>('eth_getTransactionByHash', progress.transactionHash)
  expect(BigInt(signed.maxFeePerGas)).toBe(40_000_000_000n)
  // Asked again with another ceiling in mind, it is the send that was begun.
  expect(await priceOf(blocks)).toEqual(['40', 'the cap of the chain'])
  const again = await day.send(['--yes'], given, { environment: blocks })
  expect([again.exit, again.stderr]).toEqual([0, expect.stringContaining(progress.transactionHash)])
  const said = await day.send(['--yes'], { ...given, 'max-fee': '60gwei' })
  expect([said.exit, said.stderr]).toEqual([4, expect.stringContaining('`CEILING` is this payment, begun with other')])
  expect(said.stderr).toMatch(/^ {2}with other +maxFeePerGas, then 40000000000 and now 60000000000$/m)
  expect(said.stderr).not.toContain('reference of its own')
  // A ceiling that somebody has said is kept too, where nobody says one any more.
  const named = { ref: 'CEILING-2', amount: '3gwei' }
  expect((await day.send(['--yes'], { ...named, 'max-fee': '30gwei' })).exit).toBe(0)
  const joined = await day.send(['--yes'], named)
  expect([joined.exit, joined.stderr]).toEqual([0, expect.stringContaining('at most 30 gwei a unit of gas')])
})

test('send: a token is paid in its own units; the dry run reads receiver and amount from the call that will be signed', async () => {
  const bounds = { 'max-fee': '60gwei', gas: '100000' }
  const given = { asset: 'usdc', amount: '12.5usdc', chain: undefined, ref: 'INV-43', ...bounds }
  const { exit, stdout } = await day.send(['--dry-run'], given)
  expect({ exit, lines: stdout.split('\n') }).toEqual({
    exit: 0,
    lines: [
      '  reference  INV-43',
      `  from       ${day.walletName} (${day.address})`,
      `  to         payroll (${PAYROLL})`,
      '  amount     12.5 USDC, 12500000 atomic units',
      `  token      usdc (${TOKEN})`,
      `  chain      ${SEPOLIA}`,
      '  fee        at most 0.006 ETH: 60 gwei a unit of gas, 100000 units',
      '  sender     20 USDC now, as reported by the API',
      expect.stringMatching(/^ {2}sender {5}98\.\d+ ETH now, as reported by the API$/),
      `  simulated  nothing: QUORATE_CHAINS names no node of ${SEPOLIA}`,
      '  forecast   allow: the root quorum has approved, and policies are not asked',
      '',
    ],
  })
  expect((await day.send(['--yes'], given)).exit).toBe(0)
  expect([await day.token.balanceOf(PAYROLL), await day.token.balanceOf(day.address)]).toEqual([
    12_500_000n,
    7_500_000n,
  ])
})

test('send: a call of a contract is decoded by the interface of the organization; without one, nobody claims to know it', async () => {
  const to = '0x00000000000000000000000000000000000000e3'
  const data = `0xa9059cbb${PAYROLL.slice(2).padStart(64, '0')}${'7'.padStart(64, '0')}`
  const dryRun = async () => {
    const { stdout } = await day.send(['--dry-run'], { to, data, amount: undefined, ref: 'CALL-1' })
    return stdout.split('\n').slice(2, 5)
  }
  const warning = 'no interface of the contract tells what this does: know it before you send it'
  expect(await dryRun()).toEqual([
    `  to         ${to}`,
    '  amount     0 ETH, 0 wei',
    `  call       0xa9059cbb and 64 bytes  ${warning}`,
  ])
  await day.service.root.submit('ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE', {
    smartContractAddress: to,
    smartContractInterface: TOKEN_ABI,
    type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
    label: 'points',
  })
  expect((await dryRun())[2]).toBe(`  call       transfer(to: ${PAYROLL}, value: 7)`)
})

test('send: one that waits is replaced or cancelled on command, with its nonce, once however often it is asked', async () => {
  const { anvil, env, folder, address, service } = day
  const sends = (...words: readonly string[]) => quorate(['sends', ...words], { env, cwd: folder })
  const node = ['--node', anvil.url]
  const ledger = createPlanStore(join(env['QUORATE_DATA_DIR']!, 'plans')).sends
  const countFlying = async () => {
    const entered = await ledger.list(service.organizationId)
    const all = await Promise.all(entered.map(({ sendId }) => ledger.getProgress(sendId)))
    return all.filter((progress) => progress?.state === 'broadcasting' && progress.transactionHash !== undefined).length
  }
  const minedBefore = BigInt(await anvil.rpc<string>('eth_getTransactionCount', address, 'latest'))
  const paidBefore = await day.paid()
  await anvil.rpc('evm_setAutomine', false)
  for (const ref of ['INV-50', 'INV-51']) {
    const { exit } = await day.send(['--yes', '--detach'], { ref, amount: '1gwei', 'max-fee': '10gwei' })
    expect(exit).toBe(0)
  }
  await expect.poll(countFlying, PATIENCE).toBe(2)

  const tooLittle = await sends('replace', 'INV-50', '--max-fee', '11gwei', ...node)
  expect(tooLittle.exit).toBe(1)
  expect(tooLittle.stderr).toContain('11 gwei is too little: the transaction that waits offers 10 gwei')
  const dry = await sends('replace', 'INV-50', 'defs', '--max-fee', '60gwei', ...node, '--dry-run')
  expect(dry.stdout.split('\n').slice(0, 6)).toEqual([
    '  reference  INV-50/replace-60gwei',
    `  replaces   INV-50, by its nonce ${minedBefore}`,
    `  from       ${day.walletName} (${address})`,
    `  to         payroll (${PAYROLL})`,
    '  amount     0.000000001 ETH, 1000000000 wei',
    `  chain      ${SEPOLIA}`,
  ])
  const replace = () => sends('replace', 'INV-50', '--max-fee', '60gwei', ...node, '--yes', '--detach', '--json')
  const [one, two] = await Promise.all([replace(), replace()])
  expect([one.exit, two.exit]).toEqual([0, 0])
  const cancel = await sends('cancel', 'INV-51', '--max-fee', '60gwei', ...node, '--yes', '--detach')
  expect(cancel).toMatchObject({ exit: 0 })
  await expect.poll(countFlying, PATIENCE).toBe(4)
  // The node has one transaction of a nonce.
  const over = await sends('cancel', 'INV-50', '--max-fee', '90gwei', ...node, '--yes', '--detach')
  expect([over.exit, over.stderr]).toEqual([
    4,
    expect.stringContaining("cancel that one: `quorate sends cancel 'INV-50/replace-60gwei' --max-fee 90gwei`"),
  ])
  await anvil.rpc('evm_setAutomine', true)
  // What was replaced is told so when the other's block is settled.
  await anvil.rpc('anvil_mine', '0xc')

  await expect.poll(countFlying, PATIENCE).toBe(0)
  const all = (await sends()).stdout
  expect(all).toMatch(/^INV-50 .* replaced by INV-50\/replace-60gwei .*replaced by transaction 0x/m)
  expect(all).toMatch(/^INV-51 .* cancelled by INV-51\/cancel-\d+gwei .*replaced by transaction 0x/m)
  expect(all).toMatch(/^INV-50\/replace-60gwei .* included/m)
  expect(all).toMatch(/^INV-51\/cancel-60gwei {2}0 ETH from (\S+) to \1 {2}included/m)
  expect(await day.paid()).toBe(paidBefore + 1_000_000_000n)
  expect(BigInt(await anvil.rpc<string>('eth_getTransactionCount', address, 'latest'))).toBe(minedBefore + 2n)
  // A file with both as its rows tells of them in the same words.
  const rows = ['INV-50', 'INV-51'].map((ref) => `${ref},${day.walletName},payroll,1gwei,${SEPOLIA},10gwei\n`)
  writeFiles(folder, { 'both.csv': `ref,from,to,amount,chain,max-fee\n${rows.join('')}` })
  const batch = (...more: readonly string[]) =>
    quorate(['send', 'defs', '--batch', 'both.csv', ...more], { env, cwd: folder })
  const looked = (await batch('--dry-run')).stdout
  expect(looked).toMatch(/^ {2}already +1 replaced, 1 cancelled$/m)
  expect(looked).toMatch(/ {2}INV-50 .* {2}replaced by INV-50\/replace-60gwei already$/m)
  expect(JSON.parse((await batch('--dry-run', '--json')).stdout).rows).toMatchObject([
    { reference: 'INV-50', state: 'replaced', replacedBy: { reference: 'INV-50/replace-60gwei', cancels: false } },
    { reference: 'INV-51', state: 'cancelled', replacedBy: { reference: 'INV-51/cancel-60gwei', cancels: true } },
  ])
  const sent = await batch('--yes', '--report', 'both-report.csv')
  expect([sent.exit, sent.stdout]).toEqual([6, expect.stringMatching(/^2 rows: 1 replaced, 1 cancelled; batch/m)])
  expect(sent.stdout).toMatch(/^ {2}both.csv:2 {2}INV-50 {2}replaced by INV-50\/replace-60gwei /m)
  expect(sent.stderr).not.toContain('failed')
  expect(readFileSync(join(folder, 'both-report.csv'), 'utf8')).toMatch(/,INV-50\/replace-60gwei,,\r$/m)
  // Asked again, it is the same one; what has ended is not replaced again.
  expect((await replace()).exit).toBe(0)
  const late = await sends('cancel', 'INV-50', '--max-fee', '90gwei', ...node, '--yes')
  expect(late.exit).toBe(4)
  expect(late.stderr).toContain(
    '`INV-50` cannot be replaced: it has failed, and `INV-50/replace-60gwei` was offered in its place',
  )
})

const PATIENCE = { interval: 500 }

// The last one: from here on alice alone decides nothing.
test('plan, send --dry-run and policy explain --live: a member who has a passkey alone is who else must approve', async () => {
  const { service, folder, env } = day
  const member = { userName: 'bob', apiKeys: [], authenticators: [createPasskey().register()] }
  const bob = await makeUser(service.root, member)
  const quorum = { threshold: 2, userIds: [service.rootUserId, bob] }
  await complete(service.root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', quorum)
  const { user } = await service.root.query('get_user', { userId: service.rootUserId })
  const acme = 'organization: acme\nid: ${env.ACME_ORGANIZATION_ID}\ntags: { probe: {} }\n'
  writeFiles(folder, {
    'probe/acme.yaml': acme,
    'request.yaml': `by: ${JSON.stringify(user.userName)}\nactivity: CREATE_USER_TAG\n`,
  })
  const [planned, dry, explained] = await Promise.all([
    quorate(['plan', 'probe'], { env, cwd: folder }),
    day.send(['--dry-run'], { ref: 'BOB-1' }),
    quorate(['policy', 'explain', '--live', '--request', 'request.yaml'], { env, cwd: folder }),
  ])
  expect(planned.stdout).toContain('waits for bob')
  expect(dry.stdout).toMatch(/forecast +pending: .*\bbob\b/s)
  expect(explained.stdout).toMatch(/\bbob\b/)
})
