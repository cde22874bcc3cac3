import type { Address, KindName, Value } from '../resources/index.ts'

/**
 * The plan is a document: everything that will be done, made before anything is done. Applying it decides nothing new;
 * it fills in the ids that earlier batches returned. It is plain JSON; `digest` is the SHA-256 of its canonical JSON
 * without `createdAt` and `digest` themselves; it covers the plans of what is inside by their digests.
 */
export interface Plan {
  readonly format: 'quorate.plan/1'
  readonly organization: { readonly name: string; readonly id: string; readonly baseUrl: string }
  readonly actor: { readonly userId: string; readonly userName: string; readonly publicKey: string }
  readonly definitionsDigest: string
  /** SHA-256 of the canonical JSON of `live`. */
  readonly liveDigest: string
  /** The part of the live state that the plan was made from; when it has moved, the plan is stale. */
  readonly live: LivePart
  readonly changes: readonly Change[]
  readonly batches: readonly Batch[]
  /** Live ids of everything that a batch refers to and that existed when the plan was made. */
  readonly ids: Readonly<Record<Address, string>>
  /** Live and undeclared: left alone. */
  readonly unmanaged: readonly { readonly address: Address; readonly kind: KindName; readonly id: string }[]
  /** Addresses of the lock that no definition has and nothing answers to any more: the next lock is without them. */
  readonly gone?: readonly Address[]
  /** Names that look alike and are not the same, desired or live; absent when there are none. */
  readonly lookAlikes?: readonly LookAlikeNames[]
  /** What would be made anew and may be something that goes, under another name; absent when there is nothing of the kind. */
  readonly perhapsRenamed?: readonly PerhapsRenamed[]
  readonly guards: readonly Guard[]
  /** What the plan was narrowed to; absent in a plan of everything. */
  readonly target?: PlanTarget
  /** Ids of rejected activities whose intents are asked again, as somebody has told with `--ask-again`. */
  readonly askAgain?: readonly string[]
  /** Who gains or loses which power; absent when it was not computed. */
  readonly access?: readonly AccessChange[]
  /** What `access` does not tell of; absent when there is nothing of the kind. */
  readonly accessLimits?: readonly AccessLimit[]
  /** Who could take it back once it is carried out; absent when it was not computed. */
  readonly undo?: Undo
  /** What making the plan has cost in requests, and what applying it will at least. */
  readonly requests?: RequestBudget
  /** Plans of what is inside sub-organizations, in the order of their names. */
  readonly subOrganizations?: readonly Plan[]
  /** SHA-256 of the canonical JSON of their digests, in this order. */
  readonly insideDigest?: string
  /**
   * No key was at hand for a user of this sub-organization, so that it was only read and compared. `couldApply` are the names
   * of the members of its root quorum.
   */
  readonly comparedOnly?: { readonly couldApply: readonly string[] }
  /** The folder of the definitions, relative to where the plan was made; not covered by the digest. */
  readonly folder?: string
  /** The Git commit that is checked out where the definitions are; not covered by the digest. */
  readonly commit?: string
  /**
   * Whether the definitions have been changed since that commit; not covered by the digest. Absent where not; `not known` where Git does
   * not tell.
   */
  readonly uncommitted?: boolean | 'not known'
  /** Batches that were asked for before and wait for approval already: applying the plan goes on with them. Not covered by the digest. */
  readonly waiting?: readonly WaitingBatch[]
  /** ISO 8601; not covered by the digest. */
  readonly createdAt: string
  readonly digest: string
}

/** Two things that may be one. */
export interface PerhapsRenamed {
  /** What would be made anew. */
  readonly made: Address
  /** What is deleted for it, or is defined no more. */
  readonly former: Address
  /** What both have, as a clause without its subject: `has the same email`. */
  readonly same: string
  /** What the definition of `made` would say, as YAML, if it is the same. */
  readonly write: string
  /** Whether the definition of `former`, which says `delete: true`, would have to go. */
  readonly isMarked: boolean
}

/** A plan of a part (`--target`). */
export interface PlanTarget {
  /** What was asked for; with each what it holds, as a user its keys. */
  readonly addresses: readonly Address[]
  /** What it cannot do without, included, and what needs it. */
  readonly needed: readonly { readonly address: Address; readonly by: Address }[]
  /** What a plan of everything would change as well. */
  readonly leftOut: readonly { readonly address: Address; readonly action: ChangeAction }[]
  /** Names of sub-organizations that are defined and were not planned; absent when there are none. */
  readonly notLookedInto?: readonly string[]
}

