/**
 * What workers in the tests' own process share, whichever file comes first: Temporal's runtime, whose logs go nowhere, and
 * the workflows, bundled once for a second each.
 */
import type { WorkflowBundle } from '@temporalio/worker'
import { silentLogger } from '../src/telemetry/index.ts'
import { bundleWorkflows, routeTemporalLogs } from '../src/worker/index.ts'

await routeTemporalLogs(silentLogger)

let bundled: Promise<WorkflowBundle> | undefined
export function testBundle(): Promise<WorkflowBundle> {
  bundled ??= bundleWorkflows()
  return bundled
}
