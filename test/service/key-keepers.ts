/**
 * Keepers of a master key as tests have them: one server that speaks as much of the published APIs of Vault's transit engine, AWS
 * KMS and Google Cloud KMS as wraps and opens, and a token of SoftHSM. The client libraries are the vendors' own, where `.ci/run`
 * has put them.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'

const libraries = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'quorate/key-keepers-1')

/** Whether a vendor's client library is there. */
export const hasLibrary = (name: string) => existsSync(join(libraries, 'node_modules', name, 'package.json'))

export function loadLibrary(name: string): unknown {
  return createRequire(join(libraries, 'package.json'))(name)
}

export const VAULT_TOKEN = 'hvs.of-the-test'

/** What it was asked, and a switch: a keeper that is down answers 503. */
export interface KeeperServer {
  readonly url: string
  readonly port: number
  readonly asked: string[]
  isDown: boolean
  close(): Promise<void>
}

/** Starts the server; its key is made with it and leaves with it. */
export async function startKeeperServer(): Promise<KeeperServer> {
  const key = randomBytes(32)
  const lock = (plain: Buffer, context: unknown) => {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(JSON.stringify(context ?? null)))
    return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  }
  const unlock = (sealed: Buffer, context: unknown) => {
    const opener = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12))
    opener.setAAD(Buffer.from(JSON.stringify(context ?? null))).setAuthTag(sealed.subarray(-16))
    return Buffer.concat([opener.update(sealed.subarray(12, -16)), opener.final()])
  }
  const bytes = (text: unknown) => Buffer.from(String(text), 'base64')

  function answer(path: string, target: string | undefined, token: string | undefined, body: Record<string, unknown>) {
    if (path.startsWith('/v1/transit/')) {
      if (token !== VAULT_TOKEN) return { status: 403, body: { errors: ['permission denied'] } }
      if (path.includes('/encrypt/'))
        return {
          body: { data: { ciphertext: `vault:v1:${lock(bytes(body['plaintext']), 'vault').toString('base64')}` } },
        }
      const sealed = bytes(String(body['ciphertext']).replace(/^vault:v1:/, ''))
      return { body: { data: { plaintext: unlock(sealed, 'vault').toString('base64') } } }
    }
    if (target !== undefined) {
      const { EncryptionContext: context } = body
      if (target === 'TrentService.Encrypt')
        return {
          body: { CiphertextBlob: lock(bytes(body['Plaintext']), context).toString('base64'), KeyId: body['KeyId'] },
        }
      return { body: { Plaintext: unlock(bytes(body['CiphertextBlob']), context).toString('base64') } }
    }
    const context = body['additionalAuthenticatedData']
    if (path.includes(':encrypt'))
      return { body: { ciphertext: lock(bytes(body['plaintext']), context).toString('base64') } }
    return { body: { plaintext: unlock(bytes(body['ciphertext']), context).toString('base64') } }
  }
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { 'x-amz-target': target, 'x-vault-token': token } = request.headers as Record<string, string | undefined>
    state.asked.push(target ?? request.url!)
    const said = state.isDown
      ? { status: 503, body: {} }
      : answer(request.url!, target, token, JSON.parse(Buffer.concat(parts).toString() || '{}'))
    const type = target === undefined ? 'application/json' : 'application/x-amz-json-1.1'
    response.writeHead('status' in said ? said.status : 200, { 'content-type': type }).end(JSON.stringify(said.body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const state: KeeperServer = {
    url: `http://127.0.0.1:${port}`,
    port,
    asked: [],
    isDown: false,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return state
}

type Constructor = new (options: object) => object

/** Loads the vendors' libraries, whose clients ask this server. */
export function loadFor(server: KeeperServer): (name: string) => Promise<unknown> {
  return async (name) => {
    const library = loadLibrary(name) as Record<string, Constructor>
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
    if (name === '@aws-sdk/client-kms') {
      const { KMSClient: Client } = library
      const more = { region: 'eu-central-1', endpoint: server.url, credentials, maxAttempts: 1 }
      return {
        ...library,
        KMSClient: function client(options: object) {
          return new Client!({ ...options, ...more })
        },
      }
    }
    if (name === '@google-cloud/kms') {
      const { KeyManagementServiceClient: Client } = library
      const authClient = {
        request: undefined,
        getRequestHeaders: async () => new Headers(),
        universeDomain: 'googleapis.com',
      }
      const more = { apiEndpoint: '127.0.0.1', port: server.port, protocol: 'http', auth: fakeAuth(authClient) }
      return {
        KeyManagementServiceClient: function client(options: object) {
          return new Client!({ ...options, ...more })
        },
      }
    }
    return library
  }
}

/** Says who asks as Google's library wants to know it: nobody. */
function fakeAuth(authClient: object): object {
  return {
    getClient: async () => authClient,
    getProjectId: async () => 'test',
    getUniverseDomain: async () => 'googleapis.com',
    getRequestHeaders: async () => new Headers(),
    fetch: (url: string, init: RequestInit) => fetch(url, init),
  }
}
