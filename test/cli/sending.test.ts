/** From what a person asks for to what will be signed: nothing is rounded, guessed, or taken for something else. */
import { Keypair } from '@solana/web3.js'
import { describe, expect, test } from 'vitest'
import { countsOf, type RowState } from '../../activities/index.ts'
import {
  normalizeCaip2,
  readSolanaDraft,
  readSolanaPayment,
  type SolanaPayment,
  tokenAccountOf,
} from '../../src/chain/index.ts'
import { createStyle } from '../../src/cli/io.ts'
import { renderListedSend, renderOrder, renderSend } from '../../src/cli/views/send.ts'
import { renderSendBatch, renderSendBatchEnd, renderStopped } from '../../src/cli/views/send-batch.ts'
import { renderCall } from '../../src/cli/views/send-call.ts'
import { decodeHex, printDecimal } from '../../src/encoding/index.ts'
import { describeSend } from '../../src/sending/describe.ts'
import { type Directory, makeOrder, partiesOf, type SendRequest } from '../../src/sending/order.ts'
import { assertNone, makeRequest } from '../../src/sending/request.ts'

const SEPOLIA = 'eip155:11155111'
const PAYROLL = '0x00000000000000000000000000000000000000b0'
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const FROM = '0x00000000000000000000000000000000000000f0'

const DEVNET = normalizeCaip2('solana:devnet')
/** Accounts and mint on Solana, each with a key; `VAULT` is the address of a program. */
const [SOL_FROM, SOL_PAYROLL, MINT] = [1, 2, 3].map((byte) =>
  Keypair.fromSeed(new Uint8Array(32).fill(byte)).publicKey.toBase58(),
) as [string, string, string]
const VAULT = tokenAccountOf(SOL_PAYROLL, { mint: MINT, program: 'token' })

const directory: Directory = {
  addressBook: { payroll: PAYROLL, crew: SOL_PAYROLL, vault: VAULT, mint: MINT },
  assets: {
    usdc: { chain: 'eip155:1', address: USDC, decimals: 6, symbol: 'USDC' },
    usdcOnSolana: { chain: DEVNET, address: MINT, decimals: 6, symbol: 'USDC', program: 'token' },
    points: { chain: SEPOLIA, address: PAYROLL, decimals: 0, symbol: 'points' },
  },
  privateKeys: [],
  wallets: [
    {
      wallet: { walletId: 'w', walletName: 'treasury', imported: false, exported: false },
      accounts: [
        { address: FROM, name: '' },
        { address: SOL_FROM, name: 'sol' },
      ],
    },
    { wallet: { walletId: 'v', walletName: 'cold', imported: false, exported: false }, accounts: [] },
  ],
}

const organization = { id: 'o', name: 'acme', baseUrl: 'http://127.0.0.1' }

function orderOf(given: Partial<Record<keyof SendRequest, string | undefined>>) {
  const whole = { from: 'treasury', to: 'payroll', amount: '1.5eth', chain: SEPOLIA, reference: 'INV-42', ...given }
  const request = Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined))
  return makeOrder(request as unknown as SendRequest, { directory, organization, now: 0 })
}

function onSolana(given: Parameters<typeof orderOf>[0]) {
  return orderOf({ to: 'crew', amount: '1sol', chain: 'solana:devnet', ...given })
}

const refOf = (ref: string) => makeRequest((name) => ({ ref, from: 'a', to: 'b' })[name as string]).reference

describe('sending: a reference', () => {
  test.each([
    ['INV-42', 'INV-42'],
    [' INV-42\t', 'INV-42'],
    ['Cafe\u0301 1/2 🎉', 'Café 1/2 🎉'],
    ['x'.repeat(200), 'x'.repeat(200)],
  ])('%j is %j', (written, reference) => {
    expect(refOf(written)).toBe(reference)
  })

  test.each([
    ['INV\u200b-42', 'U+200B'],
    ['INV\u00a042', 'U+00A0'],
    ['INV\ufe0f', 'U+FE0F'],
    ['INV\u202e24', 'U+202E'],
    ['INV\n42', 'U+000A'],
    ['\u{e0041}INV', 'U+E0041'],
    ['x'.repeat(201), '201 characters, over 200'],
  ])('%j is refused: who reads it would take it for another', (written, reason) => {
    expect(() => refOf(written)).toThrow(reason)
  })
})

