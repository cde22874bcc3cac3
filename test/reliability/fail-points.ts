/**
 * The service dies at a point inside a submit while activities of every kind are on their way, and the same bytes are sent
 * again. What must hold: the activity is the one that was begun, and the world is as if nothing had happened.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fingerprintOf } from '../../activities/plan-store.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import { newKey, newPrivateKey, newUser } from '../service/handlers/steps.ts'
import { type ProcessClient, readClient, startProcess } from '../service/process.ts'
import type { FailPoint } from '../service/tamper.ts'

/** What stands before the fault, by the names that the kinds below use. */
interface Ground {
  readonly userId: string
  readonly tagId: string
  readonly spareTagId: string
  readonly policyId: string
  readonly sparePolicyId: string
  readonly walletId: string
  readonly spareUserId: string
  readonly rootUserId: string
}

const account = { curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', addressFormat: 'ADDRESS_FORMAT_ETHEREUM' }
const policy = { policyName: 'new', effect: 'EFFECT_DENY', condition: 'false', consensus: 'true', notes: '' }

/** One of each kind of work: things made, changed and removed, one by one and many at once. */
const KINDS: Readonly<Partial<Record<ActivityType, (ground: Ground) => object>>> = {
  ACTIVITY_TYPE_CREATE_USERS_V4: () => ({ users: [newUser(), newUser()] }),
  ACTIVITY_TYPE_UPDATE_USER: ({ userId }) => ({ userId, userName: 'renamed', userTagIds: [] }),
  ACTIVITY_TYPE_DELETE_USERS: ({ spareUserId }) => ({ userIds: [spareUserId] }),
  ACTIVITY_TYPE_CREATE_API_KEYS_V2: ({ userId }) => ({ userId, apiKeys: [newKey()] }),
  ACTIVITY_TYPE_CREATE_USER_TAG: () => ({ userTagName: 'new', userIds: [] }),
  ACTIVITY_TYPE_UPDATE_USER_TAG: ({ tagId: userTagId, rootUserId }) => ({
    userTagId,
    newUserTagName: 'renamed',
    addUserIds: [rootUserId],
    removeUserIds: [],
  }),
  ACTIVITY_TYPE_DELETE_USER_TAGS: ({ spareTagId }) => ({ userTagIds: [spareTagId] }),
  ACTIVITY_TYPE_CREATE_POLICY_V3: () => policy,
  ACTIVITY_TYPE_CREATE_POLICIES: () => ({ policies: [1, 2].map((n) => ({ ...policy, policyName: `new-${n}` })) }),
  ACTIVITY_TYPE_UPDATE_POLICY_V2: ({ policyId }) => ({ policyId, policyNotes: 'changed' }),
  ACTIVITY_TYPE_DELETE_POLICY: ({ sparePolicyId }) => ({ policyId: sparePolicyId }),
  ACTIVITY_TYPE_CREATE_WALLET: () => ({ walletName: 'new', accounts: [{ ...account, path: "m/44'/60'/0'/0/0" }] }),
  ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS: ({ walletId }) => ({
    walletId,
    accounts: [{ ...account, path: "m/44'/60'/0'/0/1" }],
  }),
  ACTIVITY_TYPE_UPDATE_WALLET: ({ walletId }) => ({ walletId, walletName: 'renamed' }),
  ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2: () => ({ privateKeys: [newPrivateKey()] }),
  ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG: () => ({ privateKeyTagName: 'new', privateKeyIds: [] }),
  ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE: () => ({
    smartContractAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    smartContractInterface: '[]',
    type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
    label: 'usdc',
    notes: '',
  }),
  ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE: () => ({ name: 'FEATURE_NAME_EMAIL_AUTH', value: '' }),
}
/** Every kind of work that the service is killed at. */
export const FAIL_KINDS = Object.keys(KINDS) as ActivityType[]

export interface FailPointFigures {
  readonly point: FailPoint | 'none'
  readonly kinds: number
  /** Activities that were there already when the service had died. */
  readonly kept: number
  /** Submits that nobody answered at first. */
  readonly unanswered: number
  /** Activities that became another one when they were sent again. */
  readonly changed: number
  /** Activities that did not complete. */
  readonly failed: number
}

/** Gives the figures, and the rows of every table afterwards. The naive variant sends other bytes when it asks again. */
export async function dieAt(
  point: FailPoint | undefined,
  { types = FAIL_KINDS, naive = false }: { readonly types?: readonly ActivityType[]; readonly naive?: boolean } = {},
): Promise<{ readonly figures: FailPointFigures; readonly rows: Readonly<Record<string, number>> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quorate-fail-'))
  let service = await startProcess(dataDir, point ? { tampering: point } : {})
  try {
    const client = readClient(dataDir)
    const ground = await prepare(service.url, client)
    const makeBodies = () => types.map((type) => client.body(type, KINDS[type]!(ground)))
    const bodies = makeBodies()
    if (point) service.arm()
    const first = await Promise.all(bodies.map((body) => client.send(service.url, body)))
    if (point) {
      await service.gone()
      service = await startProcess(dataDir)
    }
    const kept = idsIn(dataDir)
    const again = naive ? makeBodies() : bodies
    const second = await Promise.all(again.map((body) => client.send(service.url, body)))
    await service.end('SIGTERM')
    const known = (body: string) => kept.get(fingerprintOf(body))
    return {
      figures: {
        point: point ?? 'none',
        kinds: types.length,
        kept: bodies.filter(known).length,
        unanswered: first.filter((one) => one === undefined).length,
        changed: bodies.filter((body, at) => (known(body) ?? second[at]!.id) !== second[at]!.id).length,
        failed: second.filter((one) => one?.status !== 'ACTIVITY_STATUS_COMPLETED').length,
      },
      rows: countRows(dataDir),
    }
  } finally {
    await service.end('SIGKILL')
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function prepare(url: string, client: ProcessClient): Promise<Ground> {
  const { rootUserId } = client
  const make = async (type: ActivityType, parameters: object) => {
    const made = await client.send(url, client.body(type, parameters))
    if (!made) throw new Error(`no answer to ${type}`)
    return made
  }
  const tag = async (userTagName: string) => {
    const { result } = await make('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName, userIds: [] })
    return result.createUserTagResult!.userTagId
  }
  const users = await make('ACTIVITY_TYPE_CREATE_USERS_V4', { users: [newUser(), newUser()] })
  const [userId, spareUserId] = users.result.createUsersResult!.userIds as [string, string]
  const policies = [1, 2].map((n) => ({ ...policy, policyName: `old-${n}` }))
  const { result } = await make('ACTIVITY_TYPE_CREATE_POLICIES', { policies })
  const [policyId, sparePolicyId] = result.createPoliciesResult!.policyIds as [string, string]
  const wallet = await make('ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'old', accounts: [] })
  return {
    ...{ userId, spareUserId, policyId, sparePolicyId, rootUserId },
    tagId: await tag('old'),
    spareTagId: await tag('spare'),
    walletId: wallet.result.createWalletResult!.walletId,
  }
}

function idsIn(dataDir: string): ReadonlyMap<string, string> {
  const rows = readRows(dataDir, 'select fingerprint, id from activities')
  return new Map(rows.map(({ fingerprint, id }) => [String(fingerprint), String(id)]))
}

/** How many rows each table has. */
function countRows(dataDir: string): Readonly<Record<string, number>> {
  const tables = readRows(dataDir, "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'")
  return Object.fromEntries(
    tables.map(({ name }) => [String(name), Number(readRows(dataDir, `select count(*) as n from "${name}"`)[0]!['n'])]),
  )
}

function readRows(dataDir: string, sql: string) {
  const database = new DatabaseSync(join(dataDir, 'quorate.db'), { readOnly: true })
  try {
    return database.prepare(sql).all()
  } finally {
    database.close()
  }
}
