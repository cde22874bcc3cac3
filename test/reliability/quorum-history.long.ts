import { describe, expect, test } from 'vitest'
import { findPostgres } from '../postgres.ts'
import { line } from './figures.ts'
import { recordQuorums } from './quorum-history.ts'

describe.each(['SQLite', 'PostgreSQL'] as const)('votes and quorum changes on %s', (store) => {
  test.skipIf(store === 'PostgreSQL' && findPostgres() === undefined)(
    'votes and quorum changes: one order explains what everybody was answered, while services and database are killed',
    async () => {
      const figures = await recordQuorums({ kills: 3, store })
      console.log(line(figures))
      expect(figures.unexplained).toBe(0)
      expect(figures.organizations).toBeGreaterThan(0)
      expect(figures.completed).toBeGreaterThan(5)
    },
  )
})
