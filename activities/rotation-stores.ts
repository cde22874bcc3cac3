/**
 * Stores of secrets to which a rotation hands a new key, each by its own API. A client library is loaded when a rotation names its store;
 * none is a dependency. One field of the secret is written, and its other fields stay.
 */
import type { Secret } from '../src/telemetry/index.ts'
import type { StoreSink } from './rotation-model.ts'

/** The environment and client libraries by which stores are reached. */
export interface StoreTools {
  /** The environment of the worker. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Loads a client library. @default `import` */
  readonly load?: (name: string) => Promise<unknown>
}

/** Thrown if it is not known whether a sink took the key: it did not answer, or somebody else wrote at once. Trying again is safe. */
export class StoreAway extends Error {}

/** How long one request may take. */
const STORE_MS = 10_000

/** A secret as its store has it. */
interface OpenSecret {
  /** The value that the field has now. */
  readonly value: string | undefined
  write(value: string): Promise<void>
}

/**
 * Writes a key into its field, unless the field has it. The value that it replaces is given to `replacing` first. Throws `StoreAway` for
 * a failure that may pass, and another error for one that does not; neither holds a value of the store.
 */
export async function putIntoStore(
  sink: StoreSink,
  privateKey: Secret,
  { tools, replacing, offering }: Handing,
): Promise<void> {
  const secret = await openSecret(sink, tools)
  if (secret.value === privateKey.reveal()) return
  if (secret.value !== undefined) replacing(secret.value)
  await offering()
  await secret.write(privateKey.reveal())
}

interface Handing {
  readonly tools: StoreTools
  readonly replacing: (before: string) => void
  /** Called before the key is sent. */
  readonly offering: () => Promise<unknown>
}

function openSecret(sink: StoreSink, tools: StoreTools): Promise<OpenSecret> {
  switch (sink.store) {
    case 'vault':
      return openVault(sink, tools)
    case 'aws-secrets-manager':
      return openSecretsManager(sink, tools)
    case 'kubernetes':
      return openKubernetes(sink, tools)
    default:
      return sink.store satisfies never
  }
}

/**
 * HashiCorp Vault's KV engine, version 2 (developer.hashicorp.com/vault/api-docs/secret/kv/kv-v2), reached by VAULT_ADDR, VAULT_TOKEN
 * and VAULT_NAMESPACE. Vault has no client library of its own for Node.js.
 */
async function openVault({ path, field = 'key' }: StoreSink, { environment }: StoreTools): Promise<OpenSecret> {
  const variable = (name: string) => {
    const value = environment[name]
    if (value) return value
    throw new Error(`the worker has no variable ${name}`)
  }
  const [mount, ...rest] = path.split('/').map(encodeURIComponent)
  const url = `${variable('VAULT_ADDR').replace(/\/+$/, '')}/v1/${mount}/data/${rest.join('/')}`
  const namespace = environment['VAULT_NAMESPACE']
  const headers = {
    'X-Vault-Token': variable('VAULT_TOKEN'),
    ...(namespace ? { 'X-Vault-Namespace': namespace } : {}),
  }
  const ask = async (body?: object): Promise<{ readonly status: number; readonly body: VaultAnswer }> => {
    const what = body === undefined ? 'the read' : 'the write'
    const init = { method: body === undefined ? 'GET' : 'POST', headers, redirect: 'error' as const }
    const sent = body === undefined ? init : { ...init, body: JSON.stringify(body) }
    const answer = await fetch(url, { ...sent, signal: AbortSignal.timeout(STORE_MS) }).catch(() => {
      throw new StoreAway(`Vault did not answer ${what}`)
    })
    const read = (await answer.json().catch(() => ({}))) as VaultAnswer
    // Another one has written since the read (a check-and-set is answered 400), or Vault is sealed or on standby.
    const isRaced = answer.status === 400 && (read.errors ?? []).some((text) => String(text).includes('check-and-set'))
    if (isRaced || mayPass(answer.status)) throw new StoreAway(`Vault answered ${what} with ${answer.status}`)
    if (!answer.ok && (body !== undefined || answer.status !== 404))
      throw new Error(`Vault refused ${what} with ${answer.status}`)
    return { status: answer.status, body: read }
  }
  // 404: there is no such secret, or its last version was deleted; the version counts on.
  const { data } = (await ask()).body
  const fields = data?.data ?? {}
  const cas = data?.metadata?.version ?? 0
  return {
    value: asText(fields[field]),
    write: async (value) => {
      await ask({ options: { cas }, data: { ...fields, [field]: value } })
    },
  }
}

interface VaultAnswer {
  readonly data?: {
    readonly data?: Readonly<Record<string, unknown>> | null
    readonly metadata?: { readonly version?: number }
  }
  readonly errors?: readonly string[]
}

