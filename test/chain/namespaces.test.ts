import { expect, test } from 'vitest'
import { chainName, isSameAddress, namespaceOf, namespaceOfAddress } from '../../src/chain/index.ts'

const ETHEREUM = '0x52908400098527886E0F7030069857D2E4169EE7'
const SOLANA = 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk'

test('namespaces: a chain and an address each tell theirs, and nothing else does', () => {
  expect(['eip155:1', 'solana:devnet', 'bip122:000000000019d6689c085ae165831e93'].map(namespaceOf)).toEqual([
    'eip155',
    'solana',
    undefined,
  ])
  expect([ETHEREUM, SOLANA, ETHEREUM.slice(2), SOLANA.slice(2), ''].map(namespaceOfAddress)).toEqual([
    'eip155',
    'solana',
    undefined,
    undefined,
    undefined,
  ])
})

test('namespaces: an address is the same in any case on Ethereum alone', () => {
  expect(isSameAddress(ETHEREUM, ETHEREUM.toLowerCase())).toBe(true)
  expect(isSameAddress(SOLANA, SOLANA)).toBe(true)
  expect(isSameAddress(SOLANA, SOLANA.toLowerCase())).toBe(false)
})

test('namespaces: a cluster of Solana is called by its name, however it was written', () => {
  const GENESIS = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'
  const written = [`solana:${GENESIS}`, `solana:${GENESIS.slice(0, 32)}`, 'solana:devnet', 'eip155:1', 'solana:x']
  expect(written.map(chainName)).toEqual(['solana:devnet', 'solana:devnet', 'solana:devnet', 'eip155:1', 'solana:x'])
})
