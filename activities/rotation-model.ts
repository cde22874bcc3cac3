import type { Plan } from '../src/plan/index.ts'
import type { ActingUser } from './acting-user.ts'
import type { Failure } from './model.ts'

/** Where the new private key is handed to. The worker does it, on its machine and as its user. */
export type RotationSink =
  /** A key file in the form that quorate reads; the file of the old key may be the one. */
  | { readonly kind: 'file'; readonly path: string }
  /** A line `VARIABLE=key` of a file that may have other lines, which stay. */
  | { readonly kind: 'env-file'; readonly path: string; readonly variable: string }
  /** A command of `/bin/sh -c` that reads the key on stdin, as 64 hex digits and a line break. */
  | { readonly kind: 'command'; readonly command: string }
  | StoreSink

/** A field of a secret in a store of secrets, which the worker reaches with its own credentials. */
export interface StoreSink {
  readonly kind: 'store'
  readonly store: (typeof SECRET_STORES)[number]
  /** `MOUNT/PATH` in Vault, the name or ARN in AWS Secrets Manager, `NAMESPACE/NAME` in Kubernetes. */
  readonly path: string
  /** @default `key`; in AWS Secrets Manager the whole secret */
  readonly field?: string
}

export const SECRET_STORES = ['vault', 'aws-secrets-manager', 'kubernetes'] as const

/** A day: longer than an outage, and shorter than two valid keys should be there unnoticed. */
export const STORE_AWAY_MS = 86_400_000

/** The order of a rotation. It never changes. */
export interface RotationOrder {
  readonly rotationId: string
  readonly organization: Plan['organization']
  readonly user: { readonly id: string; readonly name: string }
  /** The key that is replaced. */
  readonly key: { readonly id: string; readonly name: string; readonly publicKey: string }
  /** Of the new key, in seconds. @default it does not expire */
  readonly expiresIn?: number
  /** Another key of the user, which is deleted first to make room. */
  readonly drop?: { readonly id: string; readonly name: string; readonly publicKey: string }
  /** How long both keys are valid. */
  readonly overlapMs: number
  readonly sink: RotationSink
  /** How long a store that does not answer is asked, before the new key is taken away again. @default `STORE_AWAY_MS` */
  readonly awayMs?: number
  /** Whether a deletion that was rejected is asked for once more. @default false */
  readonly askAgain?: boolean
  /** ISO 8601. */
  readonly orderedAt: string
  /** Who ordered it, as whom alone it is submitted and approved. Absent in orders of old versions: any worker's key does. */
  readonly by?: ActingUser
}

/** The activities of a rotation, in their order. `undo` takes the new key away again, and then nothing is deleted. */
export const ROTATION_PARTS = ['drop', 'create', 'delete', 'undo'] as const
export type RotationPart = (typeof ROTATION_PARTS)[number]

/** The progress of a rotation; its workflow's query answer and, at the end, its result. Times are ISO 8601. */
export interface RotationProgress {
  readonly rotationId: string
  /** Names. */
  readonly user: string
  readonly key: string
  /**
   * The last three never change. `done`: the old key is refused. `failed`: the old key stays, and the new one is not there or was
   * taken away again. `partial`: the new key is there, and the old one was not deleted, or not proved to be refused: `error` says which.
   */
  readonly state:
    | 'dropping'
    | 'creating'
    | 'verifying'
    | 'handing over'
    | 'overlap'
    | 'deleting'
    | 'proving'
    | 'undoing'
    | 'done'
    | 'failed'
    | 'partial'
  readonly old: { readonly id: string; readonly publicKey: string }
  readonly new?: { readonly id: string; readonly publicKey: string }
  /** The activity that waits for approval. */
  readonly waiting?: {
    readonly part: RotationPart
    readonly activityId: string
    readonly fingerprint: string
    readonly since: string
    readonly approved: readonly string[]
  }
  /** Ids of activities. */
  readonly activities: Readonly<Partial<Record<RotationPart, string>>>
  readonly startedAt: string
  readonly createdAt?: string
  readonly verifiedAt?: string
  readonly handedAt?: string
  /** When the old key is deleted. */
  readonly deletesAt?: string
  readonly deletedAt?: string
  readonly provedAt?: string
  /** `refused`: the API refused a request that the old key had stamped. `not registered`: the key is not in the list of the user's. */
  readonly proof?: 'refused' | 'not registered'
  /** Why it failed, or what its next try waits for. */
  readonly error?: Failure
}

/** A rotation that is not over. */
export interface RunningRotation extends RotationProgress {
  /** How somebody ended its workflow at Temporal: nobody carries it out until it is continued. */
  readonly end?: string
}

/** Whether nothing more will come of a rotation. */
export function isRotationOver({ state }: Pick<RotationProgress, 'state'>): boolean {
  return state === 'done' || state === 'failed' || state === 'partial'
}
