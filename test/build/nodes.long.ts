/**
 * The package as npm packs it, started on real versions of Node.js from the registry: the oldest that `engines` names, the first
 * of the pinned line, and one that is too old. Without the registry these tests fail, and say so.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { builtMain } from '../built.ts'
import { testFolder } from '../cli/harness.ts'

const root = join(import.meta.dirname, '../..')
const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { engines: { node: string } }
const OLDEST = `${/^>=(\d+\.\d+)$/.exec(engines.node)![1]}.0`

const cleanups: (() => Promise<void>)[] = []
const atEnd = (work: () => Promise<void>) => void cleanups.push(work)

/** Node.js of a version, in the package that npm has of it for this platform. */
function fetchNode(version: string): string {
  const folder = testFolder(atEnd)
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  writeFileSync(join(folder, 'package.json'), '{}')
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', `${name}@${version}`]
  const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`Node.js ${version} cannot be fetched from the npm registry: ${stderr}`)
  return join(folder, 'node_modules', name, 'bin/node')
}

/** The program in the package that npm makes of what was built, beside the dependencies of this repository. */
function packedMain(): string {
  const source = join(dirname(builtMain()), '../..')
  const folder = testFolder(atEnd)
  cpSync(join(source, 'dist'), join(folder, 'built/dist'), { recursive: true })
  cpSync(join(source, 'package.json'), join(folder, 'built/package.json'))
  cpSync(join(root, 'definitions'), join(folder, 'built/definitions'), { recursive: true })
  const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: join(folder, 'built'),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  execFileSync('tar', ['-xzf', join(folder, filename), '-C', folder])
  symlinkSync(join(root, 'node_modules'), join(folder, 'package/node_modules'))
  return join(folder, 'package/dist/bin/main.js')
}

const keys = ['alice', 'bob', 'carol'].flatMap((name) => [
  '--var',
  `${name}PublicKey=${generateP256KeyPair().publicKey}`,
])

describe('the package on versions of Node.js', () => {
  let main: string
  let env: Record<string, string>
  beforeAll(() => {
    main = packedMain()
    const { PATH = '' } = process.env
    env = { PATH, HOME: testFolder(atEnd), ACME_ORGANIZATION_ID: '7c244a54-083f-4745-98d0-7111fa0c8852' }
    return async () => {
      for (const clean of cleanups) await clean()
    }
  })
  const start = (node: string, args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(node, [main, ...args], { env, encoding: 'utf8' })
    return { status, stdout, stderr }
  }
  const acme = () => ['validate', join(dirname(main), '../../definitions/acme'), ...keys]

  test.each([OLDEST, '24.0.0'])('%s: help is printed, and the example is valid', (version) => {
    const node = fetchNode(version)
    expect(execFileSync(node, ['--version'], { encoding: 'utf8' })).toBe(`v${version}\n`)
    const help = start(node, ['--help'])
    expect(help).toEqual({ status: 0, stdout: expect.stringContaining('Usage: quorate '), stderr: '' })
    const validated = start(node, acme())
    expect(validated).toMatchObject({ status: 0, stdout: expect.stringMatching(/ is valid: \d+ resources\n/) })
    expect(validated.stderr).toMatch(/^Checking \S+ …\n$/)
  })

  test.each(['20.19.0', '18.20.8'])('%s is too old: which one is needed is said, and nothing else', (version) => {
    const node = fetchNode(version)
    for (const args of [['--help'], ['completion', 'bash'], acme()]) {
      const { status, stdout, stderr } = start(node, args)
      expect([status, stdout]).toEqual([1, ''])
      const needed = OLDEST.replace(/\.0$/, '')
      expect(stderr).toBe(
        `error cli/old-node: expected Node.js ${needed} or newer, got ${version}\n` +
          '  next  install a newer Node.js; in a clone, `npm rebuild node` restores the pinned one, and npm scripts and npx use it\n',
      )
    }
  })
})