describe('sending', () => {
  test.each([
    ['1.5eth', { amount: '1.5 ETH', value: '1500000000000000000' }],
    ['1.5ETH', { amount: '1.5 ETH', value: '1500000000000000000' }],
    ['0.000000000000000001 ETH', { amount: '0.000000000000000001 ETH', value: '1' }],
    ['30gwei', { amount: '30 gwei', value: '30000000000' }],
    ['007wei', { amount: '007 wei', value: '7' }],
  ])('sending: %s is exact', (amount, { value, amount: text }) => {
    const order = orderOf({ amount })
    expect(order.amount).toBe(text)
    expect(order.parameters).toEqual({ from: FROM, caip2: SEPOLIA, to: PAYROLL, value })
  })

  test.each([
    ['12.5usdc', '12.5 USDC', 12_500_000n],
    ['12.5 USDC', '12.5 USDC', 12_500_000n],
    ['12.5', '12.5 USDC', 12_500_000n],
    ['0.000001', '0.000001 USDC', 1n],
    [String(2n ** 255n), `${2n ** 255n} USDC`, undefined],
  ])('sending: a token amount %s is exact, or too much', (amount, text, atomic) => {
    const given = { asset: 'usdc', chain: undefined, amount }
    if (atomic === undefined) return expect(() => orderOf(given)).toThrow('is more than there can be')
    const order = orderOf(given)
    expect(order.amount).toBe(text)
    const [receiver, value] = [PAYROLL.slice(2).padStart(64, '0'), atomic.toString(16).padStart(64, '0')]
    expect(order.parameters).toEqual({
      from: FROM,
      caip2: 'eip155:1',
      to: USDC,
      value: '0',
      data: `0xa9059cbb${receiver}${value}`,
    })
  })

  test('sending: bounds of the cost and bytes for a contract go into what is signed', () => {
    const given = { amount: undefined, data: '0xABcd', maxFee: '60gwei', gas: '21000' }
    expect(orderOf(given).parameters).toEqual({
      from: FROM,
      caip2: SEPOLIA,
      to: PAYROLL,
      value: '0',
      data: '0xabcd',
      maxFeePerGas: '60000000000',
      gasLimit: '21000',
    })
  })

  test('sending: a wallet of the organization is paid by its name as definitions have it', () => {
    const order = orderOf({ to: 'wallet.treasury' })
    expect(order).toMatchObject({ to: 'wallet.treasury', parameters: { to: FROM } })
    const { receiver } = describeSend(order, { directory, interfaces: [] })
    expect(receiver).toEqual({ name: 'wallet.treasury', address: FROM })
    expect(partiesOf({ from: 'treasury', to: 'wallet.cold/hot' })).toEqual(['treasury', 'cold/hot'])
    expect(partiesOf({ from: 'treasury', to: 'payroll' })).toEqual(['treasury'])
  })

  test('sending: no name in the address book is paid in the place of a wallet', () => {
    const request = { from: 'treasury', to: 'wallet.treasury', amount: '1.5eth', chain: SEPOLIA, reference: 'INV-42' }
    const shadowed = { ...directory, addressBook: { 'wallet.treasury': PAYROLL } }
    const order = makeOrder(request as SendRequest, { directory: shadowed, organization, now: 0 })
    expect(order.parameters).toMatchObject({ to: FROM })
  })

  test.each<[Parameters<typeof orderOf>[0], string]>([
    [{ to: 'treasury' }, 'there is no receiver `treasury`'],
    [{ to: 'wallet.tresury' }, 'there is no wallet `tresury`'],
    [{ to: 'wallet.cold' }, 'wallet `cold` has no Ethereum account'],
    [{ to: 'payrol' }, 'there is no receiver `payrol`'],
    [{ to: 'constructor' }, 'there is no receiver `constructor`'],
    [{ from: 'tresury' }, 'there is no wallet `tresury`'],
    [{ from: 'cold' }, 'wallet `cold` has no Ethereum account'],
    [{ amount: '1.5' }, 'expected an amount with its unit, got `1.5`'],
    [{ amount: '1.5ether' }, 'expected an amount with its unit, got `1.5ether`'],
    [{ amount: '1.5wei' }, '`1.5wei` is finer than a wei: wei has 0 decimals'],
    [{ amount: '-1eth' }, 'expected an amount with its unit, got `-1eth`'],
    [{ amount: '1e3wei' }, 'expected an amount with its unit, got `1e3wei`'],
    [{ amount: '1usdc' }, 'expected an amount with its unit, got `1usdc`'],
    [{ amount: undefined }, 'expected --amount'],
    [{ chain: undefined }, 'expected --chain in CAIP-2 form'],
    [{ chain: 'ethereum' }, 'expected --chain in CAIP-2 form, got `ethereum`'],
    [{ asset: 'usdt' }, 'there is no asset `usdt`'],
    [{ asset: 'usdc', chain: undefined, amount: '1.5eth' }, 'expected an amount of USDC, got `1.5eth`'],
    [{ asset: 'usdc', chain: undefined, amount: '0.0000001' }, '`0.0000001` is finer than the smallest part of usdc'],
    [{ asset: 'usdc', amount: '1' }, `asset \`usdc\` is on chain eip155:1, not on ${SEPOLIA}`],
    [
      { asset: 'points', to: FROM, amount: '1.5' },
      '`1.5` is finer than the smallest part of points: points has 0 decimals',
    ],
    [{ asset: 'points', amount: '1' }, '`payroll` is the contract of `points` itself'],
    [{ asset: 'usdc', data: '0x00' }, '--asset and --data exclude each other'],
    [{ data: '0x123' }, 'expected --data to be hex of whole bytes with 0x, got `0x123`'],
    [{ maxFee: '60' }, 'expected an amount with its unit, got `60`'],
    [{ amount: '0eth' }, '--amount `0 ETH` pays nothing'],
    [{ asset: 'usdc', chain: undefined, amount: '0.00' }, '--amount `0.00 USDC` pays nothing'],
    [{ to: `0x${'0'.repeat(40)}` }, "is nobody's address"],
    [{ to: '0x1234' }, 'expected an address to be 0x and 40 hex digits, got `0x1234`'],
    [{ to: PAYROLL.slice(2) }, 'expected an address to be 0x and 40 hex digits'],
    [{ to: PAYROLL.toUpperCase() }, 'expected an address to be 0x and 40 hex digits'],
    [{ from: PAYROLL }, `no wallet or private key of the organization has address \`${PAYROLL}\``],
    [{ from: 'treasury/hot' }, 'wallet `treasury` has no Ethereum account `hot`; it has 0x'],
    [{ gas: '21k' }, 'expected --gas to be a number of units of gas, got `21k`'],
  ])('sending: %j is refused', (given, message) => {
    expect(() => orderOf(given)).toThrow(message)
  })

  test.each<[Parameters<typeof onSolana>[0], SolanaPayment, string]>([
    [{ amount: '1.5 SOL' }, { from: SOL_FROM, to: SOL_PAYROLL, amount: 1_500_000_000n }, '1.5 SOL'],
    [{ amount: '1.5sol' }, { from: SOL_FROM, to: SOL_PAYROLL, amount: 1_500_000_000n }, '1.5 SOL'],
    [{ amount: '5000lamports', to: 'vault' }, { from: SOL_FROM, to: VAULT, amount: 5_000n }, '5000 lamports'],
    [{ amount: '1 lamport', to: 'wallet.treasury' }, { from: SOL_FROM, to: SOL_FROM, amount: 1n }, '1 lamport'],
    [
      { amount: '12.5usdc', asset: 'usdcOnSolana', chain: undefined },
      {
        from: SOL_FROM,
        to: SOL_PAYROLL,
        amount: 12_500_000n,
        token: { mint: MINT, decimals: 6, program: 'token' },
      },
      '12.5 USDC',
    ],
  ])('sending: on Solana %j is exact', (given, payment, text) => {
    const order = onSolana(given)
    expect([order.type, order.amount]).toEqual(['ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2', text])
    const { unsignedTransaction, ...rest } = order.parameters as { readonly unsignedTransaction: string }
    expect(rest).toEqual({ signWiths: [SOL_FROM], caip2: DEVNET })
    expect(readSolanaPayment(decodeHex(unsignedTransaction))).toEqual(payment)
    // However the cluster is written, it is the same send.
    expect(onSolana({ ...given, chain: given.asset === undefined ? DEVNET : 'solana:devnet' })).toEqual(order)
  })

  test('sending: on Solana a fee is offered as a whole, and shown as it will be paid', () => {
    const order = onSolana({ maxFee: '0.000006sol' })
    const { unsignedTransaction } = order.parameters as { readonly unsignedTransaction: string }
    expect(readSolanaDraft(decodeHex(unsignedTransaction)).budget).toEqual({ unitLimit: 450, unitPrice: 2_222_222n })
    const shown = (given: Parameters<typeof onSolana>[0]) => {
      const asked = onSolana(given)
      const description = describeSend(asked, { directory, interfaces: [] })
      const explanation = { outcome: 'OUTCOME_ALLOW', basis: '', decidedBy: [], policies: [] } as never
      return renderOrder(asked, { description, explanation }, createStyle(false)).split('\n')
    }
    expect(shown({ maxFee: '0.000006sol' })).toContain(
      '  fee        0.000006 SOL, all of which is paid: 0.000005 SOL for the signature, 0.000001 SOL to be preferred',
    )
    expect(shown({ maxFee: '5000lamports' })).toContain('  fee        0.000005 SOL for the signature')
    expect(shown({ to: 'vault' })).toContain(
      `  to         vault (${VAULT})  a program’s address: nobody has a key for it`,
    )
    expect(shown({ asset: 'usdcOnSolana', chain: undefined, amount: '1' })).toEqual(
      expect.arrayContaining([
        `  to         crew (${SOL_PAYROLL})`,
        '  amount     1 USDC, 1000000 atomic units',
        `  token      usdcOnSolana (${MINT})`,
        `  account    ${VAULT}, opened where there is none, for a rent of some 0.002 SOL`,
        '  chain      solana:devnet',
        '  fee        the service chooses; --max-fee bounds it',
      ]),
    )
  })

  test.each<[Parameters<typeof onSolana>[0], string]>([
    [{ to: 'payroll' }, '`payroll` is an address on Ethereum, and the send is on solana:devnet'],
    [
      { to: SOL_PAYROLL.slice(0, -3) },
      `\`${SOL_PAYROLL.slice(0, -3)}\` is no address on Solana: it is not of 32 bytes`,
    ],
    [{ to: `${SOL_PAYROLL}zz` }, `\`${SOL_PAYROLL}zz\` is no address on Solana: it is not of 32 bytes`],
    [{ to: 'thePaymentFundForThatCrewHere' }, 'there is no receiver `thePaymentFundForThatCrewHere`'],
    [{ to: SOL_PAYROLL, chain: SEPOLIA }, 'is an address on Solana, and the send is on eip155:11155111'],
    [{ from: FROM }, 'is an address on Ethereum, and the send is on solana:devnet'],
    [{ from: 'cold' }, 'wallet `cold` has no Solana account'],
    [{ to: '11111111111111111111111111111111' }, 'is a program, and would keep what it is paid'],
    [{ amount: '1.5eth' }, 'expected an amount with its unit, got `1.5eth`'],
    [{ amount: '1.5ETH' }, 'expected an amount with its unit, got `1.5ETH`'],
    [{ amount: '0.0000000001sol' }, '`0.0000000001sol` is finer than a lamport: SOL has 9 decimals'],
    [{ amount: '18446744074sol' }, 'is more than there can be'],
    [{ amount: undefined }, 'expected --amount'],
    [{ chain: 'solana:testnet' }, 'expected --chain in CAIP-2 form, got `solana:testnet`'],
    [
      { asset: 'usdcOnSolana', chain: 'solana:mainnet', amount: '1' },
      'is on chain solana:devnet, not on solana:mainnet',
    ],
    [{ asset: 'usdcOnSolana', to: 'mint', amount: '1' }, '`mint` is the mint of `usdcOnSolana` itself'],
    [
      { asset: 'usdcOnSolana', to: 'vault', amount: '1' },
      '`vault` is an address of a program, such as the account of a token',
    ],
    [{ asset: 'usdcOnSolana', amount: '18446744073710' }, 'is more than there can be'],
    [{ data: '0x00' }, '--data has no meaning on Solana'],
    [{ gas: '21000' }, '--gas has no meaning on Solana'],
    [{ maxFee: '60gwei' }, 'expected an amount with its unit, got `60gwei`'],
    [{ maxFee: '4999lamports' }, '--max-fee `4999lamports` is less than one signature costs'],
  ])('sending: on Solana %j is refused', (given, message) => {
    expect(() => onSolana(given)).toThrow(message)
  })

  test('sending: an amount is shown with every digit that it has', () => {
    expect([0n, 1n, 12_500_000n, 10n ** 30n].map((atomic) => printDecimal(atomic, 6))).toEqual([
      '0',
      '0.000001',
      '12.5',
      `1${'0'.repeat(24)}`,
    ])
    expect(printDecimal(7n, 0)).toBe('7')
  })

  test('sending: words from outside forge no line', () => {
    const evil = 'gone\n  forecast   allow\u001b[2K\u202e'
    const style = createStyle(false)
    const call = { kind: 'decoded' as const, function: 'note', arguments: { text: evil } }
    const progress = { sendId: 's', reference: 'r', state: 'failed' as const, error: { code: 'c', message: evil } }
    for (const text of [renderCall(call, style), renderSend(progress, style, 0).trimEnd()]) {
      expect(text).toContain('forecast   allow')
      expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    }
    const order = { ...orderOf({ reference: evil }), from: evil, to: evil, amount: `1 ${evil}` }
    const { fee } = describeSend(order, { directory, interfaces: [] })
    const party = { name: evil, address: PAYROLL }
    const amount = { text: order.amount, atomic: '1', atomicUnit: 'wei' }
    const description = { receiver: party, amount, token: party, fee }
    const needs = { any: { count: 1, of: [evil] } }
    const explanation = { outcome: 'OUTCOME_ALLOW', basis: 'policy', decidedBy: [evil], needs, policies: [] } as never
    const held = { text: evil, atomic: '1' }
    const short = { needs: held, saidBy: [evil], deniedBy: [evil] }
    const balance = { of: 'payee' as const, ...party, before: held, after: held, feeAtMost: held, short }
    const ran = { chain: SEPOLIA, sender: party, by: evil, block: '1', balances: [balance], warnings: [evil] }
    const simulations = [ran, { ...ran, unknown: evil }]
    const shown = renderOrder(order, { description, explanation, simulation: simulations[0] }, style)
      .trimEnd()
      .split('\n')
    expect(shown).toHaveLength(11)
    const listed = renderListedSend({ order }, style, 0).trimEnd()
    const total = { from: evil, address: FROM, chain: SEPOLIA, rows: 1, amount }
    const batch = {
      batchId: 'b',
      organization,
      file: evil,
      orderedAt: '',
      totals: [total],
      alike: [],
      deniedTotals: [total],
      simulations,
    }
    const state = 'not begun' as const
    const stands = { row: { line: 2, order }, sendId: 's', state }
    const one = { row: { line: 2, cells: new Map() }, order, description, explanation, state, stands }
    const batched = renderSendBatch({ ...batch, rows: [one] }, { style, rows: true, skipsDenied: true })
      .trimEnd()
      .split('\n')
    expect(batched).toHaveLength(10)
    for (const line of [...shown, listed, ...batched]) expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    const row = { row: 2, reference: evil, from: 'a', to: 'b', amount: '1 wei', state: 'failed' as const, reason: evil }
    const report = {
      batchId: 'b',
      organizationId: 'o',
      file: evil,
      orderedAt: '',
      counts: { failed: 1 },
      rows: [row],
    }
    const lines = renderSendBatchEnd(report, style).split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })
})

