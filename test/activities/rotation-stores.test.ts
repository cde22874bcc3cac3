/** A new key into stores of secrets: what stays, what is tried again, and what is not. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { StoreSink } from '../../activities/rotation-model.ts'
import { putIntoStore, StoreAway } from '../../activities/rotation-stores.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { hasStoreLibrary, type SecretStores, startSecretStores } from './secret-stores.ts'

const OLD = 'a1'.repeat(32)
const NEW = 'b2'.repeat(32)
const base64 = (text: string) => Buffer.from(text).toString('base64')

let stores: SecretStores
beforeAll(async () => {
  stores = await startSecretStores()
})
beforeEach(() => {
  stores.status = undefined
  stores.losing = 0
  stores.afterRead = undefined
  stores.vault.clear()
  stores.aws.clear()
  stores.kubernetes.clear()
})
afterAll(() => stores.close())

async function put(sink: StoreSink, tools = stores.tools) {
  const replaced: string[] = []
  let offered = 0
  const offering = async () => offered++
  await putIntoStore(sink, new Secret(NEW), { tools, replacing: (before) => void replaced.push(before), offering })
  return { replaced, offered }
}

interface Case {
  readonly name: string
  readonly library?: string
  readonly sink: StoreSink
  readonly missing: StoreSink
  fill(): void
  read(): unknown
  readonly expected: unknown
}

const cases: readonly Case[] = [
  {
    name: 'Vault',
    sink: { kind: 'store', store: 'vault', path: 'secret/team/ci' },
    missing: { kind: 'store', store: 'vault', path: 'forbidden/ci' },
    fill: () => stores.vault.set('secret/team/ci', { version: 7, fields: { key: OLD, other: 1 } }),
    read: () => stores.vault.get('secret/team/ci'),
    expected: { version: 8, fields: { key: NEW, other: 1 } },
  },
  {
    name: 'AWS Secrets Manager, a field',
    library: '@aws-sdk/client-secrets-manager',
    sink: { kind: 'store', store: 'aws-secrets-manager', path: 'prod/ci', field: 'apiKey' },
    missing: { kind: 'store', store: 'aws-secrets-manager', path: 'none', field: 'apiKey' },
    fill: () => stores.aws.set('prod/ci', JSON.stringify({ apiKey: OLD, other: 1 })),
    read: () => JSON.parse(stores.aws.get('prod/ci')!),
    expected: { apiKey: NEW, other: 1 },
  },
  {
    name: 'AWS Secrets Manager, the whole secret',
    library: '@aws-sdk/client-secrets-manager',
    sink: { kind: 'store', store: 'aws-secrets-manager', path: 'prod/ci' },
    missing: { kind: 'store', store: 'aws-secrets-manager', path: 'none' },
    fill: () => stores.aws.set('prod/ci', OLD),
    read: () => stores.aws.get('prod/ci'),
    expected: NEW,
  },
  {
    name: 'Kubernetes',
    library: '@kubernetes/client-node',
    sink: { kind: 'store', store: 'kubernetes', path: 'prod/ci', field: 'deploy.key' },
    missing: { kind: 'store', store: 'kubernetes', path: 'prod/none' },
    fill: () => stores.kubernetes.set('prod/ci', { 'deploy.key': base64(OLD), other: base64('1') }),
    read: () => stores.kubernetes.get('prod/ci'),
    expected: { 'deploy.key': base64(NEW), other: base64('1') },
  },
]

describe('rotation stores', () => {
  for (const { name, library, sink, missing, fill, read, expected } of cases) {
    test.skipIf(library !== undefined && !hasStoreLibrary(library))(
      `rotation stores: ${name} gets the new key in its field alone, once; what is away is tried again, what refuses is not`,
      async () => {
        fill()
        stores.losing = 1
        await expect(put(sink)).rejects.toThrow(StoreAway)
        expect(read()).toEqual(expected)
        // It has the key, whose answer was lost: nothing is written twice.
        expect(await put(sink)).toEqual({ replaced: [], offered: 0 })
        expect(read()).toEqual(expected)

        fill()
        expect(await put(sink)).toEqual({ replaced: [OLD], offered: 1 })
        expect(read()).toEqual(expected)

        const refused = await put(missing).catch((error: Error) => error)
        expect(refused).toBeInstanceOf(Error)
        expect(refused).not.toBeInstanceOf(StoreAway)
        stores.status = 503
        const away = await put(sink).catch((error: Error) => error)
        expect(away).toBeInstanceOf(StoreAway)
        for (const error of [refused, away]) expect(String(error)).not.toMatch(new RegExp(`${OLD}|${NEW}`))
      },
    )
  }

  test('rotation stores: what another one writes to Vault between the read and the write is not written over', async () => {
    const sink = { kind: 'store', store: 'vault', path: 'secret/ci' } as const
    stores.vault.set('secret/ci', { version: 1, fields: { key: OLD } })
    stores.afterRead = () => {
      stores.afterRead = undefined
      stores.vault.set('secret/ci', { version: 2, fields: { key: OLD, added: 'since' } })
    }
    await expect(put(sink)).rejects.toThrow(StoreAway)
    await put(sink)
    expect(stores.vault.get('secret/ci')).toEqual({ version: 3, fields: { key: NEW, added: 'since' } })
  })

  test.skipIf(!hasStoreLibrary('@aws-sdk/client-secrets-manager'))(
    'rotation stores: a secret that is no JSON object stays as it is where a field of it is asked for',
    async () => {
      stores.aws.set('prod/ci', OLD)
      const sink = { kind: 'store', store: 'aws-secrets-manager', path: 'prod/ci', field: 'key' } as const
      const error = await put(sink).catch((caught: Error) => caught)
      expect(String(error)).toContain('no JSON object')
      expect(String(error)).not.toContain(OLD)
      expect(stores.aws.get('prod/ci')).toBe(OLD)
    },
  )

  test('rotation stores: a variable or a library that is missing is said by its name', async () => {
    const vault = { kind: 'store', store: 'vault', path: 'secret/ci' } as const
    await expect(put(vault, { environment: {} })).rejects.toThrow('VAULT_ADDR')
    const load = () => Promise.reject(new Error('not found'))
    const library = put({ kind: 'store', store: 'kubernetes', path: 'prod/ci' }, { environment: {}, load })
    await expect(library).rejects.toThrow('npm install @kubernetes/client-node')
  })
})
