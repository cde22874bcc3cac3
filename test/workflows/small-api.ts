/**
 * As much of the signed-activity API as a walk meets, in memory, with faults on request. It recognises a repeated body
 * by its bytes (docs/protocol/activities.md#fingerprint), counts votes, and keeps a log of what was submitted, so that
 * a test can count activities by intent. It outlives the workers that tests kill.
 */
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { canonicalJson } from '../../src/encoding/index.ts'
import { findActivitiesByPath, findActivity } from '../../src/protocol/index.ts'

export type Decision = 'completes' | 'waits' | 'denied' | 'fails'
type Members = Readonly<Record<string, unknown>>

interface Vote {
  readonly userId: string
  readonly selection: 'VOTE_SELECTION_APPROVED' | 'VOTE_SELECTION_REJECTED'
  readonly publicKey: string
  createdAt: number
}

export interface SmallActivity {
  readonly id: string
  readonly type: string
  readonly parameters: Members
  readonly fingerprint: string
  createdAt: number
  status: string
  result: Members
  failure?: Members
  readonly votes: Vote[]
}

export interface SmallApi {
  readonly baseUrl: string
  readonly activities: readonly SmallActivity[]
  /** Every submit that arrived, repeated ones too. */
  readonly submits: readonly { readonly path: string; readonly body: string }[]
  /** What becomes of a new activity. @default completes */
  decide: (type: string, parameters: Members) => Decision
  /** Approvals that a waiting one needs. @default 2 */
  threshold: number
  /** Called once a submit has been carried out; whether its answer is lost. */
  loseAnswer: (count: number) => boolean
  /** How long an answer takes after the request was carried out. @default 0 */
  answerAfterMs: number
  /** How far this service's clock is ahead of the machine's. */
  clockAheadMs: number
  /** Whether it answers 503 to everything. */
  down: boolean
  /** Votes as another user. */
  vote(user: string, fingerprint: string, selection: 'approve' | 'reject'): void
  /** Submits as another user. */
  submitAs(user: string, type: string, parameters: Members): void
  /** Makes everything so much older. */
  age(ms: number): void
  /** Activities by intent: each must be 1. */
  countByIntent(): ReadonlyMap<string, number>
  close(): Promise<void>
}

const HOUR = 3_600_000
const LAPSE = 24 * HOUR

