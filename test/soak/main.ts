/**
 * `npm run soak [-- PART] [--count N] [--seed N]`: the long forms of what the tests do in short, all parts in order or
 * one of them. `--count` is how many inputs, kills or calls; without it each part has its own number. Each prints its
 * figures, and fails when anything was lost, doubled or left by half. `--help` lists the parts.
 */
import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findTemporal, startTemporalServer, type TemporalServer } from '../../src/worker/index.ts'
import { agree, agreeOnPowers } from '../authority/agreement.ts'
import { whyNoContainers } from '../containers/stage.ts'
import { importsIn } from '../imports.ts'
import { findPostgres } from '../postgres.ts'
import { restoreAmidBatch } from '../reliability/batch-restored.ts'
import { sendMany } from '../reliability/batch-sends.ts'
import { dieAt, FAIL_KINDS } from '../reliability/fail-points.ts'
import { line } from '../reliability/figures.ts'
import { watchFleet } from '../reliability/fleet.ts'
import { killLogins } from '../reliability/login-kills.ts'
import { loseAnswers } from '../reliability/lost-answers.ts'
import { payUnderFaults } from '../reliability/payments.ts'
import { killOnPostgres } from '../reliability/postgres-kills.ts'
import { recordQuorums } from '../reliability/quorum-history.ts'
import { DEATH_POINTS, killInRotations } from '../reliability/rotation-kills.ts'
import { payBySchedule } from '../reliability/schedule.ts'
import { killServer } from '../reliability/server-kills.ts'
import { killService } from '../reliability/service-kills.ts'
import { weather } from '../reliability/storm.ts'
import { killWhileTelling } from '../reliability/webhook-kills.ts'
import { killWorkers } from '../reliability/worker-kills.ts'
import { openStrangers, strangers } from '../security/strangers.ts'
import { FAIL_POINTS } from '../service/tamper.ts'
import { timeContacts } from './contact-timing.ts'
import { containFleet } from './incident-fleet.ts'
import { soakInputs } from './inputs.ts'

interface Part {
  readonly what: string
  /** How many without `--count`. */
  readonly count: number
  readonly run: (count: number, seed: number) => Promise<unknown>
}

/** A part may take hours. */
const MOST_MS = 6 * 3_600_000

/** One apply has work for about so many kills. */
const KILLS_AN_APPLY = { worker: 20, server: 5 } as const

