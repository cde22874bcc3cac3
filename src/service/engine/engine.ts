/**
 * The engine: what happens between a request's bytes and its answer. It knows neither HTTP nor SQL: headers and bytes
 * come in, JSON goes out, and what cannot be answered is thrown as `ApiError`.
 */
import type { RandomBytes } from '../../crypto/index.ts'
import { decodeUtf8 } from '../../encoding/index.ts'
import {
  type ActivityType,
  ApiError,
  apiError,
  type Decoder,
  findActivitiesByPath,
  findActivity,
  findQueryByPath,
  fingerprintOf,
  type JsonObject,
  parseJson,
  type QueryName,
  respell,
} from '../../protocol/index.ts'
import type { Headers } from '../../stamp/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import type { Sealing } from '../keys/index.ts'
import type { OidcVerifier } from '../oidc/index.ts'
import type { Rates } from '../rates.ts'
import type { ActivityRecordRow, Database } from '../store/index.ts'
import type { WorkPool } from '../work/index.ts'
import { toWireActivity } from './activity-wire.ts'
import { authenticate, type Proof } from './authentication.ts'
import { resolveCaller } from './caller.ts'
import { KEPT_DENIALS_A_DAY } from './denials.ts'
import { examine } from './examination.ts'
import type { Handler, NotExecuted, Outside } from './handler.ts'
import { createHandlerContext } from './handler-context.ts'
import { findTokens, type IdentityOf, identityOfRecorded, verifyTokens } from './identities.ts'
import { createJudge } from './judgement.ts'
import { type Known, noteCaller, noteOutcome } from './known.ts'
import { createPolicySource } from './policy-cache.ts'
import type { QueryHandler } from './query.ts'
import type { QueryRequest, SubmitRequest } from './request.ts'
import { checkSource } from './source-address.ts'
import { type Submitted, submit } from './submission.ts'
import type { EngineTools } from './tools.ts'
import { viewActivities } from './view.ts'
import { type Work, withWork } from './work.ts'

export interface EngineOptions {
  readonly database: Database
  readonly handlers: Readonly<Record<ActivityType, Handler | NotExecuted>>
  readonly queryHandlers: Readonly<Record<QueryName, QueryHandler | NotExecuted>>
  readonly decoder: Decoder
  readonly sealing: Sealing
  readonly oidc: OidcVerifier
  readonly outside: Outside
  readonly rates: Rates
  /** Denied requests of one user that are kept of one day. @default 100 */
  readonly keptDenialsADay?: number | undefined
  readonly clock: () => number
  readonly randomBytes: RandomBytes
  readonly logger: Logger
  readonly pool: WorkPool
}

/** One request as it came: the bytes are those that were stamped. */
export interface RawRequest {
  readonly path: string
  readonly headers: Headers
  readonly body: Uint8Array
  /** The address that it came from, where that is known. */
  readonly source?: string | undefined
  /** Verified facts about the request are noted here. */
  readonly known?: Known
}

/** Answers submits and queries. Both throw `ApiError`, or `StoreUnavailable` when nothing could be done or read. */
export interface Engine {
  submit(raw: RawRequest): Promise<JsonObject>
  query(raw: RawRequest): Promise<JsonObject>
}

/** Creates the engine of one service. */
export function createEngine(options: EngineOptions): Engine {
  const { database, clock } = options
  const tools = createTools(options)
  return {
    async submit(raw) {
      const form = await readSubmit(options, raw)
      const identityOf = await verifyIdentities(options, raw, form, form.intent)
      const { proof, organizationId, known } = form
      const answers = await examine(options, form, async (tx) =>
        noteCaller(known, await resolveCaller(tx, proof, organizationId, { reach: 'submit', now: clock() })),
      )
      const request = { ...form, identityOf, answers }
      let became: Submitted | undefined
      const attempt = (work: Work) =>
        database.write(async (tx) => {
          const now = clock()
          became = await submit(tools, tx, request, { now, work })
          const { activity, votes, caller, denial } = became
          if (denial) return denial
          const [view] = await viewActivities(tools, tx, [activity!], { caller, now, work, votes })
          const answer = { activity: toWireActivity(view!, { nestedCopy: true }) }
          // Only what was asked in the other spelling is touched: names that people chose come back as they were sent.
          return request.spelling === 'spark' ? answer : (respell(answer, request.spelling) as JsonObject)
        })
      const answer = await withWork(options.pool, attempt)
      if (became) noteOutcome(known, became)
      if (answer instanceof ApiError) throw answer
      return answer
    },
    async query(raw) {
      const form = await readQuery(options, raw)
      const { name, organizationId, request, proof } = form
      const identityOf = await verifyIdentities(options, raw, form, request)
      const handler = options.queryHandlers[name]
      const attempt = (work: Work) =>
        database.read(async (tx) => {
          const now = clock()
          const caller = await resolveCaller(tx, proof, organizationId, { reach: 'query', now })
          if (raw.known) noteCaller(raw.known, caller)
          work.chargeTo({ treeId: caller.treeId, organizationId: caller.homeId })
          await checkSource(tx, caller, raw.source)
          await options.rates.countCaller(tx, { organizationId: caller.organizationId, path: raw.path })
          if (typeof handler !== 'function') throw apiError('notImplemented', `query ${name} (${handler.notExecuted})`)
          const context = {
            tx,
            organizationId: caller.organizationId,
            caller: { userId: caller.userId, organizationId: caller.homeId },
            now,
            identityOf,
            chains: options.outside.chains,
            viewActivities: async (activities: readonly ActivityRecordRow[]) => {
              const views = await viewActivities(tools, tx, activities, { caller, now, work })
              return views.map((view) => toWireActivity(view, { nestedCopy: false }))
            },
          }
          return handler(context, request)
        })
      const answer = await withWork(options.pool, attempt)
      return typeof answer === 'function' ? answer() : answer
    },
  }
}

