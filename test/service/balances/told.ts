import type { JsonObject } from '../../../src/protocol/index.ts'
import type { Received, Receiver } from '../outbox/receiver.ts'

/** What an event says of a change of a balance. */
export interface Told extends JsonObject {
  readonly operation: string
  readonly txHash: string
  readonly idempotencyKey: string
  readonly asset: JsonObject
  readonly block: JsonObject
}

export const msgOf = ({ body }: Received): Told => body['msg'] as Told

/** The events of balances that a receiver has, by `confirmed` or `finalized`. */
export function toldTo(receiver: () => Receiver) {
  const of = (type: string) => receiver().received.filter(({ body }) => body['type'] === `balances:${type}`)
  const sumsOf = (type: string) =>
    of(type)
      .map((each) => `${msgOf(each).operation} ${msgOf(each).asset['amount']} ${msgOf(each).asset['caip19']}`)
      .toSorted()
  return { of, sumsOf }
}
