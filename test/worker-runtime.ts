/**
 * What workers in the tests' own process share: Temporal's runtime, whose logs go nowhere, and the workflows: those of the
 * run's build, and in a soak, which builds nothing, bundled once.
 */
import { readFile } from 'node:fs/promises'
import type { WorkflowBundle } from '@temporalio/worker'
import { silentLogger } from '../src/telemetry/index.ts'
import { bundleWorkflows, routeTemporalLogs } from '../src/worker/index.ts'

await routeTemporalLogs(silentLogger)

let bundled: Promise<WorkflowBundle> | undefined
export function testBundle(): Promise<WorkflowBundle> {
  bundled ??= process.env['VITEST'] ? readBuilt() : bundleWorkflows()
  return bundled
}

async function readBuilt(): Promise<WorkflowBundle> {
  const { builtWorkflows } = await import('./built.ts')
  return { code: withoutStacks(await readFile(builtWorkflows(), 'utf8')) }
}

/**
 * The workflows without what Temporal does for each of their promises: it takes the stack, and looks every frame up in a source
 * map of a megabyte, for the query of Temporal that asks where a workflow stands. No test asks that, and it
 * is a third of what a workflow costs.
 */
function withoutStacks(code: string): string {
  const end = code.lastIndexOf(SOURCE_MAP)
  if (end < 0) throw new Error('expected workflows with a source map at their end')
  const map = JSON.parse(Buffer.from(code.slice(end).split('base64,')[1]!, 'base64').toString()) as { file: string }
  const none = { version: 3, file: map.file, sources: [], names: [], mappings: '' }
  const text = Buffer.from(JSON.stringify(none)).toString('base64')
  return `Error.stackTraceLimit = 0\n${code.slice(0, end)}${SOURCE_MAP}application/json;base64,${text}`
}

const SOURCE_MAP = '//# sourceMappingURL=data:'
