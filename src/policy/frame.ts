import { activityRow } from '../protocol/catalogue.ts'
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

/** The raw value of each root, at its position; an absent one is undefined for the request. */
export type Roots = readonly unknown[]

const rootOrder = [
  'approvers',
  'credentials',
  'activity',
  'eth',
  'solana',
  'tron',
  'bitcoin',
  'tempo',
  'wallet',
  'wallet_account',
  'private_key',
  'wallets',
  'secret',
  'time',
] as const satisfies readonly RootName[]

/** Where the roots of a request have a root: positions are found when an expression is compiled, and read when it runs. */
export const rootPositions = Object.fromEntries(rootOrder.map((name, position) => [name, position])) as Readonly<
  Record<RootName, number>
>

/** Makes a frame for one evaluation. */
export function createFrame(roots: Roots): Frame {
  return { roots, slots: [], steps: limits.steps }
}

/** The roots of a request. Resource, action and kind of an activity follow from its type (facts: policy-language §14). */
export function rootsOfContext(context: PolicyContext): Roots {
  const { activity } = context
  const row = activityRow(activity.type)
  // INVARIANT: in the order of `rootOrder`.
  return [
    context.approvers,
    context.credentials ?? [],
    {
      type: row?.type ?? activity.type,
      kind: row?.kind,
      resource: row?.resource,
      action: row?.action,
      params: activity.params ?? {},
    },
    context.eth,
    context.solana,
    context.tron,
    context.bitcoin,
    context.tempo,
    context.wallet,
    context.wallet_account,
    context.private_key,
    context.wallets,
    context.secret,
    { now: context.now },
  ]
}
