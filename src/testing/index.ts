/**
 * Testing: a door, and what tests of other people's software open: `quorate/testing` starts the service as a process of its
 * own. A test's mocked timers, clocks and globals do not reach it; it listens on the loopback alone, and ends, with its folder,
 * when the test closes it or is gone itself. It decides nothing: it asks the service, the operator's control and the
 * definitions.
 */
export { testingCodes } from './codes.ts'
export type { Delivery, Duration, NamedKey, Quorate, QuorateOptions, Snapshot } from './model.ts'
export { startQuorate } from './start-quorate.ts'
