/**
 * For the processes that tests share or start in numbers: V8 begins with room for new objects that a test does not fill at once.
 * From its own, a megabyte that grows as it is needed, it copies what is in use out of it time and again: a tenth of the processor
 * time of a test of the service, and of the start of a worker.
 */
export const ROOMY_HEAP = ['--min-semi-space-size=16', '--max-semi-space-size=32'] as const
