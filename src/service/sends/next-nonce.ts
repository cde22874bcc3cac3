import type { SendRow } from '../resources/sends/store.ts'
import { readSendRequest } from './request.ts'

/** Which of a row of numbers are spoken for. */
export interface Spoken {
  readonly taken: ReadonlySet<bigint>
  /** How many more take whatever is free when their turn comes. */
  readonly waiting: number
}

/** The number for one who comes last: the lowest from `next` on that nobody has, once all who wait have theirs. */
export function nextNonce(next: bigint, { taken, waiting }: Spoken): bigint {
  let nonce = next
  for (let before = waiting; ; nonce++) {
    if (taken.has(nonce)) continue
    if (before-- === 0) return nonce
  }
}

/** The nonces of an address that its open sends are signed with, or are to have. */
export function spokenNonces(open: readonly SendRow[], address: string): Spoken {
  const own = open.filter(({ sender }) => sender === address)
  return spoken(own.map(({ nonce, request }) => nonce ?? readSendRequest(request).nonce))
}

/** The nonces of an account's executions that open sends are to have: the chain counts them once they are included. */
export function spokenExecutions(open: readonly SendRow[], address: string): Spoken {
  const own = open.filter(({ account, sender }) => (account ?? sender) === address)
  const requests = own.map(({ request }) => readSendRequest(request))
  return spoken(requests.flatMap((request) => (request.kind === 'execution' ? [request.gasStationNonce] : [])))
}

function spoken(nonces: readonly (number | string | undefined)[]): Spoken {
  const given = nonces.filter((nonce) => nonce !== undefined)
  return { taken: new Set(given.map(BigInt)), waiting: nonces.length - given.length }
}
