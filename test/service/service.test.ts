import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { p256PublicKey } from '../../src/crypto/index.ts'
import { createService, type Service, ServiceError } from '../../src/service/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { isOnPostgres } from '../postgres.ts'
import { startTestService } from './harness.ts'
import { startProcess, startRefused } from './process.ts'
import { createSmallDisk } from './small-disk.ts'

let dataDir: string
const running: Service[] = []
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'quorate-service-'))
})
afterEach(async () => {
  for (const service of running.splice(0)) await service.close()
  rmSync(dataDir, { recursive: true })
})

async function start(options: Partial<Parameters<typeof createService>[0]> = {}): Promise<Service> {
  const service = await createService({ dataDir, ...options })
  running.push(service)
  return service
}
const stop = async () => running.pop()!.close()
const path = (name: string) => join(dataDir, name)
const readBootstrap = () => JSON.parse(readFileSync(path('bootstrap.json'), 'utf8')) as Record<string, string>

describe('service: the data folder', () => {
  test('service: an empty folder gets an organization, a root user with a key, and keys of its own', async () => {
    const { bootstrap, url } = await start({ rootUserName: 'alice' })
    const file = readBootstrap()
    expect(Object.keys(file).sort()).toEqual([
      ...['apiPrivateKey', 'apiPublicKey', 'authProxyConfigId', 'baseUrl', 'notarizerPublicKey'],
      ...['onRampEncryptionPublicKey', 'organizationId'],
      ...['relayers', 'rootUserId', 'signerPublicKey', 'tlsFetcherEncryptionPublicKey', 'tlsFetcherPublicKey'],
    ])
    expect(file).toMatchObject({ baseUrl: url, organizationId: bootstrap.organizationId })
    expect(p256PublicKey(file['apiPrivateKey']!)).toBe(file['apiPublicKey'])
    const names = ['signerPublicKey', 'notarizerPublicKey', 'tlsFetcherPublicKey', 'tlsFetcherEncryptionPublicKey']
    const pinned = names.map((name) => file[name])
    for (const key of pinned) expect(key).toMatch(/^04[0-9a-f]{128}$/)
    expect(new Set(pinned).size).toBe(4)
    expect(bootstrap.relayers).toEqual({
      eip155: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      solana: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/),
    })
    expect(JSON.stringify(bootstrap)).not.toContain(file['apiPrivateKey'])
  })

  test('service: only its owner may read what it writes', async () => {
    await start()
    for (const name of ['bootstrap.json', 'master.key', 'quorate.db', 'quorate.db-wal', 'lock.pid']) {
      expect({ name, mode: statSync(path(name)).mode & 0o777 }).toEqual({ name, mode: 0o600 })
    }
  })

  test('service: a second start keeps everything and writes the new address', async () => {
    const first = (await start()).bootstrap
    await stop()
    const { bootstrap, url } = await start({ rootUserName: 'somebody else' })
    expect({ ...bootstrap, apiPrivateKey: bootstrap.apiPrivateKey?.reveal() }).toEqual({
      ...first,
      baseUrl: url,
      apiPrivateKey: first.apiPrivateKey?.reveal(),
    })
    expect(readBootstrap()['baseUrl']).toBe(url)
  })

  test('service: the private key may be taken out of bootstrap.json, which stays without it', async () => {
    const first = (await start()).bootstrap
    await stop()
    const { apiPrivateKey: _, ...kept } = readBootstrap()
    writeFileSync(path('bootstrap.json'), JSON.stringify(kept))
    const { bootstrap } = await start()
    expect(bootstrap.organizationId).toBe(first.organizationId)
    expect(bootstrap.apiPrivateKey).toBeUndefined()
    expect(readBootstrap()).not.toHaveProperty('apiPrivateKey')
  })

  test('service: a removed bootstrap.json is refused, and what is said to write lets the service start', async () => {
    const first = (await start()).bootstrap
    await stop()
    unlinkSync(path('bootstrap.json'))
    const { next } = (await start().catch((reason: unknown) => reason)) as ServiceError
    execFileSync('sh', ['-c', /`(\(umask .*\))`/.exec(next!)![1]!])
    expect((await start()).bootstrap.organizationId).toBe(first.organizationId)
  })

  test.each([
    {
      name: 'a master key that others can read',
      spoil: () => chmodSync(path('master.key'), 0o640),
      code: 'service/master-key-exposed',
    },
    {
      name: 'a master key that is missing',
      spoil: () => unlinkSync(path('master.key')),
      code: 'service/data-folder-incomplete',
    },
    {
      name: 'a master key of another folder',
      spoil: () => writeFileSync(path('master.key'), 'ab'.repeat(32)),
      code: 'service/seal-broken',
    },
    {
      name: 'a bootstrap.json of another folder',
      spoil: () => writeFileSync(path('bootstrap.json'), '{"organizationId":"x"}'),
      code: 'service/data-folder-damaged',
    },
    {
      name: 'a bootstrap.json cut off',
      spoil: () => writeFileSync(path('bootstrap.json'), '{"organ'),
      code: 'service/data-folder-damaged',
    },
  ])('service: $name is refused, and the folder is free again', async ({ spoil, code }) => {
    await start()
    await stop()
    spoil()
    for (let i = 0; i < 2; i++) {
      const error = await start().catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(ServiceError)
      expect(error).toMatchObject({ code, next: expect.any(String) })
    }
  })

  test('service: a master key may be given instead, and is then never written', async () => {
    const masterKey = new Secret(new Uint8Array(32).fill(7))
    await start({ masterKey })
    await stop()
    expect(() => statSync(path('master.key'))).toThrow()
    await start({ masterKey })
    await stop()
    await expect(start({ masterKey: new Secret(new Uint8Array(31)) })).rejects.toMatchObject({
      code: 'service/master-key-invalid',
    })
  })
})