const parts: Readonly<Record<string, Part>> = {
  inputs: {
    what: 'inputs of the policy language and of transactions that nobody wrote',
    count: 1_000_000,
    run: (count, seed) => soakInputs({ count, seed }),
  },
  incident: {
    what: 'sub-organizations in which a leaked key is cut off, at 60 requests a second',
    count: 500,
    run: async (count) => console.log(line(await containFleet({ count }))),
  },
  fleet: {
    what: 'sub-organizations that one worker watches at 60 requests a second, one of which is changed by hand',
    count: 1_000,
    run: watchMany,
  },
  authority: {
    what: 'organizations in which everybody who tells who may decide is asked, and the people vote',
    count: 500,
    run: async (count, seed) => {
      console.log(line(await agree({ count, seed, tries: 5_000 })))
      console.log(line(await agreeOnPowers({ count, seed, tries: 5_000 })))
    },
  },
  properties: {
    what: 'times as many inputs as in the suite for the laws of texts, transactions, policies, plans and bodies',
    count: 20,
    run: tryProperties,
  },
  apply: { what: 'workers killed while they apply', count: 200, run: killManyWorkers },
  rotations: {
    what: 'rotations whose worker, and then whose service, is killed before or after one of their steps, each in turn, beside a signer',
    count: DEATH_POINTS.length,
    run: killAtEachStep,
  },
  'rotate-all': {
    what: 'users whose keys are rotated by one command, eight times so many, that is paused once',
    count: 12,
    run: async (times) => runTests(['test/cli/rotate-all.test.ts'], { QUORATE_TIMES: String(times) }),
  },
  temporal: { what: 'Temporal servers killed while they apply', count: 20, run: killManyServers },
  service: {
    what: 'services killed while they are submitted to',
    count: 100,
    run: async (kills) => demand(await killService({ kills }), { kills, lost: 0, twice: 0, half: 0, integrity: 'ok' }),
  },
  postgres: {
    what: 'services on one PostgreSQL, and its server, killed while they are submitted to',
    count: 100,
    run: async (kills) =>
      demand(await killOnPostgres({ kills }), { lost: 0, twice: 0, half: 0, sentWrong: 0, untold: 0 }),
  },
  quorums: {
    what: 'services on either store, and PostgreSQL, killed while votes and quorum changes meet, whose history a model explains',
    count: 100,
    run: explainQuorums,
  },
  stores: { what: 'suites of the service with its rows in PostgreSQL', count: 1, run: testOnPostgres },
  published: {
    what: 'times that the tests of sends are run on services that have what the API publishes and nothing of their own',
    count: 1,
    run: async (times) => {
      for (let time = 0; time < times; time++) runTests(SENDS, { QUORATE_TEST_PUBLISHED: '1' })
    },
  },
  containers: {
    what: 'times that temporal-docker is started in containers, used, killed part by part, brought down and up again',
    count: 1,
    run: runContainers,
  },
  schemathesis: {
    what: 'times as many requests as in the suite, which Schemathesis makes up from what is described',
    count: 54,
    run: async (times, seed) => makeUpRequests(times, seed),
  },
  logins: {
    what: 'services and proxies killed in the steps of each way to log in',
    count: 50,
    run: async (killsOfEach) =>
      demand(await killLogins({ killsOfEach }), { lost: 0, outlived: 0, unsent: 0, twice: 0, integrity: 'ok' }),
  },
  contacts: {
    what: 'codes asked for of users and of nobody, whose times must not differ',
    count: 500,
    run: async (count) => demand(await timeContacts({ count }), { count, tells: 0 }),
  },
  days: {
    what: 'days that an approval takes, with time skipped (needs the Java test server of `.ci/run`)',
    count: 3,
    run: async (days) => runTests(['test/workflows/time/time-skipping.long.ts'], { QUORATE_TIMES: String(days) }),
  },
  storm: {
    what: 'faults of processes and networks, ten each apply of 50 changes, with rotations and incidents, on either store',
    count: 200,
    run: weatherManyStorms,
  },
  answers: {
    what: 'calls over connections that break',
    count: 1_000,
    run: async (calls) => demand(await loseAnswers({ calls, naive: false }), { calls, late: 0, lost: 0, dup: 0 }),
  },
  sends: {
    what: 'sends of a batch, by 8 workers of which two are killed, to a node that loses answers and is killed twice',
    count: 500,
    run: sendManyTimes,
  },
  payments: {
    what: 'payments to a node that fails in every way, whose blocks are taken back, by a service that is started again',
    count: 2_000,
    run: async (count, seed) =>
      demand(await payUnderFaults({ count, seed }), { unpaid: 0, twice: 0, wrong: 0, mistold: 0, dear: 0 }),
  },
  schedule: {
    what: 'payments by two machines, half on each kind of chain, while all that they use lies, dies and is restored',
    count: 2_000,
    run: payOnBoth,
  },
  batch: {
    what: 'rows of a batch with mistakes, corrected, stopped, edited, resumed, restored from a snapshot and killed',
    count: 500,
    run: restoreBatch,
  },
  webhooks: {
    what: 'events that endpoints are told of by a service that is killed, while three attempts in ten fail',
    count: 10_000,
    run: tellOfMany,
  },
  'fail-points': {
    what: 'services that die inside a submit, of one kind at a time',
    count: FAIL_KINDS.length,
    run: dieEverywhere,
  },
  strangers: {
    what: 'sorts of strangers with what others have, in every field of every request',
    count: strangers.length,
    run: askEverywhere,
  },
}

const root = join(import.meta.dirname, '../..')

/** The tests of sends, from one command to a batch, of their ends and of what other machines have sent. */
const SENDS = [
  ...['test/cli/send', 'test/cli/sends', 'test/cli/sent', 'test/cli/batch', 'test/cli/solana-send'],
  ...['test/activities/sends', 'test/workflows/send'],
]

function runTests(files: readonly string[], variables: Readonly<Record<string, string>>): void {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const config = files.every((file) => file.endsWith('.long.ts')) ? 'test/long.config.ts' : 'test/vitest.config.ts'
  const args = ['run', '--config', config, '--testTimeout', String(MOST_MS), ...files]
  execFileSync(process.execPath, [vitest, ...args], {
    cwd: root,
    env: { ...process.env, ...variables },
    stdio: 'inherit',
  })
}

