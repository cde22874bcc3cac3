/** What became of a nonce that no send of the service's records was signed with; on Solana, of a transaction that none was signed as. */
export interface SeenNonce {
  /** None on Solana. */
  readonly nonce?: number
  /**
   * `waits`: no block has it yet; `unsettled`: its block may still be taken back, or a send that asks for the same may still be included; `untold`: the node does not say what used it;
   * `send`: its transaction is the send `sendId`; `authorization`: no transaction of the address has used it (EIP-7702);
   * `foreign`: its transaction is no send of the records; `other`: somebody has said that it is another payment.
   */
  readonly is: 'waits' | 'unsettled' | 'untold' | 'send' | 'authorization' | 'foreign' | 'other'
  readonly hash?: string
  /** On Solana a slot. */
  readonly block?: number
  /** Empty for a creation; none of a transaction of Solana that is no plain payment. */
  readonly receiver?: string
  /** Decimal, in the smallest unit: wei, lamports, or that of `token`. */
  readonly value?: string
  /** The mint, where it pays a token of Solana. */
  readonly token?: string | undefined
  /** Hex with `0x`; none on Solana. */
  readonly data?: string
  readonly sendId?: string
  readonly activityId?: string
}

/** A send that a store has open which was put back from a snapshot, and that no transaction of the chain is. */
export interface SeenHeldSend {
  readonly sendId: string
  readonly activityId: string
  /** As `SeenNonce` has them. */
  readonly receiver?: string
  readonly value?: string
  readonly token?: string | undefined
  readonly data?: string
  /** What the operator says of it: it is signed, or ended as FAILED. Held back without. */
  readonly word?: 'pay' | 'give-up'
}

/** A lane that holds still, or did. */
export interface SeenLane {
  /** CAIP-2. */
  readonly caip2: string
  readonly address: string
  readonly nonces: readonly SeenNonce[]
  readonly sends: readonly SeenHeldSend[]
  /** Whether it holds still: something is not identified, or `reason`. */
  readonly isHeld: boolean
  /** Why not all was looked at, or why it is too early to say that nothing is missing. */
  readonly reason?: string
}

export interface SeenLanes {
  /** Those that have something to identify; after `reconcile-lanes`, as they are then. */
  readonly lanes: readonly SeenLane[]
  /** Lanes that could not be looked at, each with the reason. */
  readonly unread: readonly { readonly caip2: string; readonly address: string; readonly reason: string }[]
}

/** A request of an operator about the nonces of senders. */
export interface LaneRequest {
  /** `reconcile-lanes` writes what `list-lanes` has `shown` with the same `others`, as far as it is identified. */
  readonly kind: 'list-lanes' | 'reconcile-lanes'
  /** Hashes, or signatures, of transactions that are other payments, although they do what a send asks for. */
  readonly others: readonly string[]
  /** Ids of held sends that are to be signed; all that `giveUp` does not name. @default none */
  readonly pay?: readonly string[] | 'all'
  /** Ids of held sends that are to end. @default none */
  readonly giveUp?: readonly string[]
  /** Keys of what the operator was shown (`shownKeys`): nothing else is written. @default nothing */
  readonly shown?: readonly string[]
  /** How long nodes are asked; what is not identified by then stays as it is. @default `LANES_WITHIN_MS` */
  readonly withinMs?: number
}

/** Long enough for some thousand questions to nodes. */
export const LANES_WITHIN_MS = 4 * 60 * 1000

/** Answers them. */
export interface LaneDesk {
  look(request: LaneRequest): Promise<SeenLanes>
}

/** The keys by which a lane, and what was said of each of its transactions, count as shown. */
export function shownKeys({ caip2, address, nonces }: Pick<SeenLane, 'caip2' | 'address' | 'nonces'>): string[] {
  const lane = `${caip2} ${address}`
  return [lane, ...nonces.map(({ nonce, hash, is, sendId }) => [lane, nonce, hash, is, sendId].join(' '))]
}

/** Whether an operator who was shown these keys has seen a lane, with these of its transactions. */
export function isShown(shown: LaneRequest['shown'], lane: Parameters<typeof shownKeys>[0]): boolean {
  return shownKeys(lane).every((key) => shown?.includes(key))
}

const KINDS: ReadonlySet<unknown> = new Set<LaneRequest['kind']>(['list-lanes', 'reconcile-lanes'])

/** Whether a request is one about lanes. */
export function isLaneRequest(request: { readonly kind: unknown }): request is LaneRequest {
  return KINDS.has(request.kind)
}
