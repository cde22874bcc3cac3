/** A copy that is made while the service works is a whole one: what was acknowledged before it is in it, and opens. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { isOnPostgres } from '../../postgres.ts'
import { complete, fresh } from '../handlers/steps.ts'
import { startTestService } from '../harness.ts'

const account = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
}

describe('backup', () => {
  test.skipIf(isOnPostgres)(
    'backup: copied under load and opened elsewhere, nothing that was acknowledged before is missing',
    async () => {
      const service = await startTestService()
      const folder = mkdtempSync(join(tmpdir(), 'quorate-backup-'))
      try {
        const wallet = { walletName: 'w', accounts: [{ ...account, path: "m/44'/60'/0'/0/0" }] }
        const { walletId, addresses } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_WALLET', wallet)
        const acknowledged: string[] = []
        let stopped = false
        const load = Array.from({ length: 8 }, async () => {
          while (!stopped) {
            const policy = { policyName: fresh('p'), effect: 'EFFECT_DENY', condition: 'false' }
            const made = await service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', policy).catch(() => undefined)
            if (made) acknowledged.push(made.id)
          }
        })
        while (acknowledged.length < 20) await new Promise((resolve) => setImmediate(resolve))
        const before = [...acknowledged]
        const source = new DatabaseSync(join(service.dataDir, 'quorate.db'), { readOnly: true })
        // A few pages at a time, so that the service commits between.
        await backup(source, join(folder, 'quorate.db'), { rate: 10 })
        source.close()
        for (const name of ['master.key', 'bootstrap.json'])
          copyFileSync(join(service.dataDir, name), join(folder, name))
        const during = acknowledged.length - before.length
        stopped = true
        await Promise.all(load)
        const restored = await startTestService({ dataDir: folder })
        const copy = new DatabaseSync(join(folder, 'quorate.db'), { readOnly: true })
        const rows = new Set(
          copy
            .prepare('select id from activities')
            .all()
            .map((row) => row['id']),
        )
        const integrity = copy.prepare('pragma integrity_check').get()
        copy.close()
        const lost = before.filter((id) => !rows.has(id)).length
        console.log(
          `acknowledged before=${before.length} while copying=${during} in the copy=${rows.size} lost=${lost}`,
        )
        expect(during).toBeGreaterThan(0)
        expect(lost).toBe(0)
        expect({ ...integrity }).toEqual({ integrity_check: 'ok' })
        // The seals open: an account of the old wallet is derived in the copy.
        const again = { walletId, accounts: [{ ...account, path: "m/44'/60'/0'/0/0" }], persist: false }
        const derived = await complete(restored.root, 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', again)
        expect(derived.addresses).toEqual(addresses)
        await restored.close()
      } finally {
        await service.close()
        rmSync(folder, { recursive: true, force: true })
      }
    },
    60_000,
  )
})
