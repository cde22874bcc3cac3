/**
 * Logins by OAuth and OpenID Connect that must not succeed: each row is refused with its error, and of everything that the
 * service keeps nothing is changed by it.
 */
import { createHmac } from 'node:crypto'
import { encryptOauth2ClientSecret } from '@turnkey/crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair, uncompressP256 } from '../../src/crypto/index.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import { addTenant, complete, NOBODY, type Refusal, refusalOf, type Tenant } from '../service/handlers/steps.ts'
import { startTestService, type TestClient, type TestService } from '../service/harness.ts'
import { type HostileIssuers, startHostileIssuers } from '../service/oauth/hostile-issuer.ts'
import {
  ACCESS_TOKEN,
  GRANT,
  type SocialAnswer,
  type SocialProviders,
  startSocialProviders,
} from '../service/oauth/social.ts'
import { makePerson, nonceOf } from '../service/oauth/stage.ts'
import { abuseRows } from './abuse-table.ts'

const LOGIN = 'ACTIVITY_TYPE_OAUTH_LOGIN'
const OAUTH = 'ACTIVITY_TYPE_OAUTH'
const CODE = 'ACTIVITY_TYPE_OAUTH2_AUTHENTICATE'

let issuers: HostileIssuers
let social: SocialProviders
let service: TestService
let stranger: Tenant
let ada: { readonly organizationId: string; readonly userId: string }
let eve: { readonly organizationId: string; readonly userId: string }
let credentialId: string
beforeAll(async () => {
  issuers = await startHostileIssuers()
  social = await startSocialProviders()
  service = await startTestService({
    privateIssuers: [issuers.url],
    providerUrls: { x: social.url, discord: social.url },
  })
  stranger = await addTenant(service)
  ada = await makePerson(service, [await issuers.sign(), await issuers.sign({ sub: 'x-and-y', aud: 'x' })])
  eve = await makePerson(service, [await issuers.sign({ sub: 'eve' })])
  credentialId = await makeCredential(GRANT.clientSecret)
})
afterAll(async () => {
  await service.close()
  await Promise.all([issuers.close(), social.close()])
})

async function makeCredential(secret: string, clientId = GRANT.clientId) {
  const { tlsFetcherEncryptionPublicKey } = service.service.bootstrap
  const made = await complete(service.root, 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', {
    provider: 'OAUTH2_PROVIDER_DISCORD',
    clientId,
    encryptedClientSecret: await encryptOauth2ClientSecret(secret, tlsFetcherEncryptionPublicKey),
  })
  return made.oauth2CredentialId
}

/** One login that must not succeed. */
interface Attempt {
  readonly name: string
  /** What is sent, with a key that nobody has: by default by the parent, for the home of Ada. */
  readonly request: (publicKey: string) => Promise<{
    readonly type?: ActivityType
    readonly parameters: object
    readonly client?: TestClient
    readonly organizationId?: string
  }>
  readonly refusal: Refusal | readonly [status: number, code: number]
}

const notVerified: Refusal = [400, 3, 'invalid OIDC token', 'INVALID_OIDC_TOKEN']

