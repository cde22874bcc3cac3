/** The commit of a folder, by the files that Git itself writes. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commitOf } from '../../src/operations/commit-of.ts'
import { testFolder } from '../cli/harness.ts'

test('the commit is found below a repository, in a worktree, with packed references and detached; nowhere else', () => {
  const folder = testFolder()
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.test', ...args], { cwd: folder, encoding: 'utf8' })
  expect(commitOf(folder)).toBeUndefined()
  git('init', '--quiet')
  expect(commitOf(folder)).toBeUndefined()
  git('commit', '--quiet', '--allow-empty', '--message', 'one')
  const head = git('rev-parse', 'HEAD').trim()
  mkdirSync(join(folder, 'definitions'))
  expect(commitOf(join(folder, 'definitions'))).toBe(head)
  git('worktree', 'add', '--quiet', 'tree')
  expect(commitOf(join(folder, 'tree'))).toBe(head)
  git('pack-refs', '--all')
  expect(commitOf(folder)).toBe(head)
  git('checkout', '--quiet', '--detach')
  expect(commitOf(folder)).toBe(head)
})
