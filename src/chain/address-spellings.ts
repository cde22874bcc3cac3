import { decodeBase64, decodeHex, encodeHex } from '../encoding/index.ts'
import { checksummed } from './address.ts'
import { friendlyTonAddress } from './ton-address.ts'

/**
 * Gives every form that addresses are written in here which a text may mean: the text itself; Ethereum's in any case (the
 * vendor says that case does not count, users that it does), other hex and bech32 in lower case; TON's bounceable and raw
 * forms (docs/protocol/signing.md#what-signwith-names).
 */
export function addressSpellings(text: string): readonly string[] {
  const spellings = new Set([text, text.toLowerCase()])
  if (/^0x[0-9a-f]{40}$/i.test(text)) spellings.add(`0x${checksummed(text.slice(2).toLowerCase())}`)
  const ton = tonHash(text)
  if (ton !== undefined) spellings.add(friendlyTonAddress(ton))
  return [...spellings]
}

/** The hash in `0:` and 64 hex digits, or in the 36 bytes of the friendly form: flags, workchain, hash, checksum. */
function tonHash(text: string): Uint8Array | undefined {
  if (/^0:[0-9a-f]{64}$/i.test(text)) return decodeHex(text.slice(2))
  if (!/^[\w+/-]{48}$/.test(text)) return undefined
  const bytes = decodeBase64(text.replaceAll('+', '-').replaceAll('/', '_'))
  const BOUNCEABLE = 0x11
  const NOT_BOUNCEABLE = 0x51
  if ((bytes[0] !== BOUNCEABLE && bytes[0] !== NOT_BOUNCEABLE) || bytes[1] !== 0) return undefined
  const hash = bytes.subarray(2, 34)
  const same = encodeHex(decodeBase64(friendlyTonAddress(hash, bytes[0]))) === encodeHex(bytes)
  return same ? hash : undefined
}