async function explainQuorums(kills: number): Promise<void> {
  for (const store of ['SQLite', 'PostgreSQL'] as const)
    demand({ store, ...(await recordQuorums({ kills, store })) }, { unexplained: 0 })
}

async function testOnPostgres(times: number): Promise<void> {
  const store = { QUORATE_TEST_STORE: 'postgres' }
  for (let time = 0; time < times; time++) runTests(['test/service'], store)
  // As many rounds as the figures of both stores are of.
  runTests(['test/service/reliability/one-execution.test.ts'], { ...store, QUORATE_TIMES: '5' })
}

async function runContainers(times: number): Promise<void> {
  process.env['QUORATE_TEST_CONTAINERS'] = '1'
  const reason = whyNoContainers()
  if (reason !== undefined) throw new Error(`containers cannot run here: ${reason}`)
  for (let time = 0; time < times; time++) runTests(['test/containers'], {})
}

async function tryProperties(times: number): Promise<void> {
  for (const those of ['test/**/*.test.ts', 'test/analysis/*.long.ts']) {
    const files = globSync(those, { cwd: root }).filter((file) =>
      importsIn(file, readFileSync(join(root, file), 'utf8')).some(({ to }) => to === 'test/runs.ts'),
    )
    runTests(files, { QUORATE_TIMES: String(times) })
  }
}

function makeUpRequests(times: number, seed: number): void {
  const variables = { QUORATE_TIMES: String(times), QUORATE_SEED: String(seed) }
  runTests(['test/security/schemathesis.long.ts'], variables)
}

async function askEverywhere(count: number): Promise<void> {
  const opened = await openStrangers()
  try {
    for (const stranger of strangers.slice(0, count)) {
      const { wrong, compared } = await opened.ask(stranger, { every: true })
      for (const one of wrong) console.log(JSON.stringify(one).slice(0, 1_000))
      demand({ ...stranger, compared, wrong: wrong.length }, { wrong: 0 })
    }
  } finally {
    await opened.close()
  }
}

async function tellOfMany(count: number): Promise<void> {
  const sends = Math.ceil(count / 20)
  const kills = Math.ceil(sends / 25)
  const figures = await killWhileTelling({ sends, kills })
  demand(figures, { sends, events: 20 * sends, kills, lost: 0, twice: 0, strange: 0, unverified: 0 })
}

async function sendManyTimes(sends: number): Promise<void> {
  await withTemporal(async (temporal) => {
    const figures = await sendMany({ temporal, sends, senders: 5, workers: 8, requestsPerSecond: 10, workerKills: 2 })
    const once = { included: sends, hashes: sends, paid: sends, nonces: sends }
    demand(figures, { ...once, nodeKills: 2, workerKills: 2, keptRate: true })
  })
}

async function payOnBoth(count: number, seed: number): Promise<void> {
  const right = { unpaid: 0, twice: 0, wrong: 0, mistold: 0, dear: 0, sums: 'equal' }
  demand(await payBySchedule({ seed, count }), right)
}

async function watchMany(count: number): Promise<void> {
  await withTemporal(async (temporal) => {
    console.log(line(await watchFleet({ temporal, count, requestsPerSecond: 60 })))
  })
}

async function restoreBatch(rows: number): Promise<void> {
  await withTemporal(async (temporal) => {
    const figures = await restoreAmidBatch({ temporal, rows, requestsPerSecond: 10 })
    demand(figures, { rows, submittedBefore: 0, unpaid: 0, twice: 0, foreign: 0, counts: `{"included":${rows}}` })
  })
}

async function killManyWorkers(count: number): Promise<void> {
  await withTemporal(async (temporal) => {
    const sum = { kills: 0, pending: 0, submits: 0, lost: 0, dup: 0 }
    while (sum.kills < count) {
      const kills = Math.min(KILLS_AN_APPLY.worker, count - sum.kills)
      add(
        sum,
        demand(await killWorkers({ temporal, kills }), { kills, pending: kills, lost: 0, dup: 0, state: 'done' }),
      )
    }
    console.log(line(sum))
  })
}

