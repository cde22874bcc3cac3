import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { exposedParams } from '../../src/policy/activity-params.ts'
import { fieldRow, roots, structs } from '../../src/policy/environment.ts'
import * as policy from '../../src/policy/index.ts'
import { activityParams, checkText } from '../../src/policy/index.ts'
import { loaderOf } from '../../src/policy/load.ts'
import { readings } from '../../src/policy/readings.ts'
import type { Type } from '../../src/policy/types.ts'
import { Fault } from '../../src/policy/values.ts'
import { activities } from '../../src/protocol/index.ts'

const repository = join(import.meta.dirname, '../..')

describe('tables: environment', () => {
  const structNames = (type: Type): readonly string[] =>
    type.kind === 'struct'
      ? [type.name]
      : type.kind === 'list'
        ? structNames(type.element)
        : type.kind === 'map'
          ? structNames(type.value)
          : []

  test('tables: every struct is reached from a root, and every struct that is reached has rows', () => {
    const reached = new Set<string>()
    const visit = (type: Type) => {
      for (const name of structNames(type)) {
        if (reached.has(name)) continue
        reached.add(name)
        for (const field of structs[name]!.fields) visit(field.type)
      }
    }
    for (const { type } of Object.values(roots)) visit(type)
    expect([...reached].sort()).toEqual(Object.keys(structs).sort())
  })

  test('tables: every field has a name of its own, a meaning, and a default of its type', () => {
    for (const [name, { fields }] of Object.entries(structs)) {
      expect(new Set(fields.map((field) => field.name)).size, name).toBe(fields.length)
      for (const { doc, type, absent, reads } of fields) {
        expect(doc).not.toBe('')
        if (absent !== undefined)
          expect(loaderOf(type)(absent, { text: '', start: 0, end: 0 })).not.toBeInstanceOf(Fault)
        if (reads !== undefined) expect(fields.some((field) => field.name === reads)).toBe(true)
      }
    }
  })

  test('tables: every field of every struct that a root leads to checks', () => {
    for (const [root, { type, field }] of Object.entries(roots)) {
      if (type.kind !== 'struct') continue
      for (const { name } of structs[type.name]!.fields)
        expect(checkText(field, `[${root}.${name}].count() == 1`), `${root}.${name}`).toEqual([])
    }
  })
})

