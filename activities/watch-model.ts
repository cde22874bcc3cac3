import type { NoticeSink } from '../src/definitions/index.ts'
import type { Change, ChangeAuthor, Lock } from '../src/plan/index.ts'
import type { Actual, KindName } from '../src/resources/index.ts'

/**
 * What is done about what has left the definitions, by kind. `ignore`: nothing · `report`: it is told · `propose`: a plan that puts
 * it back is kept for `quorate apply` · `repair`: that plan is applied.
 */
export const WATCH_MODES = ['ignore', 'report', 'propose', 'repair'] as const
export type WatchMode = (typeof WATCH_MODES)[number]

/** An organization that is watched, as the person who began it said. */
export interface Watch {
  readonly organizationId: string
  readonly organization: string
  readonly baseUrl: string
  /** Digest of the definitions in the plan store; with a source, those that it had when the watch was added. */
  readonly definitions: string
  /** Where later definitions come from. @default nowhere: these count until the watch is added again */
  readonly source?: WatchSource
  /** The values of `${env.…}` and `${var.…}` that the definitions refer to. */
  readonly given: {
    readonly env: Readonly<Record<string, string>>
    readonly vars: Readonly<Record<string, string>>
  }
  /** How often it is looked at, in milliseconds, and how often all of it is read although no activity is new. */
  readonly everyMs: number
  readonly sweepMs: number
  /** By kind; kinds that are not here are reported. With a source, only what was given over the definitions. */
  readonly modes: Readonly<Partial<Record<KindName, WatchMode>>>
  /** Who is told of what; absent for nobody. */
  readonly notify?: readonly NoticeSink[]
  /** ISO 8601. */
  readonly since: string
  /** When a person said that it goes on after it was held; ISO 8601. */
  readonly resumedAt?: string
}

/**
 * Where the definitions of a watch come from, and who is believed. `push`: what `quorate push` has put into the plan store, signed
 * with one of these P-256 keys (lower-case hex) · `git`: the newest commit of one branch, signed by one of `signers`, the text of
 * an allowed signers file (ssh-keygen(1)).
 */
export type WatchSource =
  | { readonly kind: 'push'; readonly keys: readonly string[] }
  | {
      readonly kind: 'git'
      readonly url: string
      readonly branch: string
      /** Folder of the definitions in the repository, `.` for its root. */
      readonly path: string
      readonly signers: string
    }

/** What a source offers, verified. */
export interface OfferedDefinitions {
  readonly definitions: WatchedDefinitions
  readonly given: Watch['given']
  /** When it was signed, ISO 8601: what is older than what was taken is refused. */
  readonly at: string
  /** Who signed it: a public key, or a principal of the allowed signers. */
  readonly by: string
  /** The Git commit that it is. */
  readonly commit?: string
}

/** The definitions of a source that were taken last: they count until others are. */
export interface TakenDefinitions extends Pick<OfferedDefinitions, 'given' | 'at' | 'by' | 'commit'> {
  /** Digest in the plan store. */
  readonly definitions: string
  /** What their `watch:` says, once they were loaded. */
  readonly settings?: Pick<Watch, 'modes' | 'notify'>
}

/** Definitions as they were read: what each folder lists, and each file in base64, by their paths. */
export interface WatchedDefinitions {
  readonly format: 'quorate.definitions/1'
  readonly folder: string
  readonly folders: Readonly<Record<string, readonly { readonly name: string; readonly kind: 'file' | 'folder' }[]>>
  readonly files: Readonly<Record<string, string>>
}

/** Something that is not as defined. */
export interface DriftRow {
  /** With the name of its sub-organization before it, if it is in one. */
  readonly address: string
  readonly kind: KindName
  readonly action: Change['action']
  readonly cause: Change['cause']
  /** Of its kind; `report` where no key is at hand for a user of its sub-organization. */
  readonly mode: WatchMode
  /** When it was seen first; ISO 8601. */
  readonly since: string
  /** Who left it so; `null` where the activities do not tell, absent where nobody has: its definition is new. */
  readonly author?: ChangeAuthor | null
  /** The waiting activity that asks for a change of it. */
  readonly pending?: string
}

