import { hex } from '@scure/base'
import {
  NETWORK,
  OutScript,
  p2pk,
  p2pkh,
  p2sh,
  p2tr,
  p2wpkh,
  p2wsh,
  Script,
  TEST_NETWORK,
  Transaction,
} from '@scure/btc-signer'
import { pubECDSA, pubSchnorr, randomPrivateKeyBytes } from '@scure/btc-signer/utils.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { read, refusalOf } from './harness.ts'

const secret = new Uint8Array(32).fill(7)
const publicKey = pubECDSA(secret)
const segwit = p2wpkh(publicKey, NETWORK)
const txid = 'aa'.repeat(32)
const segwitInput = (amount: bigint) => ({
  txid,
  index: 1,
  sequence: 0xfffffffd,
  witnessUtxo: { script: segwit.script, amount },
})

/** A transaction that pays `amount` to a script, for the previous transaction of an older kind of input. */
function previous(script: Uint8Array, amount: bigint): Transaction {
  const transaction = new Transaction({ allowUnknownOutputs: true })
  transaction.addOutput({ script, amount })
  transaction.addInput({ txid, index: 0, finalScriptSig: Uint8Array.of(0) })
  return transaction
}

function psbt(
  build: (transaction: Transaction) => void,
  options: ConstructorParameters<typeof Transaction>[0] = {},
): Uint8Array {
  const transaction = new Transaction({ allowUnknownOutputs: true, disableScriptCheck: true, ...options })
  build(transaction)
  return transaction.toPSBT(options.PSBTVersion)
}

const simple = (amount = 10_000n, paid = 9_000n) =>
  psbt((transaction) => {
    transaction.addInput(segwitInput(amount))
    transaction.addOutput({ script: segwit.script, amount: paid })
  })

describe('bitcoin: what a transaction says', () => {
  test('bitcoin: inputs, outputs, fee, version and locktime', () => {
    expect(read('BITCOIN', simple())).toEqual({
      version: '2',
      inputs: [{ tx_id: txid, vout: 1n, sequence: 4_294_967_293n }],
      outputs: [
        { value: 9_000n, script_pubkey: hex.encode(segwit.script), address: segwit.address, address_type: 'P2WPKH' },
      ],
      locktime: { amount: 0n, type: 'Blocks' },
      fee: 1_000n,
    })
  })

  test.each([
    [499_999_999, 'Blocks'],
    [500_000_000, 'Seconds'],
  ])('bitcoin: a locktime of %s is in %s', (lockTime, type) => {
    const bytes = psbt(
      (transaction) => {
        transaction.addInput(segwitInput(10n))
        transaction.addOutput({ script: segwit.script, amount: 10n })
      },
      { lockTime, version: 1 },
    )
    expect(read('BITCOIN', bytes)).toMatchObject({ version: '1', locktime: { amount: BigInt(lockTime), type } })
  })

  const outputs = (network: typeof NETWORK) =>
    [
      ['P2PKH', p2pkh(publicKey, network)],
      ['P2SH', p2sh(p2wpkh(publicKey, network), network)],
      ['P2WPKH', p2wpkh(publicKey, network)],
      ['P2WSH', p2wsh(p2pk(publicKey, network), network)],
      ['P2TR', p2tr(pubSchnorr(secret), undefined, network)],
    ] as const
  const paying = (script: Uint8Array) =>
    psbt((transaction) => {
      transaction.addInput(segwitInput(10n))
      transaction.addOutput({ script, amount: 10n })
    })

  test.each([
    ['the main network', undefined, NETWORK],
    ['the main network', segwit.address!, NETWORK],
    ['the test networks', 'tb1qaaaa', TEST_NETWORK],
    ['the test networks', 'mkpZhYtJu2r87Js3pDiWJDmPte2NRZ8bJV', TEST_NETWORK],
    ['regtest', 'bcrt1qaaaa', { ...TEST_NETWORK, bech32: 'bcrt' }],
  ])('bitcoin: addresses are those of %s for a signer %s', (_name, signer, network) => {
    for (const [type, payment] of outputs(network)) {
      expect(read('BITCOIN', paying(payment.script), { signer })['outputs'], type).toMatchObject([
        { address: payment.address, address_type: type },
      ])
    }
  })

  test.each([
    ['OP_RETURN', Script.encode(['RETURN', new Uint8Array(8)])],
    ['a bare key', OutScript.encode({ type: 'pk', pubkey: publicKey })],
    ['a script that is none', Uint8Array.of(0x4c)],
    ['nothing', new Uint8Array()],
  ])('bitcoin: an output of %s is refused in the words of the API, or has an empty address', (_name, script) => {
    expect(refusalOf('BITCOIN', paying(script))).toBe(
      'failed to extract bitcoin address from script with error: UnrecognizedScript',
    )
    expect(read('BITCOIN', paying(script), { acceptUnaddressed: true })['outputs']).toEqual([
      { value: 10n, script_pubkey: hex.encode(script), address: '', address_type: '' },
    ])
  })

  test('bitcoin: an input of an older kind is worth what its previous transaction says', () => {
    const before = previous(p2pkh(publicKey).script, 5_000n)
    const bytes = psbt((transaction) => {
      transaction.addInput({ txid: before.id, index: 0, nonWitnessUtxo: before.toBytes(true) })
      transaction.addOutput({ script: segwit.script, amount: 4_400n })
    })
    expect(read('BITCOIN', bytes)).toMatchObject({
      fee: 600n,
      inputs: [{ tx_id: before.id, vout: 0n, sequence: 4_294_967_295n }],
    })
  })
})

