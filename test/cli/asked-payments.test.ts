/** What an activity pays, as who reads it sees it: by the names of their own definitions, for sends and for transactions that are only signed. */
import { Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js'
import {
  encodeFunctionData,
  erc20Abi,
  parseEther,
  parseGwei,
  serializeTransaction,
  type TransactionSerializable,
} from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SEPOLIA } from '../service/sends/status.ts'
import { makeWallet, SOLANA } from '../service/signing/keys.ts'
import { quorateShared as quorate, writeFiles } from './harness.ts'
import { PAYROLL, payday, TOKEN } from './payday.ts'

const CREW = Keypair.fromSeed(new Uint8Array(32).fill(21)).publicKey
const closers: (() => Promise<void>)[] = []
let day: Awaited<ReturnType<typeof payday>>
beforeAll(async () => {
  day = await payday((close) => closers.push(close))
  writeFiles(day.folder, {
    // Whoever reads names has no values of what they do not want.
    'named/acme.yaml': `organization: acme
id: \${env.ORGANIZATION_ID_THAT_IS_NOT_SET}
users: { zoe: { email: "\${var.mailOfZoe}", apiKeys: { laptop: { curve: P256, publicKey: "\${var.keyOfZoe}" } } } }
addressBook: { payroll: "${PAYROLL}", crew: ${CREW.toBase58()}, mine: "${day.address}" }
assets: { usdc: { chain: "${SEPOLIA}", address: "${TOKEN}", decimals: 6, symbol: USDC } }
`,
  })
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

/** The rows of the newest activity, in its list. */
async function newest(...more: readonly string[]) {
  const { stdout } = await quorate(['activities', '--limit', '1', ...more], { env: day.env, cwd: day.folder })
  return stdout.trimEnd().split('\n').slice(1)
}
const withNames = () => newest('--definitions', 'named')
const review = async (id: string, ...more: readonly string[]) =>
  (await quorate(['review', id, ...more], { env: day.env, cwd: day.folder })).stdout

test('activities: a payment of a token is told by the names of the definitions, in both units, with its reference', async () => {
  const bounds = { 'max-fee': '60gwei', gas: '100000' }
  const given = { asset: 'usdc', amount: '12.5', chain: undefined, ref: 'INV-43', ...bounds }
  const { stdout } = await day.send(['--yes', '--json'], given)
  const { progress } = JSON.parse(stdout) as { progress: { activityId: string } }
  const rows = [
    'reference INV-43',
    `pays 12.5 USDC (12500000 atomic units) to payroll (${PAYROLL})`,
    `token usdc (${TOKEN})`,
  ]
  expect((await withNames()).map((row) => row.trim())).toEqual([
    ...rows,
    'fee at most 0.006 ETH: 60 gwei a unit of gas, 100000 units',
  ])
  const seen = await review(progress.activityId, '--definitions', 'named')
  for (const row of rows) expect(seen).toMatch(new RegExp(row.replace(' ', ' +').replaceAll(/[().]/g, '\\$&')))
  // Who has no names is told the contract and the call.
  expect((await newest())[1]!.trim()).toMatch(new RegExp(`^calls 0xa9059cbb and 64 bytes .* of ${TOKEN}$`))
})

test('activities: an address that is the organization’s own is told as that, whatever the address book calls it', async () => {
  const { exit } = await day.send(['--yes'], { ref: 'OWN', to: `wallet.${day.walletName}`, amount: '1gwei' })
  expect(exit).toBe(0)
  expect((await withNames())[1]!.trim()).toBe(
    `pays 0.000000001 ETH (1000000000 wei) to wallet.${day.walletName} (${day.address})`,
  )
})

const DYNAMIC = { chainId: 11_155_111, nonce: 7, maxFeePerGas: parseGwei('30'), maxPriorityFeePerGas: 1n, gas: 21_000n }
const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [PAYROLL, 2_500_000n] })

test.each<[string, TransactionSerializable, readonly string[]]>([
  [
    'ether',
    { type: 'eip1559', ...DYNAMIC, to: PAYROLL, value: parseEther('1.5') },
    [
      `pays 1.5 ETH (1500000000000000000 wei) to payroll (${PAYROLL})`,
      'fee at most 0.00063 ETH: 30 gwei a unit of gas, 21000 units',
    ],
  ],
  [
    'a token',
    { type: 'eip1559', ...DYNAMIC, gas: 60_000n, to: TOKEN, data: transfer },
    [
      `pays 2.5 USDC (2500000 atomic units) to payroll (${PAYROLL})`,
      `token usdc (${TOKEN})`,
      'fee at most 0.0018 ETH: 30 gwei a unit of gas, 60000 units',
    ],
  ],
  [
    'ether, from before dynamic fees',
    { type: 'legacy', chainId: 11_155_111, nonce: 0, gasPrice: parseGwei('10'), gas: 21_000n, to: PAYROLL, value: 1n },
    [
      `pays 0.000000000000000001 ETH (1 wei) to payroll (${PAYROLL})`,
      'fee at most 0.00021 ETH: 10 gwei a unit of gas, 21000 units',
    ],
  ],
  [
    'ether on every chain',
    { type: 'legacy', nonce: 0, gasPrice: parseGwei('10'), gas: 21_000n, to: PAYROLL, value: 1n },
    ['unknown a transaction that is valid on every chain is not decoded: know it before you approve'],
  ],
  [
    'a contract',
    { type: 'eip1559', ...DYNAMIC, data: '0x6000', value: 0n },
    ['unknown a transaction that creates a contract is not decoded: know it before you approve'],
  ],
])(
  'activities: a transaction that is signed and pays %s says whom, how much and its most expensive fee',
  async (_, unsigned, expected) => {
    await day.service.root.submit('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', {
      signWith: day.address,
      type: 'TRANSACTION_TYPE_ETHEREUM',
      unsignedTransaction: serializeTransaction(unsigned).slice(2),
    })
    expect((await withNames()).map((row) => row.trim())).toEqual(expected)
  },
)

test('activities: a transaction on Solana that is signed says whom it pays, how much, and its fee', async () => {
  const { accounts } = await makeWallet(day.service.root, SOLANA)
  const payer = new PublicKey(accounts[0]!.address)
  const transaction = new Transaction({ feePayer: payer, recentBlockhash: CREW.toBase58() })
  transaction.add(SystemProgram.transfer({ fromPubkey: payer, toPubkey: CREW, lamports: 1_500_000_000 }))
  const unsigned = transaction.serialize({ requireAllSignatures: false, verifySignatures: false })
  const { id } = await day.service.root.submit('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', {
    signWith: payer.toBase58(),
    type: 'TRANSACTION_TYPE_SOLANA',
    unsignedTransaction: unsigned.toString('hex'),
  })
  const rows = (await withNames()).map((row) => row.trim())
  expect(rows[0]).toBe(`pays 1.5 SOL (1500000000 lamports) to crew (${CREW.toBase58()})`)
  expect(rows.find((row) => row.startsWith('fee '))).toMatch(/^fee (?:at most )?0\.000005 SOL/)
  expect(await review(id, '--definitions', 'named')).toContain('1.5 SOL (1500000000 lamports) to crew (')
})