/** The part of `@aws-sdk/client-secrets-manager` that is used. */
interface SecretsManagerSdk {
  readonly SecretsManagerClient: new (
    options: object,
  ) => {
    send(command: object, options: { readonly abortSignal: AbortSignal }): Promise<{ readonly SecretString?: string }>
    destroy(): void
  }
  readonly GetSecretValueCommand: new (input: object) => object
  readonly PutSecretValueCommand: new (input: object) => object
}

/**
 * AWS Secrets Manager (docs.aws.amazon.com/secretsmanager/latest/apireference). Region, credentials and endpoint are found as the
 * SDK finds them anywhere. Without a field, the key is the whole secret; with one, the secret is a JSON object.
 */
async function openSecretsManager({ path, field }: StoreSink, tools: StoreTools): Promise<OpenSecret> {
  const name = '@aws-sdk/client-secrets-manager'
  const { SecretsManagerClient, GetSecretValueCommand, PutSecretValueCommand } = await load<SecretsManagerSdk>(
    name,
    tools,
  )
  const send = async (what: string, command: object) => {
    const client = new SecretsManagerClient({})
    try {
      return await client.send(command, { abortSignal: AbortSignal.timeout(STORE_MS) })
    } catch (error) {
      const { name: fault, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } }
      const status = $metadata?.httpStatusCode
      if (fault === 'ResourceNotFoundException' && what === 'the read') return {}
      if (fault === 'CredentialsProviderError') throw new Error('AWS: the worker has no credentials')
      const says = `AWS Secrets Manager answered ${what} with ${fault}`
      if (status === undefined || mayPass(status) || /Throttl/.test(fault ?? '')) throw new StoreAway(says)
      throw new Error(says)
    } finally {
      client.destroy()
    }
  }
  const { SecretString: before } = await send('the read', new GetSecretValueCommand({ SecretId: path }))
  const fields = field === undefined || before === undefined ? {} : fieldsOf(before)
  return {
    value: field === undefined ? before : asText(fields[field]),
    write: async (value) => {
      const SecretString = field === undefined ? value : JSON.stringify({ ...fields, [field]: value })
      await send('the write', new PutSecretValueCommand({ SecretId: path, SecretString }))
    },
  }
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const read: unknown = JSON.parse(text)
    if (typeof read === 'object' && read !== null && !Array.isArray(read)) return read as Record<string, unknown>
  } catch {
    // The parser's error is left out: it may quote the secret.
  }
  throw new Error('the secret is no JSON object, which a field needs')
}

/** The part of `@kubernetes/client-node` that is used. */
interface KubernetesSdk {
  readonly KubeConfig: new () => { loadFromDefault(): void; makeApiClient(api: unknown): KubernetesApi }
  readonly CoreV1Api: unknown
  readonly PatchStrategy: { readonly MergePatch: string }
  setHeaderOptions(name: string, value: string): object
}

interface KubernetesApi {
  readNamespacedSecret(of: object): Promise<{ readonly data?: Readonly<Record<string, string>> }>
  patchNamespacedSecret(of: object, options: object): Promise<unknown>
}

/** A Kubernetes Secret that is there already, reached as `kubectl` would reach it, or as the worker's pod. */
async function openKubernetes({ path, field = 'key' }: StoreSink, tools: StoreTools): Promise<OpenSecret> {
  const sdk = await load<KubernetesSdk>('@kubernetes/client-node', tools)
  const config = new sdk.KubeConfig()
  config.loadFromDefault()
  const api = config.makeApiClient(sdk.CoreV1Api)
  const [namespace, name] = path.split('/')
  const of = { namespace, name }
  const ask = async <Answer>(what: string, asked: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await within(asked())
    } catch (error) {
      const { code } = error as { code?: unknown }
      // The library's error is left out: it quotes the answer and the request, and with them the secret.
      if (typeof code !== 'number') throw new StoreAway(`Kubernetes did not answer ${what}`)
      const says = `Kubernetes answered ${what} of ${path} with ${code}`
      throw mayPass(code) || code === 409 ? new StoreAway(says) : new Error(says)
    }
  }
  const { data } = await ask('the read', () => api.readNamespacedSecret(of))
  const before = data?.[field]
  return {
    value: before === undefined ? undefined : Buffer.from(before, 'base64').toString(),
    write: async (value) => {
      const body = { data: { [field]: Buffer.from(value).toString('base64') } }
      const merge = sdk.setHeaderOptions('Content-Type', sdk.PatchStrategy.MergePatch)
      await ask('the write', () => api.patchNamespacedSecret({ ...of, body }, merge))
    },
  }
}

async function within<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('too late')), STORE_MS)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

async function load<Library>(name: string, { load: from }: StoreTools): Promise<Library> {
  try {
    return (await (from ?? ((wanted: string) => import(wanted)))(name)) as Library
  } catch {
    throw new Error(`the worker has no library \`${name}\`; install it beside quorate: \`npm install ${name}\``)
  }
}

/** Whether the same request may succeed later. */
const mayPass = (status: number) => status >= 500 || status === 429 || status === 408

const asText = (value: unknown) => (typeof value === 'string' ? value : undefined)
