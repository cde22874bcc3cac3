/** Looks that a webhook asks for: it tells that something was done, and nothing of what it says is believed. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { createPlanStore } from '../../activities/index.ts'
import { CHANGING_TYPES } from '../live/index.ts'
import type { ApplyPlace } from './apply.ts'
import { lookUnlessPaused } from './watch.ts'

/** An activity that has news, of the organization or of one inside it. */
export interface ActivityNews {
  readonly organizationId: string
  readonly type: string
}

/** Many changes at once are seen by one look. */
const APART_MS = 2_000

const CHANGING: ReadonlySet<string> = new Set(CHANGING_TYPES)

/**
 * Makes what has the organization looked at now when an activity has changed something that definitions speak of, in it or in a
 * sub-organization of theirs. Resolves once Temporal has taken that; false: no look is needed, or a person has paused them.
 */
export function createNewsTaker(
  place: ApplyPlace,
  { apartMs = APART_MS }: { readonly apartMs?: number } = {},
): (news: ActivityNews) => Promise<boolean> {
  const { watches } = createPlanStore(join(place.dataDir, 'plans'))
  const look = apart(() => lookUnlessPaused(place), apartMs)
  return async ({ organizationId, type }) => {
    if (!CHANGING.has(type)) return false
    if (organizationId !== place.organizationId) {
      if (!Object.hasOwn(await watches.lockOf(place.organizationId), organizationId)) return false
      await watches.putNews(place.organizationId, randomUUID())
    }
    return look()
  }
}

/** Does it at once, or some time after the last one; all who ask meanwhile are answered by the same one. */
function apart<Value>(work: () => Promise<Value>, apartMs: number): () => Promise<Value> {
  let next: Promise<Value> | undefined
  let freeAt = Number.NEGATIVE_INFINITY
  return () => {
    next ??= (async () => {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, freeAt - performance.now())))
      next = undefined
      freeAt = performance.now() + apartMs
      return work()
    })()
    return next
  }
}
