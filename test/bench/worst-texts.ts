/** Texts that a member of a request may have, each made to a size in bytes: what the search for worst bodies puts together. */
import { Transaction as Psbt, p2wpkh } from '@scure/btc-signer'
import { pubECDSA } from '@scure/btc-signer/utils.js'
import { encodeFunctionData, serializeTransaction } from 'viem'
import { encodeHex } from '../../src/encoding/index.ts'
import { solanaTransaction } from '../security/solana-transaction.ts'

export interface Atom {
  /** The members that it may stand in; any, now and then. */
  readonly members: RegExp
  readonly make: (bytes: number) => string
}

const repeat = (text: string, bytes: number) => text.repeat(Math.max(1, Math.floor(bytes / text.length)))
const many = <T>(bytes: number, each: number, make: (at: number) => T) =>
  Array.from({ length: Math.max(1, Math.floor(bytes / each)) }, (_, at) => make(at))
const contract = '0x1111111111111111111111111111111111111111'
const hash = (at: number) => `0x${at.toString(16).padStart(64, '0')}` as const

const TRANSACTION = /^(unsignedTransaction|signedTransaction|transaction)$/
const PAYLOAD = /^payloads?$/
const EXPRESSION = /^(condition|consensus|policyCondition|policyConsensus)$/
const fees = { chainId: 1, nonce: 0, gas: 21_000n, maxFeePerGas: 5n, to: contract } as const

export const ATOMS: Readonly<Record<string, Atom>> = {
  calldata: {
    members: TRANSACTION,
    make: (bytes) => serializeTransaction({ ...fees, data: `0x${repeat('ab', bytes)}` }),
  },
  call: {
    members: TRANSACTION,
    make: (bytes) => {
      const inputs = [{ name: 'list', type: 'uint256[]' }] as const
      const abi = [{ type: 'function', name: 'f0', stateMutability: 'view', outputs: [], inputs }] as const
      return serializeTransaction({ ...fees, data: encodeFunctionData({ abi, args: [many(bytes, 64, BigInt)] }) })
    },
  },
  'access list': {
    members: TRANSACTION,
    make: (bytes) =>
      serializeTransaction({
        ...fees,
        accessList: [{ address: contract, storageKeys: many(bytes, 66, hash) }],
      }),
  },
  psbt: {
    members: TRANSACTION,
    make: (bytes) => {
      const { script } = p2wpkh(pubECDSA(new Uint8Array(32).fill(7)))
      const psbt = new Psbt()
      for (const txid of many(bytes, 300, (at) => at.toString(16).padStart(64, '0')))
        psbt.addInput({ txid, index: 0, witnessUtxo: { script, amount: 1_000n } })
      psbt.addOutput({ script, amount: 500n })
      return encodeHex(psbt.toPSBT(0))
    },
  },
  outputs: {
    members: TRANSACTION,
    make: (bytes) => {
      const { script } = p2wpkh(pubECDSA(new Uint8Array(32).fill(7)))
      const psbt = new Psbt()
      psbt.addInput({ txid: '07'.repeat(32), index: 0, witnessUtxo: { script, amount: 1n << 40n } })
      for (const amount of many(bytes, 80, BigInt)) psbt.addOutput({ script, amount })
      return encodeHex(psbt.toPSBT(0))
    },
  },
  solana: { members: TRANSACTION, make: (bytes) => solanaTransaction(Math.min(1_000, Math.floor(bytes / 6))) },
  'typed data': {
    members: PAYLOAD,
    make: (bytes) =>
      JSON.stringify({
        types: { EIP712Domain: [], T: [{ name: 'list', type: 'uint256[]' }] },
        primaryType: 'T',
        domain: {},
        message: { list: many(bytes, 7, (at) => at) },
      }),
  },
  types: {
    members: PAYLOAD,
    make: (bytes) => {
      const types = Object.fromEntries(
        many(bytes, 40, (at) => [`T${at}`, [{ name: 'a', type: at === 0 ? 'bool' : `T${at - 1}[]` }]]),
      )
      const last = `T${Object.keys(types).length - 1}`
      return JSON.stringify({ types, primaryType: last, domain: {}, message: { a: [] } })
    },
  },
  'long text': {
    members: PAYLOAD,
    make: (bytes) =>
      JSON.stringify({
        types: { EIP712Domain: [], T: [{ name: 'a', type: 'string' }] },
        primaryType: 'T',
        domain: {},
        message: { a: repeat('x', bytes) },
      }),
  },
  hex: { members: /payload|data|transaction|signature|bundle|ciphertext/i, make: (bytes) => repeat('ab', bytes) },
  digest: { members: /^(payloads?|message|fingerprint)$/, make: () => '#'.padStart(64, '0') },
  policy: { members: EXPRESSION, make: (bytes) => `false${repeat(" || activity.kind == 'number #'", bytes)}` },
  quantifiers: {
    members: EXPRESSION,
    make: (bytes) => {
      const pairs = (list: string, member: string) => `${list}.all(a, ${list}.any(b, a.${member} != b.${member}))`
      const all = [pairs('bitcoin.tx.inputs', 'tx_id'), pairs('solana.tx.instructions', 'program_key')]
      return `false${repeat(` || ${all.join(' || ')}`, bytes)}`
    },
  },
  slices: { members: EXPRESSION, make: (bytes) => `false${repeat(" || eth.tx.data[2..#] == ''", bytes)}` },
  brackets: {
    members: EXPRESSION,
    make: (bytes) => `${'('.repeat(60)}true${')'.repeat(60)}${repeat(' && (1 < 2)', bytes)}`,
  },
  abi: {
    members: /^smartContractInterface$/,
    make: (bytes) =>
      JSON.stringify(
        many(bytes, 100, (at) => ({
          type: 'function',
          name: `f${at}`,
          inputs: [{ name: 'list', type: 'uint256[]' }],
          outputs: [],
        })),
      ),
  },
  tuples: {
    members: /^smartContractInterface$/,
    make: (bytes) => {
      let components: object[] = [{ name: 'a', type: 'uint256' }]
      for (let at = 0; at < 14; at++) components = [{ name: 'a', type: 'tuple', components }]
      const item = { type: 'function', name: 'f', outputs: [], inputs: components }
      return JSON.stringify(many(bytes, JSON.stringify(item).length, (at) => ({ ...item, name: `f${at}` })))
    },
  },
  idl: {
    members: /^smartContractInterface$/,
    make: (bytes) =>
      JSON.stringify({
        instructions: many(bytes, 90, (at) => ({ name: `f${at}`, accounts: [], args: [{ name: 'a', type: 'u8' }] })),
        types: [],
      }),
  },
  path: { members: /^path$/, make: (bytes) => `m${repeat('/0', Math.min(bytes, 500))}/#` },
  token: { members: /token|oidc/i, make: (bytes) => `${repeat('YWFh', bytes)}.${repeat('YWFh', bytes)}.YWFh` },
  text: { members: /./, make: (bytes) => repeat('x', bytes) },
  distinct: { members: /./, make: (bytes) => `${repeat('x', Math.min(bytes, 40))}#` },
  wide: { members: /./, make: (bytes) => repeat('\u{1F512}é', bytes / 2) },
  escapes: { members: /./, make: (bytes) => repeat('\n"\\', bytes / 2) },
  number: { members: /./, make: () => '#' },
}
