import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Database, listActivityRows, openDatabase } from '../../../src/service/store/index.ts'

const ORGANIZATION = '00000000-0000-4000-8000-000000000001'
const COUNT = 5_000
const RARE = 'ACTIVITY_TYPE_DELETE_POLICY'

let folder: string
let database: Database

/** Every activity is completed and of one type, but one in a thousand. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-activities-'))
  const file = join(folder, 'quorate.db')
  database = openDatabase(file, { now: 1 })
  const direct = new DatabaseSync(file)
  direct.exec(
    `insert into organizations (id, name, quorum_threshold, created_at, updated_at) values ('${ORGANIZATION}', 'o', 1, 1, 1)`,
  )
  const insert = direct.prepare(
    `insert into activities (id, organization_id, type, status, fingerprint, intent, position, timestamp_ms,
      generate_app_proofs, window_opened_at, created_at, updated_at) values (?, ?, ?, ?, ?, '{}', ?, '1', 0, 1, 1, 1)`,
  )
  direct.exec('begin')
  for (let at = 1; at <= COUNT; at++) {
    const odd = at % 1_000 === 0
    const type = odd ? RARE : 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'
    const status = odd
      ? 'ACTIVITY_STATUS_CONSENSUS_NEEDED'
      : at % 1_000 === 1
        ? 'ACTIVITY_STATUS_FAILED'
        : 'ACTIVITY_STATUS_COMPLETED'
    insert.run(`a${at}`, ORGANIZATION, type, status, `f${at}`, at)
  }
  direct.exec('commit')
  direct.close()
})
afterAll(async () => {
  await database.close()
  rmSync(folder, { recursive: true })
})

type Listing = Omit<Parameters<typeof listActivityRows>[2], 'mostBytes'> & { readonly mostBytes?: number }
const positions = (listing: Listing) =>
  database.read(async (tx) =>
    (await listActivityRows(tx, ORGANIZATION, { mostBytes: 1_000, ...listing })).map(({ position }) => position),
  )

const waiting = 'ACTIVITY_STATUS_CONSENSUS_NEEDED'
const failed = 'ACTIVITY_STATUS_FAILED'
const completed = 'ACTIVITY_STATUS_COMPLETED'

describe('lists of activities', () => {
  test.each([
    ['none', {}, [5000, 4999, 4998]],
    ['one status', { statuses: [waiting] }, [5000, 4000, 3000]],
    ['two statuses', { statuses: [waiting, failed, waiting] }, [5000, 4001, 4000]],
    ['the usual status as well', { statuses: [waiting, completed] }, [5000, 4999, 4998]],
    ['a type', { types: [RARE] }, [5000, 4000, 3000]],
    [
      'types and statuses',
      { types: [RARE, 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'], statuses: [failed] },
      [4001, 3001, 2001],
    ],
    ['a type that has not the status', { types: [RARE], statuses: [failed] }, []],
    ['a type and the usual status', { types: [RARE], statuses: [completed] }, []],
    ['bytes as well: each has two', { mostBytes: 5 }, [5000, 4999]],
    ['fewer bytes than one has', { mostBytes: 1 }, [5000]],
    ['bytes after', { mostBytes: 5, afterPosition: 1 }, [3, 2]],
    ['before', { statuses: [waiting, failed], beforePosition: 4000 }, [3001, 3000, 2001]],
    ['after', { statuses: [waiting, failed], afterPosition: 1001 }, [3000, 2001, 2000]],
  ])('lists of activities: filtered by %s', async (_, filter, expected) => {
    expect(await positions({ ...filter, limit: 3 })).toEqual(expected)
  })

  test.each([
    ['one status', { statuses: [waiting] }],
    ['two statuses', { statuses: [waiting, failed] }],
    ['a type', { types: [RARE] }],
    ['a type and a status', { types: ['ACTIVITY_TYPE_SIGN_TRANSACTION_V2'], statuses: [failed] }],
    ['before', { statuses: [waiting], beforePosition: 4_000 }],
    ['after', { types: [RARE], afterPosition: 1_000 }],
  ])('lists of activities: %s reads no activity that is not in the list', async (_, filter) => {
    const seen: string[] = []
    const read = await explained(filter, seen)
    expect(read.length).toBeGreaterThan(1)
    // The last one reads the activities that were found.
    expect(read.at(-1)).toContain('(organization_id=? AND position=?)')
    for (const plan of read.slice(0, -1)) {
      expect(plan).toMatch(/using index activities_(not_completed|type) \(organization_id=\?/i)
      expect(plan).not.toMatch(/temp b-tree/i)
    }
  })
})

/** What SQLite says of how it carries out the statements of a listing. */
async function explained(filter: object, plans: string[]): Promise<readonly string[]> {
  const direct = new DatabaseSync(join(folder, 'quorate.db'), { readOnly: true })
  await database.read(async (tx) => {
    const { executor, restore } = spyOn(tx)
    await listActivityRows(tx, ORGANIZATION, { ...filter, limit: 3, mostBytes: 1_000 })
    restore()
    for (const { sql, parameters } of executor) {
      const rows = direct.prepare(`explain query plan ${sql}`).all(...(parameters as string[]))
      plans.push(rows.map(({ detail }) => String(detail)).join('\n'))
    }
  })
  direct.close()
  return plans
}

/** The statements that go through a transaction. */
function spyOn(tx: Parameters<typeof listActivityRows>[0]) {
  const executor: { sql: string; parameters: readonly unknown[] }[] = []
  const own = tx.getExecutor()
  const original = own.executeQuery.bind(own)
  own.executeQuery = (query) => {
    executor.push(query)
    return original(query)
  }
  return {
    executor,
    restore: () => {
      own.executeQuery = original
    },
  }
}
