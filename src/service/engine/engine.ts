/**
 * The engine: what happens between a request's bytes and its answer. It knows neither HTTP nor SQL: headers and bytes
 * come in, JSON goes out, and what cannot be answered is thrown as `ApiError`.
 */
import type { RandomBytes } from '../../crypto/index.ts'
import {
  type ActivityType,
  apiError,
  type Decoder,
  findActivitiesByPath,
  findQueryByPath,
  fingerprintOf,
  type JsonObject,
  parseJson,
  type QueryName,
  readJson,
  respell,
  type Spelling,
} from '../../protocol/index.ts'
import type { Headers } from '../../stamp/index.ts'
import { inSpan, type Logger, type Secret } from '../../telemetry/index.ts'
import type { Sealing } from '../keys/index.ts'
import type { MessageRules } from '../messages/index.ts'
import type { OidcVerifier } from '../oidc/index.ts'
import type { Rates } from '../rates.ts'
import { type ActivityRecordRow, type Database, lockOrganization, type Transaction } from '../store/index.ts'
import type { WorkPool } from '../work/index.ts'
import { writeActivity } from './activity-wire.ts'
import { admit } from './admission.ts'
import { refuseStrayCard, strikeOutCard, withoutSignature } from './card-requests.ts'
import { createCases } from './cases.ts'
import { readProof } from './credential.ts'
import { KEPT_DENIALS_A_DAY } from './denials.ts'
import { mayEnrol } from './enrolment.ts'
import { type FollowUps, runFollowUps } from './follow-ups.ts'
import type { Handler, NotExecuted, Outside } from './handler.ts'
import { createHandlerTools, type OauthTools } from './handler-tools.ts'
import { createJudge } from './judgement.ts'
import { createPolicySource } from './policy-cache.ts'
import { prepareQuery, prepareSubmit } from './preparation.ts'
import type { QueryHandler } from './query.ts'
import { reachOf } from './readings.ts'
import type { PreparedSubmit, QueryRequest, SubmitRequest } from './request.ts'
import { factsOfOutcome, type ReportFacts } from './request-facts.ts'
import { submit } from './submission.ts'
import { changedActivity, type TellActivity } from './telling.ts'
import type { EngineTools } from './tools.ts'
import { viewActivities } from './view.ts'
import { type Work, withWork } from './work.ts'
import { writeInSpans } from './write-in-spans.ts'

export interface EngineOptions {
  readonly database: Database
  readonly handlers: Readonly<Record<ActivityType, Handler | NotExecuted>>
  readonly queryHandlers: Readonly<Record<QueryName, QueryHandler | NotExecuted>>
  readonly decoder: Decoder
  readonly sealing: Sealing
  readonly oidc: OidcVerifier
  readonly oauth: OauthTools
  readonly outside: Outside
  readonly followUps: FollowUps
  readonly tellActivity: TellActivity
  readonly rates: Rates
  /** Denied requests of one user that are kept of one day. @default 100 */
  readonly keptDenialsADay?: number | undefined
  readonly clock: () => number
  readonly randomBytes: RandomBytes
  readonly logger: Logger
  readonly pool: WorkPool
  readonly messages: MessageRules
  readonly codesPerAddress: number
  readonly enclaveRoot: string
  /** Told of the steps that each decision by policies took. */
  readonly onDecision?: ((steps: number) => void) | undefined
  /** Who brings it makes parent organizations. @default nobody does */
  readonly enrolmentSecret?: Secret | undefined
}

/** One request as it came: the bytes are those that were stamped. */
export interface RawRequest {
  readonly path: string
  readonly headers: Headers
  readonly body: Uint8Array
  /** The address that it came from, where that is known. */
  readonly source?: string | undefined
  /** Told verified facts about the request. */
  readonly report?: ReportFacts
}

/** Answers submits and queries. Both throw `ApiError`, or `StoreUnavailable` when nothing could be done or read. */
export interface Engine {
  /** The answer is JSON text. */
  submit(raw: RawRequest): Promise<string>
  query(raw: RawRequest): Promise<JsonObject>
}

