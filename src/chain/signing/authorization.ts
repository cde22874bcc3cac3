/** EIP-7702: an account lets itself run the code of a contract, or none again. */
import { decodeHex } from '../../encoding/index.ts'
import type { RlpItem } from '../transactions/rlp.ts'
import { inNumbers } from './ethereum.ts'
import { authorizationDigest } from './payload.ts'
import { rlpNumber } from './rlp-encoding.ts'
import { type KeyAtHand, signBytes } from './signing-key.ts'

/** A signed entry of a transaction's authorization list. */
export interface Authorization {
  readonly chainId: bigint
  /** Whose code the account runs from now on, hex with `0x`; the zero address for none. */
  readonly address: string
  /** The account's nonce when the entry is applied: that of the transaction and one more where the account itself sends it. */
  readonly nonce: bigint
  readonly yParity: bigint
  readonly r: bigint
  readonly s: bigint
}

/** Signs an authorization by the account that it is about. */
export function signAuthorization(
  key: KeyAtHand,
  authorization: Pick<Authorization, 'chainId' | 'address' | 'nonce'>,
): Authorization {
  const { chainId, address, nonce } = authorization
  const digest = authorizationDigest({ chainId: chainId.toString(), address, nonce: nonce.toString() })
  return { chainId, address, nonce, ...inNumbers(signBytes(key, digest)) }
}

/** An authorization in the form of a transaction's list. */
export function authorizationItem({ chainId, address, nonce, yParity, r, s }: Authorization): RlpItem {
  return [rlpNumber(chainId), decodeHex(address), ...[nonce, yParity, r, s].map(rlpNumber)]
}