describe('tables: parameters', () => {
  const types = new Set(Object.keys(activities))

  test.each(Object.entries(exposedParams))('tables: %s is an activity, and its parameters have types', (name, rows) => {
    expect(types).toContain(`ACTIVITY_TYPE_${name}`)
    for (const row of rows) expect(fieldRow('ActivityParams', row.name), row.name).toBeDefined()
  })

  test('tables: every parameter with a type is exposed by some activity', () => {
    const exposed = new Set(Object.values(exposedParams).flatMap((rows) => rows.map(({ name }) => name)))
    expect(structs.ActivityParams!.fields.map(({ name }) => name).filter((name) => !exposed.has(name))).toEqual([])
  })

  test.each([
    [
      'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
      { signWith: 'x', payload: 'y', encoding: 'PAYLOAD_ENCODING_EIP712', hashFunction: 'HASH_FUNCTION_NO_OP' },
      { encoding: 'PAYLOAD_ENCODING_EIP712', hash_function: 'HASH_FUNCTION_NO_OP' },
    ],
    ['ACTIVITY_TYPE_SIGN_TRANSACTION', { type: 'TRANSACTION_TYPE_ETHEREUM' }, {}],
    [
      'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
      { type: 'TRANSACTION_TYPE_TRON', signWith: 'x' },
      { type: 'TRANSACTION_TYPE_TRON' },
    ],
    ['ACTIVITY_TYPE_DELETE_API_KEYS', { userId: 'u', apiKeyIds: ['k'] }, { user_id: 'u', api_key_ids: ['k'] }],
    ['ACTIVITY_TYPE_INIT_OTP_AUTH_V3', {}, { otp_length: 9 }],
    ['ACTIVITY_TYPE_INIT_OTP_AUTH_V2', { otpLength: 6 }, { otp_length: 6 }],
    ['ACTIVITY_TYPE_INIT_OTP_AUTH', { otpLength: 6 }, {}],
    ['ACTIVITY_TYPE_STAMP_LOGIN', { publicKey: 'k' }, { session_profile_id: '' }],
    ['ACTIVITY_TYPE_UPDATE_WALLET', { walletName: 'n' }, {}],
    ['ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'n' }, {}],
    ['constructor', { walletName: 'n' }, {}],
    [
      'ACTIVITY_TYPE_LAYER2_SIGN_FROST',
      {
        signWith: 's',
        signatures: [
          { derivation: { staticDeposit: { index: 3 } }, message: 'm', verifyingKey: 'v', operatorCommitments: [] },
          { derivation: { identity: {} }, message: 'm' },
        ],
      },
      {
        sign_with: 's',
        signatures: [
          {
            derivation: { type: 'static_deposit', static_deposit: { index: 3 } },
            message: 'm',
            verifying_key: 'v',
            operator_commitments: [],
          },
          { derivation: { type: 'identity', identity: {} }, message: 'm' },
        ],
      },
    ],
    [
      'ACTIVITY_TYPE_SPARK_PREPARE_TRANSFER',
      {
        signWith: 's',
        transfer: { transferId: 't', leaves: [{ leafId: 'l', oldLeafDerivation: { signingLeaf: { leafId: 'a' } } }] },
      },
      {
        sign_with: 's',
        transfer: {
          transfer_id: 't',
          leaves: [{ leaf_id: 'l', old_leaf_derivation: { type: 'signing_leaf', signing_leaf: { leaf_id: 'a' } } }],
        },
      },
    ],
  ])('tables: %s exposes of %j', (type, intent, params) => {
    expect(activityParams(type, intent)).toEqual(params)
  })
})

describe('tables: readings', () => {
  test('tables: every reading that the code mentions is listed, at a place that exists', () => {
    const files = readdirSync(join(repository, 'src/policy'), { recursive: true, encoding: 'utf8' })
    const mentioned = files
      .filter((file) => file.endsWith('.ts') && file !== 'readings.ts')
      .flatMap(
        (file) => readFileSync(join(repository, 'src/policy', file), 'utf8').match(/\bU-[a-z0-9-]+[a-z0-9]/g) ?? [],
      )
    expect(mentioned.length).toBeGreaterThan(40)
    expect(mentioned.filter((label) => !Object.hasOwn(readings, label))).toEqual([])
    for (const { where } of Object.values(readings)) expect(existsSync(join(repository, where)), where).toBe(true)
  })
})

test('policy: the room exports what is listed here', () => {
  expect(Object.keys(policy).sort()).toMatchInlineSnapshot(`
    [
      "absentIn",
      "activityParams",
      "allWorlds",
      "authorize",
      "authorizeInSteps",
      "check",
      "checkExpression",
      "checkText",
      "childrenOf",
      "compileCounted",
      "compilePolicy",
      "completeAt",
      "conditionHolds",
      "createBudget",
      "createCompiler",
      "elementType",
      "evaluate",
      "explain",
      "exposedOnly",
      "findPolicyKeys",
      "formatExpression",
      "hoverAt",
      "indexPolicies",
      "isUsedUp",
      "languageTables",
      "lint",
      "lintCodes",
      "mayVote",
      "memberNames",
      "memberType",
      "paramNames",
      "parse",
      "policyCodes",
      "print",
      "readForLint",
      "readsOf",
      "rootType",
      "rules",
      "showType",
      "takingPart",
      "truth",
      "whoCan",
      "whoElse",
      "whoVotes",
      "writeByTeam",
      "writeOut",
      "writeRefusal",
    ]
  `)
})