/** Creates the engine of one service. */
export function createEngine(options: EngineOptions): Engine {
  const { database, clock, rates, oidc, outside } = options
  const tools = createTools(options)
  return {
    async submit(raw) {
      const form = await inSpan('read', () => readSubmit(options, raw))
      const handler = options.handlers[form.row.type]
      const admitUncounted = (tx: Transaction) => admit(rates, tx, form, { now: clock(), isCounted: false })
      const preparing = inSpan('prepare', () =>
        prepareSubmit({ database, oidc, outside, handler, admit: admitUncounted }, form),
      )
      const { prepared, isAdmitted } = preparing instanceof Promise ? await preparing : preparing
      const enrols = mayEnrol(form.row, raw.headers, options.enrolmentSecret)
      const attempt = (work: Work) =>
        writeInSpans(database, form.organizationId, async (tx) => {
          const now = clock()
          const isFounded = enrols && (await foundOrganization(tools, tx, { ...form, prepared }, { now, work }))
          const request = { ...form, prepared: isFounded ? { ...prepared, answers: { founded: true } } : prepared }
          const admitted = admit(rates, tx, request, { now, isCounted: isAdmitted || !work.isFirst })
          const caller = admitted instanceof Promise ? await admitted : admitted
          work.chargeTo({ treeId: caller.treeId, organizationId: caller.homeId })
          const submitted = await submit(tools, tx, {
            caller: withoutSignature(request.row.type, caller),
            request,
            now,
            work,
          })
          const { activity, votes, denial, isNews } = submitted
          // A denial changes no activity that anybody follows.
          if (denial) return { submitted, isTold: false }
          const [view] = await viewActivities(tools, tx, [activity!], { caller, now, work, votes })
          const answer = spell(`{"activity":${writeActivity(view!, { nestedCopy: true })}}`, request.spelling)
          if (!isNews) return { submitted, answer, isTold: false }
          const at = { parentId: caller.treeId, now, work }
          const changed = changedActivity(tools, tx, { activity: activity!, votes }, at)
          return { submitted, answer, isTold: await options.tellActivity(tx, changed) }
        })
      const { submitted, isTold, answer } = await withWork(options.pool, attempt)
      runFollowUps(options.followUps, [...(submitted.followUps ?? []), ...(isTold ? (['wakeOutbox'] as const) : [])])
      form.report(factsOfOutcome(submitted))
      if (submitted.denial) throw submitted.denial
      return answer!
    },
    async query(raw) {
      const form = await readQuery(options, raw)
      const { name, request } = form
      const { prepared, isAdmitted } = await prepareQuery(
        { database, oidc, admit: (tx) => admit(rates, tx, form, { now: clock(), isCounted: false }) },
        form,
      )
      const handler = options.queryHandlers[name]
      const attempt = (work: Work) =>
        database.read(async (tx) => {
          const now = clock()
          const caller = await admit(rates, tx, form, { now, isCounted: isAdmitted || !work.isFirst })
          work.chargeTo({ treeId: caller.treeId, organizationId: caller.homeId })
          if (typeof handler !== 'function') throw apiError('notImplemented', `query ${name} (${handler.notExecuted})`)
          const context = {
            tx,
            organizationId: caller.organizationId,
            caller: { userId: caller.userId, organizationId: caller.homeId },
            now,
            identityOf: prepared.identityOf,
            chains: outside.chains,
            onRamp: outside.onRamp,
            viewActivities: async (activities: readonly ActivityRecordRow[]) => {
              const views = await viewActivities(tools, tx, activities, { caller, now, work })
              return views.map((view) => JSON.parse(writeActivity(view, { nestedCopy: false })) as JsonObject)
            },
          }
          return handler(context, request)
        })
      const answer = await withWork(options.pool, attempt)
      return typeof answer === 'function' ? answer() : answer
    },
  }
}

