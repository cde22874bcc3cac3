import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { keepChains, readKeptChains } from '../../src/cli/background/kept-chains.ts'
import { readChains } from '../../src/cli/chains.ts'
import { createChains } from '../../src/service/chains/chains.ts'
import { startAnvil } from '../service/sends/anvil.ts'
import { quorate, testFolder } from './harness.ts'

const URL = 'http://127.0.0.1:8545'
const COIN = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'

describe('chains of an embedded service', () => {
  const dataDir = () => join(testFolder(), 'data')
  const QUORATE_CHAINS = `eip155:1=${URL}/a-key,eip155:10=${URL}`
  const chains = { 'eip155:1': { url: `${URL}/a-key` }, 'eip155:10': { url: URL } }

  test('are kept with the data folder, for its owner alone, and served without being named again', () => {
    const folder = dataDir()
    expect(keepChains(folder, {})).toEqual({})
    expect(existsSync(folder)).toBe(false)
    expect(keepChains(folder, { QUORATE_CHAINS, QUORATE_API_KEY: 'secret' })).toEqual(chains)
    expect(keepChains(folder, {})).toEqual(chains)
    expect(readKeptChains(folder, {})).toEqual(chains)
    expect(statSync(join(folder, 'chains.json')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(folder, 'chains.json'), 'utf8')).not.toContain('secret')
  })

  test('change by what is named: all of them, or what is said of them; a command that looks changes nothing', () => {
    const folder = dataDir()
    keepChains(folder, { QUORATE_CHAINS })
    const dear = { QUORATE_PRICES: 'eip155:10=7' }
    expect(readKeptChains(folder, dear)['eip155:10']).toEqual({ url: URL, usdPrice: '7' })
    expect(keepChains(folder, {})).toEqual(chains)
    keepChains(folder, dear)
    expect(keepChains(folder, {})['eip155:10']).toEqual({ url: URL, usdPrice: '7' })
    expect(() => keepChains(folder, { QUORATE_CHAINS: 'eip155:1' })).toThrow('expected QUORATE_CHAINS to be')
    expect(Object.keys(keepChains(folder, {}))).toEqual(['eip155:1', 'eip155:10'])
    expect(keepChains(folder, { QUORATE_CHAINS: '' })).toEqual({})
    expect(keepChains(folder, {})).toEqual({})
  })
})

describe('doctor', () => {
  test('names each chain that is set or kept: its head, a node that does not answer, and one of another chain', async () => {
    const [anvil, other] = [await startAnvil(), await startAnvil({ chainId: 10 })]
    onTestFinished(async () => void (await Promise.all([anvil.kill(), other.kill()])))
    await anvil.rpc('anvil_mine', '0x3')
    const folder = testFolder()
    const data = join(folder, 'data')
    const look = async (env: Readonly<Record<string, string>>) => {
      const { exit, stdout } = await quorate(['doctor', '--json', '--data-dir', data], { env, cwd: folder })
      const { findings } = JSON.parse(stdout) as {
        findings: readonly { check: string; state: string; found: string }[]
      }
      return { exit, chains: findings.filter(({ check }) => check === 'chain') }
    }
    const none = await look({})
    expect(none.chains).toMatchObject([{ state: 'not used' }])
    expect(existsSync(data)).toBe(false)
    // Kept with the data folder, as `up` does: from a terminal without the variables.
    const host = (url: string) => `the node at ${url.replace('http://', '')}`
    keepChains(data, { QUORATE_CHAINS: `eip155:11155111=${anvil.url}` })
    const kept = await look({})
    const good = `eip155:11155111: ${host(anvil.url)} answers, its head is block 3`
    expect([kept.exit, kept.chains]).toEqual([0, [{ check: 'chain', state: 'good', found: good }]])

    const QUORATE_CHAINS = [`eip155:11155111=${anvil.url},${other.url}`, 'eip155:1=http://127.0.0.1:1/a-key'].join(',')
    const wrong = await look({ QUORATE_CHAINS })
    expect([wrong.exit, wrong.chains.map(({ state, found }) => [state, found])]).toEqual([
      1,
      [
        ['good', good],
        ['bad', `eip155:11155111: ${host(other.url)} is a node of another chain, its head is block 0`],
        ['bad', expect.stringMatching(/^eip155:1: the node at 127\.0\.0\.1:1 does not answer: /)],
      ],
    ])
    expect(JSON.stringify(wrong)).not.toContain('a-key')
    expect(readdirSync(data)).toEqual(['chains.json'])
  })
})

