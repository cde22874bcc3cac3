import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createP256Signer, generateP256KeyPair, randomBytes } from '../../../src/crypto/index.ts'
import { encodeUtf8 } from '../../../src/encoding/index.ts'
import {
  type ActivityType,
  activities,
  apiError,
  createDecoder,
  fingerprintOf,
  type Wire,
} from '../../../src/protocol/index.ts'
import { createChains } from '../../../src/service/chains/chains.ts'
import { createEngine } from '../../../src/service/engine/engine.ts'
import type { Handler } from '../../../src/service/engine/handler.ts'
import { createSealing } from '../../../src/service/keys/sealing.ts'
import { readMessageRules } from '../../../src/service/messages/index.ts'
import { createRates } from '../../../src/service/rates.ts'
import { handlers, queryHandlers } from '../../../src/service/resources/index.ts'
import {
  type Database,
  findActivityByFingerprint,
  insertFirstOrganization,
  insertSetting,
  openDatabase,
  readSetting,
  StoreUnavailable,
} from '../../../src/service/store/index.ts'
import { createWorkPool } from '../../../src/service/work/pool.ts'
import { Secret, silentLogger } from '../../../src/telemetry/index.ts'

const TYPE: ActivityType = 'ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME'
const ORGANIZATION = '00000000-0000-4000-8000-00000000000a'
const NOW = 1_750_000_000_000
const key = generateP256KeyPair()
const body = JSON.stringify({
  type: TYPE,
  timestampMs: String(NOW),
  organizationId: ORGANIZATION,
  parameters: { organizationName: 'new' },
})

let folder: string
let database: Database
const errors: unknown[] = []
const woken: string[] = []
let counted = 0
const countCaller = async () => {
  counted += 1
}
beforeEach(async () => {
  errors.length = 0
  woken.length = 0
  counted = 0
  folder = mkdtempSync(join(tmpdir(), 'quorate-engine-'))
  database = openDatabase(join(folder, 'quorate.db'), { now: NOW })
  const user = { id: '00000000-0000-4000-8000-00000000000b', name: 'root' }
  const apiKey = { id: '00000000-0000-4000-8000-00000000000c', name: 'root', publicKey: key.publicKey }
  await database.write((tx) => insertFirstOrganization(tx, { id: ORGANIZATION, name: 'o', user, apiKey }, NOW))
})
afterEach(async () => {
  await database.close()
  rmSync(folder, { recursive: true })
})

/** Submits one activity to an engine whose handler writes something and then does as told. */
async function submit(handler: Partial<Handler>): Promise<Wire.Activity> {
  const execute: Handler['execute'] = async (context, intent) => {
    await insertSetting(context.tx, 'trace', 'x')
    return (await handler.execute?.(context, intent)) ?? {}
  }
  const engine = createEngine({
    pool: createWorkPool(),
    database,
    handlers: { ...handlers, [TYPE]: { ...handler, execute } },
    queryHandlers,
    decoder: createDecoder(),
    oidc: { verify: async () => undefined },
    sealing: createSealing(new Secret(new Uint8Array(32)), randomBytes),
    followUps: {
      wakeSender: () => void woken.push('sender'),
      wakeMessenger: () => undefined,
      wakeOutbox: () => undefined,
    },
    tellActivity: async () => false,
    messages: readMessageRules({}),
    codesPerAddress: 3,
    enclaveRoot: '',
    outside: {
      checkWebhookUrl: async () => undefined,
      chains: createChains({}),
      exchangeCode: () => Promise.reject(new Error('not asked')),
      onRamp: { begin: () => Promise.reject(new Error('not asked')), status: async () => '' },
    },
    oauth: { issueToken: () => '', linkingIssuer: '', vouches: () => undefined },
    rates: { ...createRates({}), countCaller },
    clock: () => NOW,
    randomBytes,
    logger: { ...silentLogger, error: (message, fields) => void errors.push({ message, fields }) },
  })
  const bytes = encodeUtf8(body)
  const signature = createP256Signer(key.privateKey).sign(bytes)
  const stamp = JSON.stringify({ publicKey: key.publicKey, scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature })
  const answer = await engine.submit({ path: activities[TYPE].path, headers: { 'x-stamp': stamp }, body: bytes })
  return (JSON.parse(answer) as { activity: Wire.Activity }).activity
}

const trace = () => database.read((tx) => readSetting(tx, 'trace'))
const recorded = () => database.read((tx) => findActivityByFingerprint(tx, ORGANIZATION, fingerprintOf(body)))