/** Makes the organization of a request, unless it is there; what comes after finds its caller in it. */
async function foundOrganization(
  { cases }: EngineTools,
  tx: Transaction,
  { row, intent, organizationId, prepared }: PreparedSubmit,
  { now, work }: { readonly now: number; readonly work: Work },
): Promise<boolean> {
  if (await lockOrganization(tx, organizationId)) return false
  const place = { organizationId, homeId: organizationId, submitterId: '' }
  const { handler, context } = cases.open(row, intent, { tx, ...place, now, work, ...prepared })
  await handler.found!(context, intent)
  return true
}

/** Only what was asked in the other spelling is touched: names that people chose come back as they were sent. */
function spell(answer: string, spelling: Spelling): string {
  return spelling === 'spark' ? answer : JSON.stringify(respell(JSON.parse(answer) as JsonObject, spelling))
}

function createTools(options: EngineOptions): EngineTools {
  const { handlers, logger, randomBytes, sealing, outside, oauth, keptDenialsADay, onDecision } = options
  const handlerTools = createHandlerTools({
    randomBytes,
    sealing,
    chains: outside.chains,
    oauth,
    messages: options.messages,
    codesPerAddress: options.codesPerAddress,
    enclaveRoot: options.enclaveRoot,
  })
  return {
    judge: createJudge(createPolicySource(), onDecision),
    randomBytes,
    logger,
    seal: sealing.seal,
    unseal: sealing.unseal,
    keptDenialsADay: keptDenialsADay ?? KEPT_DENIALS_A_DAY,
    cases: createCases(handlers, handlerTools),
  }
}

/** A body beyond this takes milliseconds in each part of its reading: others are answered between them. */
const LARGE_BYTES = 65_536

const othersFirst = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The stamp first: nobody's body is read before it is known that its stamp signs it. Nothing here touches the store. */
async function readSubmit(options: EngineOptions, raw: RawRequest): Promise<SubmitRequest> {
  const { decoder, sealing } = options
  const { path, body, source, report = reportToNobody } = raw
  if (findActivitiesByPath(path).length === 0) throw apiError('notFound', 'path', path)
  const proof = await readProof(raw, options)
  const isLarge = body.length > LARGE_BYTES
  if (isLarge) await othersFirst()
  const { text: message, value } = readJson(body)
  if (isLarge) await othersFirst()
  const envelope = decoder.envelope(value, path)
  const intent = decoder.intent(envelope.row.type, envelope.parameters)
  if (isLarge) await othersFirst()
  refuseStrayCard(envelope.row, value as JsonObject, intent)
  const card = strikeOutCard(
    { type: envelope.row.type, intent, message, fingerprint: fingerprintOf(body) },
    sealing.keyedFingerprint,
  )
  return {
    path: envelope.row.path,
    row: envelope.row,
    reach: reachOf(envelope.row.family),
    spelling: envelope.spelling,
    organizationId: envelope.organizationId.toLowerCase(),
    timestampMs: envelope.timestampMs,
    generateAppProofs: envelope.generateAppProofs,
    intent: card.intent,
    message: card.message,
    fingerprint: card.fingerprint,
    source,
    report,
    proof,
  }
}

async function readQuery(options: EngineOptions, raw: RawRequest): Promise<QueryRequest> {
  const { path, body, source, report = reportToNobody } = raw
  const row = findQueryByPath(path)
  if (!row) throw apiError('notFound', 'path', path)
  const proof = await readProof(raw, options)
  const isLarge = body.length > LARGE_BYTES
  if (isLarge) await othersFirst()
  const value = parseJson(body)
  if (isLarge) await othersFirst()
  const request = options.decoder.query(row.name, value)
  const organizationId = String(request['organizationId']).toLowerCase()
  return { path, name: row.name, reach: 'query', organizationId, request, source, report, proof }
}

const reportToNobody: ReportFacts = () => {}