async function weatherManyStorms(count: number): Promise<void> {
  const sum = { rounds: 0, pending: 0, kills: 0, cuts: 0, lost: 0, dup: 0, rotations: 0, incidents: 0, stillTaken: 0 }
  for (let storm = 0; sum.rounds < count; storm++) {
    const store = storm % 2 === 1 && findPostgres() !== undefined ? 'PostgreSQL' : 'SQLite'
    const figures = await weather({ rounds: Math.min(10, count - sum.rounds), store })
    demand({ store, ...figures }, { pending: figures.rounds, state: 'done', lost: 0, dup: 0, stillTaken: 0 })
    if (figures.fewestKeys < 1) throw new RangeError('the user of the rotated key was without a credential')
    add(sum, figures)
  }
  console.log(line(sum))
}

async function killAtEachStep(count: number): Promise<void> {
  await withTemporal(async (temporal) => {
    const points = DEATH_POINTS.slice(0, count)
    const all = points.length
    for (const victim of ['worker', 'service'] as const) {
      const wanted = { killed: all, ended: all, right: all, dup: 0, refused: 0, fewestKeys: 1 }
      demand({ victim, ...(await killInRotations({ temporal, points, victim })) }, wanted)
    }
  })
}

async function killManyServers(count: number): Promise<void> {
  const sum = { kills: 0, pending: 0, submits: 0, lost: 0, dup: 0 }
  while (sum.kills < count) {
    const kills = Math.min(KILLS_AN_APPLY.server, count - sum.kills)
    add(sum, demand(await killServer({ kills }), { kills, pending: kills, lost: 0, dup: 0, state: 'done' }))
  }
  console.log(line(sum))
}

async function dieEverywhere(count: number): Promise<void> {
  const sum = { deaths: 0, kept: 0, unanswered: 0, changed: 0, failed: 0 }
  for (const kind of FAIL_KINDS.slice(0, count)) {
    const undisturbed = await dieAt(undefined, { types: [kind] })
    for (const point of FAIL_POINTS) {
      const { figures, rows } = await dieAt(point, { types: [kind] })
      const committed = point === 'after-commit' || point === 'before-reply' ? 1 : 0
      demand({ kind, ...figures }, { kept: committed, unanswered: 1, changed: 0, failed: 0 })
      demand(rows, undisturbed.rows, false)
      add(sum, { deaths: 1, ...figures })
    }
  }
  console.log(line(sum))
}

/** Gives the figures, which it prints; throws unless they are as they must be. */
function demand<Figures extends object>(figures: Figures, expected: object, prints = true): Figures {
  if (prints) console.log(line(figures))
  for (const [name, value] of Object.entries(expected)) {
    const got = (figures as Readonly<Record<string, unknown>>)[name]
    if (got !== value) throw new RangeError(`expected ${name} to be ${String(value)}, got ${String(got)}`)
  }
  return figures
}

function add(sum: Record<string, number>, figures: object): void {
  for (const [name, value] of Object.entries(figures)) if (typeof sum[name] === 'number') sum[name] += Number(value)
}

async function withTemporal(work: (temporal: TemporalServer) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-soak-'))
  const announce = (text: string) => console.log(text)
  const binary = await findTemporal({ announce })
  const server = await startTemporalServer({ binary, folder, announce: () => {} })
  try {
    await work(server)
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const { values, positionals } = readArguments()
if (values.help) {
  for (const [name, { what, count }] of Object.entries(parts)) console.log(`${name}: ${count} ${what}`)
  process.exit(0)
}
const seed = wholeNumber('seed', values.seed)
const count = values.count === undefined ? undefined : wholeNumber('count', values.count)
const unknown = positionals.filter((name) => !Object.hasOwn(parts, name))
if (unknown.length > 0) fail(`expected ${Object.keys(parts).join(', ')}, got ${unknown.join(' ')}`)
for (const [name, part] of Object.entries(parts)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  console.log(`${name}: ${part.what}`)
  const begun = performance.now()
  await part.run(count ?? part.count, seed)
  console.log(`${name}: ${((performance.now() - begun) / 1000).toFixed(0)} s`)
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        count: { type: 'string' },
        seed: { type: 'string', default: `${Date.now() % 2 ** 31}` },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    return fail((error as Error).message)
  }
}

function wholeNumber(name: string, text: string): number {
  if (/^[0-9]{1,10}$/.test(text)) return Number(text)
  return fail(`expected --${name} to be a whole number, got \`${text}\``)
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
