import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { bundleWorkflows } from '../../src/worker/index.ts'
import { testBundle } from '../worker-runtime.ts'

const folder = mkdtempSync(join(tmpdir(), 'quorate-bundle-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('workflow bundle', () => {
  test('holds the workflows and, of our rooms, only what they may run', async () => {
    const { code } = await testBundle()
    expect(code).toContain('apply-run')
    const ours = [...code.matchAll(/\.\/((?:src|activities|workflows|test)\/[\w/.-]+\.ts)/g)].map(([, path]) => path)
    expect(ours.length).toBeGreaterThan(2)
    // The walk throws diagnostics' error, which is pure code too.
    const allowed = /^workflows\/|^src\/plan\/walk\.ts$|^src\/diagnostics\//
    expect([...new Set(ours)].filter((path) => !allowed.test(path!))).toEqual([])
  })

  test('a workflow that reaches a Node built-in does not bundle', async () => {
    const path = join(folder, 'index.ts')
    writeFileSync(
      path,
      "import { randomBytes } from 'node:crypto'\nexport const unsafe = async () => randomBytes(4).length\n",
    )
    await expect(bundleWorkflows(path)).rejects.toThrow()
  })
})