describe('chains of the service', () => {
  test('each has its node, its price and its tokens', () => {
    const options = {
      chain: [`eip155:1=${URL},${URL}/2`, `${SOLANA}=${URL}/sol`],
      confirmations: ['eip155:1=64'],
      feeCap: ['eip155:1=0.5', `${SOLANA}=0.0001`],
      feeMultiple: ['eip155:1=2', `${SOLANA}=3`],
      bump: 'auto',
      price: ['eip155:1=3000.5'],
      token: [`eip155:1/erc20:${COIN}`, `${SOLANA}/token:${MINT}`],
      gasStation: [`eip155:1=${COIN}/0x${'ab'.repeat(20)}`],
    }
    const gasStation = { station: COIN, delegate: `0x${'ab'.repeat(20)}` }
    expect(readChains(options, { QUORATE_CHAINS: 'ignored' })).toEqual({
      'eip155:1': {
        ...{ url: URL, witnesses: [`${URL}/2`], confirmations: 64, maxFeePerGas: 500_000_000n, bump: 'auto' },
        feeMultiple: 2,
        ...{ usdPrice: '3000.5', tokens: [COIN], gasStation },
      },
      [SOLANA]: { url: `${URL}/sol`, tokens: [MINT], bump: 'auto', maxLamports: 100_000n, feeMultiple: 3 },
    })
  })

  test('each name that a chain has means the same one', () => {
    const chain = [`solana:mainnet=${URL}`, `${SOLANA}Kuc147dw2N9d=${URL}/2`]
    const price = ['solana:mainnet=150']
    expect(readChains({ chain, price }, {})).toEqual({ [SOLANA]: { url: `${URL}/2`, usdPrice: '150' } })
    const { all, require } = createChains({ 'solana:mainnet': { url: URL }, [SOLANA]: { url: `${URL}/2` } })
    expect(all.map(({ caip2, url }) => [caip2, url])).toEqual([[SOLANA, `${URL}/2`]])
    expect(require('solana:mainnet')).toBe(all[0])
  })

  test('what no option says comes from the environment', () => {
    const environment = { QUORATE_CHAINS: `eip155:1=${URL},${URL}/2,eip155:10=${URL}`, QUORATE_PRICES: 'eip155:10=7' }
    expect(readChains({}, environment)).toEqual({
      'eip155:1': { url: URL, witnesses: [`${URL}/2`] },
      'eip155:10': { url: URL, usdPrice: '7' },
    })
    expect(readChains({}, {})).toEqual({})
  })

  test.each<[string, object, object, string, string]>([
    [
      'a price that is no number',
      { chain: [`eip155:1=${URL}`], price: ['eip155:1=much'] },
      {},
      'expected --price to be a chain and the dollars that one of its currency costs, got `eip155:1=much`',
      'write it as --price eip155:1=3000.50',
    ],
    [
      'a node that is no address',
      {},
      { QUORATE_CHAINS: 'eip155:1=http://' },
      'expected QUORATE_CHAINS to be a chain and its node, got `eip155:1=http://`',
      'write it as QUORATE_CHAINS=eip155:11155111=http://127.0.0.1:8545',
    ],
    [
      'a word for when to offer more that is none',
      { bump: 'sometimes' },
      {},
      'expected --bump to be `never` or `auto`, got `sometimes`',
      'with `auto` the service offers more for what is not included, up to the cap of --fee-cap',
    ],
    [
      'a gas station without its delegate',
      { chain: [`eip155:1=${URL}`], gasStation: [`eip155:1=${COIN}`] },
      {},
      `expected --gas-station to be a chain, the address of a gas station and that of its delegate, got \`eip155:1=${COIN}\``,
      'write it as --gas-station eip155:1=0x1cBBD58E521e1133F09E2Ba207e3e75c4DB404D5/0x2a31eF110e4Cdb9C332aA1d8633510214299c48B',
    ],
    [
      'a gas station of a chain without a node',
      { gasStation: [`eip155:1=${COIN}/${COIN}`] },
      {},
      'a gas station is said of chain eip155:1, which has no node',
      'name its node too: --chain eip155:1=URL',
    ],
    [
      'a token of a chain without a node',
      { token: [`eip155:1/erc20:${COIN}`] },
      {},
      'a token is said of chain eip155:1, which has no node',
      'name its node too: --chain eip155:1=URL',
    ],
  ])('%s is a mistake that says how it is written', (_, options, environment, message, next) => {
    const reading = () => readChains(options as never, environment as never)
    expect(reading).toThrow(expect.objectContaining({ code: 'cli/usage', message, next }))
  })
})
