/** A key of HashiCorp Vault's transit engine wraps the master key. */
import { openTransit } from '../../keepers/index.ts'
import type { OpenKeeper } from './keeper.ts'

/** `vault:transit/quorate`: mount and name of the key. */
export const openVault: OpenKeeper = async (rest, tools) => {
  const transit = openTransit(rest, tools)
  return {
    wrap: async (key) =>
      Buffer.from(await transit.ask('encrypt', { plaintext: Buffer.from(key).toString('base64') }, 'ciphertext')),
    unwrap: async (wrapped) =>
      Buffer.from(await transit.ask('decrypt', { ciphertext: Buffer.from(wrapped).toString() }, 'plaintext'), 'base64'),
  }
}
