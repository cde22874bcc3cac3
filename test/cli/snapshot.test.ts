/** State that can be kept, gone back to, and thrown away. */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { complete } from '../service/handlers/steps.ts'
import { startTestService } from '../service/harness.ts'
import { quorateShared as quorate, serve, testFolder, writeFiles } from './harness.ts'

const account = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  path: "m/44'/60'/0'/0/0",
}

/** A service that has a wallet, and a snapshot that was made of it while it ran. */
async function snapped() {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const wallet = await complete(service.root, 'ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'w', accounts: [account] })
  const file = join(testFolder(), 'w.snapshot')
  const saved = await quorate(['snapshot', 'save', file, '--folder', service.dataDir, '--json'])
  expect(saved.exit).toBe(0)
  return { service, wallet, file, saved: JSON.parse(saved.stdout) }
}

describe('snapshot', () => {
  test('snapshot: saved from a service that runs, restored elsewhere, everything is as it was and its keys open', async () => {
    const { service, wallet, file, saved } = await snapped()
    expect(saved).toEqual({ file, organizationId: service.organizationId, activities: 1 })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'later', userIds: [] })

    const folder = join(testFolder(), 'data/service')
    const restored = await quorate(['snapshot', 'restore', file, '--folder', folder])
    expect(restored.stdout).toBe(`Restored organization ${service.organizationId} with 1 activity into ${folder}.\n`)
    expect(readFileSync(join(folder, 'quorate.db'), 'latin1')).not.toContain('snapshot_files')
    const masterKey = readFileSync(join(folder, 'master.key'), 'utf8').trim()
    expect(readFileSync(join(folder, 'quorate.db'), 'latin1')).not.toContain(masterKey)
    for (const name of ['quorate.db', 'master.key', 'bootstrap.json']) {
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
    }

    const again = await startTestService({ dataDir: folder })
    onTestFinished(() => again.close())
    expect((await again.root.query('list_user_tags')).userTags).toEqual([])
    const derive = { walletId: wallet.walletId, accounts: [account], persist: false }
    const { addresses } = await complete(again.root, 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', derive)
    expect(addresses).toEqual(wallet.addresses)
  })

  test('snapshot: what a folder holds is named before it is replaced, and never under a service that runs', async () => {
    const { file } = await snapped()
    const folder = join(testFolder(), 'service')
    const other = await serve(folder)
    const busy = await quorate(['snapshot', 'restore', file, '--yes', '--folder', folder])
    expect(busy.stderr).toContain(`in use by process ${other.pid}`)
    await other.stop()
    const before = readFileSync(join(folder, 'quorate.db'))
    const unasked = await quorate(['snapshot', 'restore', file, '--folder', folder])
    expect(unasked.stderr).toContain(
      `This replaces organization ${other.organizationId} with 0 activities in ${folder}.`,
    )
    expect(unasked.stderr).toContain('error cli/not-confirmed')
    expect([busy.exit, unasked.exit]).toEqual([1, 1])
    expect(readFileSync(join(folder, 'quorate.db')).equals(before)).toBe(true)
    expect((await quorate(['snapshot', 'restore', file, '--yes', '--folder', folder])).exit).toBe(0)
  })

  test('snapshot: a file that is none, or not the whole of one, changes nothing', async () => {
    const { file, service } = await snapped()
    const folder = testFolder()
    const whole = readFileSync(file)
    for (const bytes of [
      Buffer.from('hello'),
      whole.subarray(0, whole.length - 8192),
      readFileSync(join(service.dataDir, 'quorate.db')),
    ]) {
      const broken = join(folder, 'broken')
      writeFileSync(broken, bytes, { mode: 0o600 })
      const ran = await quorate(['snapshot', 'restore', broken, '--folder', join(folder, 'service')])
      expect(ran.stderr).toContain('error service/snapshot-invalid')
      expect(existsSync(join(folder, 'service'))).toBe(false)
    }
    const twice = await quorate(['snapshot', 'save', file, '--folder', service.dataDir])
    expect(twice.stderr).toContain('error service/snapshot-exists')
    const nothing = await quorate(['snapshot', 'save', join(folder, 'x'), '--folder', folder])
    expect(nothing.stderr).toContain('error service/nothing-served')
    expect(readdirSync(folder)).toEqual(['broken'])
  })
})

describe('reset', () => {
  test('reset: names what it deletes, deletes that and nothing else, and refuses while something runs', async () => {
    const folder = testFolder()
    const dataDir = join(folder, 'data')
    const serving = await serve(join(dataDir, 'service'))
    writeFiles(dataDir, {
      'keys/bob.json': '{}',
      'keys/notes.txt': 'mine',
      'values.json': '{}',
      'mine.txt': 'mine',
      'service/main.go': 'mine',
      'plans/bodies/00ff': 'x',
      [`plans/send-bodies/${'0'.repeat(64)}-0`]: 'x',
      [`turns/${randomUUID()}/1234567`]: '',
      'turns/127.0.0.1%3A8080/every-105000-29000000': '',
      'lock.pid': '1',
      'payload.key': 'x',
      'chains.json': '{}',
      'codec.token': 'x',
      'service/master.key.next': 'x',
      [`service/messages/${'0'.repeat(16)}-${randomUUID()}.json`]: '{}',
    })
    const args = ['reset', '--data-dir', dataDir]
    const busy = await quorate([...args, '--yes'])
    expect(busy.stderr).toContain(`in use by process ${serving.pid}`)
    await serving.stop()
    const all = () => readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).sort()
    const before = all()
    const unasked = await quorate(args)
    expect(unasked.stderr).toMatch(
      /This deletes from .*: chains\.json, codec\.token, keys\/ \(1 file\), lock\.pid, payload\.key, plans\/ \(2 files\), service\/ \(\d files\), turns\/ \(2 files\), values\.json\./,
    )
    expect(unasked.stderr).toContain('error cli/not-confirmed')
    expect([busy.exit, unasked.exit]).toEqual([1, 1])
    expect(all()).toEqual(before)
    const done = await quorate([...args, '--yes'])
    expect(done.stderr).toContain("Not quorate's, and still there: keys/ (1 file), mine.txt, service/ (1 file).")
    expect(done.exit).toBe(0)
    expect(all()).toEqual(['keys', 'keys/notes.txt', 'mine.txt', 'service', 'service/main.go'])
    expect((await quorate(args)).stdout).toContain('There is nothing to delete')
    mkdirSync(join(folder, 'empty'))
    expect((await quorate(['reset', '--data-dir', join(folder, 'none'), '--json'])).exit).toBe(0)
  })
})
