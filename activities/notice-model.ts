import type { NoticeTopic } from '../src/definitions/index.ts'

/** Something that people are told once, as long as it is so. */
export interface Notice {
  readonly topic: NoticeTopic
  /** The same for the same thing: what was told is not told again under its key. */
  readonly key: string
  /** One line, printable, without anything that may be a private key. */
  readonly text: string
  /** Ids of users whom it does not concern any more: they have approved. */
  readonly notFor?: readonly string[]
  /** How long it must have been so before it is told, in milliseconds. @default 0 */
  readonly afterMs?: number
}

/** A message to one audience. */
export interface NoticeMessage {
  /** The same when it is sent once more. */
  readonly id: string
  /** ISO 8601. */
  readonly at: string
  readonly organization: string
  readonly organizationId: string
  readonly notices: readonly Pick<Notice, 'topic' | 'text'>[]
}

/** How an apply or a rotation ended, kept until everybody who wants to know was told. */
export type NoticeEvent = ApplyEvent | RotationEvent

interface ApplyEvent extends EventOf {
  readonly topic: 'rejected' | 'failed'
  readonly planDigest: string
}

interface RotationEvent extends EventOf {
  readonly topic: 'failed'
  /** Whose key was to be replaced; `partial` where the new one is in use and the old one may be valid too. */
  readonly rotation: { readonly user: string; readonly key: string; readonly state: 'failed' | 'partial' }
}

interface EventOf {
  readonly organizationId: string
  /** ISO 8601. */
  readonly at: string
  readonly why: string
}

/** What was told to whom. */
export interface NoticeState {
  /** Since when each thing is so, by its key; ISO 8601. */
  readonly since: Readonly<Record<string, string>>
  /** By the sink's name. */
  readonly sinks: Readonly<Record<string, NoticeSinkState>>
}

export interface NoticeSinkState {
  /** What was told, with when it was last so; ISO 8601. */
  readonly told: Readonly<Record<string, string>>
  /** Why the last message did not arrive; it is sent again at `nextAt`. */
  readonly failing?: {
    readonly times: number
    readonly why: string
    /** ISO 8601. */
    readonly since: string
    readonly nextAt: string
  }
}
