/**
 * What a second service process on one PostgreSQL adds. Two processes, PostgreSQL and what loads them want more than two cores, so
 * each process of the service is given a small share of one (a quota of Linux's control groups, which needs root): what is left is
 * enough for all else, as on a machine with cores to spare. The processes, their database, its locks and its disk are real.
 * The requests go to sub-organizations in turn: those of one organization wait for one another in any number of processes.
 */
import { type ChildProcess, fork } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bootstrap } from '../../src/service/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { startPostgres } from '../postgres.ts'
import { type ServingProcess, startProcess } from '../service/process.ts'
import { makeCustomers } from './customers.ts'
import { median, PATH, prepareOrganization, runLoad } from './submit.ts'

const AIM = 1.7
/** Of a core, for each process. */
const SHARE = 0.1
const CUSTOMERS = 64
const CONNECTIONS = 16
const REQUESTS = 120
const WARM_UP = 3
const ROUNDS = 11
const GROUPS = '/sys/fs/cgroup/cpu'

/** Prints requests a second of one and of two, and their ratio; exits with 1 under the aim. */
export async function run(): Promise<void> {
  if (process.getuid?.() !== 0 || !existsSync(join(GROUPS, 'cpu.cfs_quota_us'))) {
    console.log('skipped: it needs root, and control groups (version 1) at /sys/fs/cgroup/cpu')
    return
  }
  const closers: (() => unknown)[] = []
  try {
    const postgres = await startPostgres({ isDurable: true })
    closers.push(() => postgres.close())
    const databaseUrl = (await postgres.create()).reveal()
    const folders = ['one', 'two'].map((name) => mkdtempSync(join(tmpdir(), `quorate-bench-${name}-`)))
    for (const folder of folders) closers.push(() => rmSync(folder, { recursive: true, force: true }))
    const first = await startProcess(folders[0]!, { databaseUrl })
    closers.push(() => first.end('SIGKILL'))
    copyFileSync(join(folders[0]!, 'master.key'), join(folders[1]!, 'master.key'))
    const second = await startProcess(folders[1]!, { databaseUrl })
    closers.push(() => second.end('SIGKILL'))
    const kept = JSON.parse(readFileSync(join(folders[0]!, 'bootstrap.json'), 'utf8')) as { apiPrivateKey: string }
    const bootstrap = { ...(kept as object as Bootstrap), apiPrivateKey: new Secret(kept.apiPrivateKey) }
    const { send } = await prepareOrganization({ url: first.url, bootstrap })
    const { requestsOf } = await makeCustomers(send, CUSTOMERS)
    const both = [first, second]
    for (const { pid } of both) closers.push(limit(pid))
    const loaders = both.map(() => fork(new URL('./submit-load.ts', import.meta.url)))
    for (const loader of loaders) closers.push(() => loader.kill())

    const load = async (loader: ChildProcess, { url }: ServingProcess) => {
      const requests = await requestsOf(REQUESTS)
      return () => runLoad(loader, { url, path: PATH, connections: CONNECTIONS, requests })
    }
    const ratios: number[] = []
    const [alone, together]: [number[], number[]] = [[], []]
    const times: number[] = []
    for (let round = 1 - WARM_UP; round <= ROUNDS; round++) {
      // Each of the two by itself, so that none is compared with the quicker of them.
      let single = 0
      for (const [i, one] of both.entries())
        single += REQUESTS / ((await (await load(loaders[i]!, one))()).ms / 1_000) / 2
      const loads = await Promise.all(both.map((one, i) => load(loaders[i]!, one)))
      const begun = performance.now()
      const answers = await Promise.all(loads.map((start) => start()))
      const pair = (2 * REQUESTS) / ((performance.now() - begun) / 1_000)
      if (round <= 0) continue
      alone.push(single)
      together.push(pair)
      ratios.push(pair / single)
      times.push(...answers.flatMap(({ times: each }) => each))
    }
    const ratio = median(ratios)
    times.sort((a, b) => a - b)
    const at = (share: number) => `${times[Math.floor(times.length * share)]!.toFixed(0)} ms`
    console.log(
      `${SHARE} of a core for each process: one ${median(alone).toFixed(1)}/s, two ${median(together).toFixed(1)}/s; of two p50 ${at(0.5)}, p99 ${at(0.99)}`,
    )
    console.log(
      `two processes on one PostgreSQL: ${ratio.toFixed(2)} of one, aim ${AIM}: ${ratio >= AIM ? 'met' : 'MISSED'}`,
    )
    if (ratio < AIM) process.exitCode = 1
  } finally {
    for (const close of closers.reverse()) await close()
  }
}

/** Gives a process a share of a core, in periods so short that a lock which it holds is not held for long. */
function limit(pid: number): () => void {
  // Those of a bench that was killed are empty; one that is in use cannot be removed.
  for (const name of readdirSync(GROUPS).filter((name) => name.startsWith('quorate-bench-'))) {
    try {
      rmdirSync(join(GROUPS, name))
    } catch {}
  }
  const group = join(GROUPS, `quorate-bench-${pid}`)
  mkdirSync(group)
  writeFileSync(join(group, 'cpu.cfs_period_us'), '20000')
  writeFileSync(join(group, 'cpu.cfs_quota_us'), String(20_000 * SHARE))
  writeFileSync(join(group, 'cgroup.procs'), String(pid))
  return () => {
    writeFileSync(join(GROUPS, 'cgroup.procs'), String(pid))
    rmdirSync(group)
  }
}
