/** The field that a refusal blames is data on its whole way: thrown by the service, sent, read by the client, printed as JSON. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSubmitClient } from '../../src/client/index.ts'
import { toErrorJson } from '../../src/diagnostics/index.ts'
import { type ActivityType, activities } from '../../src/protocol/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { startTestService, type TestService } from '../service/harness.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const policy = (policyName: string, condition: string) => ({ policyName, effect: 'EFFECT_ALLOW', condition, notes: '' })
const account = (path: string) => ({
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path,
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
})

test.each<{ name: string; type: ActivityType; parameters: object; field: string | undefined }>([
  {
    name: 'a member that is missing, in a list',
    type: 'ACTIVITY_TYPE_CREATE_USERS_V4',
    parameters: { users: [{ userName: 'ann' }, {}] },
    field: 'users[1].userName',
  },
  {
    name: 'a member with a refusal of its own',
    type: 'ACTIVITY_TYPE_CREATE_USERS_V4',
    parameters: { users: [{ userName: 'ann', userEmail: 'nowhere' }] },
    field: 'users[0].userEmail',
  },
  {
    name: 'a condition that does not parse, of the second policy',
    type: 'ACTIVITY_TYPE_CREATE_POLICIES',
    parameters: { policies: [policy('one', 'true'), policy('two', 'activity.')] },
    field: 'policies[1].condition',
  },
  {
    name: 'a path that is named twice',
    type: 'ACTIVITY_TYPE_CREATE_WALLET',
    parameters: { walletName: 'w', accounts: [account("m/44'/60'/0'/0/0"), account("m/44'/60'/0'/0/0")] },
    field: 'accounts[1].path',
  },
  {
    name: 'a quorum of nobody',
    type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM',
    parameters: { threshold: 1, userIds: [] },
    field: 'userIds',
  },
  {
    name: 'no field: a name that another policy has',
    type: 'ACTIVITY_TYPE_CREATE_POLICIES',
    parameters: { policies: [policy('same', 'true'), policy('same', 'true')] },
    field: undefined,
  },
])('fields: $name', async ({ type, parameters, field }) => {
  const stamper = createApiKeyStamper({ privateKey: new Secret(service.root.privateKey) })
  const client = createSubmitClient({ baseUrl: service.url, organizationId: service.organizationId, stamper })
  const { text } = service.body(type, parameters)
  const error: unknown = await client.submit(activities[type].path, text).catch((reason: unknown) => reason)
  expect(toErrorJson(error)).toMatchObject({ code: 'client/invalid' })
  expect(toErrorJson(error).field).toBe(field)
})
