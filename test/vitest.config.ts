import { availableParallelism } from 'node:os'
import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { ROOMY_HEAP } from './heap.ts'
import { selectTests } from './selection.ts'
import { LongestAmongOthers } from './sequence.ts'

const onPostgres = process.env['QUORATE_TEST_STORE'] === 'postgres'
const { quick, whole, alone } = selectTests({ onPostgres })

/** What starts processes waits for them and for timers half of its time; what starts none only computes. */
const COMPUTING = 2
export const WAITING = Math.max(6, Math.min(8, 3 * availableParallelism()))

/** Of every run. */
export const settings: ViteUserConfig = {
  test: {
    root: new URL('..', import.meta.url).pathname,
    globalSetup: ['test/scratch.ts', 'test/temporal.ts', 'test/postgres.ts'],
    setupFiles: ['test/seed.ts', 'test/measured.ts', 'test/patience.ts'],
    pool: 'forks',
    execArgv: [...ROOMY_HEAP],
    maxWorkers: COMPUTING,
    sequence: { sequencer: LongestAmongOthers },
    // What hangs is ended; a machine that is only slow, such as one that compiles a client meanwhile, is not.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default'],
  },
}

export default defineConfig({
  test: {
    ...settings.test,
    // Files share a few processes, unless they must not: in one of its own, each would load the whole house anew.
    projects: [
      { extends: true, test: { name: 'quick', include: [...quick], isolate: false } },
      {
        extends: true,
        test: {
          name: 'whole',
          // A file that is written while tests are watched is among them.
          ...(onPostgres ? { include: [...whole] } : { include: ['test/**/*.test.ts'], exclude: [...quick, ...alone] }),
          isolate: false,
          maxWorkers: WAITING,
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: 'alone', include: [...alone], sequence: { groupOrder: 2 } } },
    ],
  },
})
