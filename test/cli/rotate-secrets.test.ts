/** Secrets that are not API keys: the client secret of an OAuth 2.0 credential, and the key of the authentication proxy. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createSubmitClient } from '../../src/client/index.ts'
import { randomBytes, sealEnvelope } from '../../src/crypto/index.ts'
import { decodeHex, encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import { findOauth2Credential, rotateOauth2, rotateProxyKey } from '../../src/operations/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { complete } from '../service/handlers/steps.ts'
import { createTestUser, startTestService, type TestService } from '../service/harness.ts'
import { GRANT, startSocialProviders } from '../service/oauth/social.ts'
import { environmentOf, quorate, quorateShared, testFolder } from './harness.ts'

const clientOf = (service: TestService) =>
  createSubmitClient({
    baseUrl: service.url,
    organizationId: service.organizationId,
    stamper: createApiKeyStamper({ privateKey: new Secret(service.root.privateKey) }),
  })

const waitForBoth = async (service: TestService) => {
  const { userId, client } = await createTestUser(service, 'bob')
  const userIds = [service.rootUserId, userId]
  await complete(service.root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
  return client
}

test('rotate oauth2: a login is checked with the new secret, and one that the provider refuses puts the one before back', async () => {
  const social = await startSocialProviders()
  const service = await startTestService({ providerUrls: { x: social.url } })
  const folder = testFolder()
  try {
    const key = service.service.bootstrap.tlsFetcherEncryptionPublicKey
    const sealed = (secret: string) => encodeHex(sealEnvelope(decodeHex(key), encodeUtf8(secret), randomBytes))
    const encryptedClientSecret = sealed('of last year')
    const parameters = { provider: 'OAUTH2_PROVIDER_X', clientId: GRANT.clientId, encryptedClientSecret }
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', parameters)
    const client = clientOf(service)
    const find = () => findOauth2Credential(client, GRANT.clientId)
    const { redirectUri, codeVerifier } = GRANT
    const logIn = async () => ({ authCode: social.code({}), redirectUri, codeVerifier, nonce: 'ab'.repeat(32) })
    const door = { client, now: Date.now, logIn }

    const right = sealed(GRANT.clientSecret)
    expect(await rotateOauth2(await find(), right, door)).toMatchObject({ state: 'checked' })
    const wrong = await rotateOauth2(await find(), sealed('mistyped'), door)
    expect(wrong).toMatchObject({ state: 'put back', why: expect.stringContaining('auth code refused') })
    expect((await find()).encryptedClientSecret).toBe(right)
    expect(await rotateOauth2(await find(), undefined, door)).toMatchObject({ state: 'checked' })
    // A provider that is away says nothing of the secret.
    social.next({ status: 503 })
    expect(await rotateOauth2(await find(), right, door)).toMatchObject({
      state: 'updated',
      why: expect.stringContaining('did not answer'),
    })

    const env = environmentOf(service, folder, service.root.privateKey)
    const file = join(folder, 'secret.txt')
    writeFileSync(file, `${GRANT.clientSecret}\n`, { mode: 0o600 })
    const run = (...args: readonly string[]) =>
      quorateShared(['rotate', 'oauth2', GRANT.clientId, ...args, '--yes', '--json'], {
        env: { ...env, NEW_SECRET: GRANT.clientSecret },
        cwd: folder,
      })
    const unknown = await run('--from-file', file)
    expect([unknown.exit, unknown.stderr]).toEqual([1, expect.stringContaining('--encryption-key')])
    expect((await run('--encryption-key', key)).stderr).toContain('--from-file')
    for (const from of [
      ['--from-file', file],
      ['--from-env', 'NEW_SECRET'],
      ['--from-command', `cat ${file}`],
    ]) {
      const done = await run(...from, '--encryption-key', key)
      expect([from[0], done.exit, done.stderr]).toEqual([from[0], 0, expect.not.stringContaining(GRANT.clientSecret)])
      const written = JSON.parse(done.stdout)
      expect(written).toMatchObject({ state: 'updated' })
      expect(written.encryptedClientSecret).toBe((await find()).encryptedClientSecret)
      expect(await rotateOauth2(await find(), undefined, door)).toMatchObject({ state: 'checked' })
    }

    const login = ['--redirect-uri', redirectUri, '--login-page', `${social.url}/authorize`]
    const foreign = await quorate(['rotate', 'oauth2', GRANT.clientId, ...login, '--json'], {
      env,
      cwd: folder,
      input: `${redirectUri}?code=${social.code({})}&state=of-somebody-else\n`,
    })
    expect([foreign.exit, JSON.parse(foreign.stdout)]).toMatchObject([0, { state: 'updated', activities: {} }])
    expect(foreign.stderr).toMatch(/code_challenge=[\w-]{43}&/)

    const bob = await waitForBoth(service)
    const waits = await rotateOauth2(await find(), sealed('next'), door)
    expect(waits).toMatchObject({ state: 'waiting' })
    await expect(rotateOauth2(await find(), right, door)).rejects.toMatchObject({ code: 'rotate/other-runs' })
    await bob.approve(waits.fingerprint!)
    const asked = await run('--from-file', file, '--encryption-key', key)
    expect([asked.exit, JSON.parse(asked.stdout)]).toMatchObject([3, { state: 'waiting' }])
    const seen = await quorateShared(['approvals', '--all'], { env, cwd: folder })
    const { oauth2CredentialId: id } = await find()
    expect(seen.stdout).toContain(
      `\`quorate rotate oauth2\` of this data folder: gives OAuth 2.0 credential ${id} its new client secret\n`,
    )
    const { fingerprint } = JSON.parse(asked.stdout)
    await service.root.submit('ACTIVITY_TYPE_REJECT_ACTIVITY', { fingerprint })
    // The provider has another one.
    expect(await rotateOauth2(await find(), undefined, door)).toMatchObject({ state: 'refused' })
  } finally {
    await service.close()
    await social.close()
  }
})

test('rotate auth-proxy: the gap is said before it is done, the old key is registered no more, and one that was cut off goes on', async () => {
  const service = await startTestService()
  const folder = testFolder()
  try {
    const env = environmentOf(service, folder, service.root.privateKey)
    const run = (...args: readonly string[]) => quorateShared(['rotate', 'auth-proxy', ...args], { env, cwd: folder })
    const { userId } = await complete(service.root, 'ACTIVITY_TYPE_ENABLE_AUTH_PROXY', {})
    const keys = async () =>
      (await service.root.query('list_users')).users.flatMap(({ apiKeys }) =>
        apiKeys.map(({ credential }) => credential.publicKey),
      )
    const before = await keys()
    const asked = await run()
    expect([asked.exit, asked.stderr]).toEqual([1, expect.stringContaining('nobody can sign up or log in')])
    expect(await keys()).toEqual(before)
    const done = await run('--yes', '--json')
    const rotation = JSON.parse(done.stdout)
    expect([done.exit, rotation]).toMatchObject([0, { state: 'done', old: { userId }, gapMs: expect.any(Number) }])
    expect(before).toContain(rotation.old.publicKey)
    expect(await keys()).not.toContain(rotation.old.publicKey)
    expect(await keys()).toContain(rotation.new.publicKey)

    const bob = await waitForBoth(service)
    const door = { client: clientOf(service), now: Date.now }
    const waits = await rotateProxyKey(rotation.new, door)
    expect(waits).toMatchObject({ state: 'waiting', part: 'disable' })
    // Asked again, the same activity waits.
    expect((await rotateProxyKey(rotation.new, door)).activities).toEqual(waits.activities)
    await bob.approve(waits.fingerprint!)
    const rest = await run('--yes', '--json')
    expect([rest.exit, JSON.parse(rest.stdout)]).toMatchObject([3, { state: 'waiting', part: 'enable' }])
    const seen = await quorateShared(['approvals', '--all'], { env, cwd: folder })
    expect(seen.stdout).toContain(
      '`quorate rotate auth-proxy` of this data folder: enables the authentication proxy with a new key\n',
    )
    await bob.approve(JSON.parse(rest.stdout).fingerprint)
    expect(await keys()).not.toContain(rotation.new.publicKey)
  } finally {
    await service.close()
  }
})
