import { type ActivityRow, activityRow } from '../protocol/catalogue.ts'
import type { RootName } from './environment.ts'
import { limits } from './limits.ts'
import type { PolicyContext } from './model.ts'

/**
 * What one evaluation works on: the request, and how much work is left. Nothing of the request is copied: most policies
 * read three or four fields of it.
 */
export class Frame {
  readonly context: PolicyContext
  /** Resource, action and kind of an activity follow from its type (facts: policy-language §14). */
  readonly row: ActivityRow | undefined
  /** Nodes that may still be visited. */
  steps: number = limits.steps

  constructor(context: PolicyContext, row: ActivityRow | undefined) {
    this.context = context
    this.row = row
  }
}

/** Makes a frame for the evaluations of a request. */
export function createFrame(context: PolicyContext): Frame {
  return new Frame(context, activityRow(context.activity.type))
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
