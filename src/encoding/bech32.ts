import { bech32, bech32m } from '@scure/base'

/**
 * Encodes bytes as bech32 (BIP-173) or bech32m (BIP-350) behind a prefix. The length is not limited to 90 characters:
 * some chains write longer addresses. @default variant bech32
 */
export function encodeBech32(prefix: string, bytes: Uint8Array, variant: 'bech32' | 'bech32m' = 'bech32'): string {
  const coder = variant === 'bech32' ? bech32 : bech32m
  return coder.encode(prefix, coder.toWords(bytes), false)
}