/** An activity that waits for approval. */
export interface Waiting {
  readonly id: string
  readonly type: string
  readonly fingerprint: string
  /** ISO 8601. */
  readonly since: string
  /** Names of those who have approved it. */
  readonly approvedBy: readonly string[]
  /** Ids of the same users; absent where a look of before they were kept has found it. */
  readonly approverIds?: readonly string[]
  /** Names of those whose approvals count no more: their 24 hours are over, or their key is gone. */
  readonly lapsed?: readonly string[]
}

/** Why something is not done until a person looks, or until it is over. */
export interface Held {
  readonly code: string
  readonly why: string
  /** What a person may do about it. @default to resume the watch */
  readonly next?: string
  /** ISO 8601. */
  readonly since: string
}

/** What a person may do where a repair is held. */
export function afterHeld({ next = 'go on with `quorate watch resume`' }: Held): string {
  return next
}

/** How a watched organization stood when it was last looked at. */
export interface WatchState {
  /** ISO 8601: of the last look, of the last time that all was read, and of the last time that all was as defined. */
  readonly lookedAt: string
  readonly sweptAt?: string
  readonly goodAt?: string
  /** The definitions that it was compared with. */
  readonly definitions?: string
  /** What tells whether anything was done since: the newest activity and those that wait. */
  readonly cursor?: string
  /** The last news of what is inside it when all was read. */
  readonly news?: string
  /** All was read while an apply ran: once that is over, it is read again. */
  readonly duringApply?: true
  /** How often all was read. */
  readonly sweeps: number
  readonly drift: readonly DriftRow[]
  readonly waiting: readonly Waiting[]
  /** The plan that puts back what may be proposed. */
  readonly proposal?: string
  /** The plan that is applied to repair, and what it changes. */
  readonly repair?: {
    readonly planDigest: string
    readonly createdAt: string
    /** With the name of its sub-organization before each that is in one. */
    readonly addresses: readonly string[]
    /** Whether its apply was begun. */
    readonly begun?: boolean
    /** The name of the run that begins its applies inside sub-organizations, once it was begun. */
    readonly inside?: string
  }
  /** Sub-organizations that were left out of it because applies of them ran: once these are over, all is read again. */
  readonly applyingInside?: readonly string[]
  /** What repairs could not do: it is held as long as the same is to be done. */
  readonly failed?: readonly FailedRepair[]
  /** In which sweep what was repaired; those of the last sweeps alone. */
  readonly repairs: readonly { readonly sweep: number; readonly address: string }[]
  readonly held?: Held
  /** What the source offers and why it is not taken: nothing is repaired until it offers something else. */
  readonly refused?: Held
  /** The source does not answer; what was taken last counts. */
  readonly away?: Held
  /** Who signed the definitions that count, when, and which commit they are. */
  readonly taken?: Pick<TakenDefinitions, 'at' | 'by' | 'commit'>
  /** Why the last look failed; the next one tries again. */
  readonly error?: { readonly code: string; readonly message: string; readonly next?: string; readonly since: string }
}

/** The part of a repair that changes one organization, and that failed or was rejected. */
export interface FailedRepair extends Omit<Held, 'since'> {
  readonly addresses: readonly string[]
}

/** What came of one look. */
export interface WatchCycle {
  readonly outcome: 'unchanged' | 'as defined' | 'drift' | 'held' | 'failed' | 'not watched'
  readonly drift: number
  /** The plan to apply. */
  readonly repair?: string
}

/** The lock of a watched organization: which live thing each name means, as far as somebody vouched for it. */
export type WatchLock = Lock

/** Some sub-organizations as a look that has not ended has read them; JSON. */
export interface ReadsPart {
  /** When the first of them was asked for, in milliseconds since the epoch. */
  readonly at: number
  /** Absent where there never was any. */
  readonly news?: string | undefined
  /** By what was asked. */
  readonly reads: Readonly<Record<string, Actual>>
}
