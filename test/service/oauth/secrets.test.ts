import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { encryptOauth2ClientSecret } from '@turnkey/crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import type { Logger } from '../../../src/telemetry/index.ts'
import { complete, refusalOf } from '../handlers/steps.ts'
import { createTestUser, startTestService, type TestService } from '../harness.ts'
import { startIssuer, type TestIssuer } from '../oidc/issuer.ts'
import { storedBytes } from '../rows.ts'
import { ACCESS_TOKEN, GRANT, type SocialProviders, startSocialProviders } from './social.ts'
import { makePerson, nonceOf } from './stage.ts'

const lines: string[] = []
const say = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`)
const logger: Logger = { debug: say, info: say, warn: say, error: say }

let issuer: TestIssuer
let social: SocialProviders
let service: TestService
beforeAll(async () => {
  issuer = await startIssuer('ES256')
  social = await startSocialProviders()
  service = await startTestService({ logger, privateIssuers: [issuer.url], providerUrls: { x: social.url } })
})
afterAll(async () => {
  await service.close()
  await Promise.all([issuer.close(), social.close()])
})

/** Everything that is on disk of the service. */
async function kept(): Promise<string> {
  const names = readdirSync(service.dataDir, { recursive: true, encoding: 'utf8', withFileTypes: true })
  const files = names.filter((entry) => entry.isFile())
  const texts = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
  return [...texts, (await storedBytes(service.dataDir)).toString('latin1')].join('\n')
}

describe('secrets of OAuth logins', () => {
  test('secrets of OAuth logins: no token, code, verifier or secret is on disk or in a log', async () => {
    const { root } = service
    const key = generateP256KeyPair()
    const registration = await issuer.token({ sub: 'ada' })
    const login = await issuer.token({ sub: 'ada', nonce: nonceOf(key.publicKey) })
    const refused = await issuer.token({ sub: 'ada', nonce: 'of another key' })
    const home = await makePerson(service, [registration])
    await complete(
      root,
      'ACTIVITY_TYPE_OAUTH_LOGIN',
      { oidcToken: login, publicKey: key.publicKey },
      home.organizationId,
    )
    await refusalOf(root.submit('ACTIVITY_TYPE_OAUTH_LOGIN', { oidcToken: refused, publicKey: key.publicKey }, home))
    // A denied one is kept too, for its operator.
    const nobody = await createTestUser(service, 'nobody')
    const other = generateP256KeyPair().publicKey
    const denied = await issuer.token({ sub: 'ada', nonce: nonceOf(other) })
    const attempt = nobody.client.submit('ACTIVITY_TYPE_OAUTH_LOGIN', { oidcToken: denied, publicKey: other }, home)
    expect((await refusalOf(attempt))[1]).toBe(7)
    const { tlsFetcherEncryptionPublicKey } = service.service.bootstrap
    const { oauth2CredentialId } = await complete(root, 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', {
      provider: 'OAUTH2_PROVIDER_X',
      clientId: GRANT.clientId,
      encryptedClientSecret: await encryptOauth2ClientSecret(GRANT.clientSecret, tlsFetcherEncryptionPublicKey),
    })
    const authCode = social.code({})
    const { oidcToken: own } = await complete(root, 'ACTIVITY_TYPE_OAUTH2_AUTHENTICATE', {
      ...{ oauth2CredentialId, authCode, redirectUri: GRANT.redirectUri, codeVerifier: GRANT.codeVerifier },
      ...{ nonce: nonceOf(key.publicKey), bearerTokenTargetPublicKey: key.publicKey },
    })
    const secrets = [registration, login, refused, denied, own, authCode, GRANT.codeVerifier, ACCESS_TOKEN]
    const planted = [...secrets, GRANT.clientSecret.slice(0, 20), key.privateKey].map((text) => text.slice(-60))
    for (const text of [await kept(), lines.join('\n')]) {
      expect(text).toMatch(/oauth_login/i)
      expect(planted.filter((secret) => text.includes(secret))).toEqual([])
    }
    // On disk it can be looked for: what is no secret is found.
    expect(await kept()).toContain(GRANT.clientId)
  })

  test('secrets of OAuth logins: those who may read the activity see it as it was sent, after a restart too', async () => {
    const key = generateP256KeyPair()
    const home = await makePerson(service, [await issuer.token({ sub: 'eve' })])
    const oidcToken = await issuer.token({ sub: 'eve', nonce: nonceOf(key.publicKey) })
    const request = { oidcToken, publicKey: key.publicKey }
    const { id, fingerprint } = await service.root.submit('ACTIVITY_TYPE_OAUTH_LOGIN', request, home)
    await service.restart()
    const { activity } = await service.root.query('get_activity', { activityId: id, ...home })
    expect(activity.intent).toEqual({ oauthLoginIntent: request })
    const digest = createHash('sha256').update(activity.votes[0]!.message).digest('hex')
    expect(`sha256:${digest}`).toBe(fingerprint)
  })
})
