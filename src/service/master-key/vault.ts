/**
 * HashiCorp Vault's transit engine, by its HTTP API (developer.hashicorp.com/vault/api-docs/secret/transit): Vault has no client
 * library of its own for Node.js.
 */
import { ServiceError } from '../error.ts'
import { KEEPER_MS, type OpenKeeper, variable } from './keeper.ts'

/** `vault:transit/quorate`: mount and name of the key. Reached by VAULT_ADDR and VAULT_TOKEN, and VAULT_NAMESPACE where that is set. */
export const openVault: OpenKeeper = async (rest, tools) => {
  const [, mount, name] = /^([\w./-]+)\/([\w.-]+)$/.exec(rest) ?? []
  if (mount === undefined) {
    throw new ServiceError('service/key-keeper-failed', `expected \`vault:MOUNT/KEY\`, got \`vault:${rest}\``, {
      next: 'name the mount of the transit engine and its key, such as `vault:transit/quorate`',
    })
  }
  const address = variable('VAULT_ADDR', tools).replace(/\/+$/, '')
  const token = variable('VAULT_TOKEN', tools)
  const namespace = tools.environment['VAULT_NAMESPACE']

  async function ask(action: 'encrypt' | 'decrypt', body: object, member: string): Promise<string> {
    const answer = await fetch(`${address}/v1/${mount}/${action}/${name}`, {
      method: 'POST',
      headers: { 'X-Vault-Token': token, ...(namespace ? { 'X-Vault-Namespace': namespace } : {}) },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(KEEPER_MS),
    })
    // What Vault says of a fault names no secret, but its answer to a decryption is one.
    if (answer.status !== 200) throw new Error(`Vault answered ${answer.status} to ${action}`)
    const { data } = (await answer.json()) as { data?: Record<string, unknown> }
    const value = data?.[member]
    if (typeof value !== 'string') throw new Error(`Vault answered ${action} without \`${member}\``)
    return value
  }
  return {
    wrap: async (key) =>
      Buffer.from(await ask('encrypt', { plaintext: Buffer.from(key).toString('base64') }, 'ciphertext')),
    unwrap: async (wrapped) =>
      Buffer.from(await ask('decrypt', { ciphertext: Buffer.from(wrapped).toString() }, 'plaintext'), 'base64'),
  }
}
