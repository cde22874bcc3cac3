/** Policies over transactions as they are written: conditions of the language's own cases, judged on real bytes. */
import { Transaction as Psbt, p2wpkh } from '@scure/btc-signer'
import { pubECDSA } from '@scure/btc-signer/utils.js'
import { encodeFunctionData, type Hex, serializeTransaction } from 'viem'
import { Transaction as Tempo } from 'viem/tempo'
import { describe, expect, test } from 'vitest'
import {
  readPayloadFacts,
  readSendFacts,
  readTransactionFacts,
  type SmartContractInterface,
} from '../../../src/chain/index.ts'
import { authorize, compilePolicy, type PolicyContext } from '../../../src/policy/index.ts'
import { readVectors } from '../../vectors/read-vectors.ts'
import { ethereumInterface, solanaInterface } from './harness.ts'

/** What a condition comes to: whether it allows, or the kind of its error. */
function judge(condition: string, facts: Partial<PolicyContext>): string {
  const policy = compilePolicy({ id: 'p', name: 'p', effect: 'EFFECT_ALLOW', condition })
  const decision = authorize([policy], {
    now: 0n,
    activity: { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' },
    approvers: [{ id: 'ana' }],
    ...facts,
  })
  return decision.policies[0]?.error?.kind ?? (decision.outcome === 'OUTCOME_ALLOW' ? 'allow' : 'deny')
}

const a = `0x${'aa'.repeat(20)}` as const
const b = `0x${'bb'.repeat(20)}` as const

describe('policies: over Ethereum', () => {
  const eth = (change: object = {}, interfaces: readonly SmartContractInterface[] = []) =>
    readTransactionFacts({
      type: 'TRANSACTION_TYPE_ETHEREUM',
      unsignedTransaction: serializeTransaction({
        type: 'eip1559',
        chainId: 10,
        nonce: 4,
        gas: 21_000n,
        to: b,
        maxFeePerGas: 40_000_000_000n,
        ...change,
      } as never),
      interfaces,
      signer: a,
    })
  const abi = [
    {
      type: 'function',
      name: 'deposit',
      stateMutability: 'nonpayable',
      outputs: [],
      inputs: [
        { name: 'assets', type: 'uint256' },
        { name: 'receiver', type: 'address' },
      ],
    },
    {
      type: 'function',
      name: 'fill',
      stateMutability: 'nonpayable',
      outputs: [],
      inputs: [
        {
          name: 'orders',
          type: 'tuple[]',
          components: [
            { name: 'maker', type: 'address' },
            { name: 'amount', type: 'uint256' },
          ],
        },
      ],
    },
    {
      type: 'function',
      name: 'name',
      stateMutability: 'nonpayable',
      outputs: [],
      inputs: [
        { name: 'text', type: 'string' },
        { name: 'change', type: 'int256' },
      ],
    },
  ] as const
  const interfaces = [ethereumInterface(b, abi)]
  const data = (functionName: string, args: readonly unknown[]) => ({
    data: encodeFunctionData({ abi, functionName, args } as never),
  })
  const deposit = (assets: bigint) => eth(data('deposit', [assets, a]), interfaces)
  const depositPolicy =
    "eth.tx.function_name == 'deposit' && eth.tx.function_signature == '0x6e553f65' && eth.tx.contract_call_args['assets'] <= 1000000 && eth.tx.contract_call_args['receiver'] == '0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'"
  const fill = eth(
    data('fill', [
      [
        { maker: a, amount: 49n },
        { maker: a, amount: 1n },
      ],
    ]),
    interfaces,
  )

  test.each([
    [
      'amounts at the bound',
      'eth.tx.value >= 250000000000000000 && eth.tx.value < 250000000000000001',
      eth({ value: 250_000_000_000_000_000n }),
      'allow',
    ],
    [
      'fees',
      "eth.tx.type in ['LEGACY', 'TYPE_2'] && eth.tx.gas_price <= 40000000000 && eth.tx.gas <= 21000",
      eth(),
      'allow',
    ],
    ['a fee that the kind lacks', 'eth.tx.max_fee_per_blob_gas == 0', eth(), 'MissingField'],
    [
      'addresses in another case',
      "eth.tx.to == '0xBBbbBBbbBBbbBBbbBBbbBBbbBBbbBBbbBBbbBBbb' && eth.tx.from in ['0xAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA']",
      eth(),
      'allow',
    ],
    ['creation', "eth.tx.to == '' && eth.tx.chain_id == 10", eth({ to: undefined, data: '0x60' }), 'allow'],
    [
      'calldata by slices',
      "eth.tx.data[0..10] == '0x2e1a7d4d' && eth.tx.data[10..74] == '0000000000000000000000000000000000000000000000000000000000000400'",
      eth({ data: `0x2e1a7d4d${'0'.repeat(61)}400` as Hex }),
      'allow',
    ],
    ['arguments below a cap', depositPolicy, deposit(1_000_000n), 'allow'],
    ['arguments above it', depositPolicy, deposit(1_000_001n), 'deny'],
    ['the largest amount', depositPolicy, deposit(2n ** 256n - 1n), 'deny'],
    ['arguments without an interface', depositPolicy, eth(data('deposit', [1n, a])), 'MissingField'],
    [
      'tuples by position',
      "eth.tx.contract_call_args['orders'].count() <= 3 && eth.tx.contract_call_args['orders'].all(o, o[0] == '0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' && o[1] < 50)",
      fill,
      'allow',
    ],
    ['tuples by name', "eth.tx.contract_call_args['orders'].all(o, o['maker'] == '0xaa')", fill, 'TypeMismatch'],
    [
      'a string that looks like hex, exactly',
      "eth.tx.contract_call_args['text'] == '0xAB'",
      eth(data('name', ['0xab', 0n]), interfaces),
      'deny',
    ],
    [
      'a signed number of 256 bits',
      "eth.tx.contract_call_args['change'] < 0",
      eth(data('name', ['', -(2n ** 200n)]), interfaces),
      'NumberOutOfRange',
    ],
    [
      'a signed number that fits',
      "eth.tx.contract_call_args['change'] < 0",
      eth(data('name', ['', -1n]), interfaces),
      'allow',
    ],
    ['a value beyond the range of amounts', 'eth.tx.value > 0', eth({ value: 2n ** 200n }), 'NumberOutOfRange'],
  ])('policies: %s', (_name, condition, facts, expected) => {
    expect(judge(condition, facts)).toBe(expected)
  })

  test('policies: a batch is allowed when each of its calls is', () => {
    const facts = (to: string) =>
      readSendFacts(
        'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2',
        { from: a, caip2: 'eip155:1', calls: [{ to: b, value: '1' }, { to }] },
        { interfaces: [] },
      )
    expect(judge(`eth.tx.to == '${b}'`, facts(b))).toBe('allow')
    expect(judge(`eth.tx.to == '${b}'`, facts(a))).toBe('deny')
  })
})

describe('policies: over payloads', () => {
  const order = (amount: string) => ({
    types: {
      Order: [{ name: 'legs', type: 'Leg[]' }],
      Leg: [
        { name: 'token', type: 'address' },
        { name: 'amount', type: 'uint256' },
      ],
    },
    primaryType: 'Order',
    domain: { name: 'Desk', version: '1', chainId: 137, verifyingContract: b },
    message: {
      legs: [
        { token: a, amount: '900' },
        { token: a, amount },
      ],
    },
  })
  const typed = (amount: string) =>
    readPayloadFacts({ encoding: 'PAYLOAD_ENCODING_EIP712', payload: JSON.stringify(order(amount)) })
  const condition = `eth.eip_712.primary_type == 'Order' && eth.eip_712.domain.chain_id == 137 && eth.eip_712.domain.verifying_contract == '${b}' && eth.eip_712.message['legs'].count() == 2 && eth.eip_712.message['legs'][1]['amount'] < 600 && eth.eip_712.message['legs'].all(l, l['token'] == '${a}')`
  const authorization = readPayloadFacts({
    encoding: 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION',
    payload: JSON.stringify({ address: b, chainId: 10, nonce: '3' }),
  })

  test.each([
    ['a message below a cap', condition, typed('599'), 'allow'],
    ['a message above it', condition, typed('600'), 'deny'],
    ['a number as text', "eth.eip_712.message['legs'][0]['amount'] == '900'", typed('1'), 'allow'],
    [
      'an authorization',
      `eth.eip_7702_authorization.address == '${b}' && eth.eip_7702_authorization.chain_id in [1, 10] && eth.eip_7702_authorization.nonce == '3'`,
      authorization,
      'allow',
    ],
    [
      'a bare digest',
      "eth.eip_712.primary_type == 'Order'",
      readPayloadFacts({ encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', payload: '00' }),
      'MissingField',
    ],
  ])('policies: %s', (_name, text, facts, expected) => {
    expect(judge(text, facts)).toBe(expected)
  })
})

describe('policies: over Solana', () => {
  const vectors = readVectors<{ name: string; bytes: string }>('solana-transactions/parser.jsonl')
  const solana = (name: string, interfaces: readonly SmartContractInterface[] = []) =>
    readTransactionFacts({
      type: 'TRANSACTION_TYPE_SOLANA',
      unsignedTransaction: vectors.find((each) => each.name === name)!.bytes,
      interfaces,
    })
  const token = solana('parse_spl_token_program_2022_transfer_checked_multiple_signers')
  // Eight bytes of `initialize` would be a discriminator; the instruction's own data begin with 0c, a tag of one byte.
  const idl = {
    types: [],
    instructions: [
      {
        name: 'transferChecked',
        discriminator: [12],
        accounts: [{ name: 'source' }, { name: 'mint' }, { name: 'destination' }, { name: 'owner' }],
        args: [
          { name: 'amount', type: 'u64' },
          { name: 'decimals', type: 'u8' },
        ],
      },
    ],
  }
  const withIdl = solana('parse_spl_token_program_2022_transfer_checked_multiple_signers', [
    solanaInterface('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb', idl),
  ])

  test.each([
    [
      'transfers',
      "solana.tx.transfers.count() == 1 && solana.tx.transfers.all(t, t.to == 'tkhqC9QX2gkqJtUFk2QKhBmQfFyyqZXSpr73VFRi35C' && t.amount <= 111) && solana.tx.program_keys.all(p, p == '11111111111111111111111111111111')",
      solana('parses_valid_legacy_transactions'),
      'allow',
    ],
    [
      'a guard against lookup tables',
      "solana.tx.account_keys.contains('ADDRESS_TABLE_LOOKUP') && solana.tx.address_table_lookups.count() == 1",
      solana('parses_v0_transactions'),
      'allow',
    ],
    [
      'token transfers',
      "solana.tx.spl_transfers.count() == solana.tx.instructions.count() && solana.tx.spl_transfers.all(t, t.token_mint == 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263' && t.signers.count() == 2 && t.amount <= 1000000000)",
      token,
      'allow',
    ],
    ['the first of no transfers', 'solana.tx.transfers[0].amount < 5000', token, 'IndexOutOfRange'],
    [
      'arguments by an IDL',
      "solana.tx.instructions.all(i, i.parsed_instruction_data.instruction_name == 'transferChecked' && i.parsed_instruction_data.program_call_args['amount'] == 1000000000 && i.parsed_instruction_data.named_accounts['mint'] == 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263')",
      withIdl,
      'allow',
    ],
    [
      'an argument that is not there',
      "solana.tx.instructions.all(i, i.parsed_instruction_data.program_call_args['nope'] == 1)",
      withIdl,
      'MissingField',
    ],
    [
      'arguments without an IDL',
      "solana.tx.instructions.any(i, i.parsed_instruction_data.instruction_name == 'stake')",
      token,
      'MissingField',
    ],
  ])('policies: %s', (_name, condition, facts, expected) => {
    expect(judge(condition, facts)).toBe(expected)
  })
})

describe('policies: over Tron, Bitcoin and Tempo', () => {
  const vectors = readVectors<{ name: string; bytes: string }>('tron-transactions/raw-data.jsonl')
  const tron = (name: string) =>
    readTransactionFacts({
      type: 'TRANSACTION_TYPE_TRON',
      unsignedTransaction: vectors.find((each) => each.name === name)!.bytes,
      interfaces: [],
    })
  const segwit = p2wpkh(pubECDSA(new Uint8Array(32).fill(7)))
  const psbt = new Psbt()
  psbt.addInput({
    txid: 'aa'.repeat(32),
    index: 0,
    sequence: 0xfffffffd,
    witnessUtxo: { script: segwit.script, amount: 6_500n },
  })
  psbt.addOutput({ script: segwit.script, amount: 5_000n })
  const bitcoin = readTransactionFacts({
    type: 'TRANSACTION_TYPE_BITCOIN',
    unsignedTransaction: psbt.toPSBT(),
    interfaces: [],
  })

  test.each([
    ['an amount of Tron', 'tron.tx.contract[0].amount <= 2000000', tron('transfer'), 'allow'],
    [
      'the amount of a call, which is none',
      'tron.tx.contract[0].amount <= 2000000',
      tron('trigger of a token transfer'),
      'MissingField',
    ],
    [
      'calldata of Tron',
      "tron.tx.contract[0].contract_address == 'THTR75o8xXAgCTQqpiot2AFRAjvW1tSbVV' && tron.tx.contract[0].data[0..8] == 'A9059CBB'",
      tron('trigger of a token transfer'),
      'allow',
    ],
    [
      'permissions',
      "tron.tx.contract[0].actives.all(p, p.threshold >= 2 && p.keys.count() <= 5 && p.type == 'Active')",
      tron('permissions'),
      'allow',
    ],
    [
      'Bitcoin',
      `bitcoin.tx.outputs.all(o, o.address in ['${segwit.address}'] && o.value < 900000) && bitcoin.tx.inputs.count() <= 2 && bitcoin.tx.inputs.all(i, i.sequence < 4294967295) && bitcoin.tx.fee <= 1500 && bitcoin.tx.locktime.type == 'Blocks' && bitcoin.tx.locktime.amount == 0`,
      bitcoin,
      'allow',
    ],
    ['a fee of Bitcoin', 'bitcoin.tx.fee < 1500', bitcoin, 'deny'],
  ])('policies: %s', (_name, condition, facts, expected) => {
    expect(judge(condition, facts)).toBe(expected)
  })

  test('policies: batched calls of Tempo', async () => {
    const data: Hex = `0xa9059cbb${'0'.repeat(24)}${'abcd'.repeat(10)}${'0'.repeat(63)}1`
    const unsignedTransaction = await Tempo.serialize({
      type: 'tempo',
      chainId: 42_431,
      gas: 90_000n,
      calls: [
        { to: b, data },
        { to: b, data },
      ],
    } as never)
    const facts = readTransactionFacts({
      type: 'TRANSACTION_TYPE_TEMPO',
      unsignedTransaction,
      interfaces: [],
      signer: a,
    })
    const condition = `tempo.tx.calls.count() == 2 && tempo.tx.calls.all(c, c.to == '${b}' && c.function_signature == '0xa9059cbb' && c.input[34..74] == 'ABCDABCDABCDABCDABCDABCDABCDABCDABCDABCD') && tempo.tx.valid_before == 0 && tempo.tx.from == '${a}'`
    expect(judge(condition, facts)).toBe('allow')
  })
})
