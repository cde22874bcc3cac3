import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  activities,
  activityActions,
  activityKinds,
  activityResources,
  findActivitiesByPath,
  findActivity,
  findQueryByPath,
  proxyEndpoints,
  queries,
} from '../../src/protocol/index.ts'
import { parseSchema, schemaNames } from '../../src/protocol/schema.ts'

const rows = Object.values(activities)
const names = new Set(schemaNames())

function readData(file: string) {
  return JSON.parse(readFileSync(new URL(`../../src/protocol/data/${file}`, import.meta.url), 'utf8'))
}

describe('catalogue: activities', () => {
  test('catalogue: all 162 activity types have a row of their own name', () => {
    expect(rows).toHaveLength(162)
    expect(Object.entries(activities).filter(([type, row]) => row.type !== type)).toEqual([])
    expect(rows.map(({ type }) => type).sort()).toEqual([...parseSchema('ActivityType').enum!].sort())
  })

  test('catalogue: every intent and result is a message, under the key that activities carry it by', () => {
    const intents = parseSchema('Intent').properties!
    const results = parseSchema('Result').properties!
    for (const { intentKey, intent, resultKey, result } of rows) {
      expect(intents[intentKey], intentKey).toEqual({ $ref: `#/$defs/${intent}` })
      expect(names.has(intent), intent).toBe(true)
      if (resultKey === null) expect(result).toBeNull()
      else expect(results[resultKey], resultKey).toEqual({ $ref: `#/$defs/${result}` })
    }
  })

  test('catalogue: only votes have no result of their own', () => {
    expect(rows.filter(({ resultKey }) => resultKey === null).map(({ family }) => family)).toEqual([
      'APPROVE_ACTIVITY',
      'REJECT_ACTIVITY',
    ])
  })

  test('catalogue: the versions of a family share one path, count up without a gap, and end in the one latest', () => {
    for (const [family, versions] of Map.groupBy(rows, ({ family }) => family)) {
      expect(new Set(versions.map(({ path }) => path)).size, family).toBe(1)
      expect(versions.map(({ version }) => version).sort(), family).toEqual(versions.map((_, i) => i + 1))
      expect(
        versions.filter(({ latest }) => latest).map(({ version }) => version),
        family,
      ).toEqual([versions.length])
    }
  })

  test('catalogue: the latest versions are those that the facts list', () => {
    const expected = [
      'CREATE_AUTHENTICATORS_V2',
      'CREATE_API_KEYS_V2',
      'CREATE_POLICY_V3',
      'CREATE_PRIVATE_KEYS_V2',
      'CREATE_SUB_ORGANIZATION_V8',
      'CREATE_USERS_V4',
      'SIGN_RAW_PAYLOAD_V2',
      'SIGN_TRANSACTION_V2',
      'EMAIL_AUTH_V3',
      'CREATE_READ_WRITE_SESSION_V2',
      'UPDATE_POLICY_V2',
      'INIT_OTP_AUTH_V3',
      'INIT_OTP_V3',
      'INIT_USER_EMAIL_RECOVERY_V2',
      'VERIFY_OTP_V2',
      'OTP_LOGIN_V2',
      'CREATE_OAUTH_PROVIDERS_V2',
      'ETH_SEND_TRANSACTION_V2',
    ]
    for (const name of expected) expect(findActivity(`ACTIVITY_TYPE_${name}`)?.row.latest, name).toBe(true)
  })

  test('catalogue: a path finds its types, an unknown path and an unknown type find nothing', () => {
    for (const row of rows) expect(findActivitiesByPath(row.path)).toContain(row)
    expect(findActivitiesByPath('/public/v1/submit/create_users').map(({ version }) => version)).toEqual([1, 2, 3, 4])
    expect(findActivitiesByPath('/public/v1/submit/no_such')).toEqual([])
    expect(findActivity('ACTIVITY_TYPE_NO_SUCH')).toBeUndefined()
    expect(findActivity('constructor')).toBeUndefined()
  })
})

