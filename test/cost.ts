/**
 * A reporter beside another, `npm test -- --reporter=default --reporter=test/cost.ts`: which test files cost most, as many of them as
 * `QUORATE_COSTS` says. What a background process spends that outlives the command which started it is nobody's child, and not counted.
 */
import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

const SHOWN = Number(process.env['QUORATE_COSTS'] ?? 20)

export default class CostReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const costs = modules
      .map((module) => ({ file: relative('', module.moduleId), cost: module.meta().cost ?? 0 }))
      .sort((one, other) => other.cost - one.cost)
    const total = costs.reduce((sum, { cost }) => sum + cost, 0)
    console.log(
      `\nprocessor seconds: ${total.toFixed(0)} in ${costs.length} files, background processes not counted, of which`,
    )
    for (const { file, cost } of costs.slice(0, SHOWN)) console.log(`${cost.toFixed(1).padStart(6)}  ${file}`)
  }
}
