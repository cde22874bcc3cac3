/** Addresses of the programs that every cluster has, and the limit that they keep. */

export const SYSTEM_PROGRAM = '11111111111111111111111111111111'
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111'

/** Compute units that a transaction may use at most. */
export const MAX_COMPUTE_UNITS = 1_400_000
