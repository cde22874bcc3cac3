import { activityRow } from '../protocol/catalogue.ts'
import type { ActivityRow } from '../protocol/index.ts'
import type { RootName } from './environment.ts'
import { limits } from './limits.ts'
import type { PolicyContext } from './model.ts'

/**
 * The work that one request may cause: all its policies, for all its items, at every vote and look that it leads to. One
 * budget is handed from evaluation to evaluation, so that many cheap ones cannot do what one dear one may not.
 */
export interface Budget {
  /** Steps that are left; below zero once something was not evaluated for want of them. */
  steps: number
  /** The values of `CronSpan`s, each by its place in the compiled policies: the time of a request is one. */
  readonly spans: Map<object, boolean>
}

/** Creates the budget of one request. */
export function createBudget(): Budget {
  return { steps: limits.stepsOfRequest, spans: new Map() }
}

/** Whether a request has used up its budget: then no decision rests on its policies, some of which were not evaluated. */
export function isUsedUp({ steps }: Budget): boolean {
  return steps < 0
}

/**
 * What one evaluation works on: the request, and how much work is left. Nothing of the request is copied: most policies
 * read three or four fields of it.
 */
export class Frame {
  readonly context: PolicyContext
  /** Resource, action and kind of an activity follow from its type (docs/protocol/policies.md#names-of-activities). */
  readonly row: ActivityRow | undefined
  readonly budget: Budget
  /** Steps that this evaluation may still take. */
  steps: number = limits.steps
  #begun = 0

  constructor(context: PolicyContext, row: ActivityRow | undefined, budget: Budget) {
    this.context = context
    this.row = row
    this.budget = budget
  }

  /** Begins an evaluation, which pays for its nodes at once; false when the request has no steps left for it. */
  begin(steps: number): boolean {
    this.#begun = Math.max(0, Math.min(limits.steps, this.budget.steps))
    this.steps = this.#begun - steps
    if (this.steps >= 0) return true
    this.end()
    return false
  }

  /** Ends it: what it took is taken from the request. An evaluation that ran out has taken all that it might. */
  end(): void {
    const ranOut = this.steps < 0
    const taken = ranOut ? this.#begun : this.#begun - this.steps
    this.budget.steps -= ranOut && this.#begun < limits.steps ? taken + 1 : taken
  }
}

/** Makes a frame for the evaluations of a request. */
export function createFrame(context: PolicyContext, budget: Budget = createBudget()): Frame {
  return new Frame(context, activityRow(context.activity.type), budget)
}

/** The raw value of each root; an absent one is undefined for the request. */
export const rootReaders: Readonly<Record<RootName, (frame: Frame) => unknown>> = {
  approvers: ({ context }) => context.approvers,
  credentials: ({ context }) => context.credentials ?? [],
  activity: ({ context: { activity }, row }) => ({
    type: row?.type ?? activity.type,
    kind: row?.kind,
    resource: row?.resource,
    action: row?.action,
    params: activity.params ?? {},
  }),
  eth: ({ context }) => context.eth,
  solana: ({ context }) => context.solana,
  tron: ({ context }) => context.tron,
  bitcoin: ({ context }) => context.bitcoin,
  tempo: ({ context }) => context.tempo,
  wallet: ({ context }) => context.wallet,
  wallet_account: ({ context }) => context.wallet_account,
  private_key: ({ context }) => context.private_key,
  wallets: ({ context }) => context.wallets,
  secret: ({ context }) => context.secret,
  time: ({ context }) => ({ now: context.now }),
}
