/** Processes that make the key of a plan store at the same moment, step by step. */
import { linkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { loadKey } from '../../activities/store-key.ts'
import * as local from '../../src/local/index.ts'
import { testFolder } from '../cli/harness.ts'

const between = vi.hoisted(() => ({ afterClaim: (_path: string) => {} }))
vi.mock('../../src/local/index.ts', async (original) => {
  const real = await original<typeof local>()
  return {
    ...real,
    claimPrivate: (path: string, text: string) => {
      real.claimPrivate(path, text)
      between.afterClaim(path)
    },
  }
})

test('another process gives the draft the name of the key just before this one reads it: both have that key', async () => {
  const folder = join(testFolder(), 'plans')
  const key = `${folder}.key`
  between.afterClaim = (draft) => {
    linkSync(draft, key)
    expect(statSync(draft).nlink).toBe(2)
    between.afterClaim = () => {}
  }
  const made = await loadKey(folder)
  expect(`${made.toString('hex')}\n`).toBe(local.readPrivate(key))
  expect(await loadKey(folder)).toEqual(made)
})
