/**
 * Send requests → `eth.tx`, `solana.tx` or a batch: their fields come from the request (U-ethfields,
 * docs/protocol/policies.md#fields).
 */
import { type Bytes, decodeBase64, decodeHex, isHex } from '../../encoding/index.ts'
import { isEthereumAddress } from '../address.ts'
import { isSolanaAddress } from '../solana-address.ts'
import { ethereumFacts, readEthereum } from './ethereum.ts'
import { ethereumSender } from './ethereum-sender.ts'
import type { SmartContractInterface } from './interfaces.ts'
import { readTransactionFacts, type TransactionFacts } from './read-transaction.ts'
import { type Facts, refuse } from './refuse.ts'
import { NO_BLOCKHASH, readSolanaDraft, withBlockhash } from './solana-draft.ts'

/** The members of a send request that policies see; the rest of it is not looked at. */
export interface SendIntent {
  readonly from?: string
  readonly caip2?: string
  readonly sponsor?: boolean
  readonly to?: string
  readonly value?: string
  readonly data?: string
  readonly nonce?: string
  readonly gasLimit?: string
  readonly maxFeePerGas?: string
  readonly maxPriorityFeePerGas?: string
  readonly calls?: readonly { readonly to?: string; readonly value?: string; readonly data?: string }[]
  readonly unsignedTransaction?: string
  readonly signedTransaction?: string
  readonly recentBlockhash?: string
}

export interface SendFacts extends TransactionFacts {
  /** One item a call, each judged by itself (U-batch). */
  readonly batch?: readonly TransactionFacts[]
}

type SendReader = (intent: SendIntent, interfaces: readonly SmartContractInterface[]) => SendFacts

const readers: Readonly<Record<string, SendReader>> = {
  ACTIVITY_TYPE_ETH_SEND_TRANSACTION: (intent, interfaces) => ({
    eth: { tx: callFacts(intent, intent, intent.sponsor === true, interfaces) },
  }),
  ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2: (intent, interfaces) => {
    const { calls = [], sponsor } = intent
    if (calls.length === 0) refuse('there are no calls')
    const delegated = sponsor === true || calls.length > 1
    return { batch: calls.map((call) => ({ eth: { tx: callFacts(intent, call, delegated, interfaces) } })) }
  },
  // Unstated: what policies see. It is a transaction of the account to itself, which carries nothing but the change.
  ACTIVITY_TYPE_ETH_UNDELEGATE_7702: (intent, interfaces) => ({
    eth: { tx: { ...callFacts(intent, { to: intent.from }, false, interfaces), type: 'TYPE_4' } },
  }),
  ACTIVITY_TYPE_ETH_SEND_RAW_TRANSACTION: signedFacts,
  ACTIVITY_TYPE_SOL_SEND_TRANSACTION: solanaFacts,
  ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2: solanaFacts,
}

/** Whether an activity is one of those that send a transaction made from their fields. */
export function isSendActivity(type: string): boolean {
  return Object.hasOwn(readers, type)
}

/** Reads the facts of a send request; nothing for another activity. Throws `ChainError`. */
export function readSendFacts(
  type: string,
  intent: SendIntent,
  { interfaces }: { readonly interfaces: readonly SmartContractInterface[] },
): SendFacts {
  return isSendActivity(type) ? readers[type]!(intent, interfaces) : {}
}

/**
 * One call as a transaction. Alone and unsponsored it is sent as type 2; delegated, it is no transaction of its own and
 * has no type. Fees that the caller leaves out are missing, and 0 when someone else pays.
 */
function callFacts(
  intent: SendIntent,
  call: { readonly to?: string | undefined; readonly value?: string; readonly data?: string },
  delegated: boolean,
  interfaces: readonly SmartContractInterface[],
): Facts {
  const fee = (name: 'maxFeePerGas' | 'maxPriorityFeePerGas') =>
    intent.sponsor === true ? 0n : quantity(intent[name], name)
  const fields = {
    from: address(intent.from, 'from'),
    to: receiver(call),
    data: calldata(call.data),
    value: quantity(call.value, 'value') ?? 0n,
    chain_id: chainId(intent.caip2),
    nonce: reachable(quantity(intent.nonce, 'nonce')),
    gas: quantity(intent.gasLimit, 'gasLimit', 64),
    max_fee_per_gas: fee('maxFeePerGas'),
    max_priority_fee_per_gas: fee('maxPriorityFeePerGas'),
    type: delegated ? undefined : 'TYPE_2',
  }
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  return ethereumFacts(given, interfaces)
}

