import { findActivity } from '../protocol/catalogue.ts'
import type { RootName } from './environment.ts'
import { limits } from './limits.ts'
import type { PolicyContext } from './model.ts'
import type { Value } from './values.ts'

/** What one evaluation works on: the roots of the request, the variables in scope, and how much work is left. */
export interface Frame {
  readonly roots: Roots
  /** Values of the variables, by the depth of their predicate. */
  readonly slots: Value[]
  /** Nodes that may still be visited. */
  steps: number
}

/** The raw value of each root; an absent one is undefined for the request. */
export type Roots = Readonly<Partial<Record<RootName, unknown>>>

/** Makes a frame for one evaluation. */
export function createFrame(roots: Roots): Frame {
  return { roots, slots: [], steps: limits.steps }
}

/** The roots of a request. Resource, action and kind of an activity follow from its type (facts: policy-language §14). */
export function rootsOfContext(context: PolicyContext): Roots {
  const { activity } = context
  const row = findActivity(activity.type)?.row
  // Written out, so that the roots of every request have one shape: they are what evaluation reads most.
  return {
    approvers: context.approvers,
    credentials: context.credentials ?? [],
    activity: {
      type: row?.type ?? activity.type,
      kind: row?.kind,
      resource: row?.resource,
      action: row?.action,
      params: activity.params ?? {},
    },
    eth: context.eth,
    solana: context.solana,
    tron: context.tron,
    bitcoin: context.bitcoin,
    tempo: context.tempo,
    wallet: context.wallet,
    wallet_account: context.wallet_account,
    private_key: context.private_key,
    wallets: context.wallets,
    secret: context.secret,
    time: { now: context.now },
  } satisfies Record<RootName, unknown>
}
