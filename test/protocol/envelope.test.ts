import { describe, expect, test } from 'vitest'
import { ApiError, activities, createDecoder, findActivity, type QueryName, queries } from '../../src/protocol/index.ts'

const decoder = createDecoder()
const organizationId = '0191f1d0-0000-7000-8000-000000000001'
const type = 'ACTIVITY_TYPE_CREATE_USERS_V4'
const path = '/public/v1/submit/create_users'
const body = { type, timestampMs: '1746736509954', organizationId, parameters: { users: [] } }
const read = {
  row: activities[type],
  spelling: 'spark',
  timestampMs: '1746736509954',
  organizationId,
  parameters: { users: [] },
  generateAppProofs: false,
}

function outcomeOf(reading: () => unknown): unknown {
  try {
    return reading()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return `${error.turnkeyErrorCode}: ${error.message}`
  }
}

const fault = (text: string) => `REQUEST_INVALID: invalid request body: ${text}`

describe('envelope', () => {
  test.each([
    { name: 'as documented', given: body, expected: read },
    {
      name: 'with app proofs',
      given: { ...body, generateAppProofs: true },
      expected: { ...read, generateAppProofs: true },
    },
    { name: 'with nulls', given: { ...body, generateAppProofs: null }, expected: read },
    { name: 'with time as a number', given: { ...body, timestampMs: 1_746_736_509_954 }, expected: read },
    {
      name: 'in snake_case',
      given: {
        type,
        timestamp_ms: '1746736509954',
        organization_id: organizationId,
        parameters: { users: [] },
        generate_app_proofs: true,
      },
      expected: { ...read, generateAppProofs: true },
    },
    { name: 'with members of its own', given: { ...body, trace: 1 }, expected: read },
    {
      name: 'of an old version on the same path',
      given: { ...body, type: 'ACTIVITY_TYPE_CREATE_USERS_V3' },
      expected: { ...read, row: activities.ACTIVITY_TYPE_CREATE_USERS_V3 },
    },
  ])('envelope: is read $name', ({ given, expected }) => {
    expect(outcomeOf(() => decoder.envelope(given, path))).toEqual(expected)
  })

  test.each([
    { name: 'a list', given: [], expected: 'REQUEST_INVALID: bad request body: expected an object' },
    { name: 'null', given: null, expected: 'REQUEST_INVALID: bad request body: expected an object' },
    { name: 'text', given: 'x', expected: 'REQUEST_INVALID: bad request body: expected an object' },
    { name: 'no type', given: { ...body, type: undefined }, expected: fault('missing field `type`') },
    { name: 'a numeric type', given: { ...body, type: 7 }, expected: fault('field `type` must be a string') },
    {
      name: 'an unknown type',
      given: { ...body, type: 'ACTIVITY_TYPE_X' },
      expected: fault('field `type` is no activity type: `ACTIVITY_TYPE_X`'),
    },
    {
      name: 'a type of another path',
      given: { ...body, type: 'ACTIVITY_TYPE_DELETE_USERS' },
      expected: fault('activity type `ACTIVITY_TYPE_DELETE_USERS` does not belong to `/public/v1/submit/create_users`'),
    },
    {
      name: 'no organization',
      given: { ...body, organizationId: null },
      expected: fault('missing field `organizationId`'),
    },
    {
      name: 'an organization that is no id',
      given: { ...body, organizationId: 'acme' },
      expected: 'INVALID_ORGANIZATION_ID: malformed organization ID provided',
    },
    {
      name: 'two organizations',
      given: { ...body, organization_id: organizationId },
      expected: fault('field `organizationId` appears twice, also as `organization_id`'),
    },
    { name: 'no time', given: { ...body, timestampMs: null }, expected: fault('missing field `timestampMs`') },
    ...['', '-1', '1e3', 'now', 1.5, Number.MAX_VALUE, true, {}].map((timestampMs) => ({
      name: `${JSON.stringify(timestampMs)} for a time`,
      given: { ...body, timestampMs },
      expected: fault('field `timestampMs` must be milliseconds since the epoch, in decimal digits'),
    })),
    { name: 'no parameters', given: { ...body, parameters: null }, expected: fault('missing field `parameters`') },
    {
      name: 'a list of parameters',
      given: { ...body, parameters: [] },
      expected: fault('field `parameters` must be an object'),
    },
    {
      name: 'app proofs as text',
      given: { ...body, generateAppProofs: 'yes' },
      expected: fault('field `generateAppProofs` must be a boolean'),
    },
  ])('envelope: refuses $name', ({ given, expected }) => {
    expect(outcomeOf(() => decoder.envelope(given, path))).toBe(expected)
  })

  test('envelope: the other spelling is read in type and path, each for itself', () => {
    const row = findActivity('ACTIVITY_TYPE_SPARK_SIGN_FROST')!.row
    for (const word of ['SPARK', 'LAYER2'])
      for (const segment of ['spark', 'layer2'])
        expect(
          decoder.envelope(
            { ...body, type: `ACTIVITY_TYPE_${word}_SIGN_FROST` },
            `/public/v1/submit/${segment}_sign_frost`,
          ),
        ).toMatchObject({ row, spelling: word === 'SPARK' ? 'spark' : 'layer2' })
  })
})