/** A signed transaction is judged by its own fields and by its signer. */
function signedFacts({ signedTransaction, caip2 }: SendIntent, interfaces: readonly SmartContractInterface[]) {
  if (signedTransaction === undefined || !isHex(signedTransaction)) refuse('it is no hex of whole bytes')
  const signed = decodeHex(signedTransaction)
  const tx = readEthereum(signed, { interfaces, from: undefined, acceptSigned: true })
  const from = ethereumSender(signed)
  const { chain_id, nonce } = tx
  reachable(nonce as bigint)
  if (chain_id === undefined) refuse('it is signed for no chain, and so for each of them')
  if (chain_id !== chainId(caip2)) refuse(`it is signed for chain eip155:${chain_id}, not for ${caip2}`)
  return { eth: { tx: { ...tx, from } } }
}

function solanaFacts(intent: SendIntent, interfaces: readonly SmartContractInterface[]): SendFacts {
  const unsignedTransaction = solanaSendBytes(intent)
  return readTransactionFacts({ type: 'TRANSACTION_TYPE_SOLANA', unsignedTransaction, interfaces })
}

/**
 * Reads the transaction of a request to send: the documentation says hex, the schema base64, so hex if it is that
 * (docs/protocol/sends.md#solana-sends). A `recentBlockhash` is put in where the transaction has none. Throws `ChainError`.
 */
export function solanaSendBytes({
  unsignedTransaction,
  recentBlockhash,
}: Pick<SendIntent, 'unsignedTransaction' | 'recentBlockhash'>): Bytes {
  if (unsignedTransaction === undefined || unsignedTransaction === '') refuse('there is no transaction')
  const bytes = isHex(unsignedTransaction) ? decodeHex(unsignedTransaction) : fromBase64(unsignedTransaction)
  if (recentBlockhash === undefined || recentBlockhash === '') return bytes
  if (!isSolanaAddress(recentBlockhash)) refuse('`recentBlockhash` is no blockhash')
  const { blockhash, signedBy } = readSolanaDraft(bytes)
  if (blockhash === recentBlockhash) return bytes
  if (blockhash !== NO_BLOCKHASH) refuse(`its blockhash is ${blockhash}, \`recentBlockhash\` is another`)
  if (signedBy.length > 0) refuse(`${signedBy[0]} has signed it without a blockhash`)
  return withBlockhash(bytes, recentBlockhash)
}

function fromBase64(text: string): Bytes {
  try {
    return decodeBase64(text)
  } catch (error) {
    return refuse('it is neither hex nor base64', error)
  }
}

/** `''` for the creation of a contract. What is sent to a contract without code is lost, so that there must be some. */
function receiver({ to, data }: { readonly to?: string | undefined; readonly data?: string }): string {
  if (to !== undefined && to !== '') return address(to, 'to')
  return calldata(data) === '0x' ? refuse('there is neither a receiver nor a contract to create') : ''
}

/** Decimal digits, or hex with `0x` (docs/protocol/sends.md#ethereum-sends). */
function quantity(text: string | undefined, name: string, bits = 256): bigint | undefined {
  if (text === undefined || text === '') return undefined
  if (!/^(?:\d{1,78}|0x[0-9a-fA-F]{1,64})$/.test(text)) refuse(`expected \`${name}\` to be a whole number`)
  const value = BigInt(text)
  return BigInt.asUintN(bits, value) === value ? value : refuse(`\`${name}\` does not fit ${bits} bits`)
}

/** The chain allows nonces below 2^64 (EIP-2681); no account comes near 2^53, up to which sends are counted exactly. */
function reachable(nonce: bigint | undefined): bigint | undefined {
  const most = BigInt(Number.MAX_SAFE_INTEGER)
  return nonce === undefined || nonce <= most ? nonce : refuse(`\`nonce\` is ${nonce}, which no account reaches`)
}

function address(text: string | undefined, name: string): string {
  if (text === undefined || !isEthereumAddress(text)) refuse(`expected \`${name}\` to be an address`)
  return text.toLowerCase()
}

function calldata(text: string | undefined): string {
  if (text === undefined || text === '') return '0x'
  if (!isHex(text)) refuse('expected `data` to be hex of whole bytes')
  return `0x${text.replace(/^0x/, '').toLowerCase()}`
}

function chainId(caip2: string | undefined): bigint {
  const [, reference] = /^eip155:(\d{1,32})$/.exec(caip2 ?? '') ?? []
  return reference === undefined ? refuse('expected `caip2` to be `eip155:` and a chain id') : BigInt(reference)
}
