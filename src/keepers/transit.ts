/**
 * HashiCorp Vault's transit engine, by its HTTP API (developer.hashicorp.com/vault/api-docs/secret/transit): Vault has no client
 * library of its own for Node.js.
 */
import { KEEPER_MS, type KeeperTools } from './client.ts'

/** A key of the engine. */
export interface Transit {
  /** Has the key do something: `encrypt`, `decrypt`, or `sign`. @returns one member of the answer; throws an `Error`. */
  ask(action: 'encrypt' | 'decrypt' | 'sign', body: object, member: string): Promise<string>
}

/** Opens `MOUNT/KEY`. Reached by VAULT_ADDR and VAULT_TOKEN, and VAULT_NAMESPACE where that is set. Throws an `Error`. */
export function openTransit(rest: string, { environment }: KeeperTools): Transit {
  const [, mount, name] = /^([\w./-]+)\/([\w.-]+)$/.exec(rest) ?? []
  if (mount === undefined || rest.split('/').includes('..')) {
    throw new Error('expected `vault:MOUNT/KEY`, such as `vault:transit/quorate`')
  }
  const variable = (wanted: string) => {
    const value = environment[wanted]
    if (value) return value
    throw new Error(`the variable ${wanted} is not set`)
  }
  const address = variable('VAULT_ADDR').replace(/\/+$/, '')
  const token = variable('VAULT_TOKEN')
  const namespace = environment['VAULT_NAMESPACE']
  return {
    async ask(action, body, member) {
      const answer = await fetch(`${address}/v1/${mount}/${action}/${name}${action === 'sign' ? '/sha2-256' : ''}`, {
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
      if (typeof value === 'string') return value
      throw new Error(`Vault answered ${action} without \`${member}\``)
    },
  }
}
