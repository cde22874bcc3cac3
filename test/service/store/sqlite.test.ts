import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { openDatabase } from '../../../src/service/store/index.ts'
import { storeContract } from './contract.ts'

let folder: string
let files = 0
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-contract-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

storeContract('SQLite', async () => openDatabase(join(folder, `${files++}.db`), { now: 1 }))