/**
 * What a plan leans on: the managed fields of what definitions declare, and whatever decides who may act (policies,
 * tags, quorum, membership). Never sessions, votes or times.
 */
export interface LivePart {
  /** Kinds of which a new live thing makes the plan stale; with `parentIds`, only one that these hold. */
  readonly every: readonly { readonly kind: KindName; readonly parentIds?: readonly string[] }[]
  readonly things: readonly LiveThing[]
}

export interface LiveThing {
  readonly address: Address
  readonly kind: KindName
  /** The live id; `null` for what the plan creates, and nothing may have taken its place meanwhile. */
  readonly id: string | null
  /** The covered fields with their live values in comparable form; `null` for one that was absent. */
  readonly fields: Readonly<Record<string, Value>>
}

/** A name that looks like another one: who approves the one may believe to have read the other. */
export interface LookAlikeNames {
  readonly address: Address
  readonly like: Address
  /** In words: `only blanks differ`. */
  readonly difference: string
  /** Those of the two that live and are in no definition. */
  readonly unmanaged?: readonly Address[]
}

export interface RequestBudget {
  readonly reads: number
  readonly submits: number
  /** The configured rate; absent when there is no limit of ours. */
  readonly perSecond?: number
}

/**
 * `not-carried-out`: the acting user cannot have all of the plan carried out, and `access` is told of the organization as it will
 * be once somebody has · `wallets-unread`, `private-keys-unread`: nothing is known of these.
 */
export type AccessLimit = 'not-carried-out' | 'wallets-unread' | 'private-keys-unread'

/** One power over the organization, or over one wallet or private key, before and after the plan. */
export interface AccessChange {
  /** e.g. `sign`, `change the root quorum`. */
  readonly power: string
  /** Which of its requests change so, e.g. `sign transaction (ethereum)`; absent: all of them. */
  readonly requests?: readonly string[]
  /** Of a wallet or a private key. */
  readonly wallet?: Address
  readonly before: Access
  readonly after: Access
}

/** Sets of people (user names) of one size that suffice, and from which nobody can be left out. */
export interface Ways {
  /** At most 20. */
  readonly sets: readonly (readonly string[])[]
  /** Says it in one when the sets are all those of `count` people out of `of`. */
  readonly any?: { readonly count: number; readonly of: readonly string[] }
  /** How many more sets there are than are written out. */
  readonly more?: number
}

/** Who has a power. */
export interface Access {
  /** Whatever a request says; none when nobody has it so. */
  readonly ways: readonly Ways[]
  /** Depending on the request: where a condition holds, and unless a DENY policy applies; and by which policies. */
  readonly under?: readonly {
    readonly condition?: string
    readonly unless?: readonly string[]
    /** Names of these DENY policies. */
    readonly deniedBy?: readonly string[]
    readonly policies: readonly string[]
    readonly ways: readonly Ways[]
  }[]
  /** Why it could not be worked out, where it could not. */
  readonly unknown?: string
}

/** Who could take a plan back once it is carried out: put back what it changes, by activities whose order may be any. */
export interface Undo {
  /** How many activities that takes. */
  readonly activities: number
  /** Sets of people who get all of these executed among themselves; none where nobody does, or where it is not known. */
  readonly ways: readonly Ways[]
  /** Where nobody does: the first activity that would stay undone. */
  readonly stuck?: string
  /** Of what nobody gets executed as things then are: people who could after they have changed who decides. */
  readonly byMoves?: {
    readonly people: readonly string[]
    /** Whether that depends on what a request of theirs says. */
    readonly isConditional: boolean
  }
  /** Whether it is other people, or nobody, at other times than the plan's: policies open or close then. Absent where it is not. */
  readonly isTimed?: true
  /** Why it is not known who does. */
  readonly unknown?: string
  /** What nobody at all can put back; it is not among the activities. Absent when there is nothing of the kind. */
  readonly lost?: readonly { readonly address: Address; readonly why: string }[]
}

/**
 * `undecided`: was managed here, is in no definition any more, and stays live until one says what is to become of it ·
 * `forget`: handed back, stays live, and is managed no longer.
 */
export type ChangeAction = 'create' | 'update' | 'delete' | 'adopt' | 'undecided' | 'forget'

/**
 * Why a change is there, told by what was last applied: the definition is new · what lives is not defined · the definition
 * was changed or taken out · what lives was changed or deleted by somebody else (drift) · both · the two differ and what
 * was applied is not known · it was there before.
 */
export type Cause =
  | 'declared only'
  | 'live only'
  | 'definition changed'
  | 'live changed'
  | 'both changed'
  | 'differs'
  | 'adopted'

