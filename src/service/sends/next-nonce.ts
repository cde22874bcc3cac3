import type { SendRow } from '../resources/sends/store.ts'
import { readSendRequest } from './request.ts'

/** The nonces of an address that its open sends have or will take. */
export interface Spoken {
  /** Nonces that sends were signed with, or that callers have set. */
  readonly taken: ReadonlySet<bigint>
  /** How many sends will take the lowest free nonce when they are signed. */
  readonly waiting: number
}

/** The nonce for a send that comes after all of these: the lowest free one from `next` on, once each waiting send has taken its own. */
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
