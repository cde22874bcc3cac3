/**
 * Temporal's errors by their names, which its SDK keeps the same between copies of itself. Loading its client for their classes
 * would cost every command that only plans a tenth of a second.
 */
const named = (name: string) => (error: unknown) => error instanceof Error && error.name === name

/** Another workflow has the id. */
export const isAlreadyStarted = named('WorkflowExecutionAlreadyStartedError')

/** No workflow has the id, or none that can still be told anything. */
export const isNotFound = named('WorkflowNotFoundError')

/** The server did not answer, or answered with a fault. */
export const isServiceError = named('ServiceError')
