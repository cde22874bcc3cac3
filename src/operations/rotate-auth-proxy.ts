/** Gives the authentication proxy another key: it is disabled, which deletes its user and key, and enabled, which makes new ones. */
import { findByIntent } from '../../activities/index.ts'
import type { QueryClient, SubmitClient } from '../client/index.ts'
import { makeBody } from '../plan/index.ts'
import { AUTH_PROXY_NAMES, activities, isWaiting, type Wire } from '../protocol/index.ts'

/** The proxy's user, and the key that the service keeps for it. */
export interface ProxyKey {
  readonly userId: string
  readonly publicKey: string
}

/** What came of it. */
export interface ProxyRotation {
  /**
   * `done`: the old key is registered no more, and another one is · `waiting`: others must approve the part · `failed`: the part
   * was refused.
   */
  readonly state: 'done' | 'waiting' | 'failed'
  readonly part: ProxyPart
  readonly old?: ProxyKey
  readonly new?: ProxyKey
  /** Ids of activities. */
  readonly activities: Readonly<Partial<Record<ProxyPart, string>>>
  readonly fingerprint?: string
  readonly why?: string
  /** How long nobody could log in through the proxy, as seen from here. */
  readonly gapMs?: number
}

export type ProxyPart = 'disable' | 'enable'

export interface ProxyDoor {
  readonly client: SubmitClient
  /** Milliseconds since the epoch, as the API has it. */
  readonly now: () => number
  /** Told of each activity as it is submitted. @default nobody */
  readonly submitted?: (part: ProxyPart, activityId: string) => void
}

const TYPES = {
  disable: 'ACTIVITY_TYPE_DISABLE_AUTH_PROXY',
  enable: 'ACTIVITY_TYPE_ENABLE_AUTH_PROXY',
} as const satisfies Readonly<Record<ProxyPart, string>>

/** The proxy's key; undefined where the proxy is disabled. */
export async function findProxyKey(client: QueryClient): Promise<ProxyKey | undefined> {
  const { users } = await client.query('list_users', {})
  for (const { userId, userName, apiKeys } of users) {
    const key = apiKeys.find(({ apiKeyName }) => apiKeyName === AUTH_PROXY_NAMES.key)
    if (userName === AUTH_PROXY_NAMES.user && key) return { userId, publicKey: key.credential.publicKey }
  }
  return undefined
}

/**
 * Disables the proxy and enables it at once. Where it is disabled already, by an earlier call that was cut off or waited for people, it
 * is enabled. Equal requests that wait are not made again.
 */
export async function rotateProxyKey(old: ProxyKey | undefined, door: ProxyDoor): Promise<ProxyRotation> {
  const done: Partial<Record<ProxyPart, string>> = {}
  const of = old ? { old } : {}
  let since: number | undefined
  for (const part of old ? (['disable', 'enable'] as const) : (['enable'] as const)) {
    const { id, status, fingerprint, failure } = await submitOnce(part, door)
    done[part] = id
    const at = { ...of, part, activities: done }
    if (isWaiting(status)) return { ...at, state: 'waiting', fingerprint }
    if (status !== 'ACTIVITY_STATUS_COMPLETED') return { ...at, state: 'failed', why: failure?.message || status }
    if (part === 'disable') since = performance.now()
  }
  const gap = since === undefined ? {} : { gapMs: Math.round(performance.now() - since) }
  const made = await findProxyKey(door.client)
  const at = { ...of, part: 'enable', activities: done, ...gap } as const
  if (made === undefined || made.publicKey === old?.publicKey)
    return { ...at, state: 'failed', why: 'the list of users has no other key of the proxy' }
  return { ...at, state: 'done', new: made }
}

async function submitOnce(part: ProxyPart, { client, now, submitted }: ProxyDoor): Promise<Wire.Activity> {
  const type = TYPES[part]
  const open = await findByIntent(client, type, {})
  if (open && isWaiting(open.status)) return open
  const { organizationId } = client
  const body = makeBody({ type, organizationId, parameters: {}, timestampMs: String(now()) })
  const activity = await client.submit(activities[type].path, body)
  submitted?.(part, activity.id)
  return activity
}