export async function startSmallApi(organizationId: string): Promise<SmallApi> {
  const activities: SmallActivity[] = []
  const submits: { path: string; body: string }[] = []
  const now = () => Date.now() + api.clockAheadMs

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const key = String(request.headers['x-stamp'])
    if (api.down) return send(response, 503, fault(14, 'unavailable'))
    const path = request.url ?? ''
    try {
      if (path.startsWith('/public/v1/query/'))
        return send(response, 200, query(path.split('/').at(-1)!, JSON.parse(text)))
      submits.push({ path, body: text })
      const activity = submit(path, text, key)
      if (api.loseAnswer(submits.length)) return void request.socket.destroy()
      setTimeout(() => send(response, 200, { activity: wire(activity) }), api.answerAfterMs)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      send(response, error.status, error.body)
    }
  })

  function query(name: string, body: Members): unknown {
    if (name === 'get_activity') return { activity: wire(find(({ id }) => id === body.activityId)) }
    if (name !== 'list_activities') throw new Refused(501, fault(12, `no ${name}`))
    const { filterByStatus = [], filterByType = [], paginationOptions = {} } = body as Record<string, never>
    const { before, limit } = paginationOptions as { before?: string; limit?: string }
    const newestFirst = [...activities].reverse()
    const start = before === undefined ? 0 : newestFirst.findIndex(({ id }) => id === before) + 1
    const wanted = newestFirst
      .slice(start)
      .filter(({ status, type }) => among(filterByStatus, status) && among(filterByType, type))
    return { activities: wanted.slice(0, Number(limit ?? 10)).map(wire) }
  }

  function submit(path: string, text: string, publicKey: string): SmallActivity {
    const fingerprint = `sha256:${createHash('sha256').update(text).digest('hex')}`
    const body = JSON.parse(text) as { type: string; timestampMs: string; parameters: Members; organizationId: string }
    const known = activities.find((one) => one.fingerprint === fingerprint)
    if (known) return known
    const age = now() - Number(body.timestampMs)
    if (age > HOUR || age < -300_000) {
      throw new Refused(400, fault(3, 'request timestamp is outside the allowed window', 'INVALID_TIME'))
    }
    if (!findActivitiesByPath(path).some(({ type }) => type === body.type) || body.organizationId !== organizationId) {
      throw new Refused(400, fault(3, 'bad request body', 'REQUEST_INVALID'))
    }
    if (body.type === 'ACTIVITY_TYPE_APPROVE_ACTIVITY') {
      const target = find((one) => one.fingerprint === body.parameters.fingerprint)
      cast(target, publicKey, 'VOTE_SELECTION_APPROVED')
      return target
    }
    const decision = api.decide(body.type, body.parameters)
    if (decision === 'denied') {
      const detail = { '@type': 'x', message: 'No policies evaluated to outcome: Allow', policyEvaluations: [] }
      throw new Refused(403, {
        ...fault(7, "You don't have sufficient permissions", 'REQUEST_NOT_AUTHORIZED'),
        details: [detail],
      })
    }
    const { type, parameters } = body
    const made: SmallActivity = {
      id: randomUUID(),
      type,
      parameters,
      fingerprint,
      createdAt: now(),
      status: '',
      result: {},
      votes: [],
    }
    made.votes.push({ userId: publicKey, selection: 'VOTE_SELECTION_APPROVED', publicKey, createdAt: made.createdAt })
    activities.push(made)
    if (decision === 'completes') complete(made)
    else if (decision === 'waits') made.status = 'ACTIVITY_STATUS_CONSENSUS_NEEDED'
    else {
      made.status = 'ACTIVITY_STATUS_FAILED'
      made.failure = { code: 9, message: 'tag name `taken` is taken', details: [] }
    }
    return made
  }

  function cast(target: SmallActivity, publicKey: string, selection: Vote['selection']): void {
    if (target.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') return
    target.votes.push({ userId: publicKey, selection, publicKey, createdAt: now() })
    if (selection === 'VOTE_SELECTION_REJECTED') {
      target.status = 'ACTIVITY_STATUS_REJECTED'
      return
    }
    const counting = new Set(target.votes.filter((vote) => vote.createdAt > now() - LAPSE).map((vote) => vote.userId))
    if (counting.size >= api.threshold) complete(target)
  }

  function complete(activity: SmallActivity): void {
    const { row } = findActivity(activity.type)!
    activity.status = 'ACTIVITY_STATUS_COMPLETED'
    activity.result = { [row.resultKey!]: { userTagId: randomUUID(), userIds: [] } }
  }

  const find = (wanted: (activity: SmallActivity) => boolean): SmallActivity => {
    const found = activities.find(wanted)
    if (!found) throw new Refused(404, fault(5, 'No activity found'))
    return found
  }

  const wire = (activity: SmallActivity) => ({
    id: activity.id,
    organizationId,
    status: activity.status,
    type: activity.type,
    intent: { [findActivity(activity.type)!.row.intentKey]: activity.parameters },
    result: activity.result,
    votes: activity.votes.map((vote) => ({
      ...vote,
      id: randomUUID(),
      activityId: activity.id,
      user: { userId: vote.userId, userName: vote.userId },
      createdAt: timestamp(vote.createdAt),
    })),
    fingerprint: activity.fingerprint,
    createdAt: timestamp(activity.createdAt),
    updatedAt: timestamp(activity.createdAt),
    failure: activity.failure ?? null,
  })

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const api: SmallApi = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    activities,
    submits,
    decide: () => 'completes',
    threshold: 2,
    loseAnswer: () => false,
    answerAfterMs: 0,
    clockAheadMs: 0,
    down: false,
    vote(user, fingerprint, selection) {
      const target = find((one) => one.fingerprint === fingerprint)
      cast(target, user, selection === 'approve' ? 'VOTE_SELECTION_APPROVED' : 'VOTE_SELECTION_REJECTED')
    },
    submitAs(user, type, parameters) {
      const body = JSON.stringify({ type, timestampMs: String(now()), organizationId, parameters })
      submit(findActivity(type)!.row.path, body, user)
    },
    age(ms) {
      for (const activity of activities) {
        activity.createdAt -= ms
        for (const vote of activity.votes) vote.createdAt -= ms
      }
    },
    countByIntent() {
      const counts = new Map<string, number>()
      for (const { type, parameters } of activities) {
        const intent = `${type} ${canonicalJson(parameters)}`
        counts.set(intent, (counts.get(intent) ?? 0) + 1)
      }
      return counts
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return api
}

class Refused extends Error {
  readonly status: number
  readonly body: unknown
  constructor(status: number, body: unknown) {
    super()
    this.status = status
    this.body = body
  }
}

function fault(code: number, message: string, turnkeyErrorCode = ''): Members {
  return { code, message, details: [], turnkeyErrorCode }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function timestamp(ms: number): { seconds: string; nanos: string } {
  return { seconds: String(Math.floor(ms / 1000)), nanos: String((ms % 1000) * 1e6) }
}

function among(list: readonly string[], value: string): boolean {
  return list.length === 0 || list.includes(value)
}
