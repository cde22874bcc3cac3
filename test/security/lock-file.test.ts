import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

interface LockEntry {
  readonly name?: string
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly os?: readonly string[]
}

const read = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, '../..', name), 'utf8')) as unknown
const { packages } = read('package-lock.json') as { readonly packages: Readonly<Record<string, LockEntry>> }
const installed = Object.entries(packages).filter(([path]) => path !== '')

test('lock file: every package has a digest, so that nothing is installed that nobody checked', () => {
  expect(installed.length).toBeGreaterThan(500)
  const without = installed.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''))
  expect(without.map(([path]) => path)).toEqual([])
})

test('lock file: a platform binary without a published digest is replaced by a package of a platform that nothing runs on', () => {
  const { overrides } = read('package.json') as { readonly overrides: Readonly<Record<string, string>> }
  const replaced = Object.entries(overrides).filter(([, version]) => version.startsWith('npm:'))
  expect(replaced.length).toBeGreaterThan(0)
  for (const [name, version] of replaced) {
    const { name: instead, version: of, os } = packages[`node_modules/${name}`]!
    expect([name, `npm:${instead}@${of}`, os]).toEqual([name, version, ['aix']])
  }
})

test('lock file: what a user of any platform needs to run workflows has a binary with a digest', () => {
  const binaries = installed.filter(([path]) => path.startsWith('node_modules/@swc/core-'))
  expect(binaries.map(([path]) => path)).toEqual(
    expect.arrayContaining(
      ['darwin-arm64', 'darwin-x64', 'linux-arm64-gnu', 'linux-x64-gnu', 'win32-x64-msvc'].map(
        (platform) => `node_modules/@swc/core-${platform}`,
      ),
    ),
  )
  expect(binaries.every(([, { name }]) => name === undefined)).toBe(true)
})
