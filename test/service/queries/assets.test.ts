import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { invalidField, refusalOf } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { type Anvil, startAnvil } from '../sends/anvil.ts'
import { startSolanaNode, type TestSolanaNode } from '../sends/solana-node.ts'
import { SEPOLIA } from '../sends/status.ts'
import { placeToken } from '../sends/token.ts'
import { ETHEREUM, makeWallet, SOLANA } from '../signing/keys.ts'

const COIN = '0x000000000000000000000000000000000000c011'
const OLD_COIN = '0x000000000000000000000000000000000001c011'
const NOTHING = '0x00000000000000000000000000000000000dead0'

let anvil: Anvil
let service: TestService
/** An account of a wallet. */
let owner: string
let oldToken: Awaited<ReturnType<typeof placeToken>>
beforeAll(async () => {
  anvil = await startAnvil()
  await placeToken(anvil, COIN)
  oldToken = await placeToken(anvil, OLD_COIN, { name: 'An old coin', symbol: 'OLD', old: true })
  const { url } = anvil
  service = await startTestService({
    chains: {
      [SEPOLIA]: { url, usdPrice: '2000.5', tokens: [COIN, OLD_COIN] },
      'eip155:4217': { url, usdPrice: '1' },
      'eip155:137': { url, tokens: [NOTHING] },
      'eip155:8453': { url: 'http://127.0.0.1:9' },
    },
  })
  owner = (await makeWallet(service.root, ETHEREUM)).accounts[0]!.address
})
afterAll(async () => {
  await service.close()
  await anvil.kill()
})

const balances = (caip2 = SEPOLIA, address = owner) =>
  service.root.query('get_wallet_address_balances', { address, caip2 })
const assets = (caip2: string) => service.root.query('list_supported_assets', { caip2 })
const ether = { caip19: `${SEPOLIA}/slip44:60`, symbol: 'ETH', name: 'Ether', decimals: 18 }
const coin = { caip19: `${SEPOLIA}/erc20:${COIN}`, symbol: 'COIN', name: 'A coin', decimals: 6 }
const oldCoin = { caip19: `${SEPOLIA}/erc20:${OLD_COIN}`, symbol: 'OLD', name: 'An old coin', decimals: 6 }

describe('list_supported_assets', () => {
  test('the currency comes first, then the tokens that are set, as they describe themselves', async () => {
    expect(await assets(SEPOLIA)).toEqual({ assets: [ether, coin, oldCoin] })
  })

  test('a chain whose fees are paid in tokens has no currency', async () => {
    expect(await assets('eip155:4217')).toEqual({ assets: [] })
  })
})

describe('get_wallet_address_balances', () => {
  test('an address has what the node says now, and nothing is told of what it has none of', async () => {
    expect(await balances()).toEqual({ balances: [] })
    await anvil.rpc('anvil_setBalance', owner, `0x${(1_500_000_000_000_000_001n).toString(16)}`)
    await oldToken.give(owner, 2_000_000n)
    expect(await balances()).toEqual({
      balances: [
        { ...ether, balance: '1500000000000000001', display: { crypto: '1.500000000000000001', usd: '3000.75' } },
        { ...oldCoin, balance: '2000000', display: { crypto: '2' } },
      ],
    })
  })

  test.each<[string, string, string | undefined, readonly unknown[]]>([
    [
      'a chain without a node',
      'eip155:10',
      undefined,
      [501, 12, 'a query of chain eip155:10 (no node is set for it) is not implemented by this service', ''],
    ],
    [
      'a node that is not there',
      'eip155:8453',
      undefined,
      [503, 14, 'the node of chain eip155:8453 cannot be reached', 'RPC_CALL_ERROR'],
    ],
    [
      'what is no address',
      SEPOLIA,
      'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
      invalidField('address', `must be an address of ${SEPOLIA}`),
    ],
    [
      'a token that is none',
      'eip155:137',
      undefined,
      [
        400,
        9,
        `of the tokens set for chain eip155:137, ${NOTHING} does not answer as a token: expected a word of 32 bytes, got 0`,
        '',
      ],
    ],
  ])('%s is refused', async (_, caip2, address, refusal) => {
    expect(await refusalOf(balances(caip2, address))).toEqual(refusal)
  })
})

describe('balances on Solana', () => {
  const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'
  const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
  const NO_MINT = 'So11111111111111111111111111111111111111112'
  let node: TestSolanaNode
  let solana: TestService
  beforeAll(async () => {
    node = await startSolanaNode()
    node.makeToken(MINT, 6)
    const { url } = node
    const chains = {
      'solana:devnet': { url, usdPrice: '150', tokens: [MINT] },
      'solana:mainnet': { url, tokens: [NO_MINT] },
    }
    solana = await startTestService({ chains })
  })
  afterAll(async () => {
    await solana.close()
    await node.close()
  })
  const sol = { caip19: `${DEVNET}/slip44:501`, symbol: 'SOL', name: 'Solana', decimals: 9 }

  test('the currency and the tokens of all of an owner’s accounts are told, of a cluster by either of its names', async () => {
    const { address } = (await makeWallet(solana.root, SOLANA)).accounts[0]!
    const ask = (caip2 = DEVNET) => solana.root.query('get_wallet_address_balances', { address, caip2 })
    expect(await ask()).toEqual({ balances: [] })
    node.fund(address, 1.5)
    node.giveToken(MINT, address, 2_000_000n)
    node.giveToken(MINT, address, 500_000n)
    node.giveToken(MINT, MINT, 7n)
    expect(await ask()).toEqual({
      balances: [
        { ...sol, balance: '1500000000', display: { crypto: '1.5', usd: '225' } },
        { caip19: `${DEVNET}/token:${MINT}`, decimals: 6, balance: '2500000', display: { crypto: '2.5' } },
      ],
    })
    expect(await ask('solana:devnet')).toEqual(await ask())
    expect(await solana.root.query('list_supported_assets', { caip2: 'solana:devnet' })).toEqual({
      assets: [sol, { caip19: `${DEVNET}/token:${MINT}`, decimals: 6 }],
    })
  })

  test('what is no address is not asked for', async () => {
    // 44 characters of which 33 bytes come out.
    const address = 'z'.repeat(44)
    const asked = solana.root.query('get_wallet_address_balances', { address, caip2: DEVNET })
    expect(await refusalOf(asked)).toEqual(invalidField('address', `must be an address of ${DEVNET}`))
  })

  test('a mint that is none is refused', async () => {
    const asked = solana.root.query('list_supported_assets', { caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' })
    expect((await refusalOf(asked)).slice(0, 3)).toEqual([
      400,
      9,
      `of the tokens set for chain solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp, ${NO_MINT} does not answer as a token: Invalid param: not a Token mint`,
    ])
  })
})
