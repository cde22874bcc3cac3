/** The library `quorate/policy`: its entry, the examples in its docstrings, and its size in a browser. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { describe, expect, test } from 'vitest'
import * as library from '../../src/policy/index.ts'

const repository = join(import.meta.dirname, '../..')
const room = join(repository, 'src/policy')

interface Example {
  readonly file: string
  readonly code: string
  readonly expected: string
}

/** `@example` blocks: an expression, then `//=>` and what it comes to, on its line or on lines of their own. */
function readExamples(): readonly Example[] {
  return readdirSync(room, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const blocks = readFileSync(join(room, file), 'utf8').match(/\/\*\*[\s\S]*?\*\//g) ?? []
      return blocks
        .flatMap((block) => block.split('@example').slice(1))
        .map((text) => {
          const lines = text.split('\n').map((line) => line.replace(/^\s*\*\/?\s?/, '').trimEnd())
          const code = lines.map((line) => line.replace(/\/\/=>.*$/, '')).join('\n')
          const expected = lines.flatMap((line) => line.match(/\/\/=>(.*)$/)?.[1] ?? []).join('\n')
          return { file, code: code.trim(), expected: expected.trim() }
        })
    })
}

describe('library', () => {
  const examples = readExamples()

  test('library: every entry that people start from has an example', () => {
    for (const name of ['parse', 'checkText', 'evaluate', 'authorize'])
      expect(
        examples.some(({ code }) => code.startsWith(`${name}(`)),
        name,
      ).toBe(true)
  })

  test.each(examples)('library: the example in $file comes to what it says: $code', ({ code, expected }) => {
    const names = Object.keys(library)
    const run = (text: string) => new Function(...names, `return (\n${text}\n)`)(...Object.values(library))
    expect(expected).not.toBe('')
    expect(run(code)).toEqual(run(expected))
  })

  test('library: the entry of the package is this room', () => {
    const { exports } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
    expect(exports['./policy']).toEqual({
      types: './dist/src/policy/index.d.ts',
      default: './dist/src/policy/index.js',
    })
    expect(
      existsSync(join(repository, exports['./policy'].default.replace('./dist/', '').replace(/\.js$/, '.ts'))),
    ).toBe(true)
  })

  test('library: a browser bundle of it is under 60 kB gzipped and needs nothing of Node.js', async () => {
    const bundle = await rolldown({
      input: join(room, 'index.ts'),
      platform: 'browser',
      onLog: (_level, log) => {
        throw new Error(log.message)
      },
    })
    const { output } = await bundle.generate({ format: 'iife', name: 'policy', minify: true })
    await bundle.close()
    expect(output.length).toBe(1)
    expect(output[0].imports).toEqual([])
    expect(gzipSync(output[0].code).length).toBeLessThan(60_000)
    // A context with nothing of Node.js in it, and of a browser this alone.
    const browser = createContext({ TextEncoder })
    const verdict = runInContext(
      `${output[0].code}; JSON.stringify(policy.evaluate('time', "CronSpan('0 9 * * *', '8h', 'Europe/Oslo')", {
        now: 1767261600000000000n, activity: { type: 'ACTIVITY_TYPE_CREATE_WALLET' }, approvers: [] }))`,
      browser,
    )
    expect(verdict).toBe('{"value":true}')
  })
})
