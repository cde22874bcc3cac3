/** A master key that is wrapped: by keys of this machine, by key management services, and by a token. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type KeeperTools, wrapKeyOfFolder } from '../../src/service/index.ts'
import { quorate } from '../cli/harness.ts'
import { hasToken, softToken } from '../stamp/soft-token.ts'
import { complete } from './handlers/steps.ts'
import { startTestService, type TestService } from './harness.ts'
import { hasLibrary, type KeeperServer, loadFor, loadLibrary, startKeeperServer, VAULT_TOKEN } from './key-keepers.ts'

const ACCOUNT = { curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', addressFormat: 'ADDRESS_FORMAT_ETHEREUM' }
const OUTER = 'a1'.repeat(32)

let folder: string
let server: KeeperServer
let service: TestService
let tools: KeeperTools & { environment: Record<string, string> }
const closers: (() => unknown)[] = []
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-keepers-'))
  server = await startKeeperServer()
  writeFileSync(join(folder, 'outer.key'), `${OUTER}\n`, { mode: 0o600 })
})
afterEach(async () => {
  server.isDown = false
  for (const close of closers.splice(0)) await close()
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Starts a service with a wallet, whose address tells that the seal opens. */
async function start(): Promise<string> {
  const environment = { VAULT_ADDR: server.url, VAULT_TOKEN, QUORATE_MASTER_KEY: 'b2'.repeat(32) }
  tools = { environment, load: loadFor(server) }
  service = await startTestService({ keyKeeper: tools })
  closers.push(() => service.close())
  const accounts = [{ ...ACCOUNT, path: "m/44'/60'/0'/0/0" }]
  const { walletId } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'w', accounts })
  return walletId
}

async function derive(walletId: string): Promise<string> {
  const accounts = [{ ...ACCOUNT, path: "m/44'/60'/0'/0/0" }]
  const asked = { walletId, accounts, persist: false }
  return (await complete(service.root, 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', asked)).addresses[0]!
}

const keyFile = () => readFileSync(join(service.dataDir, 'master.key'), 'utf8')

/** Makes a token with one AES key, and says how the key is named. */
function makeToken(): string {
  const { tool, uri } = softToken()
  tool('--keygen', '--key-type', 'AES:32', '--label', 'outer', '--sensitive')
  return uri('outer')
}

const keepers: readonly { name: string; keeper: () => string; isThere?: boolean }[] = [
  { name: 'a key file', keeper: () => `file:${join(folder, 'outer.key')}` },
  { name: 'a variable', keeper: () => 'env:QUORATE_MASTER_KEY' },
  { name: 'Vault', keeper: () => 'vault:transit/quorate' },
  { name: 'AWS KMS', keeper: () => 'aws-kms:alias/quorate', isThere: hasLibrary('@aws-sdk/client-kms') },
  {
    name: 'Google Cloud KMS',
    keeper: () => 'gcp-kms:projects/p/locations/l/keyRings/r/cryptoKeys/k',
    isThere: hasLibrary('@google-cloud/kms'),
  },
  { name: 'PKCS #11', keeper: makeToken, isThere: hasToken && hasLibrary('pkcs11js') },
]

describe('master key', () => {
  for (const { name, keeper, isThere = true } of keepers) {
    test.skipIf(!isThere)(
      `master key: ${name} wraps it while the service works, and the next start opens it`,
      async () => {
        const walletId = await start()
        const before = keyFile().trim()
        const address = await derive(walletId)
        const to = keeper()
        expect(await wrapKeyOfFolder(service.dataDir, to, tools)).toEqual({ from: 'none' })
        expect(keyFile()).not.toContain(before)
        expect(JSON.parse(keyFile())).toEqual({ keeper: to, wrapped: expect.any(String) })
        expect(await derive(walletId)).toBe(address)
        await service.restart()
        expect(await derive(walletId)).toBe(address)
        expect(await wrapKeyOfFolder(service.dataDir, 'none', tools)).toEqual({ from: to })
        expect(keyFile().trim()).toBe(before)
      },
    )
  }

  test('master key: it goes from one keeper to the next without a request that fails, and the old one may go then', async () => {
    const walletId = await start()
    const address = await derive(walletId)
    let isOver = false
    let answered = 0
    const load = (async () => {
      while (!isOver) {
        expect(await derive(walletId)).toBe(address)
        answered++
      }
    })()
    for (const to of ['env:QUORATE_MASTER_KEY', 'vault:transit/old', 'vault:transit/new', 'env:QUORATE_MASTER_KEY'])
      await wrapKeyOfFolder(service.dataDir, to, tools)
    while (answered < 3) await new Promise((resolve) => setImmediate(resolve))
    isOver = true
    await load
    server.isDown = true
    await service.restart()
    expect(await derive(walletId)).toBe(address)
  })

  test('master key: a keeper that is down, refuses, or is another, changes nothing and starts nothing', async () => {
    await start()
    const plain = keyFile()
    const wrap = (to: string, of: KeeperTools = tools) => wrapKeyOfFolder(service.dataDir, to, of)
    const failed = { code: 'service/key-keeper-failed' }
    server.isDown = true
    await expect(wrap('vault:transit/quorate')).rejects.toMatchObject({
      ...failed,
      message: expect.stringContaining('503'),
    })
    server.isDown = false
    const stranger = { environment: { ...tools.environment, VAULT_TOKEN: 'hvs.stranger' } }
    await expect(wrap('vault:transit/quorate', stranger)).rejects.toMatchObject(failed)
    for (const to of ['vault:quorate', 'env:NOTHING', 'file:/nowhere', 'ftp:x', 'pkcs11:token=x', 'toString:x'])
      await expect(wrap(to), to).rejects.toMatchObject(failed)
    const missing = { ...tools, load: async () => loadLibrary('no-such-library-of-anybody') }
    await expect(wrap('aws-kms:x', missing)).rejects.toMatchObject({
      message: expect.stringContaining('npm install @aws-sdk/client-kms'),
      next: expect.stringMatching(/^install it/),
    })
    expect(keyFile()).toBe(plain)
    await wrap('env:QUORATE_MASTER_KEY')
    tools.environment['QUORATE_MASTER_KEY'] = 'c3'.repeat(32)
    await expect(service.restart()).rejects.toMatchObject(failed)
    tools.environment['QUORATE_MASTER_KEY'] = 'b2'.repeat(32)
    await service.restart()
  })

  test('master key: the command says who kept it before, and shows no key', async () => {
    await start()
    const plain = keyFile().trim()
    const at = ['--folder', service.dataDir]
    const wrapped = await quorate(['master-key', 'wrap', `file:${join(folder, 'outer.key')}`, ...at])
    expect(wrapped).toMatchObject({ exit: 0, stdout: expect.stringContaining('it stood there plain before') })
    for (const text of [wrapped.stdout, wrapped.stderr]) {
      expect(text).not.toContain(plain)
      expect(text).not.toContain(OUTER)
    }
  })
})
