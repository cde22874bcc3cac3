/** A mailbox, with the name that is shown for it. */
export interface Mailbox {
  readonly address: string
  readonly name?: string
}

/** An e-mail to one person, in text and in HTML. */
export interface Email {
  readonly kind: 'email'
  readonly to: string
  /** @default the operator's */
  readonly from?: Partial<Mailbox>
  readonly replyTo?: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** A text message to one phone. */
export interface Sms {
  readonly kind: 'sms'
  readonly to: string
  readonly text: string
}

export type Message = Email | Sms

/** A message on its way, under the id that it keeps when it is sent once more. */
export interface Outgoing<Content extends Message = Message> {
  readonly id: string
  readonly organizationId: string
  /** When it was asked for: milliseconds since the epoch. */
  readonly createdAt: number
  readonly content: Content
}

/** What came of an attempt to send; what failed for good is not tried again. */
export type Sent =
  | { readonly kind: 'sent'; readonly from: string; readonly response: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly isFinal: boolean }

/** A way on which messages of a kind leave. */
export interface Transport<Content extends Message = Message> {
  /** Where it leads, for the operator; nothing secret. */
  readonly where: string
  /** Tries once. Never throws. */
  send(message: Outgoing<Content>, signal: AbortSignal): Promise<Sent>
  close(): Promise<void> | void
}
