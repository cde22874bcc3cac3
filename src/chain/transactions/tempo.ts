/** Tempo's transactions, type 0x76 → `tempo.tx` (docs/protocol/policies.md#fields). */
import { checkAccessList } from './ethereum-envelopes.ts'
import { type Facts, refuse } from './refuse.ts'
import {
  decodeRlp,
  type RlpItem,
  rlpBytes,
  rlpFixed,
  rlpHex,
  rlpInteger,
  rlpList,
  rlpReceiver,
  rlpTuple,
} from './rlp.ts'

const TYPE = 0x76
const UNSIGNED_ITEMS = 13

export interface TempoReading {
  readonly from: string | undefined
  readonly acceptSigned: boolean
}

export function readTempo(bytes: Uint8Array, { from, acceptSigned }: TempoReading): Facts {
  if (bytes[0] !== TYPE) refuse('a Tempo transaction begins with byte 0x76')
  const list = rlpList(decodeRlp(bytes.subarray(1)), 'transaction')
  const [chainId, priorityFee, maxFee, gas, calls, accessList, nonceKey, nonce, before, after, feeToken, feePayer] =
    list
  // A key authorization is a list, the sender's signature bytes; either may be missing.
  const authorizationOfKey = list[UNSIGNED_ITEMS]
  const hasKey = authorizationOfKey !== undefined && !(authorizationOfKey instanceof Uint8Array)
  const rest = list.slice(UNSIGNED_ITEMS + (hasKey ? 1 : 0))
  if (list.length < UNSIGNED_ITEMS || rest.length > 1) refuse(`a Tempo transaction cannot have ${list.length} items`)
  if (rest.length === 1) checkTail(rlpBytes(rest[0], 'signature'), acceptSigned)
  checkAccessList(accessList!)
  rlpInteger(nonceKey, 32, 'nonce_key')
  checkFeePayer(feePayer!)
  rlpList(list[UNSIGNED_ITEMS - 1], 'authorization_list')
  return {
    chain_id: rlpInteger(chainId, 8, 'chain_id'),
    nonce: rlpInteger(nonce, 8, 'nonce'),
    gas_limit: rlpInteger(gas, 8, 'gas_limit'),
    ...(from === undefined ? {} : { from: from.toLowerCase() }),
    // Like a receiver, `''` when there is none: a fee payer chooses it, or the sender's preference holds.
    fee_token: rlpReceiver(feeToken, 'fee_token'),
    max_fee_per_gas: rlpInteger(maxFee, 16, 'max_fee_per_gas'),
    max_priority_fee_per_gas: rlpInteger(priorityFee, 16, 'max_priority_fee_per_gas'),
    valid_before: rlpInteger(before, 8, 'valid_before'),
    valid_after: rlpInteger(after, 8, 'valid_after'),
    calls: readCalls(rlpList(calls, 'calls')),
  }
}

function readCalls(calls: readonly RlpItem[]): readonly Facts[] {
  if (calls.length === 0) refuse('a Tempo transaction has no calls')
  return calls.map((call) => {
    const [to, value, data] = rlpTuple(call, 3, 'call')
    rlpInteger(value, 32, 'value')
    const input = rlpHex(data, 'input')
    return {
      to: rlpReceiver(to, 'to'),
      input,
      function_signature: input.length < 10 ? '' : input.slice(0, 10),
    }
  })
}

/** r ‖ s ‖ v of 65 bytes, or longer for the chain's other kinds of key. */
function checkTail(signature: Uint8Array, acceptSigned: boolean): void {
  if (signature.length < 65) refuse(`expected a signature of 65 bytes, got ${signature.length}`)
  if (!acceptSigned) refuse('the transaction is signed already')
}

/** Nothing; the byte 0 if a fee payer will sign; or that signature, `[yParity, r, s]`. */
function checkFeePayer(item: RlpItem): void {
  if (item instanceof Uint8Array) {
    if (item.length === 0) return
    if (rlpFixed(item, 1, 'fee_payer_signature') !== '0x00') refuse('`fee_payer_signature` is none')
    return
  }
  const [yParity, r, s] = rlpTuple(item, 3, 'fee_payer_signature')
  rlpInteger(yParity, 1, 'fee_payer y parity')
  rlpInteger(r, 32, 'fee_payer r')
  rlpInteger(s, 32, 'fee_payer s')
}
