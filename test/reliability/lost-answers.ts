/**
 * Calls over connections that break: at each third of the bytes of the request and of its answer, in each way. A client
 * that does not know what came of a call sends the same bytes again. The naive variant makes a body anew each time.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ClientError } from '../../src/client/index.ts'
import { activities } from '../../src/protocol/index.ts'
import { impatientClient } from '../faults/impatient.ts'
import { BREAKS, startTcpProxy, type TcpFault } from '../faults/tcp.ts'
import { complete } from '../service/handlers/steps.ts'
import { startTestService, type TestService } from '../service/harness.ts'

/** Of this the service takes as many as it is sent, equal ones too. */
const TYPE = 'ACTIVITY_TYPE_UPDATE_USER_TAG'
/** How long one attempt may take. */
const ATTEMPT_MS = 2_000
/** What a busy machine may add to it. */
const SLACK_MS = 30_000
const AT_ONCE = 16
const MOST_ATTEMPTS = 40

export interface LostAnswers {
  readonly calls: number
  /** Calls whose connection did break. */
  readonly faulted: number
  readonly attempts: number
  /** Attempts that took longer than they may. */
  readonly late: number
  /** Calls that were never answered. */
  readonly lost: number
  /** Intents that are more than one activity. */
  readonly dup: number
}

/** Makes `calls` calls of one activity each, every way of breaking in turn. */
export async function loseAnswers({ calls, naive }: { calls: number; naive: boolean }): Promise<LostAnswers> {
  const service = await startTestService()
  try {
    const tag = { userTagName: 'tag', userIds: [] }
    const { userTagId } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_USER_TAG', tag)
    const bodyFor = (n: number) => {
      const renamed = { userTagId, newUserTagName: `tag-${10_000 + n}`, addUserIds: [], removeUserIds: [] }
      return service.body(TYPE, renamed).text
    }
    const faults = faultsFor(await measure(service, bodyFor(calls)))
    const figures = { calls, faulted: 0, attempts: 0, late: 0, lost: 0 }
    const left = Array.from({ length: calls }, (_, n) => n)
    const work = async () => {
      for (let n = left.pop(); n !== undefined; n = left.pop()) {
        const made = await callOnce(service, () => bodyFor(n!), { naive, fault: faults[n % faults.length]! })
        figures.faulted += made.struck ? 1 : 0
        figures.attempts += made.attempts
        figures.late += made.late
        figures.lost += made.answered ? 0 : 1
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    return { ...figures, dup: countTwins(service) }
  } finally {
    await service.close()
  }
}

async function callOnce(
  service: TestService,
  makeBody: () => string,
  { naive, fault }: { readonly naive: boolean; readonly fault: TcpFault },
) {
  const proxy = await startTcpProxy(service.url, fault)
  const client = clientOf(service, proxy.url)
  const made = { struck: false, attempts: 0, late: 0, answered: false }
  let body = makeBody()
  while (!made.answered && made.attempts < MOST_ATTEMPTS) {
    made.attempts++
    const begun = performance.now()
    try {
      await client.submit(activities[TYPE].path, body)
      made.answered = true
    } catch (error) {
      if (!(error instanceof ClientError) || !error.retryable) throw error
      if (naive) body = makeBody()
    }
    if (performance.now() - begun > ATTEMPT_MS + SLACK_MS) made.late++
  }
  made.struck = proxy.struck()
  await proxy.close()
  return made
}

/** What a stamp's length may differ by, in base64url. */
const STAMP_BYTES = 12

/** Every way, at the start, a third, two thirds and just before the end of what goes each way. */
function faultsFor(bytes: Readonly<Record<TcpFault['on'], number>>): readonly TcpFault[] {
  return (['request', 'answer'] as const).flatMap((on) =>
    [0, 1 / 3, 2 / 3, 1].flatMap((part) =>
      BREAKS.map((how) => ({ how, on, after: Math.max(0, Math.floor(bytes[on] * part) - STAMP_BYTES) })),
    ),
  )
}

async function measure(service: TestService, body: string) {
  const proxy = await startTcpProxy(service.url)
  await clientOf(service, proxy.url).submit(activities[TYPE].path, body)
  const bytes = { ...proxy.bytes() }
  await proxy.close()
  return bytes
}

function clientOf({ organizationId, root: { privateKey } }: TestService, baseUrl: string) {
  return impatientClient({ baseUrl, organizationId, privateKey, attemptMs: ATTEMPT_MS })
}

/** Intents that the service holds more than one activity of. */
function countTwins({ dataDir }: TestService): number {
  const database = new DatabaseSync(join(dataDir, 'quorate.db'), { readOnly: true })
  const rows = database.prepare('select count(*) as n from activities where type = ? group by intent').all(TYPE)
  database.close()
  return rows.filter(({ n }) => Number(n) > 1).length
}
