/** The service's own loops that carry on with what an activity has recorded; each wakes one of them. */
export interface FollowUps {
  /** Signs and broadcasts the sends that have been accepted. */
  readonly wakeSender: () => void
  /** Sends the messages that have been written. */
  readonly wakeMessenger: () => void
  /** Delivers the webhooks that have been written. */
  readonly wakeOutbox: () => void
}

/** A follow-up by its name. */
export type FollowUp = keyof FollowUps

/**
 * Runs the follow-ups of a submit. To be called once, after its commit: nobody may see or act on what could still be undone. A
 * follow-up is a hint alone: what is to be done stands in the store, and is done after a restart too.
 */
export function runFollowUps(followUps: FollowUps, declared: Iterable<FollowUp>): void {
  for (const followUp of declared) followUps[followUp]()
}
