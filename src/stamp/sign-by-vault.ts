/** An `ecdsa-p256` key of HashiCorp Vault's transit engine (developer.hashicorp.com/vault/api-docs/secret/transit#sign-data). */
import { openTransit } from '../keepers/index.ts'
import type { OpenKeeperKey } from './keeper-key.ts'

/** `vault:transit/ci`: mount and name. */
export const openVaultKey: OpenKeeperKey = async (rest, tools) => {
  const transit = openTransit(rest, tools)
  return async (digest) => {
    const body = { input: Buffer.from(digest).toString('base64'), prehashed: true, marshaling_algorithm: 'asn1' }
    const [, signature] = /^vault:v\d+:([\w+/=]+)$/.exec(await transit.ask('sign', body, 'signature')) ?? []
    if (signature === undefined) throw new Error('Vault answered without a signature')
    return Buffer.from(signature, 'base64')
  }
}
