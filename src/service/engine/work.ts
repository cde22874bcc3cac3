import { type Budget, createBudget } from '../../policy/index.ts'

/** What one request may cost, and what has been done for it so far. */
export interface Work {
  /** Of all decisions that the request leads to. */
  readonly budget: Budget
}

/** Begins the work of one request. */
export function createWork(): Work {
  return { budget: createBudget() }
}
