import { newUuid, type RandomBytes } from '../../crypto/index.ts'
import type { JsonObject } from '../../protocol/index.ts'
import type { Chains } from '../chains/index.ts'
import type { Sealing } from '../keys/index.ts'
import type { Transaction } from '../store/index.ts'
import type { HandlerContext } from './handler.ts'
import type { IdentityOf } from './identities.ts'
import type { Work } from './work.ts'

/** The tools of handlers besides the transaction. */
export interface HandlerTools {
  readonly randomBytes: RandomBytes
  readonly sealing: Sealing
  readonly chains: Chains
}

/** Gives a handler what it may use for one request. */
export function createHandlerContext(
  tools: HandlerTools,
  request: {
    readonly tx: Transaction
    readonly organizationId: string
    readonly submitterId: string
    readonly now: number
    readonly identityOf: IdentityOf
    readonly answers: JsonObject | undefined
    readonly work: Work
  },
): HandlerContext {
  const { randomBytes, sealing, chains } = tools
  return {
    tx: request.tx,
    organizationId: request.organizationId,
    submitterId: request.submitterId,
    now: request.now,
    randomBytes,
    newId: () => newUuid(randomBytes),
    seal: sealing.seal,
    unseal: sealing.unseal,
    identityOf: request.identityOf,
    answers: request.answers,
    chains,
    work: request.work,
  }
}
