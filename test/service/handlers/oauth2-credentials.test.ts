import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestClock, startTestService, type TestService } from '../harness.ts'
import { complete, invalidField, NOBODY, type Refusal, refusalOf } from './steps.ts'

const clock = createTestClock()
let service: TestService
beforeAll(async () => {
  service = await startTestService({ clock })
})
afterAll(() => service.close())

const credential = { provider: 'OAUTH2_PROVIDER_X', clientId: 'client', encryptedClientSecret: '0xAbCd' }
const list = async () => (await service.root.query('list_oauth2_credentials')).oauth2Credentials
const gone: Refusal = [404, 5, `oauth2 credential not found: ${NOBODY}`, 'OAUTH2_CREDENTIAL_NOT_FOUND']

describe('oauth2 credentials', () => {
  test('oauth2 credentials: one is made, replaced and deleted, the secret always as it was sent', async () => {
    const { root, organizationId } = service
    const { oauth2CredentialId } = await complete(root, 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', credential)
    const createdAt = { seconds: '1750000000', nanos: '0' }
    const record = { oauth2CredentialId, organizationId, ...credential, createdAt, updatedAt: createdAt }
    const of = { oauth2CredentialId }
    expect((await root.query('get_oauth2_credential', of)).oauth2Credential).toEqual(record)
    clock.advance(1_000)
    const change = { provider: 'OAUTH2_PROVIDER_DISCORD', clientId: 'other', encryptedClientSecret: 'ff' }
    expect(await complete(root, 'ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL', { ...of, ...change })).toEqual(of)
    expect(await list()).toEqual([{ ...record, ...change, updatedAt: { seconds: '1750000001', nanos: '0' } }])
    expect(await complete(root, 'ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL', of)).toEqual(of)
    expect(await list()).toEqual([])
  })

  test('oauth2 credentials: one that is not there is refused with its own code', async () => {
    const of = { oauth2CredentialId: NOBODY }
    const { root } = service
    expect(await refusalOf(root.query('get_oauth2_credential', of))).toEqual(gone)
    const update = root.submit('ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL', { ...of, ...credential })
    expect(await refusalOf(update)).toEqual(gone)
    expect(await refusalOf(root.submit('ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL', of))).toEqual(gone)
  })

  test.each(['clientId', 'encryptedClientSecret'])('oauth2 credentials: without %s none is made', async (field) => {
    const sent = service.root.submit('ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', { ...credential, [field]: '' })
    expect(await refusalOf(sent)).toEqual(invalidField(field, 'must not be empty'))
  })
})
