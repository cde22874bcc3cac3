/** Payments on Solana as people make them: a process, the chain's runtime behind a node, and everything real between them. */
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { solanaFee } from '../../src/chain/index.ts'
import { complete } from '../service/handlers/steps.ts'
import { createTestUser } from '../service/harness.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { countActivities, keyFile, quorateShared as quorate, writeFiles } from './harness.ts'
import { PAYROLL } from './payday.ts'
import { CREW, CREW_TOKENS, DEVNET, MINT, solanaPayday } from './solana-payday.ts'

/** Nobody has a name for them. */
const NEWCOMER = Keypair.fromSeed(new Uint8Array(32).fill(23)).publicKey.toBase58()
const closers: (() => Promise<void>)[] = []
let day: Awaited<ReturnType<typeof solanaPayday>>
beforeAll(async () => {
  day = await solanaPayday((close) => closers.push(close))
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

interface Sent {
  readonly progress: { readonly state: string; readonly transactionHash?: string; readonly error?: { message: string } }
}
const sentIn = ({ stdout }: { readonly stdout: string }) => (JSON.parse(stdout) as Sent).progress

test('send on Solana: a dry run says who is paid, how much in both units, and what will come of it', async () => {
  const before = await countActivities(day.service)
  const { exit, stdout } = await day.send(['--dry-run'])
  expect({ exit, stdout }).toEqual({
    exit: 0,
    stdout: [
      '  reference  INV-42',
      `  from       ${day.walletName} (${day.address})`,
      `  to         crew (${CREW})`,
      '  amount     1.5 SOL, 1500000000 lamports',
      '  chain      solana:devnet',
      '  fee        0.00002 SOL, all of which is paid: 0.000005 SOL for the signature, 0.000015 SOL to be preferred (the cap of the chain; --max-fee sets another)',
      '  sender     10 SOL now, as reported by the API',
      '  simulated  nothing: QUORATE_CHAINS names no node of solana:devnet',
      '  forecast   allow: the root quorum has approved, and policies are not asked',
      '',
    ].join('\n'),
  })
  expect(await countActivities(day.service)).toBe(before)
})

test('send on Solana: a reference is sent once, however often it is asked, and nothing takes its place', async () => {
  const both = await Promise.all([day.send(['--yes', '--json']), day.send(['--yes', '--json'])])
  const [first, second] = both.map(sentIn)
  expect([both.map(({ exit }) => exit), first!.state, first]).toEqual([[0, 0], 'included', second])
  const signature = first!.transactionHash!
  expect([...day.node.landed.keys()]).toEqual([signature])
  expect(day.node.balance(CREW)).toBe(1_500_000_000n)

  const other = await day.send(['--yes'], { amount: '2sol' })
  expect([other.exit, other.stderr]).toEqual([4, expect.stringContaining('`INV-42` stands for another send')])
  const sends = (...words: readonly string[]) => quorate(['sends', ...words], { env: day.env, cwd: day.folder })
  const { slot } = day.node.landed.get(signature)!
  expect((await sends()).stdout).toBe(
    `INV-42  1.5 SOL from ${day.walletName} to crew  included      ${signature}  in slot ${slot}, for a fee of 0.00002 SOL, as reported by the API\n`,
  )
  for (const verb of ['replace', 'cancel']) {
    const refused = await sends(verb, 'INV-42')
    expect([refused.exit, refused.stderr]).toEqual([
      4,
      expect.stringContaining('`INV-42` cannot be replaced: transactions on Solana have no nonce'),
    ])
  }
})

test('send on Solana: the fee has a ceiling by default, by the cap or by recent slots; it is what is signed, and the reference keeps it', async () => {
  const given = { ref: 'CEILING', amount: '0.001sol', to: NEWCOMER }
  const node = { QUORATE_CHAINS: `${DEVNET}=${day.node.url}` }
  const cap = { QUORATE_FEE_CAPS: `${DEVNET}=0.000008` }
  const feeOf = async (environment: Readonly<Record<string, string>>) => {
    const { exit, stdout } = await day.send(['--dry-run'], given, { environment })
    expect(exit).toBe(0)
    return /^ {2}fee +(.*)$/m.exec(stdout)?.[1]
  }
  expect(await feeOf(cap)).toBe(
    '0.000008 SOL, all of which is paid: 0.000005 SOL for the signature, 0.000003 SOL to be preferred (the cap of the chain; --max-fee sets another)',
  )
  // Nobody has paid more than the signature of late.
  expect(await feeOf(node)).toBe(
    '0.000005 SOL for the signature (4 times what recent blocks took, cap 0.00002 SOL; --max-fee sets another)',
  )
  const sent = await day.send(['--yes', '--json'], given, { environment: cap })
  expect(sent.exit).toBe(0)
  const { bytes } = day.node.landed.get(sentIn(sent).transactionHash!)!
  expect(solanaFee(bytes)).toBe(8_000n)
  // Asked again with another ceiling in mind, it is the send that was begun.
  expect(await feeOf(node)).toContain('0.000008 SOL, all of which is paid')
  const said = await day.send(['--yes'], { ...given, 'max-fee': '0.00001sol' })
  expect([said.exit, said.stderr]).toEqual([4, expect.stringContaining('`CEILING` is this payment, begun with other')])
})

test('send on Solana: a token is paid to who has no account of it yet, for no more than the fee that was given', async () => {
  const given = { asset: 'usdc', amount: '12.5usdc', chain: undefined, ref: 'INV-43', 'max-fee': '0.0001sol' }
  const { exit, stdout } = await day.send(['--dry-run'], given)
  expect({ exit, stdout: stdout.split('\n').slice(2, 8) }).toEqual({
    exit: 0,
    stdout: [
      `  to         crew (${CREW})`,
      '  amount     12.5 USDC, 12500000 atomic units',
      `  token      usdc (${MINT})`,
      `  account    ${CREW_TOKENS}, opened where there is none, for a rent of some 0.002 SOL`,
      '  chain      solana:devnet',
      '  fee        0.0001 SOL, all of which is paid: 0.000005 SOL for the signature, 0.000095 SOL to be preferred',
    ],
  })
  expect(day.tokens(CREW)).toBeUndefined()
  const held = day.node.balance(day.address)
  expect((await day.send(['--yes'], given)).exit).toBe(0)
  expect([day.tokens(CREW), day.tokens(day.address)]).toEqual([12_500_000n, 7_500_000n])
  expect(held - day.node.balance(day.address)).toBe(100_000n + day.node.balance(CREW_TOKENS))
})

test('send on Solana: what it leaves sender and payee with is told by a node, which is then so', async () => {
  const node = { QUORATE_CHAINS: `${DEVNET}=${day.node.url}` }
  const rowsOf = async (given: Readonly<Record<string, string | undefined>>) => {
    const { exit, stdout } = await day.send(['--dry-run', '--json'], given, { environment: node })
    expect(exit).toBe(0)
    const { simulation } = JSON.parse(stdout) as {
      simulation: { warnings: string[]; balances: { of: string; before: { text: string }; after?: { text: string } }[] }
    }
    return {
      rows: simulation.balances.map(({ of, before, after }) => [of, before.text, after?.text]),
      warnings: simulation.warnings,
    }
  }
  const sol = (amount: bigint) => `${Number(amount) / 1e9} SOL`
  const [held, paid] = [day.node.balance(day.address), day.node.balance(CREW)]
  const plain = { amount: '0.5sol', ref: 'LEFT', 'max-fee': '0.00001sol' }
  expect(await rowsOf(plain)).toEqual({
    rows: [
      ['sender', sol(held), sol(held - 500_010_000n)],
      ['payee', sol(paid), sol(paid + 500_000_000n)],
    ],
    warnings: [],
  })
  expect((await day.send(['--yes'], plain, { environment: node })).exit).toBe(0)
  expect([day.node.balance(day.address), day.node.balance(CREW)]).toEqual([held - 500_010_000n, paid + 500_000_000n])

  const fresh = Keypair.fromSeed(new Uint8Array(32).fill(24)).publicKey.toBase58()
  const tokens = { to: fresh, asset: 'usdc', amount: '1', chain: undefined, ref: 'LEFT-2', 'max-fee': '0.00001sol' }
  const { rows } = await rowsOf(tokens)
  expect([rows[0], rows[2]]).toEqual([
    ['sender', '7.5 USDC', '6.5 USDC'],
    ['payee', '0 USDC', '1 USDC'],
  ])
  // The rent of the new account is in it.
  expect(Number.parseFloat(rows[1]![2]!)).toBeLessThan(Number(held - 500_010_000n - 2_000_000n) / 1e9)

  const before = await countActivities(day.service)
  const much = await rowsOf({ ...plain, amount: '1000sol', ref: 'MUCH' })
  expect([much.rows[0]![2], much.warnings]).toEqual([
    undefined,
    [expect.stringMatching(/^MUCH: it would fail: .*insufficient lamports/)],
  ])
  const refused = await day.send(['--yes'], { ...plain, amount: '1000sol', ref: 'MUCH' }, { environment: node })
  expect([refused.exit, refused.stderr]).toEqual([
    4,
    expect.stringMatching(/cli\/too-little: \S+ has \S+ SOL, and this takes at least 1000\.00001 SOL/),
  ])
  expect(await countActivities(day.service)).toBe(before)
})

test('send on Solana: two payments alike are two, also where the fee is given', async () => {
  const before = day.node.balance(CREW)
  const alike = ['A', 'B', 'C', 'D'].map((ref, index) => ({
    ref,
    amount: '7lamports',
    ...(index < 2 ? {} : { 'max-fee': '0.00001sol' }),
  }))
  const sent = await Promise.all(alike.map((given) => day.send(['--yes', '--json'], given)))
  expect(sent.map(({ exit }) => exit)).toEqual([0, 0, 0, 0])
  expect(new Set(sent.map((one) => sentIn(one).transactionHash)).size).toBe(4)
  expect(day.node.balance(CREW)).toBe(before + 28n)
})

test.each<[string, Readonly<Record<string, string | undefined>>, RegExp]>([
  [
    'one without the funds',
    { amount: '1000sol' },
    /instruction 0 failed with custom error 0x1: .*insufficient lamports/,
  ],
  [
    'a token of which there is too little',
    { asset: 'usdc', chain: undefined, amount: '50' },
    /instruction 1 failed with custom error 0x1: .*insufficient funds/,
  ],
])('send on Solana: %s has failed before it was offered, with the reason', async (ref, given, why) => {
  const [landed, offered] = [day.node.landed.size, day.node.offered.size]
  const { exit, stdout } = await day.send(['--yes', '--json'], { ref, ...given })
  const { state, transactionHash, error } = sentIn({ stdout })
  expect([exit, state, transactionHash]).toEqual([6, 'given up', undefined])
  expect(error?.message).toMatch(why)
  expect([day.node.landed.size, day.node.offered.size]).toEqual([landed, offered])
})

test('send on Solana: the account of a token is not taken for its owner, and nothing is submitted', async () => {
  const before = await countActivities(day.service)
  const given = { ref: 'NO', asset: 'usdc', amount: '1', chain: undefined, to: 'account' }
  const { exit, stderr } = await day.send(['--yes'], given)
  expect([exit, stderr]).toEqual([
    1,
    expect.stringContaining('`account` is an address of a program, such as the account of a token'),
  ])
  expect(await countActivities(day.service)).toBe(before)
})

test('send --batch: rows on both chains are checked, summed up and sent together, each once', async () => {
  const { env, folder, walletName } = day
  const batch = (csv: string, ...more: readonly string[]) => {
    writeFiles(folder, { 'pay.csv': csv })
    return quorate(['send', 'defs', '--batch', 'pay.csv', ...more], { env, cwd: folder })
  }
  const rows = [
    'ref,from,to,amount,asset,chain',
    `MIX-1,${walletName},payroll,0.25eth,,${SEPOLIA}`,
    `MIX-2,${walletName},crew,0.5sol,,solana:devnet`,
    `MIX-3,${walletName},crew,0.5sol,,${DEVNET}`,
    `MIX-4,${walletName},crew,2,usdc,`,
  ]
  const wrong = await batch([...rows, `MIX-5,${walletName},payroll,1sol,,solana:devnet`].join('\n'), '--yes')
  expect([wrong.exit, wrong.stderr.split('\n')[0]]).toEqual([
    1,
    `pay.csv:6:${`MIX-5,${walletName},`.length + 1}: error cli/usage: \`payroll\` is an address on Ethereum, and the send is on solana:devnet`,
  ])

  const [sol, tokens] = [day.node.balance(CREW), day.tokens(CREW) ?? 0n]
  const dry = await batch(rows.join('\n'), '--dry-run')
  expect(dry.stdout.split('\n').filter((line) => line.startsWith('  total'))).toEqual([
    `  total     0.25 ETH from ${walletName} on ${SEPOLIA} in 1 row, of 10 ETH`,
    expect.stringMatching(`^  total     1 SOL from ${walletName} on solana:devnet in 2 rows, of [0-9.]+ SOL$`),
    expect.stringMatching(`^  total     2 USDC from ${walletName} on solana:devnet in 1 row, of [0-9.]+ USDC$`),
  ])
  const [first, second] = await Promise.all([
    batch(rows.join('\n'), '--yes', '--json'),
    batch(rows.join('\n'), '--yes', '--json'),
  ])
  expect([first.exit, second.exit, JSON.parse(first.stdout).counts]).toEqual([0, 0, { included: 4 }])
  expect(JSON.parse(second.stdout).rows).toEqual(JSON.parse(first.stdout).rows)
  const hashes = (JSON.parse(first.stdout).rows as { transactionHash: string }[]).map((row) => row.transactionHash)
  expect(hashes[0]).toMatch(/^0x[0-9a-f]{64}$/)
  expect(hashes.slice(1).every((hash) => day.node.landed.has(hash))).toBe(true)
  expect([day.node.balance(CREW) - sol, day.tokens(CREW)]).toEqual([1_000_000_000n, tokens + 2_000_000n])
  expect(BigInt(await day.anvil.rpc<string>('eth_getBalance', PAYROLL, 'latest'))).toBe(250_000_000_000_000_000n)
})

test('send on Solana: policies judge what the transaction pays, before anything is submitted', async () => {
  const { service, folder } = day
  const [bob, carol] = [await createTestUser(service, 'bob'), await createTestUser(service, 'carol')]
  const amounts = [
    'solana.tx.transfers.all(each, each.amount <= 1000000000)',
    'solana.tx.spl_transfers.all(each, each.amount <= 3000000)',
  ]
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
    policyName: 'bob-pays-small',
    effect: 'EFFECT_ALLOW',
    consensus: [bob, carol].map(({ userId }) => `approvers.any(user, user.id == '${userId}')`).join(' && '),
    condition: ["activity.kind == 'SOL_SEND_TRANSACTION'", ...amounts].join(' && '),
    notes: '',
  })
  const before = await countActivities(service)
  const keyOfBob = { keyFile: keyFile(folder, 'bob', bob.client.privateKey) }
  const tokens = { asset: 'usdc', chain: undefined }
  const large = await day.send(['--yes'], { ref: 'BOB-1', ...tokens, amount: '3.000001' }, keyOfBob)
  expect([large.exit, large.stderr]).toEqual([4, expect.stringContaining('no policy allows this send')])
  const small = await day.send(['--dry-run'], { ref: 'BOB-2', ...tokens, amount: '3' }, keyOfBob)
  expect(small.stdout).toMatch(/^ {2}forecast +pending: policy bob-pays-small; needs any 1 of carol, root$/m)
  expect(await countActivities(service)).toBe(before)
})

