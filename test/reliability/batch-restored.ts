/**
 * A batch as things go: the file has mistakes, is corrected, sent, stopped, edited, sent again, stopped again and resumed; the
 * service dies and comes back from a snapshot, an operator has its lanes reconciled, and worker and command are killed. All of it by
 * the commands themselves, as processes. Judged by all blocks of the chain, read by nothing of the service's.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPlanStore } from '../../activities/index.ts'
import { createSubmitClient } from '../../src/client/index.ts'
import { restoreSnapshot, saveSnapshot } from '../../src/service/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { commandFile } from '../programs.ts'
import { readClient, startProcess } from '../service/process.ts'
import { startAnvil } from '../service/sends/anvil.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { accountsOf, ETHEREUM } from '../service/signing/keys.ts'
import { type TestTemporal, temporalEnvironment } from '../temporal.ts'
import { drawing } from './drawing.ts'
import { kill } from './field.ts'
import { readBlocks, startMining } from './payments.ts'
import { openStage, type Stage } from './stage.ts'

const PAYROLL = '0x00000000000000000000000000000000000000b0'
const CONFIRMATIONS = 3
/** Of a hundred rows so many are wrong at first: 35 of 500. */
const WRONG = 7
const MOST_TRIES = 20

export interface BatchRestored {
  readonly rows: number
  /** Mistakes that were found in the file, all before anything was submitted. */
  readonly mistakes: number
  readonly submittedBefore: number
  readonly edited: number
  /** Rows that had been submitted when each of the two stops was over. */
  readonly stoppedAt: readonly number[]
  /** Payments on the chain that the restored service knew nothing of. */
  readonly beyondSnapshot: number
  readonly kills: number
  readonly unpaid: number
  readonly twice: number
  readonly foreign: number
  /** What the last command counts. */
  readonly counts: string
}

export interface BatchRestoredOptions {
  readonly temporal: TestTemporal
  readonly rows: number
  readonly requestsPerSecond: number
  readonly mostMs?: number
  readonly signal?: AbortSignal
}

export async function restoreAmidBatch({ mostMs = 3_600_000, signal, ...options }: BatchRestoredOptions) {
  const stage = openStage({ mostMs, ...(signal && { signal }) })
  return stage.run(() => carryOut(options, stage))
}