describe('catalogue: what policies call an activity', () => {
  const kinds = readData('activity-kinds.json').rows as { type: string; source: string }[]

  test('kinds: the table has each type once, by source as the facts count them', () => {
    expect(kinds.map(({ type }) => type).sort()).toEqual(rows.map(({ type }) => type).sort())
    const counts = Object.fromEntries([...Map.groupBy(kinds, ({ source }) => source)].map(([k, v]) => [k, v.length]))
    expect(counts).toEqual({ documented: 87, version: 31, 'kind only': 15, gap: 25, 'root-only': 4 })
  })

  test('kinds: all versions of a family share kind, resource and action', () => {
    for (const [family, versions] of Map.groupBy(rows, ({ family }) => family))
      expect(new Set(versions.map(({ kind, resource, action }) => `${kind} ${resource} ${action}`)).size, family).toBe(
        1,
      )
  })

  test('kinds: a kind is the family, and a missing kind, resource or action says why', () => {
    for (const { type, family, kind, resource, action, gap } of rows) {
      if (kind !== undefined) expect(kind).toBe(family)
      expect(gap === undefined, type).toBe(kind !== undefined && resource !== undefined && action !== undefined)
    }
  })

  test('kinds: four activities are for the root quorum alone and have no kind', () => {
    const rootOnly = rows.filter((row) => row.rootOnly)
    expect(rootOnly.map(({ family }) => family).sort()).toEqual([
      'REMOVE_ORGANIZATION_FEATURE',
      'SET_ORGANIZATION_FEATURE',
      'UPDATE_ORGANIZATION_NAME',
      'UPDATE_ROOT_QUORUM',
    ])
    expect(rootOnly.every(({ kind, resource, action }) => !kind && !resource && !action)).toBe(true)
  })

  test('kinds: the words are those of the published lists', () => {
    expect([...activityActions].sort()).toEqual(
      ['CREATE', 'UPDATE', 'DELETE', 'SIGN', 'EXPORT', 'IMPORT', 'VERIFY', 'ENCRYPT'].sort(),
    )
    expect([...activityResources].sort()).toEqual([
      'AUTH',
      'AUTH_PROXY',
      'CONFIG',
      'CREDENTIAL',
      'FIAT_TRANSACTION',
      'INVITATION',
      'MFA_POLICY',
      'ON_RAMP_CREDENTIALS',
      'ORGANIZATION',
      'OTP',
      'PAYMENT_METHOD',
      'POLICY',
      'PRIVATE_KEY',
      'RECOVERY',
      'SESSION_PROFILE',
      'SMART_CONTRACT_INTERFACE',
      'SPONSORSHIP',
      'SUBSCRIPTION',
      'TVC_APP',
      'TVC_DEPLOYMENT',
      'TVC_OPERATOR',
      'TVC_QUORUM_KEY',
      'USER',
      'WALLET',
      'WEBHOOK_ENDPOINT',
    ])
    expect(activityKinds).toContain('SIGN_TRANSACTION')
  })
})

describe('catalogue: queries and the proxy', () => {
  test('catalogue: all 65 published queries and the internal one have a row, a request and a response', () => {
    const all = Object.entries(queries)
    expect(all.filter(([, { internal }]) => !internal)).toHaveLength(65)
    expect(all.filter(([, { internal }]) => internal).map(([name]) => name)).toEqual(['get_organization'])
    for (const [name, row] of all) {
      expect(row.path).toBe(`/public/v1/query/${name}`)
      expect(findQueryByPath(row.path)).toBe(row)
      expect([names.has(row.request), names.has(row.response)], name).toEqual([true, true])
    }
  })

  test('catalogue: every proxy endpoint has a request and a response', () => {
    const all = Object.entries(proxyEndpoints)
    expect(all).toHaveLength(13)
    for (const [name, { method, path, request, response }] of all) {
      expect([method, path]).toEqual(['POST', `/v1/${name}`])
      expect([names.has(request), names.has(response)], name).toEqual([true, true])
    }
  })

  test('catalogue: every published type and check has a place in the schemas', () => {
    const published = Object.keys(readData('api.json').types)
    expect(published).toHaveLength(600)
    expect(published.filter((name) => !names.has(name))).toEqual([])
  })
})