describe('bitcoin: what is refused', () => {
  const withInput = (input: Parameters<Transaction['addInput']>[0]) =>
    psbt((transaction) => {
      transaction.addInput(input)
      transaction.addOutput({ script: segwit.script, amount: 10n })
    })

  test('bitcoin: an input whose value is unknown', () => {
    expect(refusalOf('BITCOIN', withInput({ txid, index: 0 }))).toBe(
      'failed to parse transaction: the value of input 0 is unknown, so the fee cannot be computed',
    )
  })

  test('bitcoin: an amount that no signature of the input covers', () => {
    const script = p2pkh(publicKey).script
    expect(refusalOf('BITCOIN', withInput({ txid, index: 0, witnessUtxo: { script, amount: 10n } }))).toBe(
      'failed to parse transaction: the value of input 0 is unknown, so the fee cannot be computed',
    )
  })

  test('bitcoin: a previous transaction that is another one', () => {
    const before = previous(p2pkh(publicKey).script, 5_000n)
    const bytes = withInput({ txid: before.id, index: 0, nonWitnessUtxo: before.toBytes(true) })
    // The first byte of the id that the input names, as it is written: from the last byte to the first.
    const at = Buffer.from(bytes).indexOf(Buffer.from(before.id, 'hex').reverse())
    bytes[at] = bytes[at]! ^ 1
    expect(refusalOf('BITCOIN', bytes)).toMatch(/^failed to parse transaction: it is no PSBT: .*txid/)
  })

  test('bitcoin: outputs worth more than the inputs', () => {
    expect(refusalOf('BITCOIN', simple(10n, 11n))).toBe(
      'failed to parse transaction: the outputs are worth more than the inputs',
    )
  })

  test.each([
    ['nothing', new Uint8Array()],
    ['a bare transaction', previous(segwit.script, 10n).toBytes(true)],
    ['bytes behind the end', Uint8Array.from([...simple(), 1])],
    ['a PSBT cut short', simple().subarray(0, -1)],
  ])('bitcoin: %s', (_name, bytes) => {
    expect(refusalOf('BITCOIN', bytes)).toMatch(/^failed to parse transaction: it is no PSBT: /)
  })

  test('bitcoin: a PSBT of version 2', () => {
    const bytes = psbt(
      (transaction) => {
        transaction.addInput(segwitInput(10n))
        transaction.addOutput({ script: segwit.script, amount: 10n })
      },
      { PSBTVersion: 2 },
    )
    expect(refusalOf('BITCOIN', bytes)).toBe(
      'failed to parse transaction: expected a PSBT of version 0 with a map for each output',
    )
  })

  test('bitcoin: a PSBT with more output maps than outputs', () => {
    expect(refusalOf('BITCOIN', Uint8Array.from([...simple(), 0]))).toMatch(/with a map for each output$/)
  })
})

test('bitcoin: whatever is written is read', () => {
  const input = fc.record({
    id: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    index: fc.nat(2 ** 31),
    sequence: fc.nat(2 ** 31),
    amount: fc.bigInt({ min: 1_000_000n, max: 2n ** 40n }),
  })
  const payment = fc.record({
    key: fc.constantFrom(...Array.from({ length: 4 }, () => pubECDSA(randomPrivateKeyBytes()))),
    amount: fc.bigInt({ min: 0n, max: 100_000n }),
  })
  fc.assert(
    fc.property(
      fc.uniqueArray(input, { minLength: 1, maxLength: 6, selector: ({ id }) => hex.encode(id) }),
      fc.array(payment, { minLength: 1, maxLength: 6 }),
      (given, paid) => {
        const bytes = psbt((transaction) => {
          for (const { id, index, sequence, amount } of given) {
            transaction.addInput({ txid: id, index, sequence, witnessUtxo: { script: segwit.script, amount } })
          }
          for (const { key, amount } of paid) transaction.addOutput({ script: p2wpkh(key).script, amount })
        })
        const sum = (list: readonly { readonly amount: bigint }[]) =>
          list.reduce((total, { amount }) => total + amount, 0n)
        expect(read('BITCOIN', bytes)).toMatchObject({
          inputs: given.map(({ id, index, sequence }) => ({
            tx_id: hex.encode(id),
            vout: BigInt(index),
            sequence: BigInt(sequence),
          })),
          outputs: paid.map(({ key, amount }) => ({ value: amount, address: p2wpkh(key).address })),
          fee: sum(given) - sum(paid),
        })
      },
    ),
    { numRuns: 40 },
  )
})
