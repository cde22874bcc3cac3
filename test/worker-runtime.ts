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
  return { code: await readFile(builtWorkflows(), 'utf8') }
}
