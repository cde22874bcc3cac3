import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  ApiError,
  apiError,
  apiErrorAt,
  GRPC,
  httpStatusOf,
  permissionDenied,
  refusals,
  TURNKEY_ERROR_CODES,
} from '../../src/protocol/index.ts'

const detail = (turnkeyErrorCode: string) => ({
  '@type': 'type.googleapis.com/errors.v1.TurnkeyErrorDetail',
  turnkeyErrorCode,
})

describe('refusal: bodies', () => {
  test('refusal: a body has the captured form, members in the captured order', () => {
    expect(JSON.stringify(apiError('maxOtpInitiated').toBody())).toBe(
      '{"code":3,"message":"Max number of OTPs have been initiated please wait and try again","details":[{"@type":"type.googleapis.com/errors.v1.TurnkeyErrorDetail","turnkeyErrorCode":"MAX_OTP_INITIATED"}],"turnkeyErrorCode":"MAX_OTP_INITIATED"}',
    )
  })

  test('refusal: without a code, details are an empty list and the code is empty text', () => {
    expect(apiError('unavailable').toBody()).toEqual({
      code: 14,
      message: 'service unavailable',
      details: [],
      turnkeyErrorCode: '',
    })
    expect(JSON.stringify(new ApiError(8, '').toBody())).toBe(
      '{"code":8,"message":"","details":[],"turnkeyErrorCode":""}',
    )
  })

  test.each([
    {
      name: 'nothing allows',
      given: [],
      message: 'No policies evaluated to outcome: Allow',
    },
    {
      name: 'policies ran, none allows',
      given: [{ policyId: 'p1', outcome: 'OUTCOME_DENY_IMPLICIT' }],
      message: 'No policies evaluated to outcome: Allow',
    },
    {
      name: 'two policies deny',
      given: [
        { policyId: 'p1', outcome: 'OUTCOME_DENY_EXPLICIT' },
        { policyId: 'p2', outcome: 'OUTCOME_ALLOW' },
        { policyId: 'p3', outcome: 'OUTCOME_DENY_EXPLICIT' },
      ],
      message: 'The following policies denied this action: p1, p3',
    },
  ])('denial: $name', ({ given, message }) => {
    const denial = permissionDenied(given)
    expect(denial.httpStatus).toBe(403)
    expect(denial.toBody()).toEqual({
      code: 7,
      message:
        "You don't have sufficient permissions to take this action. Please add a policy granting this user permissions. Learn more at https://docs.turnkey.com/concepts/policies/quickstart.",
      details: [
        { '@type': 'type.googleapis.com/errors.v1.PolicyEnginePermissionError', message, policyEvaluations: given },
      ],
      turnkeyErrorCode: 'REQUEST_NOT_AUTHORIZED',
    })
  })

  test.each([
    [
      apiError('publicKeyNotFound', 'ORG', 'KEY'),
      16,
      'PUBLIC_KEY_NOT_FOUND',
      'could not find public key in organization or its parent organization organizationId=ORG publicKey=KEY',
    ],
    [
      apiError('expiredApiKey', 'KEY', 'ORG'),
      16,
      'API_KEY_EXPIRED',
      'expired api key: rpc error: code = Unauthenticated desc = expired api key publicKey=KEY organizationId=ORG',
    ],
    [
      apiError('organizationMismatch', 'A', 'B'),
      3,
      'ORGANIZATION_MISMATCH',
      'organization mismatch: request is targeting organization ("A"), but voters are in organization ("B")',
    ],
    [apiError('organizationNotFound'), 5, 'ORGANIZATION_NOT_FOUND', 'no organization found with the given ID'],
    [apiError('invalidTime'), 3, 'INVALID_TIME', 'request timestamp is outside the allowed window'],
    [
      apiError('activityNotFound'),
      5,
      '',
      'No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint',
    ],
    [
      apiError('invalidPolicyTime', 'field does not exist: path'),
      3,
      'REQUEST_INVALID',
      'invalid policy time: field does not exist: path',
    ],
    [apiError('internal', 'ID'), 13, 'INTERNAL', 'internal server error (ID)'],
  ] as const)('refusal: %s', (error, grpc, code, message) => {
    expect(error.toBody()).toEqual({
      code: grpc,
      message,
      details: code === '' ? [] : [detail(code)],
      turnkeyErrorCode: code,
    })
  })
})

describe('refusal: fields', () => {
  test.each([
    {
      name: 'a missing field',
      error: apiError('missingField', 'users[0].userName'),
      field: 'users[0].userName',
      message: 'invalid request body: missing field `users[0].userName`',
    },
    {
      name: 'a wrong field',
      error: apiError('invalidField', 'nonce', 'must be a number'),
      field: 'nonce',
      message: 'invalid request body: field `nonce` must be a number',
    },
    {
      name: 'a field that the text does not say',
      error: apiErrorAt('accounts[1].path', 'invalidPath'),
      field: 'accounts[1].path',
      message: refusals.invalidPath.message(),
    },
  ])('refusal: $name is data of the error, and a detail of its body', ({ error, field, message }) => {
    expect([error.field, error.message]).toEqual([field, message])
    expect(error.details).toEqual([
      ...(error.turnkeyErrorCode ? [detail(error.turnkeyErrorCode)] : []),
      { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field, description: message }] },
    ])
  })
})

describe('refusal: tables', () => {
  test('refusal: each gRPC code has its HTTP status', () => {
    expect(Object.fromEntries(Object.values(GRPC).map((grpc) => [grpc, httpStatusOf(grpc)]))).toEqual({
      3: 400,
      5: 404,
      6: 409,
      7: 403,
      8: 429,
      9: 400,
      12: 501,
      13: 500,
      14: 503,
      16: 401,
    })
  })

  test('refusal: every row makes a body with a known code and a text without holes', () => {
    const codes = new Set<string>([...TURNKEY_ERROR_CODES, ''])
    expect(TURNKEY_ERROR_CODES).toHaveLength(39)
    for (const [name, { grpc, code, message }] of Object.entries(refusals)) {
      expect(codes.has(code), name).toBe(true)
      expect(httpStatusOf(grpc), name).toBeGreaterThanOrEqual(400)
      const text = (message as (...values: unknown[]) => string)('one', 'two', 3)
      expect(text, name).toMatch(/^\S.*\S$/)
      expect(text, name).not.toContain('undefined')
    }
  })

  test('refusal: every row is used, and a search for its name finds where', () => {
    const cwd = join(import.meta.dirname, '../../src')
    const files = globSync('**/*.{ts,json}', { cwd }).filter((file) => file !== 'protocol/refusals.ts')
    const names = new Set(
      files.flatMap((file) => readFileSync(join(cwd, file), 'utf8').match(/(?<=['"]|refusals\.)\w+\b/g) ?? []),
    )
    expect(Object.keys(refusals).filter((name) => !names.has(name))).toEqual([])
  })
})
