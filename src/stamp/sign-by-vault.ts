/** HashiCorp Vault's transit engine, by its HTTP API (developer.hashicorp.com/vault/api-docs/secret/transit#sign-data). */
import { KEEPER_MS, type OpenKeeperKey, type SignKeyTools } from './keeper-tools.ts'

/** `vault:transit/ci`: mount and name of an `ecdsa-p256` key. Reached by VAULT_ADDR and VAULT_TOKEN, and VAULT_NAMESPACE where that is set. */
export const openVaultKey: OpenKeeperKey = async (rest, tools) => {
  const [, mount, name] = /^([\w./-]+)\/([\w.-]+)$/.exec(rest) ?? []
  if (mount === undefined || rest.split('/').includes('..')) throw new Error('expected `vault:MOUNT/KEY`')
  const address = variable('VAULT_ADDR', tools).replace(/\/+$/, '')
  const token = variable('VAULT_TOKEN', tools)
  const namespace = tools.environment['VAULT_NAMESPACE']
  return async (digest) => {
    const input = Buffer.from(digest).toString('base64')
    const answer = await fetch(`${address}/v1/${mount}/sign/${name}/sha2-256`, {
      method: 'POST',
      headers: { 'X-Vault-Token': token, ...(namespace ? { 'X-Vault-Namespace': namespace } : {}) },
      body: JSON.stringify({ input, prehashed: true, marshaling_algorithm: 'asn1' }),
      redirect: 'error',
      signal: AbortSignal.timeout(KEEPER_MS),
    })
    if (answer.status !== 200) throw new Error(`Vault answered ${answer.status}`)
    const { data } = (await answer.json()) as { data?: { signature?: unknown } }
    const [, signature] = /^vault:v\d+:([\w+/=]+)$/.exec(String(data?.signature)) ?? []
    if (signature === undefined) throw new Error('Vault answered without a signature')
    return Buffer.from(signature, 'base64')
  }
}

function variable(name: string, { environment }: SignKeyTools): string {
  const value = environment[name]
  if (value) return value
  throw new Error(`the variable ${name} is not set`)
}
