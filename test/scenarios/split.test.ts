import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSource } from '../../src/diagnostics/index.ts'
import { playSuite } from '../../src/scenarios/index.ts'
import { playFiles } from '../../src/scenarios/play-file.ts'
import { splitFile } from '../../src/scenarios/split.ts'
import { runs } from '../runs.ts'
import { testWorld } from './harness.ts'

const defaults = 'defaults: { activity: SIGN_TRANSACTION, wallet: main, by: ana }\n'
const tables = 'tables:\n  t:\n    columns: [transaction.ethereum.value, expect]\n    rows: [[1, allow], [5, deny]]\n'
const scenario = (n: number, expected: string, words = 'some words') =>
  `  # Number ${n}.\n  number ${n}:\n    transaction:\n      ethereum: { value: ${n} }\n    why: |\n      ${words}\n\n      number: 7\n    expect: ${expected}\n`

describe('split', () => {
  test('split: the parts of a file together say what the file says, place by place', async () => {
    const world = await testWorld()
    const outcomes = fc.array(fc.constantFrom('allow', 'deny', '{ outcome: allow, decidedBy: small }'), {
      minLength: 2,
      maxLength: 12,
    })
    const sections = fc.shuffledSubarray(['defaults', 'tables', 'scenarios'], { minLength: 3 })
    fc.assert(
      fc.property(outcomes, sections, fc.integer({ min: 2, max: 5 }), (expected, order, count) => {
        const scenarios = `scenarios:\n${expected.map((one, n) => scenario(n, one)).join('')}`
        const text = order.map((key) => ({ defaults, tables, scenarios })[key]).join('# A comment.\n')
        const source = createSource('t.test.yaml', text)
        const parts = splitFile(source, count)
        expect(parts).toHaveLength(count <= expected.length ? count : 1)
        const [whole] = playFiles([{ source }], world, {}).files
        expect(whole!.results).toHaveLength(expected.length + 2)
        const played = playFiles(parts, world, {}).files
        expect(played.flatMap(({ results }) => results)).toEqual(whole!.results)
        expect(played.flatMap(({ diagnostics }) => diagnostics)).toEqual([])
      }),
      { numRuns: runs(12) },
    )
  })

  const two = `${scenario(1, 'allow')}${scenario(2, 'allow')}`
  test.each([
    ['an anchor', `${defaults}scenarios:\n${two}  c: &a { expect: deny }\n`],
    ['a name written twice', `${defaults}scenarios:\n${two}${scenario(1, 'deny')}`],
    ['a name in quotes', `${defaults}scenarios:\n${two}  'number 1': { expect: deny }\n`],
    ['a flow map', `${defaults}scenarios: { a: { expect: allow }, b: { expect: allow } }\n`],
    ['a section written twice', `scenarios:\n${two}scenarios:\n${two}`],
    ['documents', `---\nscenarios:\n${two}`],
    ['a tab', `scenarios:\n${two}  c:\t{ expect: deny }\n`],
    ['no scenarios', tables],
  ])('split: %s leaves a file whole', (_, text) => {
    expect(splitFile(createSource('t.test.yaml', text), 2)).toHaveLength(1)
  })

  // Large by its words: what is played is what costs.
  const long = 'some words '.repeat(60).trim()

  test('split: a mistake in a large file is told as it stands in the file', async () => {
    const many = Array.from({ length: 150 }, (_, n) => scenario(n * 10, n === 140 ? 'perhaps' : 'allow', long)).join('')
    const source = createSource('t.test.yaml', `${defaults}scenarios:\n${many}`)
    expect(source.text.length).toBeGreaterThan(100_000)
    const world = await testWorld()
    const alone = await playSuite([source], world, { threads: 1 })
    expect(alone.files[0]!.diagnostics).toHaveLength(1)
    expect(await playSuite([source], world, { threads: 2 })).toEqual(alone)
  })

  test('split: coverage of a large file is that of all of its parts', async () => {
    const many = Array.from({ length: 150 }, (_, n) => scenario(n * 10, 'allow', long)).join('')
    const source = createSource('t.test.yaml', `${defaults}scenarios:\n${many}`)
    expect(source.text.length).toBeGreaterThan(100_000)
    const world = await testWorld()
    const alone = await playSuite([source], world, { threads: 1, coverage: true })
    expect(alone).toMatchObject({ passed: 100, failed: 50 })
    expect(await playSuite([source], world, { threads: 2, coverage: true })).toEqual(alone)
  })
})
