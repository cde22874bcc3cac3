/**
 * The questions that a request asks the world outside, before its transaction: others must not wait for the answers. The
 * caller must be admitted first, or anybody could make the service ask; bytes that are known need no second answer.
 */
import { type JsonObject, queries } from '../../protocol/index.ts'
import type { OidcVerifier } from '../oidc/index.ts'
import { type Database, findActivityByFingerprint, type Rows, type Transaction } from '../store/index.ts'
import type { Caller } from './caller.ts'
import type { Handler, NotExecuted, Outside } from './handler.ts'
import { findTokens, identityOfNone, verifyTokens } from './identities.ts'
import type { OutsideAnswers } from './prepared.ts'
import type { QueryRequest, SubmitRequest } from './request.ts'

/** The answers, and whether the caller was admitted to ask for them. */
export interface Preparation {
  readonly prepared: OutsideAnswers<JsonObject>
  readonly isAdmitted: boolean
}

interface Tools {
  readonly database: Database
  readonly oidc: OidcVerifier
  readonly admit: (tx: Transaction) => Rows<Caller>
}

/** Asks what a submit needs to have asked: who its OIDC tokens name, and its handler's own questions. Throws `ApiError`. */
export function prepareSubmit(
  { handler, ...tools }: Tools & { readonly outside: Outside; readonly handler: Handler | NotExecuted },
  { row, intent, fingerprint }: Pick<SubmitRequest, 'row' | 'intent' | 'fingerprint'>,
): Preparation | Promise<Preparation> {
  const tokens = findTokens(row.intent, intent)
  const ask = 'execute' in handler ? handler.prepare : undefined
  return tokens.length === 0 && !ask ? NOTHING_ASKED : askOutside(tools, { intent, fingerprint, tokens, ask })
}

async function askOutside(
  { database, oidc, admit, outside }: Tools & { readonly outside: Outside },
  {
    intent,
    fingerprint,
    tokens,
    ask,
  }: Pick<SubmitRequest, 'intent' | 'fingerprint'> & {
    readonly tokens: readonly string[]
    readonly ask: Handler['prepare']
  },
): Promise<Preparation> {
  const { organizationId, isKnown } = await database.read(async (tx) => {
    const { organizationId } = await admit(tx)
    return { organizationId, isKnown: (await findActivityByFingerprint(tx, organizationId, fingerprint)) !== undefined }
  })
  if (isKnown) return { ...NOTHING_ASKED, isAdmitted: true }
  const identityOf = await verifyTokens(oidc, tokens)
  const answers = (await ask?.(intent, outside, organizationId)) ?? undefined
  return { prepared: { identityOf, answers }, isAdmitted: true }
}

/** Asks who the OIDC tokens of a query name. Throws `ApiError`. */
export async function prepareQuery(
  { database, oidc, admit }: Tools,
  { name, request }: Pick<QueryRequest, 'name' | 'request'>,
): Promise<Preparation> {
  const tokens = findTokens(queries[name].request, request)
  if (tokens.length > 0) await database.read(admit)
  return {
    prepared: { identityOf: await verifyTokens(oidc, tokens), answers: undefined },
    isAdmitted: tokens.length > 0,
  }
}

/** Of a request that has no questions. */
const NOTHING_ASKED: Preparation = {
  prepared: { identityOf: identityOfNone, answers: undefined },
  isAdmitted: false,
}