/** A token instead of one that would log Ada in. */
function token(
  name: string,
  make: (nonce: string, publicKey: string) => Promise<string> | string,
  refusal: Attempt['refusal'] = notVerified,
): Attempt {
  return {
    name: `a token ${name}`,
    request: async (publicKey) => ({ parameters: { publicKey, oidcToken: await make(nonceOf(publicKey), publicKey) } }),
    refusal,
  }
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds

/** Puts another header and signature around the claims of a good token. */
async function resigned(nonce: string, header: object, sign: (signed: string) => string): Promise<string> {
  const [, claims] = (await issuers.sign({ nonce })).split('.')
  const signed = `${encode(header)}.${claims}`
  return `${signed}.${sign(signed)}`
}

const hmac = (key: string) => (signed: string) => createHmac('sha256', key).update(signed).digest('base64url')

const claims: readonly Attempt[] = [
  token('for another key', () => issuers.sign({ nonce: nonceOf(generateP256KeyPair().publicKey) })),
  token('for no key', () => issuers.sign()),
  token('for the key in another case', (_, key) => issuers.sign({ nonce: nonceOf(key.toUpperCase()) })),
  token('for the key in its other form', (_, key) => issuers.sign({ nonce: nonceOf(uncompressP256(key)!) })),
  token('with the nonce in upper case', (nonce) => issuers.sign({ nonce: nonce.toUpperCase() })),
  token('with the key itself as nonce', (_, key) => issuers.sign({ nonce: key })),
  token('with a nonce that is a list', (nonce) => issuers.sign({ nonce: [nonce] })),
  token('whose renamed nonce is right and whose nonce is not', (nonce) => issuers.sign({ nonce: 'x', tknonce: nonce })),
  token('for another client', (nonce) => issuers.sign({ nonce, aud: 'another' }), [404, 5]),
  token('of another person', (nonce) => issuers.sign({ nonce, sub: 'bob' }), [404, 5]),
  token('of a person of another organization', (nonce) => issuers.sign({ nonce, sub: 'eve' }), [404, 5]),
  token(
    'of the same subject at another issuer',
    (nonce) => issuers.sign({ nonce, iss: `${issuers.url}/second` }),
    [404, 5],
  ),
  token('that has expired', (nonce) => issuers.sign({ nonce, exp: inSeconds(-61) })),
  token('that is not good yet', (nonce) => issuers.sign({ nonce, nbf: inSeconds(120) })),
  token('of the future', (nonce) => issuers.sign({ nonce, iat: inSeconds(120) })),
  token('without an end', (nonce) => issuers.sign({ nonce, exp: undefined })),
  token('without a subject', (nonce) => issuers.sign({ nonce, sub: undefined })),
  token('with an empty subject', (nonce) => issuers.sign({ nonce, sub: '' })),
  token('with a number as subject', (nonce) => issuers.sign({ nonce, sub: 1 })),
  token('without an audience', (nonce) => issuers.sign({ nonce, aud: undefined })),
  token('with an empty list of audiences', (nonce) => issuers.sign({ nonce, aud: [] })),
  token('without an issuer', (nonce) => issuers.sign({ nonce, iss: undefined })),
]

const signatures: readonly Attempt[] = [
  ...['none', 'None', 'NONE', ''].map((alg) =>
    token(`that says that its algorithm is \`${alg}\``, (nonce) => resigned(nonce, { alg }, () => '')),
  ),
  token('that says nothing of its algorithm', (nonce) => resigned(nonce, {}, () => '')),
  ...['es256', 'rs256'].map((name) =>
    token(`by HS256 with the public key of ${name}`, (nonce) => {
      const { publicKey, kid } = issuers[name as 'es256' | 'rs256']
      return resigned(nonce, { alg: 'HS256', kid }, hmac(publicKey.export({ type: 'spki', format: 'pem' }).toString()))
    }),
  ),
  token('by HS256 with the published key as text', (nonce) => {
    const { publicKey, kid } = issuers.es256
    return resigned(nonce, { alg: 'HS256', kid }, hmac(JSON.stringify(publicKey.export({ format: 'jwk' }))))
  }),
  token('by a key that nobody publishes', (nonce) => issuers.sign({ nonce }, {}, issuers.stray)),
  token('by such a key under the name of one that is', (nonce) =>
    issuers.sign({ nonce }, { kid: issuers.es256.kid }, issuers.stray),
  ),
  token('by a key that another issuer alone publishes', (nonce) =>
    issuers.sign({ nonce, iss: `${issuers.url}/other-key` }),
  ),
  token('of ES256 that names an RSA key', (nonce) => issuers.sign({ nonce }, { kid: issuers.rs256.kid })),
  token('of RS256 that names a key on P-256', (nonce) =>
    issuers.sign({ nonce }, { kid: issuers.es256.kid }, issuers.rs256),
  ),
  token('that brings its own key', (nonce) =>
    issuers.sign({ nonce }, { jwk: issuers.stray.publicKey.export({ format: 'jwk' }) }, issuers.stray),
  ),
  token('that says where its key is', (nonce) =>
    issuers.sign({ nonce }, { jku: `${issuers.url}/honest/jwks` }, issuers.stray),
  ),
  token('that says where its certificate is', (nonce) =>
    issuers.sign({ nonce }, { x5u: `${issuers.url}/honest/jwks` }, issuers.stray),
  ),
  token('that brings a certificate', (nonce) => issuers.sign({ nonce }, { x5c: ['MIIB'] }, issuers.stray)),
  token('with a critical member that nobody knows', (nonce) =>
    resigned(nonce, { alg: 'ES256', kid: issuers.es256.kid, crit: ['x'], x: 1 }, () => 'AA'),
  ),
  token('with a signature of zeros', async (nonce) => {
    const [header, body] = (await issuers.sign({ nonce })).split('.')
    return `${header}.${body}.${Buffer.alloc(64).toString('base64url')}`
  }),
  token('with the signature of another', async (nonce) => {
    const [header, body] = (await issuers.sign({ nonce })).split('.')
    return `${header}.${body}.${(await issuers.sign({ nonce, sub: 'eve' })).split('.')[2]}`
  }),
  token('with the claims of another', async (nonce) => {
    const [header, , signature] = (await issuers.sign({ nonce, sub: 'eve' })).split('.')
    return `${header}.${(await issuers.sign({ nonce })).split('.')[1]}.${signature}`
  }),
]

const forms: readonly Attempt[] = [
  token('with a dot behind it', async (nonce) => `${await issuers.sign({ nonce })}.`),
  token('with a blank before it', async (nonce) => ` ${await issuers.sign({ nonce })}`),
  token('encoded once more', async (nonce) => Buffer.from(await issuers.sign({ nonce })).toString('base64')),
  token('of two parts', async (nonce) => (await issuers.sign({ nonce })).split('.').slice(0, 2).join('.')),
  token('of more than 16 KiB', (nonce) => issuers.sign({ nonce, padding: 'x'.repeat(16_384) })),
  token('that is JSON', (nonce) => JSON.stringify({ nonce, sub: 'ada', aud: 'client' })),
  token('whose claims are a list', () => `${encode({ alg: 'ES256' })}.${encode([])}.AA`),
  token('that is none', () => 'a.b.c'),
]

const places: readonly Attempt[] = [
  ...[
    'redirect',
    'other-name',
    'oversize',
    'no-keys',
    'keys-elsewhere',
    'private-keys',
    'file-keys',
    'broken',
    'html',
  ].map((name) =>
    token(`of the issuer \`${name}\``, (nonce) => issuers.sign({ nonce, iss: `${issuers.url}/${name}` })),
  ),
  ...[
    'https://127.0.0.1',
    'https://[::1]',
    'https://[::ffff:127.0.0.1]',
    'https://10.0.0.1',
    'https://169.254.169.254',
    'https://localhost',
    'https://2130706433',
    'http://example.com',
    'file:///etc/passwd',
    'someone',
  ].map((iss) => token(`of the issuer \`${iss}\``, (nonce) => issuers.sign({ nonce, iss }))),
  token('of an issuer with a slash more', (nonce) => issuers.sign({ nonce, iss: `${issuers.url}/honest/` })),
  token('of an issuer with a query', (nonce) => issuers.sign({ nonce, iss: `${issuers.url}/honest?x=1` })),
  token('of an issuer with a user', (nonce) =>
    issuers.sign({ nonce, iss: `${issuers.url.replace('//', '//user:word@')}/honest` }),
  ),
  token('of the service itself that it has not signed', (nonce) => issuers.sign({ nonce, iss: service.url })),
]

/** Logs somebody in, and gives the token that has done so. */
async function logIn(publicKey: string, claim: object = {}): Promise<string> {
  const oidcToken = await issuers.sign({ nonce: nonceOf(publicKey), ...claim })
  await complete(service.root, LOGIN, { oidcToken, publicKey }, ada.organizationId)
  return oidcToken
}

/** The same claims under the other signature that the same key's signature gives: `s` for `n − s`. */
function otherSignature(oidcToken: string): string {
  const [header, body, signature] = oidcToken.split('.')
  const bytes = Buffer.from(signature!, 'base64url')
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
  const s = order - BigInt(`0x${bytes.subarray(32).toString('hex')}`)
  const turned = Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')])
  return `${header}.${body}.${turned.toString('base64url')}`
}

async function endSession(publicKey: string): Promise<void> {
  const key = generateP256KeyPair()
  const oidcToken = await issuers.sign({ nonce: nonceOf(key.publicKey) })
  const parameters = { oidcToken, publicKey: key.publicKey, invalidateExisting: true }
  await complete(service.root, LOGIN, parameters, ada.organizationId)
  const { apiKeys } = await service.root.query('get_api_keys', { organizationId: ada.organizationId })
  expect(apiKeys.map(({ credential }) => credential.publicKey)).not.toContain(publicKey)
}

const uses: readonly Attempt[] = [
  token('that has logged in already', (_, publicKey) => logIn(publicKey)),
  token('that has logged in already, under its other signature', async (_, publicKey) =>
    otherSignature(await logIn(publicKey)),
  ),
  token('whose session has ended', async (_, publicKey) => {
    const oidcToken = await logIn(publicKey)
    await endSession(publicKey)
    return oidcToken
  }),
  {
    name: 'a token that has logged in, for a bundle',
    request: async (publicKey) => ({
      type: OAUTH,
      parameters: { oidcToken: await logIn(publicKey), targetPublicKey: publicKey },
    }),
    refusal: notVerified,
  },
  token(
    'whose identity was taken away',
    async (nonce) => {
      const identity = { sub: 'gone', aud: 'client' }
      const oauthProviders = [{ providerName: 'gone', oidcToken: await issuers.sign(identity) }]
      const key = generateP256KeyPair()
      await logIn(key.publicKey)
      const client = service.client(key.privateKey)
      const made = await client.submit(
        'ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2',
        { userId: ada.userId, oauthProviders },
        ada,
      )
      const { providerIds } = made.result.createOauthProvidersResultV2!
      await client.submit('ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS', { userId: ada.userId, providerIds }, ada)
      return issuers.sign({ ...identity, nonce })
    },
    [404, 5],
  ),
  {
    name: 'a key that is somebody’s session',
    request: async () => {
      const { publicKey } = generateP256KeyPair()
      await logIn(publicKey)
      return { parameters: { publicKey, oidcToken: await issuers.sign({ nonce: nonceOf(publicKey) }) } }
    },
    refusal: [409, 6],
  },
  ...['02ab', '04'.padEnd(130, '0'), '', '-'].map(
    (publicKey): Attempt => ({
      name: `the key \`${publicKey}\``,
      request: async () => ({
        parameters: { publicKey, oidcToken: await issuers.sign({ nonce: nonceOf(publicKey) }) },
      }),
      refusal: [400, 3],
    }),
  ),
  {
    name: 'a bundle for a key that is none',
    request: async () => ({
      type: OAUTH,
      parameters: { targetPublicKey: '02ab', oidcToken: await issuers.sign({ nonce: nonceOf('02ab') }) },
    }),
    refusal: [400, 3],
  },
  ...[{ expirationSeconds: '-1' }, { expirationSeconds: 'soon' }, { sessionProfileId: NOBODY }].map(
    (overrides): Attempt => ({
      name: `a session with ${JSON.stringify(overrides)}`,
      request: async (publicKey) => ({
        parameters: { publicKey, oidcToken: await issuers.sign({ nonce: nonceOf(publicKey) }), ...overrides },
      }),
      refusal: 'sessionProfileId' in overrides ? [404, 5] : [400, 3],
    }),
  ),
]

const organizations: readonly Attempt[] = [
  { to: 'another home', organizationId: () => eve.organizationId, refusal: [404, 5] as const },
  { to: 'the parent', organizationId: () => service.organizationId, refusal: [404, 5] as const },
  { to: 'another tree', organizationId: () => stranger.organizationId, refusal: [401, 16] as const },
  { to: 'nobody', organizationId: () => NOBODY, refusal: [404, 5] as const },
].map(({ to, organizationId, refusal }) => ({
  name: `a token of Ada sent to ${to}`,
  request: async (publicKey: string) => ({
    parameters: { publicKey, oidcToken: await issuers.sign({ nonce: nonceOf(publicKey) }) },
    organizationId: organizationId(),
  }),
  refusal,
}))

const strangers: readonly Attempt[] = [
  {
    name: 'a token of Ada sent by another tree',
    request: async (publicKey) => ({
      parameters: { publicKey, oidcToken: await issuers.sign({ nonce: nonceOf(publicKey) }) },
      client: stranger.client,
    }),
    refusal: [401, 16],
  },
  {
    name: 'a token of Ada sent by the very key that is to be her session',
    request: async () => {
      const key = generateP256KeyPair()
      const oidcToken = await issuers.sign({ nonce: nonceOf(key.publicKey) })
      return { parameters: { publicKey: key.publicKey, oidcToken }, client: service.client(key.privateKey) }
    },
    refusal: [401, 16],
  },
]

/** A code instead of one that would be exchanged. */
function code(
  name: string,
  overrides: () => object | Promise<object>,
  refusal: Attempt['refusal'],
  answers: readonly (SocialAnswer | undefined)[] = [],
): Attempt {
  return {
    name: `a code ${name}`,
    async request() {
      const usual = { redirectUri: GRANT.redirectUri, codeVerifier: GRANT.codeVerifier, nonce: nonceOf('x') }
      const parameters = {
        oauth2CredentialId: credentialId,
        authCode: social.code({}),
        ...usual,
        ...(await overrides()),
      }
      for (const answer of answers) if (answer) social.next(answer)
      return { type: CODE, parameters, organizationId: service.organizationId }
    },
    refusal,
  }
}

const codeRefused: Refusal = [400, 3, 'auth code refused by the oauth2 provider discord', 'REQUEST_INVALID']
const notAnswering: Refusal = [
  503,
  14,
  'the oauth2 provider discord did not answer, nothing was issued',
  'RPC_CALL_ERROR',
]

const codes: readonly Attempt[] = [
  code(
    'that was used',
    async () => {
      const authCode = social.code({})
      const usual = { redirectUri: GRANT.redirectUri, codeVerifier: GRANT.codeVerifier, nonce: nonceOf('x') }
      await complete(service.root, CODE, { oauth2CredentialId: credentialId, authCode, ...usual })
      return { authCode }
    },
    codeRefused,
  ),
  code('that was never issued', () => ({ authCode: 'made-up' }), codeRefused),
  code(
    'with another verifier',
    () => ({ codeVerifier: 'another-verifier-of-at-least-forty-three-characters' }),
    codeRefused,
  ),
  code('with another redirect', () => ({ redirectUri: 'https://eve.test/signed-in' }), codeRefused),
  code('of another client', () => ({ authCode: social.code({ clientId: 'other' }) }), codeRefused),
  code('with the secret of another', async () => ({ oauth2CredentialId: await makeCredential('wrong') }), codeRefused),
  code('by a credential that is not there', () => ({ oauth2CredentialId: NOBODY }), [404, 5]),
  code('by a credential that was deleted', async () => {
    const oauth2CredentialId = await makeCredential(GRANT.clientSecret)
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL', { oauth2CredentialId })
    return { oauth2CredentialId }
  }, [404, 5]),
  code('where the provider is broken', () => ({}), notAnswering, [{ status: 500 }]),
  code('where the provider has had enough', () => ({}), notAnswering, [{ status: 429 }]),
  code('where the provider points elsewhere', () => ({}), notAnswering, [
    { status: 302, location: 'https://eve.test' },
  ]),
  code('where the provider says no JSON', () => ({}), notAnswering, [{ status: 200, body: '<html>' }]),
  code('where the provider says too much', () => ({}), notAnswering, [
    { status: 200, body: JSON.stringify({ access_token: 'x'.repeat(300_000) }) },
  ]),
  ...['{}', '[]', 'null', '{"access_token":""}', '{"access_token":"a b"}', '{"access_token":1}'].map((body) =>
    code(`where the provider says ${body}`, () => ({}), notAnswering, [{ status: 200, body }]),
  ),
  code('of somebody whose id is none', () => ({ authCode: social.code({ userId: '' }) }), notAnswering),
  code('of somebody whose id is two', () => ({ authCode: social.code({ userId: '1 2' }) }), notAnswering),
  code(
    'of somebody whose id names another provider',
    () => ({ authCode: social.code({ userId: 'x:1' }) }),
    notAnswering,
  ),
  {
    name: 'a code by the credential of another tree',
    request: async () => ({
      type: CODE,
      parameters: {
        ...{ oauth2CredentialId: credentialId, authCode: social.code({}), nonce: nonceOf('x') },
        ...{ redirectUri: GRANT.redirectUri, codeVerifier: GRANT.codeVerifier },
      },
      client: stranger.client,
      organizationId: stranger.organizationId,
    }),
    refusal: [404, 5],
  },
  {
    name: 'a code by the credential of the parent',
    request: async () => {
      const key = generateP256KeyPair()
      await logIn(key.publicKey)
      return {
        type: CODE,
        parameters: {
          ...{ oauth2CredentialId: credentialId, authCode: social.code({}), nonce: nonceOf('x') },
          ...{ redirectUri: GRANT.redirectUri, codeVerifier: GRANT.codeVerifier },
        },
        client: service.client(key.privateKey),
      }
    },
    refusal: [404, 5],
  },
]

const attempts = [...claims, ...signatures, ...forms, ...places, ...uses, ...organizations, ...strangers, ...codes]

const abuse = abuseRows('OAuth', () => service.dataDir)

describe('abuse of OAuth logins', () => {
  test('abuse of OAuth logins: the same request without anything wrong in it logs in', async () => {
    const { publicKey, privateKey } = generateP256KeyPair()
    await logIn(publicKey)
    expect(await service.client(privateKey).query('whoami', ada)).toMatchObject(ada)
    expect(attempts.length).toBeGreaterThan(100)
  })

  test.each(attempts)(
    'abuse of OAuth logins: $name is refused and changes nothing',
    async ({ name, request, refusal }) => {
      const { publicKey } = generateP256KeyPair()
      const {
        type = LOGIN,
        parameters,
        client = service.root,
        organizationId = ada.organizationId,
      } = await request(publicKey)
      const said = await abuse.refuse(name, () => refusalOf(client.submit(type, parameters, { organizationId })))
      expect(said.slice(0, refusal.length)).toEqual(refusal)
      // What is secret is in no refusal.
      expect(said[2]).not.toContain(ACCESS_TOKEN)
      expect(said[2]).not.toContain(GRANT.clientSecret)
    },
  )
  abuse.record()
})