/** Why a field of a change differs. */
export type FieldCause = Extract<Cause, 'definition changed' | 'live changed'>

/** The activity that changed something live last, and whose it was. */
export interface ChangeAuthor {
  readonly activityId: string
  readonly type: string
  /** Who submitted it, when (ISO 8601), and the credential: its public key, and its name where it still lives. */
  readonly userName: string
  readonly publicKey: string
  readonly credential?: string
  readonly at: string
  /** Who else approved it. */
  readonly approvedBy: readonly { readonly userName: string; readonly publicKey: string; readonly at: string }[]
}

/** One difference between desired and actual. */
export interface Change {
  readonly address: Address
  readonly kind: KindName
  readonly action: ChangeAction
  readonly cause: Cause
  /** By field; `before` is absent for what is created, `after` for what is deleted. Names stand where ids are known. */
  readonly fields: readonly {
    readonly field: string
    readonly before?: Value
    readonly after?: Value
    /** Where both sides were changed, and it is known which of them this field is from. */
    readonly cause?: FieldCause
  }[]
  /** The live id, for what exists. */
  readonly id?: string
  /** Who created an adopted thing, by user name; `null` when that is not known. */
  readonly creator?: string | null
  /** Of drift: who left it so; `null` where the organization's newest activities do not tell, absent where nobody looked. */
  readonly author?: ChangeAuthor | null
  /** `path:line:column` of the definition, when there is one; of the lock's row for what no definition has any more. */
  readonly at?: string
  /** Index of the batch that carries it out; absent for what submits nothing: an adoption, or what stays as it is. */
  readonly batch?: number
}

/** The activity that asks already for what a batch would. */
export interface WaitingBatch {
  readonly batch: number
  readonly activityId: string
  readonly fingerprint: string
}

/** One activity: what is submitted, what must come before, and what it brings. */
export interface Batch {
  readonly index: number
  readonly type: string
  /** What it does, for people: "create 2 policies". */
  readonly summary: string
  /** The activity's `parameters`, with references and texts still to be filled in. */
  readonly parameters: Value
  readonly changes: readonly Address[]
  /** Batches that must have completed before. Always smaller indices. */
  readonly after: readonly number[]
  /** Where the ids of what it creates stand in the activity's result. */
  readonly produces: readonly { readonly address: Address; readonly at: readonly (string | number)[] }[]
  readonly forecast?: Forecast
}

/** What will come of a batch when the acting user submits it, as earlier batches will have left the organization. */
export type Forecast = Outcome & {
  /** Names of the policies whose times may make it another at another time; absent where there are none. */
  readonly timedBy?: readonly string[]
}

type Outcome =
  | { readonly outcome: 'completes' }
  /** It will wait; `needed` lists the smallest sets of further approvers (user names), any one of which suffices. */
  | {
      readonly outcome: 'waits'
      /** At most 20 sets; `any` says it in one when the sets are all those of `count` people out of `of`. */
      readonly needed: readonly (readonly string[])[]
      readonly any?: { readonly count: number; readonly of: readonly string[] }
      /**
       * What the acting user's own MFA policy asks for besides the credential in use: of each step the methods of which one
       * suffices. Until then nothing is carried out; with `needed` empty nobody else has to approve.
       */
      readonly factors?: { readonly of: string; readonly steps: readonly (readonly string[])[] }
    }
  /** `next` says what to do, and `address` what it is about, where another key would change nothing. */
  | { readonly outcome: 'denied'; readonly reason: string; readonly address?: Address; readonly next?: string }
  | { readonly outcome: 'depends'; readonly reason: string }
  /** Somebody rejected an activity of equal intent, and none has completed since: nothing is asked again by itself. */
  | {
      readonly outcome: 'rejected'
      /** Names of those who did. */
      readonly by: readonly string[]
      /** ISO 8601. */
      readonly at: string
      readonly activityId: string
    }

/** The guards, in the order in which they are shown. Each has a bypass of its own; none lets all of them pass. */
export const GUARDS = [
  'delete',
  'deletes',
  'removal',
  'lock-out',
  'quorum-lowered',
  'credential-in-use',
  'adoption',
  'exclusive-credentials',
  'auth-proxy',
  'no-undo',
] as const
export type GuardName = (typeof GUARDS)[number]

/** A reason to stop before anything is submitted. `bypass` is the flag that lets this one pass. */
export interface Guard {
  readonly name: GuardName
  readonly message: string
  readonly addresses: readonly Address[]
  /** e.g. `--allow deletes=4`. */
  readonly bypass: string
  /** Whether this run was given the bypass; recorded in the plan. */
  readonly allowed: boolean
}
