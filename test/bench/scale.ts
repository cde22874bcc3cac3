/**
 * Whether a submit costs the same however much there is: CPU time of the service for one submit as in `bench submit` (a stamp, 100
 * policies, a durable commit) where the organization has 10², 10⁴ and 10⁶ activities, and for one in ten sub-organizations in turn
 * of 10, 1,000 and 10,000. A submit in an organization that nobody has asked for in a while reads again what is remembered of it
 * otherwise: it is measured beside, in each of 1,000 and of 10,000 in turn. The services run in this process, the load comes from
 * another, and rounds go in turns.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createService, type Service } from '../../src/service/index.ts'
import { makeCustomers } from './customers.ts'
import { measure, median, PATH, prepareOrganization, printTimes, type Rate } from './submit.ts'

/** The largest may cost so much more than the smallest. */
const MOST = 1.1
const ACTIVITIES = [100, 10_000, 1_000_000]
const ORGANIZATIONS = [10, 1_000, 10_000]
/** Sub-organizations that requests go to in turn, where not to all. */
const ASKED = 10
const CONNECTIONS = 32
const REQUESTS = 300
/** The first thousands of requests pay for compiling. */
const WARM_UP = 10
const ROUNDS = 15

/** A service that has so many of something, and requests to it. */
interface Sized {
  readonly count: number
  readonly url: string
  requestsOf(round: number): Promise<[string, string][]>
  close(): Promise<void>
}

/** Prints both lines; exits with 1 where one is not flat. */
export async function run(): Promise<void> {
  const loader = fork(new URL('./submit-load.ts', import.meta.url))
  try {
    const activities = await compareSizes(loader, { what: 'activities', counts: ACTIVITIES, open: openWithActivities })
    const inside = await compareSizes(loader, {
      what: 'sub-organizations',
      counts: ORGANIZATIONS,
      open: (count) => openWithOrganizations(count, ASKED),
    })
    const cold = await compareSizes(loader, {
      what: 'sub-organizations, each of them in turn',
      counts: ORGANIZATIONS.slice(1),
      open: (count) => openWithOrganizations(count, count),
    })
    if (!activities || !inside || !cold) process.exitCode = 1
  } finally {
    loader.kill()
  }
}

/** Says whether the largest costs about what the smallest does. */
async function compareSizes(
  loader: ChildProcess,
  options: {
    readonly what: string
    readonly counts: readonly number[]
    readonly open: (count: number) => Promise<Sized>
  },
): Promise<boolean> {
  const { what, counts, open } = options
  const sizes: Sized[] = []
  try {
    for (const count of counts) sizes.push(await open(count))
    const rates = sizes.map((): Rate[] => [])
    for (let round = 1 - WARM_UP; round <= ROUNDS; round++) {
      for (const [i, { url, requestsOf }] of sizes.entries()) {
        const rate = await measure(loader, {
          url,
          path: PATH,
          connections: CONNECTIONS,
          requests: await requestsOf(round),
        })
        if (round > 0) rates[i]!.push(rate)
      }
    }
    console.log(`\nmicroseconds of CPU for a submit by ${what}, medians of ${ROUNDS} rounds in turns`)
    const micros = (rate: Rate) => 1e6 / rate.perCpuSecond
    for (const [i, { count }] of sizes.entries()) {
      // Round by round: what slows the machine slows each of a round.
      const share = median(rates[i]!.map((rate, round) => micros(rate) / micros(rates[0]![round]!)))
      console.log(
        `${count.toLocaleString('en').padStart(11)}${median(rates[i]!.map(micros)).toFixed(0).padStart(8)}${share.toFixed(3).padStart(9)}`,
      )
      printTimes(`${count.toLocaleString('en')} ${what}`, rates[i]!)
    }
    const last = median(rates.at(-1)!.map((rate, round) => micros(rate) / micros(rates[0]![round]!)))
    const isFlat = last <= MOST
    console.log(`${what}: ${last.toFixed(3)} of the smallest, at most ${MOST}: ${isFlat ? 'met' : 'MISSED'}`)
    return isFlat
  } finally {
    for (const { close } of sizes) await close()
  }
}

async function openWithActivities(count: number): Promise<Sized> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quorate-bench-'))
  let service = await createService({ dataDir })
  const organization = await prepareOrganization(service)
  // What is repeated below: that which has made the policies has all of them in its bytes.
  const [[body, stamp]] = (await organization.requestsOf(0, 1)) as [[string, string]]
  const { status } = await fetch(`${service.url}${PATH}`, { method: 'POST', body, headers: { 'x-stamp': stamp } })
  if (status !== 200) throw new Error(`expected 200, got ${status}`)
  await service.close()
  repeatActivities(join(dataDir, 'quorate.db'), count)
  service = await createService({ dataDir })
  const { url } = service
  return {
    count,
    url,
    requestsOf: (round) => organization.requestsOf(round, REQUESTS),
    close: () => closeAndRemove(service, dataDir),
  }
}

/** Repeats the last activity of the store and its vote until there are so many, each with an id and a fingerprint of its own. */
function repeatActivities(file: string, count: number): void {
  const database = new DatabaseSync(file)
  // Nobody needs it after a fault: without a journal it is written once, and with room for its indexes in memory only then.
  database.exec(
    'pragma journal_mode = delete; pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -400000',
  )
  const repeat = (table: string, own: Readonly<Record<string, string>>, from: string) => {
    const columns = (
      database.prepare(`select name from pragma_table_info('${table}')`).all() as { name: string }[]
    ).map(({ name }) => name)
    database.exec(`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})
      insert into ${table} (${columns.join()}) select ${columns.map((name) => own[name] ?? name).join()} from n, (${from})`)
  }
  const { last } = database.prepare('select max(position) as last from activities').get() as { last: number }
  database.exec('begin')
  repeat(
    'activities',
    {
      id: "printf('00000000-0000-7000-8000-%012d', i)",
      fingerprint: "'sha256:' || lower(hex(randomblob(32)))",
      position: `${last} + i`,
    },
    'select * from activities order by position desc limit 1',
  )
  repeat(
    'votes',
    { id: "'vote-' || i", activity_id: "printf('00000000-0000-7000-8000-%012d', i)" },
    'select * from votes order by created_at desc limit 1',
  )
  database.exec('commit')
  database.close()
  // Or the system writes it while the first rounds are measured.
  const opened = openSync(file, 'r+')
  fsyncSync(opened)
  closeSync(opened)
}

async function openWithOrganizations(count: number, asked: number): Promise<Sized> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quorate-bench-'))
  const service = await createService({ dataDir })
  const { send } = await prepareOrganization(service)
  const { requestsOf } = await makeCustomers(send, count, asked)
  return {
    count,
    url: service.url,
    requestsOf: () => requestsOf(REQUESTS),
    close: () => closeAndRemove(service, dataDir),
  }
}

async function closeAndRemove(service: Service, dataDir: string): Promise<void> {
  await service.close()
  rmSync(dataDir, { recursive: true, force: true })
}
