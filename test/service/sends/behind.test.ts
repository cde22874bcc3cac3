/** What a start asks an Ethereum node to find out whether the records are behind its chain, and whose sends it holds then. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { insertOrganization } from '../../../src/service/resources/organizations/store.ts'
import { putNextNonce, readRestoredAt } from '../../../src/service/resources/sends/lanes-store.ts'
import { insertSend, listOpenSends } from '../../../src/service/resources/sends/store.ts'
import { createBehindLook } from '../../../src/service/sends/ethereum-behind.ts'
import type { EthereumTools } from '../../../src/service/sends/ethereum-tools.ts'
import { findUnknown } from '../../../src/service/sends/lane.ts'
import { type Database, insertActivity, openDatabase } from '../../../src/service/store/index.ts'
import { SEPOLIA } from './status.ts'

const KNOWN = 3
const ADDRESSES = 1_000
const CHAIN = { caip2: SEPOLIA, unknownNonces: 'hold' } as EthereumTools['chain']
const addressOf = (number: number) => `0x${number.toString(16).padStart(40, '0')}`

const folder = mkdtempSync(join(tmpdir(), 'quorate-behind-'))
let database: Database
let files = 0
beforeEach(async () => {
  await database?.close()
  database = openDatabase(join(folder, `${files++}.db`), { now: 0 })
  await database.write(async (tx) => {
    for (let number = 0; number < ADDRESSES; number++)
      await putNextNonce(tx, { caip2: SEPOLIA, sender: addressOf(number) }, KNOWN)
  })
})
afterAll(async () => {
  await database.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A look whose node counts as it is told to: the n-th question for an address, from 1 on. */
function lookWith(countOf: (address: string, time: number) => number) {
  const asked = new Map<string, number>()
  const warnings: unknown[] = []
  const at = { once: 0, most: 0 }
  const node = {
    async pendingCount(address: string) {
      const time = (asked.get(address) ?? 0) + 1
      asked.set(address, time)
      at.most = Math.max(at.most, ++at.once)
      await new Promise(setImmediate)
      at.once--
      return BigInt(countOf(address, time))
    },
  }
  const logger = { warn: (_: string, fields: unknown) => warnings.push(fields) }
  const tools = { chain: CHAIN, node, database, clock: () => 0, logger } as unknown as EthereumTools
  const questions = () => [...asked.values()].reduce((all, times) => all + times, 0)
  return { look: createBehindLook(tools), asked, at, warnings, questions }
}

const isRestored = async () => (await database.read(readRestoredAt)) !== undefined

test('each address that is in step is asked for once in a process, eight at a time', async () => {
  const { look, at, questions } = lookWith(() => KNOWN)
  expect(await Promise.all([look(), look()])).toEqual([false, false])
  expect(await look()).toBe(false)
  expect([questions(), at.most, await isRestored()]).toEqual([ADDRESSES, 8, false])
})

test('a count that is too high is believed when it is said twice', async () => {
  const address = addressOf(500)
  const lie = lookWith((each, time) => (each === address && time === 1 ? 9 : KNOWN))
  expect([await lie.look(), lie.questions(), await isRestored()]).toEqual([false, ADDRESSES + 1, false])

  const truth = lookWith((each) => (each === address ? 9 : KNOWN))
  expect([await truth.look(), await truth.look()]).toEqual([true, false])
  expect([truth.asked.get(address), truth.warnings, await isRestored()]).toEqual([
    2,
    [{ caip2: SEPOLIA, address, known: KNOWN, next: 9, held: 'all' }],
    true,
  ])
})

test('an address that a node leaves without an answer is asked for again, those before it are not', async () => {
  const address = addressOf(500)
  const { look, asked, questions } = lookWith((each, time) => {
    if (each === address && time === 1) throw new Error('no answer')
    return KNOWN
  })
  await expect(look()).rejects.toThrow('no answer')
  expect(await look()).toBe(false)
  expect(asked.get(addressOf(0))).toBe(1)
  expect(questions()).toBeLessThanOrEqual(ADDRESSES + 8)
})

const SOLANA = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'
const [FIRST, SECOND, PAID_FOR, RELAYER] = [1, 2, 3, 4].map(addressOf) as [string, string, string, string]
let sends = 0

/** Two organizations with an address each, one of the first that the relayer pays for, and open sends of both on two chains. */
async function withTenants(activities: Readonly<Record<'first' | 'second', string | undefined>>) {
  for (const [id, type] of Object.entries(activities)) {
    const times = { created_at: 0, updated_at: 0 }
    await database.write(async (tx) => {
      await insertOrganization(tx, { id, parent_id: null, name: id, quorum_threshold: 1, ...times })
      if (type === undefined) return
      const [kind, outcome] = type.split(' ')
      await insertActivity(tx, {
        ...{ id: `activity of ${id}`, organization_id: id, type: `ACTIVITY_TYPE_${kind}`, intent: '{}', result: null },
        ...{ status: `ACTIVITY_STATUS_${outcome ?? 'COMPLETED'}`, fingerprint: id, failure: null, timestamp_ms: '0' },
        ...{ generate_app_proofs: 0, window_opened_at: 0, answers: null, ...times },
      })
    })
  }
  await addSend('first', { sender: FIRST })
  await addSend('second', { sender: SECOND })
  await addSend('first', { sender: RELAYER, account: PAID_FOR })
  await addSend('first', { sender: 'F', caip2: SOLANA })
  await addSend('second', { sender: 'S', caip2: SOLANA })
}

