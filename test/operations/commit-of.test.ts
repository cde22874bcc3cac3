/** The commit of a folder, by the files that Git itself writes. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commitOf, isEdited } from '../../src/operations/commit-of.ts'
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

test('definitions that are not as the commit has them are told, the lock and other files are not', async () => {
  const folder = testFolder()
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.test', ...args], { cwd: folder, encoding: 'utf8' })
  expect(await isEdited(folder)).toBeUndefined()
  git('init', '--quiet')
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  write('acme.yaml', 'organization: acme\n')
  write('quorate.lock.yaml', '{}\n')
  git('add', '.')
  git('commit', '--quiet', '--message', 'one')
  expect(await isEdited(folder)).toBe(false)
  write('quorate.lock.yaml', 'other: {}\n')
  write('plan.json', '{}\n')
  expect(await isEdited(folder)).toBe(false)
  write('acme.yaml', 'organization: acme # edited\n')
  expect(await isEdited(folder)).toBe(true)
  git('checkout', '--quiet', 'acme.yaml')
  write('new.yaml', 'tags: {}\n')
  expect(await isEdited(folder)).toBe(true)
})

test('whether definitions were changed is told without running what the repository names to convert or watch its files', async () => {
  const folder = testFolder()
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.test', ...args], { cwd: folder, encoding: 'utf8' })
  git('init', '--quiet')
  writeFileSync(join(folder, 'acme.yaml'), 'organization: acme\n')
  writeFileSync(join(folder, '.gitattributes'), '*.yaml filter=own\n')
  writeFileSync(join(folder, 'x-quorate.lock.yaml'), 'a: 1\n')
  git('add', '.')
  git('commit', '--quiet', '--message', 'one')
  const ran = join(folder, '.git/ran')
  for (const name of ['clean', 'smudge', 'process']) git('config', `filter.own.${name}`, `touch ${ran}; cat`)
  git('config', 'filter.own.required', 'true')
  git('config', 'core.fsmonitor', `touch ${ran}; false`)
  // As after a copy: Git has to read the file, and so would convert it.
  utimesSync(join(folder, 'acme.yaml'), 1, 1)
  expect(await isEdited(folder)).toBe(false)
  writeFileSync(join(folder, 'x-quorate.lock.yaml'), 'a: 2\n')
  expect(await isEdited(folder)).toBe(true)
  git('config', 'filter.a=b.clean', 'cat')
  expect(await isEdited(folder)).toBeUndefined()
  expect(existsSync(ran)).toBe(false)
})

test('whether definitions were changed is told without fetching what a partial clone lacks', async () => {
  const folder = testFolder()
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.test', ...args], { cwd: folder, encoding: 'utf8' })
  git('init', '--quiet')
  mkdirSync(join(folder, 'acme'))
  writeFileSync(join(folder, 'acme/acme.yaml'), 'organization: acme\n')
  git('add', '.')
  git('commit', '--quiet', '--message', 'one')
  const tree = git('rev-parse', 'HEAD:acme').trim()
  const ran = join(folder, '.git/ran')
  git('remote', 'add', 'origin', folder)
  git('config', 'remote.origin.promisor', 'true')
  git('config', 'remote.origin.uploadpack', `touch ${ran}; git-upload-pack`)
  git('config', 'protocol.file.allow', 'always')
  git('config', 'extensions.partialClone', 'origin')
  git('config', 'core.repositoryFormatVersion', '1')
  rmSync(join(folder, '.git/objects', tree.slice(0, 2), tree.slice(2)), { force: true })
  rmSync(join(folder, '.git/index'))
  expect(await isEdited(join(folder, 'acme'))).toBeUndefined()
  expect(existsSync(ran)).toBe(false)
})