describe('queries', () => {
  test('query: every query needs its organization, and all but its own fields are ignored', () => {
    for (const name of Object.keys(queries) as QueryName[]) {
      expect(
        outcomeOf(() => decoder.query(name, {})),
        name,
      ).toBe(fault('missing field `organizationId`'))
      expect(
        outcomeOf(() => decoder.query(name, { organizationId: 'x' })),
        name,
      ).toMatch(
        /^(INVALID_ORGANIZATION_ID: malformed organization ID provided|REQUEST_INVALID: invalid request body: missing field .*)$/,
      )
    }
    expect(decoder.query('whoami', { organizationId, type: 'x', timestampMs: '1' })).toEqual({ organizationId })
  })

  test('query: filters, pages and snake_case are read', () => {
    expect(
      decoder.query('list_activities', {
        organization_id: organizationId,
        filter_by_type: ['ACTIVITY_TYPE_LAYER2_SIGN_FROST'],
        filterByStatus: ['ACTIVITY_STATUS_PENDING'],
        pagination_options: { limit: '5', before: null },
      }),
    ).toEqual({
      organizationId,
      filterByType: ['ACTIVITY_TYPE_SPARK_SIGN_FROST'],
      filterByStatus: ['ACTIVITY_STATUS_PENDING'],
      paginationOptions: { limit: '5' },
    })
  })

  test('query: a 64-bit integer is read as text and as a number, unless JSON could not carry it', () => {
    const ask = (sinceSeconds: unknown) =>
      outcomeOf(() =>
        decoder.query('get_tvc_deployment_debug_logs', { organizationId, deploymentId: 'x', sinceSeconds }),
      )
    expect(ask('9007199254740993')).toMatchObject({ sinceSeconds: '9007199254740993' })
    expect(ask(60)).toMatchObject({ sinceSeconds: '60' })
    expect(ask(2 ** 60)).toBe(fault('field `sinceSeconds` must be a string'))
    expect(ask('1.5')).toBe(fault('field `sinceSeconds` must be a whole number in decimal digits'))
  })

  test('query: an unknown status is refused by name', () => {
    expect(outcomeOf(() => decoder.query('list_activities', { organizationId, filterByStatus: ['DONE'] }))).toMatch(
      /^REQUEST_INVALID: invalid request body: field `filterByStatus\[0\]` must be one of ACTIVITY_STATUS_CREATED/,
    )
  })

  test('proxy: names are read in both forms', () => {
    expect(decoder.proxy('otp_verify', { otpId: 'a', otp_code: '123456', public_key: 'k' })).toEqual({
      otpId: 'a',
      otpCode: '123456',
      publicKey: 'k',
    })
    expect(outcomeOf(() => decoder.proxy('otp_verify', { otpId: 'a' }))).toBe(fault('missing field `otpCode`'))
  })
})
