import { expect } from 'vitest'
import type { QueryClient } from '../../src/client/index.ts'
import type { JsonObject } from '../../src/encoding/index.ts'
import { kindsMentioned, readActual } from '../../src/live/index.ts'
import { collectIds, extendLock, fillParameters, type Lock, makePlan, type Plan } from '../../src/plan/index.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import type { Desired } from '../../src/resources/index.ts'
import type { TestService } from '../service/harness.ts'
import type { MemoryApi } from './memory-api.ts'
import { rootReader } from './organization.ts'

/** What carries activities out, and can be read. */
export interface Target {
  readonly client: QueryClient
  readonly execute: (type: string, parameters: JsonObject) => Promise<unknown>
}

/** What is left to do; a plan that cannot be made whole fails. */
export async function plan({ client }: Target, desired: Desired, lock: Lock): Promise<{ plan: Plan; lock: Lock }> {
  const actual = await readActual(client, { mentioned: kindsMentioned(desired, lock[desired.organizationId]) })
  const allow = ['delete', 'deletes=99', 'lock-out', 'exclusive-credentials']
  const now = '2026-01-02T03:04:05.000Z'
  const made = makePlan({ desired, actual, lock, creators: {}, baseUrl: client.baseUrl, allow, now })
  expect(made.diagnostics.map(({ message }) => message)).toEqual([])
  return { plan: made.plan, lock: made.lock() }
}

/** Carries a plan out in its order; the lock knows what came of it. */
export async function apply({ client, execute }: Target, made: { plan: Plan; lock: Lock }): Promise<Lock> {
  let ids: Record<string, string> = {}
  for (const batch of made.plan.batches) {
    const parameters = fillParameters(batch.parameters, { ...made.plan.ids, ...ids })
    ids = { ...ids, ...collectIds(batch, await execute(batch.type, parameters as JsonObject)) }
  }
  return extendLock(made.lock, client.organizationId, ids)
}

export function memoryTarget(api: MemoryApi): Target {
  return { client: api, execute: async (type, parameters) => api.execute(type, parameters) }
}

/** The service over a socket, as its root user. */
export function serviceTarget(service: TestService): Target {
  return {
    client: rootReader(service),
    async execute(type, parameters) {
      const activity = await service.root.submit(type as ActivityType, parameters)
      expect(activity.status, type).toBe('ACTIVITY_STATUS_COMPLETED')
      return activity.result
    },
  }
}
