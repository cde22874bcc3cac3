import type { ApiClock, ClientCode, Deadline, Rate } from '../client/index.ts'
import type { CommandKey, KeeperKey, SignatureScheme, StampingKey } from '../stamp/index.ts'
import type { Logger } from '../telemetry/index.ts'

/** A key, at hand, behind a command or at a keeper, and how it stamps: by the plain scheme of its curve unless said. */
export type PlaceKey = ((StampingKey & { readonly publicKey: string }) | CommandKey | KeeperKey) & {
  readonly scheme?: SignatureScheme | undefined
}

/** The service, organization and key that a command works with. */
export interface Place {
  readonly baseUrl: string
  readonly organizationId: string
  /** Whether the service is the embedded one of the data folder. */
  readonly embedded: boolean
  /** The time as the API has it, in milliseconds since the epoch: an embedded service's may have been moved. */
  readonly now: () => number
  /** Of an API that is not embedded: where `now` is from. */
  readonly clock?: ApiClock
  readonly key: PlaceKey
  /** Folder with the keys of users of sub-organizations. */
  readonly subOrganizationKeys: string | undefined
  /**
   * The rate that all clients of this command share, whichever key signs. The worker of an embedded apply has its own,
   * and both share turns.
   */
  readonly rate: Rate
  /** Told of requests that are tried again or wait for an answer. @default nobody */
  readonly logger?: Logger
  /** Told the code of each answer of the API that is a refusal. @default nobody */
  readonly onRefusal?: (code: ClientCode) => void
  /** How long the API may hold back the reads of this command. @default none, as for a worker */
  readonly deadline?: Deadline
}
