/** What approvers have rejected is asked for again only on command: as a new activity under the same reference, and once. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SendOrder, sendIdOf } from '../../activities/index.ts'
import { complete } from '../service/handlers/steps.ts'
import { createTestUser } from '../service/harness.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { countActivities, keyFile, quorateShared as quorate, testFolder, writeFiles } from './harness.ts'
import { machineOf, orderOf } from './machine.ts'
import { PAYROLL, payday } from './payday.ts'

const closers: (() => Promise<void>)[] = []
const atEnd = (close: () => Promise<void>) => closers.push(close)
let day: Awaited<ReturnType<typeof payday>>
let carol: string
/** Sends wait for carol from here on. */
beforeAll(async () => {
  day = await payday(atEnd)
  const user = await createTestUser(day.service, 'carol')
  const userIds = [day.service.rootUserId, user.userId]
  await complete(day.service.root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
  carol = keyFile(day.folder, 'carol', user.client.privateKey)
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

interface Sent {
  readonly state: string
  readonly next?: string
  readonly progress: { readonly activityId: string; readonly transactionHash?: string }
}

const vote = async (command: 'approve' | 'reject', activityId: string) => {
  const { exit, stderr } = await quorate([command, activityId, '--yes', '--key-file', carol], {
    env: day.env,
    cwd: day.folder,
  })
  expect([exit, stderr]).toEqual([0, stderr])
}
const send = async (ref: string, ...more: string[]) => {
  const { exit, stdout, stderr } = await day.send(['--yes', '--json', ...more], { ref, amount: '7wei' })
  if (stdout === '') throw new Error(stderr)
  return { exit, ...(JSON.parse(stdout) as Sent) }
}
const machine = () => machineOf(day, { folder: join(testFolder(atEnd), 'plans') })

test('a rejected send stays rejected and names --ask-again, which submits the same payment once more under its reference', async () => {
  const first = await send('AGAIN-1')
  expect(first.state).toBe('waiting')
  const before = await countActivities(day.service)
  expect((await send('AGAIN-1', '--ask-again')).progress.activityId).toBe(first.progress.activityId)
  expect(await countActivities(day.service)).toBe(before)
  await vote('reject', first.progress.activityId)
  const said = await send('AGAIN-1')
  expect(said).toMatchObject({ exit: 6, state: 'rejected', next: expect.stringContaining('--ask-again') })
  expect((await send('AGAIN-1')).progress.activityId).toBe(first.progress.activityId)

  const paid = await day.paid()
  const [one, other] = await Promise.all([send('AGAIN-1', '--ask-again'), send('AGAIN-1', '--ask-again')])
  expect([one.state, other.progress.activityId]).toEqual(['waiting', one.progress.activityId])
  expect(one.progress.activityId).not.toBe(first.progress.activityId)
  await vote('approve', one.progress.activityId)
  expect((await send('AGAIN-1')).state).toBe('included')
  const submitted = await countActivities(day.service)
  expect((await send('AGAIN-1', '--ask-again')).state).toBe('included')
  expect(await countActivities(day.service)).toBe(submitted)
  expect(await day.paid()).toBe(paid + 7n)
})

test('another payment under a rejected reference is refused, also with --ask-again', async () => {
  const { progress } = await send('AGAIN-2')
  await vote('reject', progress.activityId)
  expect((await send('AGAIN-2')).state).toBe('rejected')
  const before = await countActivities(day.service)
  const { exit, stderr } = await day.send(['--yes', '--ask-again'], { ref: 'AGAIN-2', amount: '8wei' })
  expect([exit, stderr]).toEqual([4, expect.stringContaining('`AGAIN-2` stands for another send')])
  expect(await countActivities(day.service)).toBe(before)
})

test('rows of a batch that were rejected are asked for again with --ask-again alone, and paid once', async () => {
  const rows = ['ROW-A', 'ROW-B'].map(
    (ref) => `${ref},${day.walletName},payroll,${ref === 'ROW-A' ? 21 : 22}wei,${SEPOLIA}`,
  )
  writeFiles(day.folder, { 'rows.csv': ['ref,from,to,amount,chain', ...rows, ''].join('\n') })
  const batch = async (...more: string[]) => {
    const asked = ['send', 'defs', '--batch', 'rows.csv', '--yes', '--json', ...more]
    const { exit, stdout, stderr } = await quorate(asked, { env: day.env, cwd: day.folder })
    if (stdout === '') throw new Error(stderr)
    return { exit, ...(JSON.parse(stdout) as Report) }
  }
  const idOf = ({ rows }: Report, ref: string) => rows.find(({ reference }) => reference === ref)!.activityId!
  const paid = await day.paid()
  const waits = await batch()
  expect(waits.counts).toEqual({ waiting: 2 })
  await vote('reject', idOf(waits, 'ROW-A'))
  await vote('approve', idOf(waits, 'ROW-B'))
  const ended = await batch()
  expect([ended.exit, ended.counts]).toEqual([6, { rejected: 1, included: 1 }])
  expect(ended.rows.find(({ reference }) => reference === 'ROW-A')!.next).toContain('--ask-again')
  const before = await countActivities(day.service)
  expect((await batch()).counts).toEqual({ rejected: 1, included: 1 })
  expect(await countActivities(day.service)).toBe(before)

  const [one, other] = await Promise.all([batch('--ask-again'), batch('--ask-again')])
  expect([one.counts, other.counts]).toEqual([
    { waiting: 1, included: 1 },
    { waiting: 1, included: 1 },
  ])
  expect(await countActivities(day.service)).toBe(before + 1)
  expect(idOf(one, 'ROW-A')).not.toBe(idOf(waits, 'ROW-A'))
  await vote('approve', idOf(one, 'ROW-A'))
  const paidAll = await batch()
  expect([paidAll.exit, paidAll.counts]).toEqual([0, { included: 2 }])
  expect(await day.paid()).toBe(paid + 43n)
})

interface Report {
  readonly counts: Readonly<Record<string, number>>
  readonly rows: readonly { readonly reference: string; readonly activityId?: string; readonly next?: string }[]
}

test('a replacement that was rejected is asked for again, with the same nonce, and takes the place of the old send', async () => {
  const { anvil, env, folder } = day
  const paid = await day.paid()
  const first = await send('AGAIN-R')
  await anvil.rpc('evm_setAutomine', false)
  await vote('approve', first.progress.activityId)
  const asked = ['sends', 'replace', 'AGAIN-R', 'defs', '--max-fee', '900gwei', '--node', anvil.url, '--yes', '--json']
  const replace = async (...more: string[]) => {
    const { stdout, stderr } = await quorate([...asked, ...more], { env, cwd: folder })
    if (stdout === '') throw new Error(stderr)
    return JSON.parse(stdout) as Sent
  }
  const isOffered = (asked: () => Promise<Sent>) =>
    expect.poll(async () => (await asked()).progress.transactionHash, { interval: 500, timeout: 30_000 }).toMatch(/^0x/)
  await isOffered(() => send('AGAIN-R', '--detach'))
  const offered = await replace()
  await vote('reject', offered.progress.activityId)
  expect((await replace()).state).toBe('rejected')
  const again = await replace('--ask-again')
  expect([again.state, again.progress.activityId === offered.progress.activityId]).toEqual(['waiting', false])
  await vote('approve', again.progress.activityId)
  // Before it is offered, a block would take the old one.
  await isOffered(() => replace('--detach'))
  const ended = replace()
  await expect
    .poll(async () => {
      await anvil.rpc('evm_mine')
      return day.paid()
    })
    .toBe(paid + 7n)
  await anvil.rpc('evm_setAutomine', true)
  // What was replaced is told so when the other's block is settled.
  await anvil.rpc('anvil_mine', '0xc')
  expect((await ended).state).toBe('included')
  expect((await send('AGAIN-R')).state).toBe('replaced')
  expect(await day.paid()).toBe(paid + 7n)
})

test('eight data folders that ask again at once make one activity in each round, and one payment', async () => {
  const order = (more: Partial<SendOrder> = {}) => orderOf(day, { reference: 'AGAIN-8', value: '31', ...more })
  const sendId = sendIdOf(order())
  const machines = Array.from({ length: 7 }, machine)
  const told = async (one: ReturnType<typeof machine>) => {
    const { needsVote: _, ...state } = await one.steps.pollSend({ sendId })
    expect(state.state).toBe('rejected')
    await one.steps.recordSend({ progress: { sendId, reference: 'AGAIN-8', ...state, state: 'rejected' } })
  }
  const ids: string[] = []
  const paid = await day.paid()
  ids.push((await machines[0]!.send(order())).activityId!)
  for (const one of machines.slice(1)) expect((await one.send(order())).activityId).toBe(ids[0])
  for (let round = 1; round <= 2; round++) {
    await vote('reject', ids.at(-1)!)
    for (const one of machines) await told(one)
    // The eighth knows nothing of it but what the API lists.
    const all = [...machines, machine()]
    const made = await Promise.all(
      all.map((one, at) => one.sendAgain(order({ orderedAt: new Date(Date.now() - 41 * at).toISOString() }))),
    )
    const [id, ...others] = new Set(made.map(({ activityId }) => activityId!))
    expect([others, ids.includes(id!)]).toEqual([[], false])
    ids.push(id!)
  }
  // With the bytes of another hour, what was asked for again is found and joined; without asking again, too.
  const hourAgo = order({ orderedAt: new Date(Date.now() - 60 * 60 * 1000).toISOString() })
  expect((await machine().sendAgain(hourAgo)).activityId).toBe(ids.at(-1))
  expect((await machine().send(order())).activityId).toBe(ids.at(-1))
  await vote('approve', ids.at(-1)!)
  await expect.poll(day.paid).toBe(paid + 31n)
  expect((await machines[0]!.sendAgain(order())).activityId).toBe(ids.at(-1))
  const { activities } = await day.service.root.query('list_activities', { paginationOptions: { limit: '100' } })
  const sent = activities.filter(({ intent }) => intent.ethSendTransactionIntent?.value === '31')
  expect(sent.map(({ id }) => id).sort()).toEqual([...ids].sort())
})

test('what is not known to be rejected is never asked for again, whatever the ledger says', async () => {
  const order = orderOf(day, { reference: 'AGAIN-9', value: '32', to: PAYROLL })
  const one = machine()
  const { activityId } = await one.send(order)
  const before = await countActivities(day.service)
  await one.planStore.sends.putProgress({ sendId: sendIdOf(order), reference: 'AGAIN-9', state: 'rejected' })
  expect((await one.sendAgain(order)).activityId).toBe(activityId)
  const isAway = async () => false
  expect(await one.planStore.sends.enterAgain({ ...order, round: 1 }, isAway)).toBe(false)
  expect((await one.planStore.sends.findOrder(sendIdOf(order)))?.round).toBeUndefined()
  expect(await countActivities(day.service)).toBe(before)
})
