import type { KeptKey } from '../../config/index.ts'
import type { Bootstrap, OperatorState } from '../../service/index.ts'
import type { CommandKey, SignatureScheme } from '../../stamp/index.ts'

/** The status of the background process. */
export interface BackgroundStatus {
  readonly pid: number
  /** ISO 8601. */
  readonly startedAt: string
  readonly version: string
  readonly baseUrl: string
  /** Whether the service of `baseUrl` runs inside it. */
  readonly embeddedService: boolean
  /** The changes of an operator to the embedded service (`quorate clock`, `quorate fault`). */
  readonly operator: Pick<OperatorState, 'aheadMs' | 'faults'>
  /** The addresses that pay for sponsored sends of the embedded service, by the namespace of the chain. */
  readonly relayers?: Bootstrap['relayers']
  /** Where the authentication proxy of the embedded service is. */
  readonly authProxyUrl?: string
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

/** An answer of the background process. */
export type BackgroundAnswer =
  | { readonly state: 'starting' | 'stopping'; readonly pid: number }
  | { readonly state: 'up'; readonly status: BackgroundStatus }
  /** It runs, and gave no answer in time. */
  | { readonly state: 'silent'; readonly pid: number }

/** Sent once by the parent, over a pipe, so that the private key never stands in an argument or a variable. */
export interface BackgroundStart {
  readonly dataDir: string
  readonly baseUrl?: string
  readonly organizationId?: string
  /** The private key with its curve, when the parent was given one. */
  readonly privateKey?: string
  /** The key and the command that signs with it, when the parent was given those. */
  readonly signingKey?: CommandKey
  /** The key of a keeper that signs by itself, when the parent was given one. */
  readonly keptKey?: Omit<KeptKey, 'kind'>
  readonly stampScheme?: SignatureScheme
  /** The payload key, when the parent was given one. @default the data folder's own */
  readonly payloadKey?: string
  readonly rootUserName?: string
  readonly rootKeyName?: string
  readonly organizationName?: string
  readonly requestsPerSecond?: number
  /** Through which it shares its rates. @default `turns` of the data folder */
  readonly turnsDir?: string
  /** Folder with the keys of users of sub-organizations. */
  readonly subOrganizationKeys?: string
}

/** The child's messages to its parent while it starts. */
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
