/** Processor seconds that processes have spent for tests and that nothing else tells of while they live. */
export const spent = { seconds: 0 }
