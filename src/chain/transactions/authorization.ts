import { hexText, type JsonRecord, member, wholeNumber } from './payload-json.ts'
import { type Facts, refusePayload } from './refuse.ts'

/** An EIP-7702 authorization → `eth.eip_7702_authorization`; what is signed is `0x05 ‖ rlp([chainId, address, nonce])`. */
export function readAuthorization(authorization: JsonRecord): Facts {
  return {
    address: hexText(member(authorization, 'address'), '`address`', 20),
    chain_id: quantity(authorization, 'chainId', 256),
    nonce: quantity(authorization, 'nonce', 64),
  }
}

function quantity(authorization: JsonRecord, name: string, bits: number): bigint {
  const value = wholeNumber(member(authorization, name), `\`${name}\``)
  if (BigInt.asUintN(bits, value) !== value) refusePayload(`\`${name}\` does not fit ${bits} bits`)
  return value
}
