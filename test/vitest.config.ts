import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/temporal.ts'],
    setupFiles: ['test/seed.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // What hangs is ended; a machine that is only slow, such as one that compiles a client meanwhile, is not.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    reporters: ['default'],
  },
})
