/** The service's own loops that carry on with what an activity has recorded; each wakes one of them. */
export interface Effects {
  /** Signs and broadcasts the sends that have been accepted. */
  readonly wakeSender: () => void
  /** Sends the messages that have been written. */
  readonly wakeMessenger: () => void
  /** Delivers the webhooks that have been written. */
  readonly wakeOutbox: () => void
}

/** An effect by its name. */
export type Effect = keyof Effects

/**
 * Runs the effects of a submit. To be called once, after its commit: nobody may see or act on what could still be undone. An
 * effect is a hint alone: what is to be done stands in the store, and is done after a restart too.
 */
export function runEffects(effects: Effects, declared: Iterable<Effect>): void {
  for (const effect of declared) effects[effect]()
}