async function carryOut(
  { temporal, rows, requestsPerSecond }: Omit<BatchRestoredOptions, 'mostMs' | 'signal'>,
  stage: Stage,
): Promise<BatchRestored> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-restored-'))
  stage.atEnd(async () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const anvil = await startAnvil({ mining: 'on-request' })
  stage.atEnd(() => anvil.kill())
  const mining = startMining(anvil, drawing(1))
  stage.atEnd(() => mining.stop())
  const serving = {
    chains: { [SEPOLIA]: { url: anvil.url, pollMs: 100, confirmations: CONFIRMATIONS } },
    operator: true,
  }
  let dataDir = join(folder, 'service')
  mkdirSync(dataDir, { mode: 0o700 })
  let service = await startProcess(dataDir, serving)
  stage.atEnd(() => service.end('SIGKILL'))
  const port = Number(new URL(service.url).port)
  const { apiPrivateKey } = JSON.parse(readFileSync(join(dataDir, 'bootstrap.json'), 'utf8')) as Record<string, string>
  const speaker = readClient(dataDir)
  const { organizationId } = speaker
  const stamper = createApiKeyStamper({ privateKey: new Secret(apiPrivateKey!) })
  const client = createSubmitClient({ baseUrl: service.url, organizationId, stamper })
  const parameters = { walletName: 'treasury', accounts: accountsOf(ETHEREUM) }
  const made = await speaker.send(service.url, speaker.body('ACTIVITY_TYPE_CREATE_WALLET', parameters))
  const { walletId } = made!.result.createWalletResult!
  const { accounts } = await client.query('list_wallet_accounts', { walletId })
  await anvil.fund((accounts[0] as { address: string }).address, 100)

  mkdirSync(join(folder, 'defs'))
  const book = `addressBook: { payroll: "${PAYROLL}" }\n`
  writeFileSync(join(folder, 'defs/acme.yaml'), `organization: acme\nid: \${env.ACME_ORGANIZATION_ID}\n${book}`)
  writeFileSync(join(folder, 'root.key'), apiPrivateKey!, { mode: 0o600 })
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    CI: 'true',
    ...temporalEnvironment(temporal),
    QUORATE_BASE_URL: service.url,
    QUORATE_ORGANIZATION_ID: organizationId,
    QUORATE_API_KEY_FILE: join(folder, 'root.key'),
    QUORATE_DATA_DIR: join(folder, 'data'),
    QUORATE_REQUESTS_PER_SECOND: String(requestsPerSecond),
    ACME_ORGANIZATION_ID: organizationId,
  }
  const start = (args: readonly string[]) => {
    const child = spawn(process.execPath, [commandFile(), ...args], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    stage.atEnd(() => kill(child))
    const said = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text) => {
        said[name] += text
      })
    const ended = new Promise<{ exit: number | null; stdout: string; stderr: string }>((resolve) =>
      child.once('close', (exit) => resolve({ exit, ...said })),
    )
    return { child, ended }
  }
  const run = (...args: readonly string[]) => start(args).ended
  const sendFile = (...more: readonly string[]) =>
    start(['send', 'defs', '--batch', 'pay.csv', '--yes', '--json', ...more])
  let worker: ChildProcess = start(['worker']).child

  // First with mistakes of several kinds, then corrected.
  const amounts = Array.from({ length: rows }, (_, row) => 1_000 + row)
  const write = (mistakes: boolean) => {
    const cells = amounts.map((amount, row) => {
      const of = [`PAY-${row}`, 'treasury', 'payroll', `${amount}wei`, SEPOLIA]
      if (mistakes && (row * WRONG) % 100 < WRONG) spoil(of, row)
      return of.join(',')
    })
    writeFileSync(join(folder, 'pay.csv'), `ref,from,to,amount,chain\n${cells.join('\n')}\n`)
  }
  write(true)
  const refused = await sendFile().ended
  const { diagnostics = [] } = JSON.parse(refused.stdout || '{}') as { diagnostics?: readonly unknown[] }
  if (refused.exit !== 1) throw new Error(`the file with mistakes was not refused: ${refused.stderr}`)
  const countActivities = async () => {
    const asked = {
      filterByStatus: [],
      filterByType: ['ACTIVITY_TYPE_ETH_SEND_TRANSACTION'],
      paginationOptions: { limit: '1' },
    }
    return (await client.query('list_activities', asked as never)).activities.length
  }
  const submittedBefore = await countActivities()
  write(false)

  const { batches } = createPlanStore(join(folder, 'data', 'plans'))
  /** Rows of the file that have been submitted, under whichever batch. */
  const look = async () => {
    const submitted = new Set<string>()
    for (const id of await batches.ids())
      for (const { row, progress } of await batches.survey(await batches.get(id)))
        if (progress?.activityId !== undefined) submitted.add(row.order.reference)
    stage.standing = `${submitted.size} of ${rows} submitted`
    return submitted
  }
  const until = async (count: number, sending: ReturnType<typeof start>) => {
    let ended: Awaited<typeof sending.ended> | undefined
    void sending.ended.then((how) => {
      ended = how
    })
    while ((await look()).size < count) {
      if (ended) throw new Error(`it ended with ${ended.exit}: ${ended.stderr.slice(-2_000)}`)
      await stage.pause(100)
    }
  }
  const stoppedAt: number[] = []
  /** Stops it by a command, with the worker halted until the stop is in the ledger: a slow machine begins no further rows in between. */
  const stop = async (sending: ReturnType<typeof start>) => {
    worker.kill('SIGSTOP')
    const findOpen = async () => {
      for (const id of await batches.ids()) if ((await batches.stoppedAt(id)) === undefined) return id
      return undefined
    }
    let id = await findOpen()
    for (; id === undefined; id = await findOpen()) await stage.pause(50)
    const stopping = start(['sends', 'stop', id])
    const over = stopping.ended.then(() => true)
    while ((await batches.stoppedAt(id)) === undefined && !(await Promise.race([over, stage.pause(50)])));
    worker.kill('SIGCONT')
    const { exit, stderr } = await stopping.ended
    if (exit !== 0) throw new Error(`not stopped: ${stderr}`)
    await sending.ended
    stoppedAt.push((await look()).size)
  }

  let sending = sendFile()
  await until(Math.ceil(rows / 8), sending)
  await stop(sending)
  // Of what was not submitted, two rows are to pay something else.
  const submitted = await look()
  const open = amounts.flatMap((_, row) => (submitted.has(`PAY-${row}`) ? [] : [row]))
  const edited = open.slice(-2)
  for (const row of edited) amounts[row]! += 1_000_000
  write(false)
  sending = sendFile()
  await until(stoppedAt[0]! + Math.ceil((rows - stoppedAt[0]!) / 4), sending)
  await stop(sending)

  const snapshot = join(folder, 'service.snapshot')
  await saveSnapshot(dataDir, snapshot)
  sending = sendFile('--resume')
  await until(stoppedAt[1]! + Math.ceil((rows - stoppedAt[1]!) / 2), sending)
  const known = Number((await look()).size)
  await kill(worker)
  await kill(sending.child)
  await service.end('SIGKILL')
  dataDir = join(folder, 'restored')
  await restoreSnapshot(dataDir, snapshot)
  service = await startProcess(dataDir, { ...serving, port })
  worker = start(['worker']).child
  let last = await trySending()
  for (let tries = 1; last.exit !== 0 && tries < MOST_TRIES; tries++) last = await trySending()
  if (last.exit !== 0)
    throw new Error(`it ended with ${last.exit}: ${last.stderr.slice(-2_000)} ${last.stdout.slice(-3_000)}`)
  await kill(worker)

  const paid = (await readBlocks(anvil)).get(PAYROLL) ?? []
  const times = (amount: number) => paid.filter(({ value }) => value === BigInt(amount)).length
  return {
    rows,
    mistakes: diagnostics.length,
    submittedBefore,
    edited: edited.length,
    stoppedAt,
    beyondSnapshot: known - stoppedAt[1]!,
    kills: 3,
    unpaid: amounts.filter((amount) => times(amount) === 0).length,
    twice: amounts.filter((amount) => times(amount) > 1).length,
    foreign: paid.filter(({ value }) => !amounts.includes(Number(value))).length,
    counts: JSON.stringify((JSON.parse(last.stdout) as { counts: unknown }).counts),
  }

  /** The same command again, while an operator has what the chain is ahead by identified. */
  async function trySending() {
    const again = sendFile('--resume')
    let isOver = false
    const ended = again.ended.finally(() => {
      isOver = true
    })
    while (!isOver) {
      await run('sends', 'reconcile', '--yes', '--pay', 'all', '--json', '--folder', dataDir)
      await Promise.race([ended, stage.pause(1_500)])
      await look()
    }
    return ended
  }
}

/** Ways in which a row is wrong: in which cell, and what it says. */
const MISTAKES = [
  [2, 'nobody'],
  [3, '1.5'],
  [4, 'eip155:sepolia'],
  [1, 'tresury'],
  [3, '0wei'],
] as const

function spoil(cells: string[], row: number): void {
  const [cell, text] = MISTAKES[row % MISTAKES.length]!
  cells[cell] = text
}
