/**
 * Delegated executions through a gas station (docs/protocol/sends.md#gas-station): what an account signs so that
 * somebody else may carry out its calls, and the call of the station that does so.
 */
import { keccak256, type SignatureHalves } from '../../crypto/index.ts'
import { type Bytes, concatBytes, decodeHex, encodeHex } from '../../encoding/index.ts'
import { decodeArguments } from '../transactions/abi-values.ts'
import { inOnePiece } from './ethereum.ts'
import { typedDataDigest } from './typed-data-digest.ts'

/** A call of an account: hex with `0x`, and wei. */
export interface ExecutedCall {
  readonly to: string
  readonly value: bigint
  readonly data: string
}

/** What the delegate's EIP-712 domain is called; its deployments differ in the version. */
export interface ExecutionDomain {
  readonly name: string
  readonly version: string
}

/** The calls of an execution; all of them are carried out, or none. */
export interface Execution {
  readonly domain: ExecutionDomain
  readonly chainId: bigint
  readonly account: string
  /** The account's own count of executions, below 2^128. */
  readonly nonce: bigint
  /** Seconds since the epoch, below 2^32. */
  readonly deadline: bigint
  readonly calls: readonly ExecutedCall[]
}

const CALL = [
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'data', type: 'bytes' },
]
const LIMITS = [
  { name: 'nonce', type: 'uint128' },
  { name: 'deadline', type: 'uint32' },
]

/** Computes the EIP-712 digest that the account signs. */
export function executionDigest({ domain: { name, version }, ...execution }: Execution): Bytes {
  const { chainId, account, nonce, deadline, calls } = execution
  const written = calls.map((call) => ({ ...call, value: call.value.toString() }))
  const limits = { nonce: nonce.toString(), deadline: deadline.toString() }
  const domain = { name, version, chainId: chainId.toString(), verifyingContract: account }
  const [only, ...others] = written
  return typedDataDigest(
    others.length === 0
      ? {
          types: { Execution: [...LIMITS, ...CALL] },
          domain,
          primaryType: 'Execution',
          message: { ...limits, ...only },
        }
      : {
          types: { BatchExecution: [...LIMITS, { name: 'calls', type: 'Call[]' }], Call: CALL },
          domain,
          primaryType: 'BatchExecution',
          message: { ...limits, calls: written },
        },
  )
}

/** Makes the calldata by which the station carries an execution out, with the account's signature of its digest. */
export function encodeExecution(execution: Execution, signature: SignatureHalves): string {
  const { account, nonce, deadline, calls } = execution
  const signed = concatBytes(inOnePiece(signature), fixed(nonce, 16), fixed(deadline, 4))
  const [only, ...others] = calls
  if (only !== undefined && others.length === 0) {
    const data = bytesTail(concatBytes(signed, decodeHex(only.data)))
    // execute(address target, address to, uint256 ethAmount, bytes data): three words, and where the bytes begin.
    return call('execute(address,address,uint256,bytes)', [
      ...[address(account), address(only.to), word(only.value), word(4n * WORD)],
      data,
    ])
  }
  const list = callsTail(calls)
  return call('executeBatch(address,(address,uint256,bytes)[],bytes)', [
    ...[address(account), word(3n * WORD), word(3n * WORD + BigInt(list.length))],
    ...[list, bytesTail(signed)],
  ])
}

/** Makes the calldata of `getNonce(account)`, the station's count of executions. */
export function encodeGetNonce(account: string): string {
  return call('getNonce(address)', [address(account)])
}

/** The calldata that asks a delegate for its domain (EIP-5267). */
export const DOMAIN_QUERY = call('eip712Domain()', [])

/** Reads what a delegate says of its domain. Throws `ChainError`. */
export function decodeDomain(answer: string): ExecutionDomain {
  const [, name, version] = decodeArguments(
    [{ kind: 'fixed-bytes', size: 1 }, { kind: 'string' }, { kind: 'string' }],
    decodeHex(answer),
  ) as readonly { readonly text: string }[]
  return { name: name!.text, version: version!.text }
}

/** Contract ABI: a word has 32 bytes; what has no fixed length stands behind, and its word says where. */
const WORD = 32n

function call(signature: string, parts: readonly Uint8Array[]): string {
  return `0x${encodeHex(concatBytes(keccak256(signature).subarray(0, 4), ...parts))}`
}

function fixed(value: bigint, length: number): Bytes {
  return decodeHex(value.toString(16).padStart(length * 2, '0'))
}

function word(value: bigint): Bytes {
  return fixed(value, Number(WORD))
}

function address(hex: string): Bytes {
  return word(BigInt(hex))
}

/** The length, then the bytes, filled up to whole words. */
function bytesTail(bytes: Uint8Array): Bytes {
  return concatBytes(word(BigInt(bytes.length)), bytes, new Uint8Array((32 - (bytes.length % 32)) % 32))
}

/** The number of calls, where each begins (counted from behind the number), and the calls. */
function callsTail(calls: readonly ExecutedCall[]): Bytes {
  const tuples = calls.map(({ to, value, data }) =>
    concatBytes(address(to), word(value), word(3n * WORD), bytesTail(decodeHex(data))),
  )
  let begins = BigInt(tuples.length) * WORD
  const heads = tuples.map((tuple) => {
    const head = word(begins)
    begins += BigInt(tuple.length)
    return head
  })
  return concatBytes(word(BigInt(tuples.length)), ...heads, ...tuples)
}
