/** What a send would leave its parties with, as a node runs it; and nodes that lie about it, which make no "no". */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type FaultNode, startFaultNode } from '../faults/fault-node.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { placeToken } from '../service/sends/token.ts'
import { countActivities, quorateShared as quorate, writeFiles } from './harness.ts'
import { PAYROLL, payday, TOKEN } from './payday.ts'

const closers: (() => Promise<void>)[] = []
let day: Awaited<ReturnType<typeof payday>>
let node: FaultNode
beforeAll(async () => {
  day = await payday((close) => closers.push(close))
  node = await startFaultNode(day.anvil.url)
  closers.push(() => node.close())
})
afterEach(() => {
  node.fault = () => undefined
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

const withNode = () => ({ environment: { QUORATE_CHAINS: `${SEPOLIA}=${node.url}` } })
const bounds = { 'max-fee': '60gwei', gas: '100000' }
const byNode = () => `by the node at ${new URL(node.url).host}, at block `

/** The rows of a dry run, by their names. */
async function rowsOf(given: Readonly<Record<string, string | undefined>>, options = withNode()) {
  const { exit, stdout } = await day.send(['--dry-run'], given, options)
  expect(exit).toBe(0)
  const rows = stdout.split('\n').flatMap((line) => {
    const [, name, text] = /^ {2}(sender|payee|simulated|beware) +(.*)$/.exec(line) ?? []
    return name === undefined ? [] : [`${name}: ${text}`]
  })
  return rows.map((row) => row.replace(/block \d+$/, 'block '))
}

test('balances: a dry run says what sender and payee have before and after it, with the bound of the fee', async () => {
  const before = await countActivities(day.service)
  expect(await rowsOf(bounds)).toEqual([
    'sender: 100 ETH now, at least 98.494 ETH after, 0.006 ETH for the fee taken off',
    'payee: 0 ETH now, 1.5 ETH after',
    `simulated: ${byNode()}`,
  ])
  expect(await rowsOf({ ...bounds, asset: 'usdc', amount: '12.5', chain: undefined })).toEqual([
    'sender: 20 USDC now, 7.5 USDC after',
    'sender: 100 ETH now, at least 99.994 ETH after, 0.006 ETH for the fee taken off',
    'payee: 0 USDC now, 12.5 USDC after',
    `simulated: ${byNode()}`,
  ])
  // Nothing of it has happened.
  expect([await day.paid(), await day.token.balanceOf(PAYROLL), await countActivities(day.service)]).toEqual([
    0n,
    0n,
    before,
  ])
})

test('balances: what the send is then paid with is what was said', async () => {
  const given = { ...bounds, asset: 'usdc', amount: '2.5', chain: undefined, ref: 'SAID' }
  const { stdout } = await day.send(['--dry-run', '--json'], given, withNode())
  const { simulation } = JSON.parse(stdout) as {
    simulation: { balances: readonly { of: string; token?: string; after: { atomic: string } }[] }
  }
  expect((await day.send(['--yes'], given, withNode())).exit).toBe(0)
  const left = BigInt(await day.anvil.rpc<string>('eth_getBalance', day.address, 'latest'))
  const [tokens, ether, payee] = simulation.balances.map(({ after }) => BigInt(after.atomic))
  expect([tokens, payee]).toEqual([await day.token.balanceOf(day.address), await day.token.balanceOf(PAYROLL)])
  expect(left).toBeGreaterThanOrEqual(ether!)
  expect(left - ether!).toBeLessThan(6_000_000_000_000_000n)
})

test('balances: without a node the API says what the sender has, and it is said that nothing was simulated', async () => {
  const [sender, simulated] = await rowsOf({}, { environment: { QUORATE_CHAINS: '' } })
  expect(sender).toMatch(/^sender: (?:100|99\.9\d+) ETH now, as reported by the API$/)
  expect(simulated).toBe(`simulated: nothing: QUORATE_CHAINS names no node of ${SEPOLIA}`)
})

test('balances: a node that does not run transactions tells the balances before them, and its words', async () => {
  node.fault = ({ method }) =>
    method === 'eth_simulateV1'
      ? { error: { code: -32_601, message: 'the method does not exist\u001b[2K' } }
      : undefined
  const [sender, payee, simulated] = await rowsOf({ to: TOKEN, amount: '1wei' })
  expect([sender, payee]).toEqual([expect.stringMatching(/^sender: \S+ ETH now$/), 'payee: 0 ETH now'])
  expect(simulated).toMatch(
    /^simulated: nothing: the node at \S+: it does not run them, and says: the method does not exist\\u\{1b\}\[2K$/,
  )
})

test('balances: too little is told, and refused before it is asked for, where a node and the API say so', async () => {
  const before = await countActivities(day.service)
  const rich = { amount: '5000eth', ref: 'RICH', 'max-fee': '1gwei' }
  expect((await rowsOf(rich))[0]).toMatch(
    /^sender: \S+ ETH now {2}too little by the node at \S+ and the API: it takes at least 5000\.000021 ETH$/,
  )
  const { exit, stderr } = await day.send(['--yes'], rich, withNode())
  expect([exit, stderr]).toEqual([
    4,
    expect.stringMatching(/cli\/too-little: \S+ has \S+ ETH, and this takes at least 5000\.000021 ETH/),
  ])
  const tokens = { asset: 'usdc', amount: '50', chain: undefined, ref: 'RICH-2' }
  const many = await day.send(['--yes'], tokens, withNode())
  expect([many.exit, many.stderr]).toEqual([
    4,
    expect.stringMatching(/has \S+ USDC, and this takes at least 50 USDC[\s\S]*submitted +nothing/),
  ])
  expect(many.stderr).toContain('RICH-2: it would revert with 0xcf479181')
  expect(await countActivities(day.service)).toBe(before)
})

test('balances: one that says there is too little, alone, stops nothing; neither does one that gives no answer', async () => {
  node.fault = ({ method }) =>
    method === 'eth_getBalance'
      ? { result: '0x1' }
      : method === 'eth_simulateV1'
        ? { error: { code: 1, message: 'no' } }
        : undefined
  expect((await rowsOf({ amount: '1gwei', ref: 'LIE' }))[0]).toMatch(
    /^sender: 0\.0{17}1 ETH now {2}too little by the node at \S+, which the API denies: it takes at least /,
  )
  expect((await day.send(['--yes'], { amount: '1gwei', ref: 'LIE' }, withNode())).exit).toBe(0)
  for (const [ref, fault] of [
    ['PAGE', { page: 502 }],
    ['DROP', 'dropped'],
    ['GARBAGE', { result: 'soon' }],
  ] as const) {
    node.fault = () => fault
    const rows = await rowsOf({ amount: '1gwei', ref })
    expect(rows.at(-1)).toMatch(/^simulated: nothing: the node at \S+: it gives no answer that can be read$/)
    expect((await day.send(['--yes'], { amount: '1gwei', ref }, withNode())).exit).toBe(0)
  }
})

test('send: an asset that is not what the node says of its contract is refused before anything is submitted', async () => {
  // None that the service knows.
  const unlisted = '0x00000000000000000000000000000000000000e3'
  await placeToken(day.anvil, unlisted)
  const before = await countActivities(day.service)
  const send = (address: string, decimals: number) => {
    writeFiles(day.folder, {
      'unlisted/acme.yaml': `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
addressBook: { payroll: "${PAYROLL}" }
assets: { coin: { chain: "${SEPOLIA}", address: "${address}", decimals: ${decimals}, symbol: COIN } }
`,
    })
    const given = { asset: 'coin', amount: '1', chain: undefined }
    return day.send(['--yes', '--dry-run'], given, { ...withNode(), defs: 'unlisted' })
  }
  const finer = await send(unlisted, 18)
  expect([finer.exit, finer.stderr]).toEqual([
    4,
    expect.stringContaining('asset `coin` is defined with 18 decimals, and its contract has 6'),
  ])
  const nothing = await send('0x00000000000000000000000000000000000000e4', 6)
  expect([nothing.exit, nothing.stderr]).toEqual([
    4,
    expect.stringContaining('there is no contract at the address of asset `coin`'),
  ])
  // A node that lies of the chain is none of it, and one that gives no answer is no reason.
  node.fault = ({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined)
  expect((await send(unlisted, 18)).stderr).not.toContain('decimals')
  node.fault = ({ method, params }) =>
    method === 'eth_call' && JSON.stringify(params).includes('313ce567') ? { page: 502 } : undefined
  expect((await send(unlisted, 6)).stderr).not.toContain('decimals')
  node.fault = () => undefined
  expect(await countActivities(day.service)).toBe(before)
})

test('balances: a token that says it was paid and moves nothing is told', async () => {
  const idle = '0x00000000000000000000000000000000000000e9'
  // Whatever it is asked, it answers 1.
  await day.anvil.rpc('anvil_setCode', idle, '0x600160005260206000f3')
  writeFiles(day.folder, {
    'idle/acme.yaml': `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
addressBook: { payroll: "${PAYROLL}" }
assets: { idle: { chain: "${SEPOLIA}", address: "${idle}", decimals: 1, symbol: IDLE } }
`,
  })
  const given = { asset: 'idle', amount: '1', chain: undefined }
  const { stdout } = await day.send(['--dry-run'], given, { ...withNode(), defs: 'idle' })
  expect(stdout).toContain('beware     payroll would get 0 IDLE, not get 1 IDLE\n')
})

test('balances: a batch says what all of it leaves its senders and payees with, and is refused where that is too little', async () => {
  const line = (ref: string, to: string, amount: string) =>
    `${ref},${day.walletName},${to},${amount},${SEPOLIA},60gwei,21000`
  const columns = 'ref,from,to,amount,chain,max-fee,gas'
  const other = '0x00000000000000000000000000000000000000c1'
  writeFiles(day.folder, {
    'two.csv': `${columns}\n${line('B-1', 'payroll', '1eth')}\n${line('B-2', other, '2eth')}\n${line('B-3', 'payroll', '3eth')}\n`,
    'much.csv': `${columns}\n${line('M-1', 'payroll', '60eth')}\n${line('M-2', other, '60eth')}\n`,
  })
  const run = (file: string, ...more: readonly string[]) =>
    quorate(['send', 'defs', '--batch', file, ...more], {
      env: { ...day.env, ...withNode().environment },
      cwd: day.folder,
    })
  const held = BigInt(await day.anvil.rpc<string>('eth_getBalance', day.address, 'latest'))
  const paid = await day.paid()
  const { exit, stdout } = await run('two.csv', '--dry-run', '--json')
  expect(exit).toBe(0)
  const { simulations } = JSON.parse(stdout) as {
    simulations: readonly { balances: readonly { of: string; after: { atomic: string } }[] }[]
  }
  const fee = 3n * 21_000n * 60_000_000_000n
  const ether = 10n ** 18n
  expect(simulations[0]!.balances.map(({ of, after }) => [of, BigInt(after.atomic)])).toEqual([
    ['sender', held - 6n * ether - fee],
    ['payee', paid + 4n * ether],
    ['payee', 2n * ether],
  ])
  expect((await run('two.csv', '--dry-run')).stdout).toMatch(
    new RegExp(
      `\\n {2}payee {5}${other}: 0 ETH now, 2 ETH after\\n {2}simulated by the node at \\S+ on ${SEPOLIA}, at block \\d+\\n`,
    ),
  )
  const before = await countActivities(day.service)
  const refused = await run('much.csv', '--yes')
  expect([refused.exit, refused.stderr]).toEqual([
    4,
    expect.stringMatching(/cli\/too-little: \S+ has \S+ ETH, and this takes at least 120\.00126 ETH/),
  ])
  expect(await countActivities(day.service)).toBe(before)
})
