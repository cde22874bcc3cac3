import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { address, getAddressEncoder } from '@solana/kit'
import { encodeFunctionData, erc20Abi, serializeTransaction } from 'viem'
import { describe, expect, test } from 'vitest'
import { loadDefinitions } from '../../src/definitions/index.ts'
import { createSource } from '../../src/diagnostics/index.ts'
import { playSuite, type World, worldOfDefinitions } from '../../src/scenarios/index.ts'
import { oneLine } from './harness.ts'

const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const payee = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045'
const transfer = serializeTransaction({
  type: 'eip1559',
  chainId: 1,
  nonce: 0,
  gas: 60_000n,
  maxFeePerGas: 10n,
  to: usdc,
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [payee, 2_500_000n] }),
})
const abi = JSON.stringify(erc20Abi)

const program = '8qbHbw2BbbTHBW1sbeqakYXVKRQM8Ne7pLK7m6CVfeR'
const idl = {
  types: [],
  instructions: [{ name: 'deposit', discriminator: [7, 1], accounts: [], args: [{ name: 'amount', type: 'u16' }] }],
}
const key = (seed: number) => Array<number>(32).fill(seed)
const programKey = getAddressEncoder().encode(address(program))
// A legacy message: one signer, one instruction of the program with no accounts and the amount of 500.
const deposit = Buffer.from([1, 0, 1, 2, ...key(1), ...programKey, ...key(9), 1, 1, 0, 4, 7, 1, 0xf4, 0x01]).toString(
  'hex',
)

async function worldOf(more: string): Promise<World> {
  const text = `organization: test
rootQuorum: { threshold: 1, users: [rita] }
users:
  ana: { apiKeys: { laptop: { curve: P256, publicKey: '\${var.ana}' } } }
  rita: { apiKeys: { laptop: { curve: P256, publicKey: '\${var.rita}' } } }
wallets:
  main: { accounts: [{ path: "m/44'/60'/0'/0/0", curve: secp256k1, format: ethereum }] }
policies:
  token:
    effect: allow
    condition: >-
      eth.tx.function_name == 'transfer' && eth.tx.contract_call_args['recipient'] == '${payee}'
      && eth.tx.contract_call_args['amount'] < 3000000
  deposit:
    effect: allow
    condition: solana.tx.instructions.all(i, i.parsed_instruction_data.program_call_args['amount'] == 500)
  account:
    effect: deny
    condition: wallet_account.address == '${payee}'
${more}`
    .replaceAll("['to']", "['to']")
    .replaceAll("['amount']", "['amount']")
  const loaded = await loadDefinitions('defs', {
    env: {},
    vars: {},
    policiesOnly: true,
    readFolder: {
      list: async () => [{ name: 'a.yaml', kind: 'file' }],
      read: async () => new TextEncoder().encode(text),
    },
  })
  const world = worldOfDefinitions(loaded)
  if (!world) throw new TypeError(loaded.diagnostics.map(({ message }) => message).join('\n'))
  return world
}

const requests = `scenarios:
  token: { transaction: { ethereum: "${transfer}" }, expect: { outcome: allow, decidedBy: token } }
  deposit: { transaction: { solana: "${deposit}" }, expect: { outcome: allow, decidedBy: deposit } }
`
const head = 'by: ana, activity: SIGN_TRANSACTION, wallet: main'

async function played(text: string, more = '', folder = '') {
  const { passed, failed, files } = await playSuite(
    [createSource(join(folder, 't.test.yaml'), text)],
    await worldOf(more),
    { threads: 1 },
  )
  return { passed, failed, said: files.flatMap(({ diagnostics }) => diagnostics.map(oneLine)) }
}

const written = `interfaces: [{ address: "${usdc}", type: ethereum, interface: ${abi} }, { address: ${program}, type: solana, interface: ${JSON.stringify(idl)} }]`

describe('interfaces', () => {
  test('interfaces: without one, arguments of calls are not known', async () => {
    expect(await played(`defaults: { ${head} }\n${requests}`)).toEqual({ passed: 0, failed: 2, said: [] })
  })

  test('interfaces: a send on Solana is judged as its signing is', async () => {
    const send = `defaults: { ${head.replace('SIGN_TRANSACTION', 'SOL_SEND_TRANSACTION')}, ${written} }
scenarios:
  deposit: { transaction: { solana: "${deposit}" }, expect: { outcome: allow, decidedBy: deposit } }
`
    expect(await played(send)).toEqual({ passed: 1, failed: 0, said: [] })
  })

  test('interfaces: those of a file of scenarios decode an ERC-20 transfer and an Anchor instruction', async () => {
    expect(await played(`defaults: { ${head}, ${written} }\n${requests}`)).toEqual({ passed: 2, failed: 0, said: [] })
  })

  test('interfaces: those of the definitions are taken by themselves', async () => {
    const more = `smartContractInterfaces:
  usdc: { type: ethereum, address: "${usdc}", interface: '${abi}' }
  vault: { type: solana, address: ${program}, interface: '${JSON.stringify(idl)}' }
`
    expect(await played(`defaults: { ${head} }\n${requests}`, more)).toEqual({ passed: 2, failed: 0, said: [] })
  })

  test('interfaces: they may stand in files beside the scenarios', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quorate-interfaces-'))
    try {
      writeFileSync(join(folder, 'erc20.json'), abi)
      writeFileSync(join(folder, 'vault.json'), JSON.stringify(idl))
      const files = `interfaces: [{ address: "${usdc}", type: ethereum, file: erc20.json }, { address: ${program}, type: solana, file: vault.json }]`
      expect(await played(`defaults: { ${head}, ${files} }\n${requests}`, '', folder)).toEqual({
        passed: 2,
        failed: 0,
        said: [],
      })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test.each([
    ['{}', 'wrong-type: expected `interfaces` to be a list'],
    ['[{ type: ethereum, interface: [] }]', 'missing-key: `address` of the contract is missing'],
    [
      '[{ address: a, type: tron, interface: [] }]',
      'wrong-value: expected `type` to be `ethereum` or `solana`, got `tron`',
    ],
    ['[{ address: a, type: solana }]', 'missing-key: expected either `interface` or `file`'],
    ['[{ address: a, type: solana, abi: [] }]', 'unknown-key: unknown key `abi` in an interface'],
    [
      '[{ address: a, type: ethereum, file: ../a.json }]',
      'wrong-value: expected a file beside this one or below, got `../a.json`',
    ],
    ['[{ address: a, type: ethereum, file: none.json }]', 'bad-interface: `none.json` cannot be read: ENOENT'],
    ['[{ address: a, type: ethereum, interface: no }]', 'bad-interface: invalid smart contract interface'],
  ])('interfaces: %s is a mistake', async (list, message) => {
    const text = `scenarios:\n  a: { ${head}, interfaces: ${list}, transaction: { ethereum: "${transfer}" }, expect: deny }\n`
    const { said } = await played(text)
    expect(said).toHaveLength(1)
    expect(said[0]).toContain(message)
  })

  test('scenarios: a wallet with one account defines no wallet account, whose address only the service knows', async () => {
    const errs = `scenarios:\n  a: { ${head}, expect: { outcome: error, errors: [account, deposit, token] } }\n`
    expect(await played(errs)).toEqual({ passed: 1, failed: 0, said: [] })
    const named = `scenarios:\n  a: { ${head}, account: "${payee}", expect: { outcome: deny, decidedBy: account } }\n`
    expect(await played(named)).toEqual({ passed: 1, failed: 0, said: [] })
  })
})