const addSend = (organization_id: string, of: { sender: string; account?: string; caip2?: string }) =>
  database.write((tx) =>
    insertSend(tx, {
      ...{ id: `send-${sends++}`, organization_id, activity_id: '', caip2: SEPOLIA, request: '{}', ...of },
      ...{ status: 'INITIALIZED', nonce: null, hash: null, failure: null, created_at: 0, updated_at: 0 },
    }),
  )

/** The organizations of open sends that are held, once for each. */
const heldOf = () =>
  database.read(async (tx) =>
    [...(await listOpenSends(tx, SEPOLIA)), ...(await listOpenSends(tx, SOLANA))]
      .filter(({ held_by_restore }) => held_by_restore === 1)
      .map(({ organization_id }) => organization_id)
      .toSorted(),
  )

const [OF_FIRST, OF_SECOND] = [Array<string>(3).fill('first'), Array<string>(2).fill('second')]

test.each([
  ['that has let out no key and no signature', 'all', FIRST, undefined],
  ['that only sends', 'all', FIRST, 'ETH_SEND_TRANSACTION_V2'],
  ['that was refused a signature', 'all', FIRST, 'SIGN_RAW_PAYLOAD_V2 FAILED'],
  ['whose fees the service pays', 'all', RELAYER, 'EXPORT_WALLET'],
  ['that has let out a signature', 'first', FIRST, 'SIGN_RAW_PAYLOAD_V2'],
  ['that has let out a transaction', 'first', FIRST, 'SIGN_TRANSACTION_V2'],
  ['that has had a signed transaction sent', 'first', FIRST, 'ETH_SEND_RAW_TRANSACTION'],
  ['that has let out a key', 'first', FIRST, 'EXPORT_WALLET_ACCOUNT'],
  ['that has had its key from elsewhere', 'first', FIRST, 'IMPORT_PRIVATE_KEY'],
  ['that has had an account paid for, and let out its key', 'first', PAID_FOR, 'EXPORT_PRIVATE_KEY'],
] as const)('where an address is ahead of an organization %s, held is: %s', async (_, held, address, type) => {
  await withTenants({ first: type, second: undefined })
  const { look, warnings } = lookWith((each) => (each === address ? KNOWN + 1 : KNOWN))
  expect(await look()).toBe(true)
  expect(await heldOf()).toEqual(held === 'all' ? [...OF_FIRST, ...OF_SECOND] : OF_FIRST)
  expect(warnings).toMatchObject([{ address, held: held === 'all' ? 'all' : ['first'] }])
  expect(await isRestored()).toBe(held === 'all')
})

test('each organization is held whose addresses are ahead', async () => {
  await withTenants({ first: 'EXPORT_WALLET', second: 'SIGN_TRANSACTION_V2' })
  const { look } = lookWith((each) => (each === FIRST || each === SECOND ? KNOWN + 1 : KNOWN))
  expect([await look(), await heldOf(), await isRestored()]).toEqual([true, [...OF_FIRST, ...OF_SECOND], false])
})

test('what an organization was held for once holds nothing of it at another start, until it is known and there is more', async () => {
  await withTenants({ first: 'EXPORT_WALLET', second: 'EXPORT_WALLET' })
  const ahead = (by: number) => lookWith((each) => (each === FIRST ? KNOWN + by : KNOWN))
  expect([await ahead(1).look(), await heldOf()]).toEqual([true, OF_FIRST])
  await addSend('first', { sender: FIRST })
  expect([await ahead(1).look(), await ahead(2).look(), await heldOf()]).toEqual([false, false, OF_FIRST])
  // As `sends reconcile` writes it.
  await database.write((tx) => putNextNonce(tx, { caip2: SEPOLIA, sender: FIRST }, KNOWN + 2))
  expect([await ahead(2).look(), await ahead(3).look(), await heldOf()]).toEqual([false, true, [...OF_FIRST, 'first']])
})

test('an address of which nothing was known begins at its first nonce once its organization is held, and only then', async () => {
  await withTenants({ first: 'EXPORT_WALLET', second: 'EXPORT_WALLET' })
  const next = 7n
  const unknownOf = (sender: string) =>
    database.read((tx) => findUnknown(tx, { chain: CHAIN, lane: { caip2: SEPOLIA, sender }, next }))
  await addSend('first', { sender: '0xf' })
  await addSend('second', { sender: '0xe' })
  expect(await unknownOf('0xf')).toBe(undefined)
  expect(await lookWith((each) => (each === FIRST ? KNOWN + 1 : KNOWN)).look()).toBe(true)
  expect([await unknownOf('0xf'), await unknownOf('0xe')]).toEqual([{ from: 0, end: 7 }, undefined])
})
