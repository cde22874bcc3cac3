/** The order of test files: one that waits for minutes does not begin when the others have ended, nor only beside its like. */
import { join, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Those that last longest. Vitest itself begins with what took longest the last time, and on a fresh clone with the largest. One
 * that is missing here, or is no longer long, costs nothing but time.
 */
export const LONGEST: readonly string[] = [
  'test/readme.test.ts',
  'test/cli/embedded-temporal.test.ts',
  'test/cli/watch.test.ts',
  'test/workflows/send-batch.test.ts',
  'test/workflows/rotate.test.ts',
  'test/workflows/apply.test.ts',
  'test/workflows/send.test.ts',
  'test/cli/sent-elsewhere.test.ts',
  'test/cli/sends-reconcile.test.ts',
  'test/cli/send.test.ts',
  'test/service/outbox/deliveries.test.ts',
  'test/cli/up.test.ts',
  'test/cli/sends-list.test.ts',
  'test/cli/apply-inside.test.ts',
  'test/ci/workflow.test.ts',
  'test/incidents/dry-run.test.ts',
  'test/cli/waiting.test.ts',
  'test/cli/send-batch.test.ts',
  'test/incidents/unknown-outcome.test.ts',
  'test/cli/payload-key-missing.test.ts',
  'test/security/interrupted-starts.test.ts',
  'test/reliability/fail-points.test.ts',
  'test/authority/other-times.test.ts',
  'test/reliability/worker-kills.test.ts',
  'test/workflows/replay.test.ts',
  'test/workflows/a-workflow-is-six-files.test.ts',
  'test/workflows/last-release.test.ts',
  'test/service/reliability/one-execution.test.ts',
  'test/analysis/paths-played.test.ts',
  'test/cli/commands.test.ts',
  'test/reliability/payments.test.ts',
  'test/service/sends/solana-faults.test.ts',
  'test/service/sends/faults.test.ts',
  'test/incidents/bad-read.test.ts',
  'test/cli/mistakes.test.ts',
  'test/cli/apply.test.ts',
  'test/cli/webhooks.test.ts',
  'test/service/sends/judge.test.ts',
  'test/reliability/webhook-kills.test.ts',
  'test/reliability/login-kills.test.ts',
]

export class LongestAmongOthers extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // One project runs after the other.
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project.name)
    return [...projects.values()].flatMap((those) => longestAmongOthers(those, fileOf))
  }
}

const root = join(import.meta.dirname, '..')
const fileOf = ({ moduleId }: TestSpecification) => relative(root, moduleId)

/** Every other one is of the longest, until there are no more; both kinds stay in their order. */
export function longestAmongOthers<File>(files: readonly File[], nameOf: (file: File) => string): File[] {
  const long = files.filter((file) => LONGEST.includes(nameOf(file)))
  const others = files.filter((file) => !LONGEST.includes(nameOf(file)))
  return files.flatMap((_, at) => [...long.slice(at, at + 1), ...others.slice(at, at + 1)])
}