describe('execution', () => {
  test('execution: what was executed and its record are kept together', async () => {
    expect(await submit({})).toMatchObject({ status: 'ACTIVITY_STATUS_COMPLETED', failure: null })
    expect(await trace()).toBe('x')
  })

  test('execution: a refusal while executing is a failed activity that left nothing else', async () => {
    const execute = () => Promise.reject(apiError('invalidPath'))
    expect(await submit({ execute })).toMatchObject({
      status: 'ACTIVITY_STATUS_FAILED',
      result: { activity: { result: {} } },
      failure: { code: 3, message: 'invalid path', details: [{ turnkeyErrorCode: 'REQUEST_INVALID' }] },
    })
    expect(await trace()).toBeUndefined()
    expect(await recorded()).toMatchObject({ status: 'ACTIVITY_STATUS_FAILED' })
  })

  test('execution: a fault of ours says only a reference, and the log has the same one', async () => {
    const activity = await submit({ execute: () => Promise.reject(new TypeError('what only we may see')) })
    expect(activity.status).toBe('ACTIVITY_STATUS_FAILED')
    expect(activity.failure?.message).toMatch(/^internal server error \([0-9a-f-]{36}\)$/)
    expect(JSON.stringify(activity)).not.toContain('what only we may see')
    const reference = /\((.*)\)/.exec(activity.failure!.message!)![1]
    expect(errors).toMatchObject([{ fields: { reference, message: 'what only we may see' } }])
  })

  test('execution: a fault of the machine is no failure of the activity: nothing is recorded', async () => {
    await expect(submit({ execute: () => Promise.reject(new StoreUnavailable('the disk is full')) })).rejects.toThrow(
      StoreUnavailable,
    )
    expect(await recorded()).toBeUndefined()
    expect(await submit({})).toMatchObject({ status: 'ACTIVITY_STATUS_COMPLETED' })
  })

  test('execution: what the checks refuse is refused before anything is recorded', async () => {
    await expect(submit({ validate: () => Promise.reject(apiError('invalidCurve')) })).rejects.toMatchObject({
      message: 'invalid curve',
    })
    expect(await recorded()).toBeUndefined()
    expect(await trace()).toBeUndefined()
  })

  test('execution: a follow-up runs once the activity is on disk, and once however often it was asked for', async () => {
    const seen: string[][] = []
    const execute: Handler['execute'] = async ({ afterCommit }) => {
      afterCommit('wakeSender')
      afterCommit('wakeSender')
      seen.push([...woken])
      return {}
    }
    await submit({ execute })
    expect({ seen, woken }).toEqual({ seen: [[]], woken: ['sender'] })
  })

  test.each([
    { of: 'an execution that is refused', error: apiError('invalidPath') },
    { of: 'an execution with a fault', error: new TypeError('ours') },
    { of: 'a transaction that is undone', error: new StoreUnavailable('the disk is full') },
  ])('execution: no follow-up of $of runs', async ({ error }) => {
    const execute: Handler['execute'] = async ({ afterCommit }) => {
      afterCommit('wakeSender')
      throw error
    }
    await submit({ execute }).catch(() => {})
    expect(woken).toEqual([])
  })
})

describe('preparation', () => {
  const revoke = async () => void (await database.write((tx) => tx.deleteFrom('api_keys').execute()))

  test('preparation: its answers are in the context of what checks and of what carries out, and stored', async () => {
    const seen: unknown[] = []
    const prepare = async () => ({ price: '7' })
    const validate: Handler['validate'] = async ({ answers }) => void seen.push(answers)
    const execute: Handler['execute'] = async ({ answers }) => {
      seen.push(answers)
      return {}
    }
    await submit({ prepare, validate, execute })
    expect(seen).toEqual([{ price: '7' }, { price: '7' }])
    expect(await recorded()).toMatchObject({ answers: '{"price":"7"}' })
  })

  test('preparation: a credential that is revoked while the answer is waited for writes nothing', async () => {
    const submitted = submit({ prepare: revoke })
    await expect(submitted).rejects.toMatchObject({ turnkeyErrorCode: 'PUBLIC_KEY_NOT_FOUND' })
    expect(await recorded()).toBeUndefined()
    expect(await trace()).toBeUndefined()
  })

  test('preparation: nothing is asked for a stranger, and nothing again for bytes that are known', async () => {
    let asked = 0
    const prepare = async () => {
      asked += 1
    }
    await submit({ prepare })
    await submit({ prepare })
    expect(asked).toBe(1)
    await revoke()
    await expect(submit({ prepare })).rejects.toMatchObject({ turnkeyErrorCode: 'PUBLIC_KEY_NOT_FOUND' })
    expect(asked).toBe(1)
  })

  test('preparation: a request is counted once, before anything is asked', async () => {
    let before = 0
    const prepare = async () => {
      before = counted
    }
    await submit({ prepare })
    expect({ before, counted }).toEqual({ before: 1, counted: 1 })
  })
})