describe('service: one process a folder', () => {
  test('service: a second process is refused at once, naming the first', async () => {
    const first = await startProcess(dataDir)
    try {
      const { exitCode, stderr, ms } = await startRefused(dataDir)
      expect(exitCode).toBe(1)
      expect(stderr).toContain(`is in use by process ${first.pid}`)
      expect(stderr).toContain('service/data-folder-in-use')
      console.log(`refused after ${Math.round(ms)} ms, start of the process included`)
    } finally {
      await first.end('SIGTERM')
    }
  })

  test('service: a second service in the same process is refused as well', async () => {
    await start()
    await expect(start()).rejects.toMatchObject({
      code: 'service/data-folder-in-use',
      facts: { pid: process.pid },
    })
  })

  test('service: the folder of a killed process is taken over', async () => {
    const first = await startProcess(dataDir)
    await first.end('SIGKILL')
    const { bootstrap } = await start()
    expect(bootstrap.organizationId).toBe(readBootstrap()['organizationId'])
  })
})

describe.skipIf(isOnPostgres || process.getuid?.() !== 0)('service: full disk (needs root for a small tmpfs)', () => {
  test('service: on a full disk submits are answered 503 and leave nothing, queries go on, and room brings all back', async () => {
    const disk = createSmallDisk('2m')
    const service = await startTestService({ dataDir: disk.folder, diskWatermark: { bytes: 0 } })
    try {
      const policy = (i: number) =>
        service.body('ACTIVITY_TYPE_CREATE_POLICY_V3', {
          policyName: `policy ${i}`,
          effect: 'EFFECT_ALLOW',
          condition: 'true',
          consensus: 'true',
          notes: 'x'.repeat(50_000),
        })
      const bodies = Array.from({ length: 40 }, (_, i) => policy(i))
      const acknowledged: string[] = []
      let refused = 0
      for (const body of bodies) {
        const answer = await service.root.raw(body.path, body.text)
        if (answer.status === 200) acknowledged.push((answer.body['activity'] as { id: string }).id)
        else {
          refused++
          expect(answer.status).toBe(503)
          expect(answer.body).toMatchObject({ code: 14, message: 'service unavailable' })
        }
      }
      expect(refused).toBeGreaterThan(0)
      const listed = async () => {
        const { activities } = await service.root.query('list_activities', { paginationOptions: { limit: '100' } })
        return activities.map(({ id }) => id).reverse()
      }
      expect(await listed()).toEqual(acknowledged)
      expect((await service.root.query('list_policies')).policies).toHaveLength(acknowledged.length)
      disk.grow()
      for (const body of bodies)
        expect(await service.root.send(body)).toMatchObject({ status: 'ACTIVITY_STATUS_COMPLETED' })
      expect(await listed()).toHaveLength(bodies.length)
      console.log(`acknowledged=${acknowledged.length} refused=${refused}`)
    } finally {
      await service.service.close()
      disk.remove()
    }
  })
})
