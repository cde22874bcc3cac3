import { expect, test, vi } from 'vitest'
import type { TestModule } from 'vitest/node'
import CostReporter from './cost.ts'

test('costs: the dearest file comes first, and what is not counted is said', () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  const module = (name: string, cost: number) => ({ moduleId: `${process.cwd()}/${name}`, meta: () => ({ cost }) })
  new CostReporter().onTestRunEnd([module('a.test.ts', 1), module('b.test.ts', 2.25)] as unknown as TestModule[])
  const told = log.mock.calls.flat()
  log.mockRestore()
  expect(told).toEqual([
    '\nprocessor seconds: 3 in 2 files, background processes not counted, of which',
    '   2.3  b.test.ts',
    '   1.0  a.test.ts',
  ])
})
