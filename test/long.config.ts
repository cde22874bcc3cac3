import { defineConfig } from 'vitest/config'
import { settings, WAITING } from './vitest.config.ts'

/** `npm run test:long`: what `npm test` shows in short, with as many faults, organizations and payments as CI tries. */
export default defineConfig({
  test: { ...settings.test, include: ['test/**/*.long.ts'], isolate: false, maxWorkers: WAITING },
})
