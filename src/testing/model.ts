import type { Bootstrap, ChainsSettings, InjectedFault, NewFault, WrittenMessage } from '../service/index.ts'

export interface QuorateOptions {
  /**
   * A folder of definitions that the organization is to be like. For every `${var.NAMEPublicKey}` that `vars` does not give,
   * a key is made, and what needs approval is approved with these keys. @default an organization with one root user
   */
  readonly definitions?: string
  /** Values of `${var.…}` in the definitions. */
  readonly vars?: Readonly<Record<string, string>>
  /** Values of `${env.…}` in the definitions, but for that of `id`. */
  readonly env?: Readonly<Record<string, string>>
  /** Chains by their CAIP-2 ids, such as `eip155:11155111`: a node's URL, or its URL and what else is to be set. @default none */
  readonly chains?: Readonly<Record<string, string | ChainsSettings[string]>>
  /** The time of the service, which then stands still but for `advance`. @default the machine's, which goes on */
  readonly clock?: Date
}

/** An API key of a user. Both are hex: 33 bytes compressed, 32 bytes. */
export interface NamedKey {
  readonly publicKey: string
  readonly privateKey: string
}

/** A stretch of time; its members are added up. */
export interface Duration {
  readonly days?: number
  readonly hours?: number
  readonly minutes?: number
  readonly seconds?: number
}

/** A webhook that came to `webhookUrl`. */
export interface Delivery {
  /** Of this machine's clock, RFC 3339. */
  readonly at: string
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string>>
  /** As it came, for a signature to be verified over it. */
  readonly body: string
}

/** A state that a service can go back to, for as long as it runs. */
export interface Snapshot {
  readonly id: number
}

/** What tells a client of the service: the contents of its `bootstrap.json`, but for the private key. */
export type Addresses = Omit<Bootstrap, 'apiPrivateKey'>

/** A service for tests. Each method throws `testing/ended` once it has ended. */
export interface Quorate extends Addresses {
  /** Where the API answers: `baseUrl` by a shorter name. */
  readonly url: string
  /** API keys by the names of their users: the root user's, and of definitions each that was made for `${var.NAMEPublicKey}`. */
  readonly keys: Readonly<Record<string, NamedKey>>
  /** The root user's name, for `keys`: `root`, or the first member of the root quorum of the definitions. */
  readonly rootUserName: string
  /** Ids of what the definitions name, by address: `wallet.treasury`. */
  readonly ids: Readonly<Record<string, string>>
  /** Where this process receives webhooks: the URL for an endpoint. Endpoints may be on this machine's loopback, too. */
  readonly webhookUrl: string
  /** The time of the service. */
  now(): Promise<Date>
  /** Moves the time of the service forward, and says what it is then. Throws `service/operator-invalid`. */
  advance(by: Duration): Promise<Date>
  /** Faults for requests, as `quorate fault` asks for them. `add` throws `service/operator-invalid`. */
  readonly faults: {
    add(fault: NewFault): Promise<InjectedFault>
    list(): Promise<readonly InjectedFault[]>
    /** Ends one, or all of them. */
    clear(id?: number): Promise<void>
  }
  /** E-mails and text messages that the service has sent, in order; a code in them is in the clear. */
  messages(): Promise<readonly WrittenMessage[]>
  /** Webhooks that came to `webhookUrl`, in order. */
  deliveries(): Promise<readonly Delivery[]>
  /** Keeps everything as it is now: rows, keys, time, faults. What was acknowledged is in it. */
  snapshot(): Promise<Snapshot>
  /** Makes everything as it was; messages and deliveries that came later are gone. Addresses stay. Throws `testing/no-snapshot`. */
  restore(snapshot: Snapshot): Promise<void>
  /** Ends the process and removes its folder. Once is enough; a second time is no error. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** What the process is asked, by method. */
export interface Methods {
  start(options: QuorateOptions): Promise<Started>
  now(): Promise<number>
  advance(ms: number): Promise<number>
  addFault(fault: NewFault): Promise<InjectedFault>
  listFaults(): Promise<readonly InjectedFault[]>
  clearFaults(id: number | undefined): Promise<void>
  messages(): Promise<readonly WrittenMessage[]>
  deliveries(): Promise<readonly Delivery[]>
  snapshot(): Promise<Snapshot>
  restore(snapshot: Snapshot): Promise<void>
  close(): Promise<void>
}

/** What a service is known by once it answers. */
export type Started = Addresses & Pick<Quorate, 'keys' | 'ids' | 'rootUserName' | 'webhookUrl'>

/** One question to the process, and its answer. Dates and bytes pass as they are. */
export interface ServiceCall {
  readonly id: number
  readonly method: keyof Methods
  readonly input: unknown
}
export interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: {
    readonly code: string
    readonly message: string
    readonly facts: Readonly<Record<string, unknown>>
    readonly next?: string
  }
}
