/** What the root users of one small organization do at the same time, and what each was answered. */
import { setTimeout as pause } from 'node:timers/promises'
import { encodeUtf8 } from '../../src/encoding/index.ts'
import { type ActivityType, activities, type QueryName, queries, type Wire } from '../../src/protocol/index.ts'
import type { Stamper } from '../../src/stamp/index.ts'
import type { Call } from './linearizable.ts'
import type { Answered, Asked, Quorum } from './quorum-model.ts'

export type QuorumCall = Call<Asked, Answered>

export interface Person {
  readonly id: string
  readonly stamper: Stamper
}

/** Where requests go, which may be another place each time, and who hears that one was answered. */
export interface Edge {
  readonly url: () => string
  readonly onAnswer: () => void
}

interface Posted {
  readonly status: number
  readonly body: unknown
}

/** An activity whose proposer was answered. */
interface Known {
  readonly proposal: string
  readonly fingerprint: string
  readonly id: string
}

/** Clients of one organization, and how many calls they make together: to check a long history takes long. */
const CLIENTS = 5
const CALLS = 36
/** An organization takes 10 tags at most; what is proposed beyond would be refused as asked too often, for ever. */
const MOST_TAGS = 10

let bodies = 0

/** Records everything that is asked until there are enough calls. */
export async function recordCalls(
  edge: Edge,
  organizationId: string,
  people: readonly Person[],
): Promise<readonly QuorumCall[]> {
  const calls: QuorumCall[] = []
  const known: Known[] = []
  let tags = 0

  /**
   * Sends the same bytes until somebody answers. All attempts that nobody answered are one call, since the same bytes count once;
   * the one that was answered is another.
   */
  async function ask(asked: Asked, by: Person, path: string, text: string): Promise<unknown> {
    const begun = performance.now()
    let isFirst = true
    for (;;) {
      const from = performance.now()
      const posted = await post(by.stamper, `${edge.url()}${path}`, text)
      const answered = posted && answerOf(asked, posted)
      if (posted && answered !== undefined) {
        edge.onAnswer()
        if (!isFirst) calls.push({ asked, from: begun, to: from })
        calls.push({ asked, from, to: performance.now(), answered })
        return answered === 'refused' ? undefined : posted.body
      }
      isFirst = false
      await pause(50)
    }
  }
  const submit = (type: ActivityType, parameters: object) => ({
    path: activities[type].path,
    text: JSON.stringify({ type, timestampMs: String(Date.now() + (bodies++ % 60_000)), organizationId, parameters }),
  })
  const query = (name: QueryName, request: object) => ({
    path: queries[name].path,
    text: JSON.stringify({ organizationId, ...request }),
  })

  async function propose(by: Person, becomes?: Quorum): Promise<void> {
    if (!becomes) tags++
    const { path, text } = becomes
      ? submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: becomes.threshold, userIds: becomes.members })
      : submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: `tag ${bodies}`, userIds: [] })
    const asked: Asked = { kind: 'propose', by: by.id, body: text, ...(becomes && { becomes }) }
    const answer = await ask(asked, by, path, text)
    if (!answer) return
    const { id, fingerprint } = (answer as { activity: Wire.Activity }).activity
    known.push({ proposal: text, fingerprint, id })
  }

  async function vote(kind: 'approve' | 'reject', by: Person, on: Known): Promise<void> {
    const type = kind === 'approve' ? 'ACTIVITY_TYPE_APPROVE_ACTIVITY' : 'ACTIVITY_TYPE_REJECT_ACTIVITY'
    const { path, text } = submit(type, { fingerprint: on.fingerprint })
    await ask({ kind, by: by.id, of: on.proposal, body: text }, by, path, text)
  }

  async function work(): Promise<void> {
    while (calls.length < CALLS) {
      const by = oneOf(people)
      const on = oneOf(known.slice(-3))
      const chance = Math.random()
      if ((!on || chance < 0.22) && tags < MOST_TAGS) await propose(by)
      else if (!on || chance < 0.34) await propose(by, anyQuorum(people))
      else if (chance < 0.74) await vote('approve', by, on)
      else if (chance < 0.8) await vote('reject', by, on)
      else {
        const { path, text } =
          chance < 0.92 ? query('get_activity', { activityId: on.id }) : query('get_organization_configs', {})
        await ask(chance < 0.92 ? { kind: 'read', of: on.proposal } : { kind: 'quorum' }, by, path, text)
      }
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, work))
  return calls
}

/** Statuses of a request that may be sent again as it is: the store failed, or the organization asked too often just now. */
const ASK_AGAIN = [429, 503]
/** Statuses of a refusal that the model knows: of what may not be, by whom may not, about what is not there. */
const REFUSED = [400, 403, 404]

/** What is compared with the model's answer; undefined where nobody knows what became of it. Throws for what nobody should be answered. */
function answerOf({ kind }: Asked, { status, body }: Posted): Answered | undefined {
  if (ASK_AGAIN.includes(status)) return undefined
  if (REFUSED.includes(status)) return 'refused'
  if (status !== 200) throw new Error(`expected no answer ${status} to a ${kind}: ${JSON.stringify(body)}`)
  if (kind === 'quorum') {
    const { threshold, userIds } = (body as { configs: { quorum: { threshold: number; userIds: string[] } } }).configs
      .quorum
    return { threshold, members: userIds.toSorted() }
  }
  const { activity } = body as { activity: Wire.Activity }
  const votes = activity.votes.map(({ userId, selection }) =>
    selection === 'VOTE_SELECTION_REJECTED' ? `-${userId}` : userId,
  )
  return { status: activity.status.replace('ACTIVITY_STATUS_', ''), votes }
}

async function post(stamper: Stamper, url: string, text: string): Promise<Posted | undefined> {
  const { name, value } = await stamper.stamp(encodeUtf8(text))
  try {
    const response = await fetch(url, { method: 'POST', body: text, headers: { [name]: value } })
    return { status: response.status, body: await response.json() }
  } catch {
    // The connection broke, before the answer or in it.
    return undefined
  }
}

function anyQuorum(people: readonly Person[]): Quorum {
  const members = people.map(({ id }) => id).filter(() => Math.random() < 0.6)
  if (members.length === 0) members.push(oneOf(people).id)
  return { threshold: Math.min(members.length, 1 + Math.floor(Math.random() * 2)), members: members.sort() }
}

function oneOf<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)]!
}
