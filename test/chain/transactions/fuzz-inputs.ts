/** Transactions that are read, and what becomes of them when they are spoiled: what fuzzing feeds the readers with. */
import { Transaction as Psbt, p2wpkh } from '@scure/btc-signer'
import { pubECDSA } from '@scure/btc-signer/utils.js'
import { address, getAddressEncoder } from '@solana/kit'
import fc from 'fast-check'
import { concatHex, encodeFunctionData, hexToBytes, serializeTransaction, toRlp } from 'viem'
import { readVectors } from '../../vectors/read-vectors.ts'
import { ethereumInterface, type Kind, kinds, solanaInterface } from './harness.ts'

const contract = `0x${'bb'.repeat(20)}` as const
const abi = [
  {
    type: 'function',
    name: 'f',
    stateMutability: 'nonpayable',
    outputs: [],
    inputs: [
      {
        name: 'list',
        type: 'tuple[]',
        components: [
          { name: 'who', type: 'address' },
          { name: 'note', type: 'string' },
          { name: 'grid', type: 'int16[2][]' },
        ],
      },
      { name: 'blob', type: 'bytes' },
    ],
  },
] as const
const calldata = encodeFunctionData({ abi, args: [[{ who: contract, note: 'note', grid: [[1, 2]] }], '0xabcdef'] })
const fees = { chainId: 1, nonce: 3, gas: 21_000n, maxFeePerGas: 5n, to: contract, data: calldata }

const segwit = p2wpkh(pubECDSA(new Uint8Array(32).fill(7)))
const psbt = new Psbt()
psbt.addInput({ txid: 'aa'.repeat(32), index: 0, witnessUtxo: { script: segwit.script, amount: 6_500n } })
psbt.addOutput({ script: segwit.script, amount: 5_000n })

const fromHex = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'))
const vectorsOf = (path: string) =>
  readVectors<{ bytes: string; valid?: boolean }>(path).flatMap(({ bytes, valid }) =>
    valid === false ? [] : [fromHex(bytes)],
  )
const program = '8qbHbw2BbbTHBW1sbeqakYXVKRQM8Ne7pLK7m6CVfeR'
const idl = {
  instructions: [
    { name: 'f', discriminator: [7], accounts: [], args: [{ name: 'plan', type: { vec: { defined: 'P' } } }] },
  ],
  types: [
    {
      name: 'P',
      type: {
        kind: 'struct',
        fields: [
          { name: 'next', type: { option: { defined: 'P' } } },
          { name: 'text', type: 'string' },
        ],
      },
    },
  ],
}
export const interfaces = [ethereumInterface(contract, abi), solanaInterface(program, idl)]
const key = (seed: number) => Array<number>(32).fill(seed)
const planned = [7, 1, 0, 0, 0, 1, 0, 2, 0, 0, 0, 104, 105, 0, 0, 0, 0]
const programKey = getAddressEncoder().encode(address(program))
const decoded = Uint8Array.from([1, 0, 1, 2, ...key(1), ...programKey, ...key(9), 1, 1, 0, planned.length, ...planned])

/** Transactions that are read, for the fuzzer to spoil. */
export const corpus: Readonly<Record<Kind, readonly Uint8Array[]>> = {
  ETHEREUM: [
    hexToBytes(serializeTransaction({ ...fees, type: 'eip1559' })),
    hexToBytes(serializeTransaction({ to: contract, data: calldata, type: 'legacy', gasPrice: 1n, chainId: 1 })),
    hexToBytes(
      serializeTransaction({
        ...fees,
        type: 'eip7702',
        authorizationList: [
          { address: contract, chainId: 1, nonce: 0, r: `0x${'11'.repeat(32)}`, s: `0x${'22'.repeat(32)}`, yParity: 0 },
        ],
      }),
    ),
  ],
  SOLANA: [...vectorsOf('solana-transactions/parser.jsonl'), decoded],
  TRON: vectorsOf('tron-transactions/raw-data.jsonl'),
  BITCOIN: [psbt.toPSBT()],
  TEMPO: [
    hexToBytes(
      concatHex([
        '0x76',
        toRlp([
          '0x01',
          '0x',
          '0x02',
          '0x5208',
          [[contract, '0x', '0xa9059cbb']],
          [],
          '0x',
          '0x03',
          '0x',
          '0x',
          '0x',
          '0x',
          [],
        ]),
      ]),
    ),
  ],
}

export const edit = fc.record({
  at: fc.nat(),
  byte: fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 0xb8, 0xc0, 0xf8, 0xff), fc.nat(255)),
  kind: fc.constantFrom('set', 'insert', 'remove', 'cut', 'repeat'),
})

export function spoil(
  bytes: Uint8Array,
  edits: readonly { readonly at: number; readonly byte: number; readonly kind: string }[],
): Uint8Array {
  const list = [...bytes]
  for (const { at, byte, kind } of edits) {
    const position = list.length === 0 ? 0 : at % list.length
    if (kind === 'set') list[position] = byte
    else if (kind === 'insert') list.splice(position, 0, byte)
    else if (kind === 'remove') list.splice(position, 1)
    else if (kind === 'cut') list.splice(position, byte)
    else list.splice(position, 0, ...list.slice(position, position + byte))
  }
  return Uint8Array.from(list)
}

/** One input: a kind of transaction and bytes, spoiled ones of its kind or any. */
export const given = fc.constantFrom(...kinds).chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    bytes: fc.oneof(
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }) },
      {
        weight: 4,
        arbitrary: fc
          .tuple(fc.constantFrom(...corpus[kind]), fc.array(edit, { minLength: 1, maxLength: 4 }))
          .map(([bytes, edits]) => spoil(bytes, edits)),
      },
    ),
    acceptSigned: fc.boolean(),
  }),
)