function createTools(options: EngineOptions): EngineTools {
  const { handlers, logger, randomBytes, sealing, outside, rates } = options
  const handlerTools = { randomBytes, sealing, chains: outside.chains }
  const prepareCase: EngineTools['prepareCase'] = (tx, row, intent, request) => {
    const handler = handlers[row.type]
    if ('notExecuted' in handler) throw apiError('notImplemented', `activity ${row.type} (${handler.notExecuted})`)
    return { row, intent, handler, context: createHandlerContext(handlerTools, { tx, ...request }) }
  }
  return {
    judge: createJudge(createPolicySource()),
    randomBytes,
    logger,
    rates,
    keptDenialsADay: options.keptDenialsADay ?? KEPT_DENIALS_A_DAY,
    prepareCase,
    openCase(tx, activity, submitterId, { now, work }) {
      const row = findActivity(activity.type)?.row
      if (!row || 'notExecuted' in handlers[row.type]) return undefined
      const intent = JSON.parse(activity.intent) as JsonObject
      return prepareCase(tx, row, intent, {
        organizationId: activity.organization_id,
        submitterId,
        now,
        identityOf: identityOfRecorded,
        answers: activity.answers === null ? undefined : (JSON.parse(activity.answers) as JsonObject),
        work,
      })
    },
  }
}

/** Verifies the OIDC tokens of a request, if it has any, for a caller who may ask from where the request came. */
async function verifyIdentities(
  { database, oidc, clock }: EngineOptions,
  { source, known = {} }: RawRequest,
  { organizationId, proof }: { readonly organizationId: string; readonly proof: Proof },
  request: JsonObject,
): Promise<IdentityOf> {
  const tokens = findTokens(request)
  if (tokens.length > 0) {
    await database.read(async (tx) => {
      const caller = await resolveCaller(tx, proof, organizationId, { reach: 'query', now: clock() })
      await checkSource(tx, noteCaller(known, caller), source)
    })
  }
  return verifyTokens(oidc, tokens)
}

/** A request before its tokens have been looked at and the world outside was asked. */
type Form<Request> = Omit<Request, 'identityOf' | 'answers'>

/** The stamp first: nobody's body is read before it is known that its stamp signs it. Nothing here touches the store. */
async function readSubmit({ decoder, pool }: EngineOptions, raw: RawRequest): Promise<Form<SubmitRequest>> {
  const { path, body, source, known = {} } = raw
  if (findActivitiesByPath(path).length === 0) throw apiError('notFound', 'path', path)
  const proof = await authenticate(raw, pool)
  const envelope = decoder.envelope(parseJson(body), path)
  const intent = decoder.intent(envelope.row.type, envelope.parameters)
  return {
    row: envelope.row,
    spelling: envelope.spelling,
    organizationId: envelope.organizationId.toLowerCase(),
    timestampMs: envelope.timestampMs,
    generateAppProofs: envelope.generateAppProofs,
    intent,
    message: decodeUtf8(body),
    fingerprint: fingerprintOf(body),
    source,
    known,
    proof,
  }
}

async function readQuery({ decoder, pool }: EngineOptions, raw: RawRequest): Promise<Form<QueryRequest>> {
  const { path, body } = raw
  const row = findQueryByPath(path)
  if (!row) throw apiError('notFound', 'path', path)
  const proof = await authenticate(raw, pool)
  const request = decoder.query(row.name, parseJson(body))
  const organizationId = String(request['organizationId']).toLowerCase()
  return { name: row.name, organizationId, request, proof }
}