test('an option that would be without effect is refused', () => {
  const rule = { names: ['report', 'stop-on-failure'], unless: 'it is for --batch' }
  assertNone({ from: 'a', batch: 'pay.csv' }, rule)
  expect(() => assertNone({ stopOnFailure: true }, rule)).toThrow('--stop-on-failure has no meaning here')
})

describe('a batch that is stopped', () => {
  const style = createStyle(false)
  const of = (states: readonly RowState[]) => {
    const rows = states.map((state, index) => {
      return { row: index + 2, reference: `R-${index}`, from: 'a', to: 'b', amount: '1 wei', state }
    })
    const batch = {
      batchId: '0123456789abcdef',
      organizationId: 'o',
      file: 'pay.csv',
      orderedAt: '',
      stoppedAt: 'then',
    }
    return { ...batch, counts: countsOf(rows), rows }
  }

  test('what is held back, what is not known, and what was submitted, are told apart', () => {
    const states = ['included', 'stopped', 'submitting', 'stopped', 'stopped', 'waiting', 'taken'] as const
    expect(renderStopped(of(states), style).split('\n')).toEqual([
      'Stopped batch 0123456789ab of pay.csv.',
      '  not submitted  3 rows, lines 3, 5 to 6; none of them will be',
      '  unknown        1 row, line 4: asked for, and no answer has come; they are followed',
      '  submitted      2 rows: 1 waiting, 1 included; followed to their end',
      '  next           end what waits for approval with `quorate reject CODE`',
      '  next           correct pay.csv and send it, or send it as it is with --resume',
      '',
    ])
    expect(renderSendBatchEnd(of(states), style)).toContain(
      '  stopped  then: 3 rows not submitted, lines 3, 5 to 6; --resume sends them\n7 rows: 1 submitting, 1 waiting',
    )
  })

  test('one that had ended was not stopped', () => {
    expect(renderStopped(of(['included', 'failed']), style)).toBe(
      'Nothing of batch 0123456789ab of pay.csv was left to stop.\n  submitted      2 rows: 1 included, 1 failed\n',
    )
  })
})
