import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testFolder } from '../cli/harness.ts'

const root = join(import.meta.dirname, '../..')

/** A folder with a package whose build adds a line to `builds`. */
function packageFolder(): string {
  const folder = testFolder()
  const build = "fs.mkdirSync('dist', { recursive: true }); fs.appendFileSync('builds', 'built\\n')"
  const text = { name: 'x', version: '1.0.0', engines: { node: '>=99' }, scripts: { build: `node -e "${build}"` } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(text))
  for (const name of ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json'])
    writeFileSync(join(folder, name), '{}')
  for (const name of ['src/deep', 'activities', 'workflows']) mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'src/deep/a.ts'), 'one')
  return folder
}

test('what was built from the sources as they are is not built again', () => {
  const folder = packageFolder()
  const builds = () => {
    execFileSync(process.execPath, [join(root, 'src/build/prepare.ts')], { cwd: folder, stdio: 'pipe' })
    return readFileSync(join(folder, 'builds'), 'utf8').trim().split('\n').length
  }
  expect([builds(), builds()]).toEqual([1, 1])
  writeFileSync(join(folder, 'src/deep/a.ts'), 'two')
  expect([builds(), builds()]).toEqual([2, 2])
  // Another build takes the note away.
  execFileSync(process.execPath, ['-e', "fs.rmSync('dist', { recursive: true })"], { cwd: folder })
  expect(builds()).toBe(3)
  expect(existsSync(join(folder, 'dist/.built-from'))).toBe(true)
})

test('npm on an older Node.js warns of nothing in a clone', () => {
  const folder = packageFolder()
  // Without what npx hands on of its own settings.
  const { PATH, HOME } = process.env
  const said = () =>
    execFileSync('sh', ['-c', 'npm install --offline --dry-run --ignore-scripts 2>&1'], {
      cwd: folder,
      env: { PATH, HOME },
    }).toString()
  expect(said()).toContain('EBADENGINE')
  copyFileSync(join(root, '.npmrc'), join(folder, '.npmrc'))
  expect(said()).not.toContain('EBADENGINE')
})
