import { expect, test } from 'vitest'
import * as protocol from '../../src/protocol/index.ts'

test('protocol: exports what other rooms rely on, and nothing else', () => {
  expect(Object.keys(protocol).sort()).toMatchInlineSnapshot(`
    [
      "ACTIVITY_STATUSES",
      "APPROVAL_WINDOW_MS",
      "AUTH_PROXY_NAMES",
      "ApiError",
      "GRPC",
      "LIVENESS",
      "MAX_BODY_BYTES",
      "PAGE",
      "REQUEST_LIMITS",
      "STORED_BYTES",
      "TURNKEY_ERROR_CODES",
      "activities",
      "activityActions",
      "activityKinds",
      "activityResources",
      "apiError",
      "apiErrorAt",
      "createDecoder",
      "findActivitiesByPath",
      "findActivity",
      "findQueryByPath",
      "fingerprintOf",
      "fromTimestamp",
      "httpStatusOf",
      "isJsonObject",
      "isTerminal",
      "isWaiting",
      "openApiDocument",
      "parseJson",
      "permissionDenied",
      "proxyEndpoints",
      "queries",
      "readJson",
      "readPagination",
      "refusals",
      "resourceLimits",
      "respell",
      "respellText",
      "toTimestamp",
    ]
  `)
})
