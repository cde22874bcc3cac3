/** A data folder in a repository of definitions: Git takes none of its keys, and `reset` leaves nothing of it. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ensurePrivateFolder, writePrivate } from '../../src/local/index.ts'
import { quorate, testFolder, writeFiles } from './harness.ts'

test('data folder: what is in it is not added to the repository that it is in', async () => {
  const repository = testFolder()
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, encoding: 'utf8' })
  git('init', '--quiet')
  writeFiles(join(repository, 'definitions'), { 'acme.yaml': 'organization: acme\n' })
  const dataDir = join(repository, '.quorate')
  ensurePrivateFolder(join(dataDir, 'keys'))
  ensurePrivateFolder(join(dataDir, 'run'))
  writePrivate(join(dataDir, 'keys', 'bob.json'), '{}')
  git('add', '.')
  expect(git('status', '--porcelain')).toBe('A  definitions/acme.yaml\n')
  const { exit, stdout } = await quorate(['reset', '--yes', '--data-dir', dataDir], { cwd: repository })
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: 'Deleted 2 files.\n' })
  expect(existsSync(dataDir)).toBe(false)
})

test('data folder: outside a repository it holds no file for Git', () => {
  const dataDir = join(testFolder(), 'data')
  ensurePrivateFolder(dataDir)
  expect(existsSync(join(dataDir, '.gitignore'))).toBe(false)
})
