import type { Bootstrap, OperatorState } from '../../service/index.ts'
import type { SignatureScheme } from '../../stamp/index.ts'

/** What the background process says of itself when asked. */
export interface BackgroundStatus {
  readonly pid: number
  /** ISO 8601. */
  readonly startedAt: string
  readonly version: string
  readonly baseUrl: string
  /** Whether the service of `baseUrl` runs inside it. */
  readonly embeddedService: boolean
  /** What an operator has changed of the embedded service (`quorate clock`, `quorate fault`). */
  readonly operator: Pick<OperatorState, 'aheadMs' | 'faults'>
  /** What pays for sponsored sends of the embedded service, by the namespace of the chain. */
  readonly relayers?: Bootstrap['relayers']
  readonly organizationId: string
  /** The credential that its worker submits with. */
  readonly publicKey: string
  /** Folder of the keys that its worker submits with in sub-organizations. */
  readonly subOrganizationKeys?: string
  readonly temporalAddress: string
  /** Whether that server is its own; its certificates then stand in the data folder. */
  readonly embeddedTemporal: boolean
  readonly namespace: string
  readonly taskQueue: string
  readonly log: string
}

/** What the background process answers, at any moment of its life. */
export type BackgroundAnswer =
  | { readonly state: 'starting' | 'stopping'; readonly pid: number }
  | { readonly state: 'up'; readonly status: BackgroundStatus }

/** What the parent sends once, over the pipe between the two: the private key never stands in an argument or a variable. */
export interface BackgroundStart {
  readonly dataDir: string
  readonly baseUrl?: string
  readonly organizationId?: string
  /** The private key with its curve, when the parent was given one. */
  readonly privateKey?: string
  readonly stampScheme?: SignatureScheme
  /** What payloads at Temporal are sealed with, when the parent was given it. @default the data folder's own */
  readonly payloadKey?: string
  readonly rootUserName?: string
  readonly organizationName?: string
  readonly requestsPerSecond?: number
  /** Folder with the keys of users of sub-organizations. */
  readonly subOrganizationKeys?: string
}

/** What the child tells its parent while it comes up. */
export type BackgroundNews =
  | { readonly kind: 'announce'; readonly text: string }
  | { readonly kind: 'ready'; readonly status: BackgroundStatus }
  /** Another process has the data folder. */
  | { readonly kind: 'taken' }
  | {
      readonly kind: 'failed'
      readonly error: {
        readonly code: string
        readonly message: string
        readonly facts: Record<string, unknown>
        readonly next?: string
      }
    }
