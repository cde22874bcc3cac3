/** That a commit is on disk: the only evidence to be had against a loss of power. What a kill leaves is in `reliability`. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createBody, createWallet } from '../reliability/service-kills.ts'
import { readClient, startProcess } from './process.ts'

const COMMITS = 40

test.skipIf(!hasStrace())(
  'durability: there is an fsync for every commit (needs strace)',
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'quorate-durability-'))
    const log = join(dataDir, 'strace.log')
    const under = ['strace', '-f', '-c', '-o', log, '-e', 'trace=fsync,fdatasync']
    const first = await startProcess(dataDir)
    await first.end('SIGTERM')
    const service = await startProcess(dataDir, { under })
    const client = readClient(dataDir)
    const walletId = await createWallet(service.url, client)
    // One after the other, so that each is a commit of its own.
    for (let i = 0; i < COMMITS; i++) {
      await client.send(service.url, createBody(client, walletId, `m/44'/60'/0'/0/${i}`))
    }
    await service.end('SIGTERM')
    const counts = readFileSync(log, 'utf8').matchAll(
      /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?f(?:data)?sync$/gm,
    )
    const syncs = [...counts].reduce((sum, [, calls]) => sum + Number(calls), 0)
    console.log(`commits=${COMMITS} fsyncs=${syncs}`)
    rmSync(dataDir, { recursive: true })
    expect(syncs).toBeGreaterThanOrEqual(COMMITS)
  },
  60_000,
)

function hasStrace(): boolean {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
