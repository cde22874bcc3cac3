/**
 * The background process of a data folder, from outside: whether it lives, what it has written down, how it is started and ended. What
 * talks to the API or to Temporal, or is the process itself, has its own doors (`connect.ts`, `temporal.ts`, `process.ts` …), named in
 * the architecture test: they load most of the program.
 */
export { bootstrapPath } from './bootstrap.ts'
export { askBackground, findBackground, lookAtBackground, pidOf, silentBackground } from './control.ts'
export { backgroundDown, backgroundEnd, noteDown, nothingRuns } from './down.ts'
export { isAlive } from './is-alive.ts'
export { type KnownService, readKnownService } from './known-service.ts'
export { LOOK_MS } from './look-time.ts'
export type { BackgroundStatus } from './model.ts'
export { assertServiceHere, findAbove, isServiceHere, noServiceHere, type Wanted } from './service-here.ts'
export { ensureBackground } from './start.ts'
