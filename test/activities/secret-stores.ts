/**
 * Stores of secrets as tests have them: one server that speaks as much of the published APIs of Vault's KV engine, AWS Secrets
 * Manager and Kubernetes as reads and writes one secret. The client libraries are the vendors' own, where `.ci/run` has put them.
 */
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { StoreTools } from '../../activities/rotation-stores.ts'

const libraries = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'quorate/secret-stores-1')

export const hasStoreLibrary = (name: string) => existsSync(join(libraries, 'node_modules', name, 'package.json'))

interface VaultSecret {
  readonly version: number
  readonly fields: Readonly<Record<string, unknown>>
}

export interface SecretStores {
  readonly tools: StoreTools
  /** By mount and path. */
  readonly vault: Map<string, VaultSecret>
  readonly aws: Map<string, string>
  /** By namespace and name; values in base64. */
  readonly kubernetes: Map<string, Readonly<Record<string, string>>>
  /** How many more writes are done whose answer is lost. */
  losing: number
  /** Whether it refuses everything once it has lost an answer. */
  refusingAfter: boolean
  /** Answers everything with this status. */
  status: number | undefined
  /** Called between a read and its answer. */
  afterRead: (() => void) | undefined
  close(): Promise<void>
}

const TOKEN = 'hvs.of-the-rotation'

interface Answer {
  readonly status?: number
  readonly body?: unknown
}

type Asked = { readonly path: string; readonly isRead: boolean; readonly body: Record<string, never> }

export async function startSecretStores(): Promise<SecretStores> {
  let hasLost = false
  const answerVault = ({ path, isRead, body }: Asked): Answer => {
    const name = path.replace('/v1/', '').replace('/data/', '/')
    if (name.startsWith('forbidden/')) return { status: 403, body: { errors: ['permission denied'] } }
    const found = state.vault.get(name)
    if (isRead) {
      if (!found) return { status: 404, body: { errors: [] } }
      return { body: { data: { data: found.fields, metadata: { version: found.version } } } }
    }
    const { options, data } = body as unknown as { options: { cas: number }; data: VaultSecret['fields'] }
    const version = found?.version ?? 0
    if (options.cas !== version)
      return { status: 400, body: { errors: ['check-and-set parameter did not match the current version'] } }
    state.vault.set(name, { version: version + 1, fields: data })
    return { body: { data: { version: version + 1 } } }
  }
  const answerAws = (target: string, body: Record<string, string>): Answer => {
    const value = state.aws.get(body['SecretId']!)
    if (value === undefined) return { status: 400, body: { __type: 'ResourceNotFoundException' } }
    if (target.endsWith('GetSecretValue')) return { body: { SecretString: value } }
    state.aws.set(body['SecretId']!, body['SecretString']!)
    return { body: {} }
  }
  const answerKubernetes = ({ path, isRead, body }: Asked): Answer => {
    const name = path.replace('/api/v1/namespaces/', '').replace('/secrets/', '/')
    const found = state.kubernetes.get(name)
    if (!found) return { status: 404, body: { kind: 'Status', code: 404 } }
    if (!isRead) state.kubernetes.set(name, { ...found, ...(body as unknown as { data: object }).data })
    return { body: { apiVersion: 'v1', kind: 'Secret', data: state.kubernetes.get(name) } }
  }
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = JSON.parse(Buffer.concat(parts).toString() || '{}')
    const target = request.headers['x-amz-target'] as string | undefined
    const asked = { path: request.url!, isRead: request.method === 'GET', body }
    const isRead = target === undefined ? asked.isRead : target.endsWith('GetSecretValue')
    const type = target === undefined ? 'application/json' : 'application/x-amz-json-1.1'
    const say = ({ status = 200, body: said = {} }: Answer) =>
      response.writeHead(status, { 'content-type': type }).end(JSON.stringify(said))
    if (state.status !== undefined) return say({ status: state.status })
    if (hasLost && state.refusingAfter) return say({ status: 403, body: { errors: ['permission denied'] } })
    if (target === undefined && asked.path.startsWith('/v1/') && request.headers['x-vault-token'] !== TOKEN)
      return say({ status: 403 })
    const answer = target
      ? answerAws(target, body)
      : asked.path.startsWith('/v1/')
        ? answerVault(asked)
        : answerKubernetes(asked)
    if (isRead) state.afterRead?.()
    if (isRead || state.losing === 0) return say(answer)
    state.losing--
    hasLost = true
    return request.socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const state: SecretStores = {
    tools: { environment: { VAULT_ADDR: url, VAULT_TOKEN: TOKEN }, load: (name) => loadFor(url, name) },
    vault: new Map(),
    aws: new Map(),
    kubernetes: new Map(),
    losing: 0,
    refusingAfter: false,
    status: undefined,
    afterRead: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return state
}

/** Loads the vendors' libraries, whose clients ask this server. */
async function loadFor(url: string, name: string): Promise<unknown> {
  const resolved = createRequire(join(libraries, 'package.json')).resolve(name)
  const library = await import(pathToFileURL(resolved).href)
  if (name === '@aws-sdk/client-secrets-manager') {
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
    const more = { region: 'eu-central-1', endpoint: url, credentials, maxAttempts: 1 }
    const Client = library.SecretsManagerClient as new (options: object) => object
    return {
      ...library,
      SecretsManagerClient: function client(options: object) {
        return new Client({ ...options, ...more })
      },
    }
  }
  const Config = library.KubeConfig as new () => { loadFromClusterAndUser(...of: readonly object[]): void }
  class KubeConfig extends Config {
    loadFromDefault() {
      this.loadFromClusterAndUser({ name: 'c', server: url, skipTLSVerify: true }, { name: 'u' })
    }
  }
  return { ...library, KubeConfig }
}
