/**
 * Lists of activities by status and by type, as the service reads them from its store, by how many activities the organization
 * has. One in a thousand waits and one in a thousand is of a type that nothing else is of, so that a list which read
 * more than it shows would take a hundred times as long in the largest organization. The aim is a line that is flat.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Database, listActivityRows, openDatabase } from '../../src/service/store/index.ts'

const COUNTS = [10_000, 100_000, 1_000_000]
const ROUNDS = 60
const AIM = 1.5
/** No more than there are of the rare ones in the smallest. */
const PAGE = { limit: 10, mostBytes: 1_000_000 }
const [USUAL, RARE] = ['ACTIVITY_TYPE_CREATE_USER_TAG', 'ACTIVITY_TYPE_CREATE_POLICY_V3']
const [COMPLETED, WAITING, FAILED] = ['COMPLETED', 'CONSENSUS_NEEDED', 'FAILED'].map(
  (name) => `ACTIVITY_STATUS_${name}`,
)

type Listing = Omit<Parameters<typeof listActivityRows>[2], keyof typeof PAGE>

const LISTS: Readonly<Record<string, (count: number) => Listing>> = {
  'all, the newest': () => ({}),
  'all, before one in the middle': (count) => ({ beforePosition: count / 2 }),
  'those that wait': () => ({ statuses: [WAITING!] }),
  'those that wait or failed, of one type': () => ({ statuses: [WAITING!, FAILED!], types: [USUAL!] }),
  'of a rare type': () => ({ types: [RARE!] }),
  'of a rare type, completed': () => ({ types: [RARE!], statuses: [COMPLETED!] }),
  'of a status that none has': () => ({ statuses: ['ACTIVITY_STATUS_REJECTED'] }),
}

/** Prints milliseconds of each list for each size of organization, and the largest as a share of the smallest. */
export async function run(): Promise<void> {
  const times = new Map<string, number[]>()
  for (const count of COUNTS) {
    const folder = mkdtempSync(join(tmpdir(), 'quorate-bench-'))
    const database = openWith(join(folder, 'lists.db'), count)
    try {
      for (const [name, listingOf] of Object.entries(LISTS))
        times.set(name, [...(times.get(name) ?? []), await measure(database, listingOf(count))])
    } finally {
      await database.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
  console.log(`milliseconds a list, medians of ${ROUNDS}; aim: the last at most ${AIM} of the first`)
  console.log(`${''.padEnd(42)}${COUNTS.map((count) => count.toLocaleString('en').padStart(11)).join('')}      share`)
  for (const [name, ms] of times)
    console.log(
      `${name.padEnd(42)}${ms.map((one) => one.toFixed(2).padStart(11)).join('')}${(ms.at(-1)! / ms[0]!).toFixed(2).padStart(11)}`,
    )
}

const ORGANIZATION = 'bench'

/** A store with one organization that has so many activities. */
function openWith(file: string, count: number): Database {
  const database = openDatabase(file, { now: 1 })
  const direct = new DatabaseSync(file)
  direct.exec('pragma synchronous = off')
  direct.exec(`insert into organizations (id, name, quorum_threshold, created_at, updated_at)
    values ('${ORGANIZATION}', 'bench', 1, 1, 1)`)
  direct.exec(`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})
    insert into activities (id, organization_id, type, status, fingerprint, intent, position, timestamp_ms,
      generate_app_proofs, window_opened_at, created_at, updated_at)
    select 'activity-' || i, '${ORGANIZATION}', iif(i % 1000 = 7, '${RARE}', '${USUAL}'),
      case i % 1000 when 3 then '${WAITING}' when 5 then '${FAILED}' else '${COMPLETED}' end,
      'sha256:' || i, '{"userTagName":"a tag"}', i, '1', 0, 1, 1, 1 from n`)
  direct.close()
  return database
}

async function measure(database: Database, listing: Listing): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now()
    await database.read((tx) => listActivityRows(tx, ORGANIZATION, { ...listing, ...PAGE }))
    times.push(performance.now() - start)
  }
  return times.sort((a, b) => a - b)[ROUNDS / 2]!
}
