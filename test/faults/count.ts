import { canonicalJson } from '../../src/encoding/index.ts'
import type { TestClient } from '../service/harness.ts'

/** How often each intent became an activity, as the service itself lists them. */
export async function countByIntent(client: TestClient, organizationId: string): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  let before: string | undefined
  for (;;) {
    const paginationOptions = { limit: '100', ...(before ? { before } : {}) }
    const { activities } = await client.query('list_activities', { organizationId, paginationOptions })
    for (const { type, intent } of activities) {
      const key = `${type} ${canonicalJson(intent as never)}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    before = activities.at(-1)?.id
    if (activities.length < 100) return counts
  }
}