test('send on Solana: who approves reads whom it pays; asked again, it goes on', async () => {
  const { service, env, folder } = day
  const dave = await createTestUser(service, 'dave')
  const members = [service.rootUserId, dave.userId]
  await complete(service.root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds: members })
  const [asked, paid] = [{ ref: 'WAITS', asset: 'usdc', amount: '1', chain: undefined }, day.tokens(CREW)]
  const waits = await day.send(['--yes', '--json'], asked)
  expect([waits.exit, day.tokens(CREW)]).toEqual([3, paid])
  const { progress } = JSON.parse(waits.stdout) as { readonly progress: { readonly activityId: string } }
  const key = keyFile(folder, 'dave', dave.client.privateKey)
  const named = await quorate(['review', progress.activityId, '--definitions', 'defs'], { env, cwd: folder })
  expect(named.stdout).toContain(
    `  pays       1 USDC (1000000 atomic units) to crew (${CREW}), into its account ${CREW_TOKENS}\n  token      usdc (${MINT})\n`,
  )
  expect(named.stdout).toContain('  reference  WAITS\n')
  const vote = await quorate(['approve', progress.activityId, '--yes', '--key-file', key], { env, cwd: folder })
  expect(vote.stdout).toContain(
    `  pays       1000000 units of the token ${MINT} to ${CREW}, into its account ${CREW_TOKENS}\n`,
  )
  expect(vote.stdout.replace(/^ {2}plan .*$/m, '')).not.toContain('unknown')
  expect((await day.send(['--yes'], asked)).exit).toBe(0)
  expect(day.tokens(CREW)).toBe((paid ?? 0n) + 1_000_000n)
})
