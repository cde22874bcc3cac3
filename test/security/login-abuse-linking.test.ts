/**
 * Logins through the authentication proxy by an identity that nobody has: it is linked where Google vouches for an address that
 * one user has proved, and in every other case refused with its error, with nothing changed by it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { complete, fresh, refusalOf } from '../service/handlers/steps.ts'
import type { TestClient } from '../service/harness.ts'
import { type HostileIssuers, startHostileIssuers } from '../service/oauth/hostile-issuer.ts'
import { makePerson, nonceOf } from '../service/oauth/stage.ts'
import { claimsOf } from '../service/one-time-passcodes/outbox.ts'
import { type ProxyStage, said, startProxyStage } from '../service/proxy/stage.ts'
import { stealProxyKey } from '../service/proxy-key.ts'
import { abuseRows } from './abuse-table.ts'
import { stateDigest } from './state-digest.ts'

const LOGIN = 'ACTIVITY_TYPE_OAUTH_LOGIN'
const settings = { socialLinkingClientIds: ['web', 'ios'], allowedAuthMethods: ['google', 'oauth', 'email'] }

let issuers: HostileIssuers
let stage: ProxyStage
let proxyKey: TestClient
/** Of people with an address; `ada` and `spread` have proved theirs, the latter in two homes. */
let homes: Readonly<Record<'ada' | 'una' | 'twins' | 'spread' | 'moved', Person>>
type Person = Awaited<ReturnType<typeof makePerson>>
beforeAll(async () => {
  issuers = await startHostileIssuers()
  const google = `${issuers.url}/honest`
  stage = await startProxyStage({ privateIssuers: [issuers.url], providerUrls: { google } })
  await stage.set(settings)
  proxyKey = await stealProxyKey(stage)
  homes = {
    ada: await home('ada'),
    una: await makePerson(stage, [await issuers.sign({ sub: fresh('una') })], { userEmail: 'una@acme.test' }),
    twins: await twins(),
    spread: await home('spread'),
    moved: await home('moved'),
  }
  await home('spread')
  await moveOn(homes.moved)
})
afterAll(async () => {
  await stage.close()
  await issuers.close()
})

const emailOf = (name: string) => `${name}@acme.test`

/** Somebody whose address an issuer that is not Google has vouched for. */
async function home(name: string): Promise<Person> {
  const email = emailOf(name)
  const proof = { iss: `${issuers.url}/second`, sub: fresh(name), email, email_verified: true }
  return makePerson(stage, [await issuers.sign(proof)], { userEmail: email })
}

/** Has a user log in and take another address. */
async function moveOn({ organizationId, userId }: Person) {
  const { privateKey, publicKey } = generateP256KeyPair()
  const oidcToken = await googleToken('moved', publicKey)
  await complete(proxyKey, LOGIN, { oidcToken, publicKey }, organizationId)
  const change = { userId, userEmail: emailOf('moved-on') }
  await complete(stage.client(privateKey), 'ACTIVITY_TYPE_UPDATE_USER_EMAIL', change, organizationId)
}

/** Two users of one home with one address, which both have proved. */
async function twins(): Promise<Person> {
  const email = emailOf('twins')
  const one = async () => {
    const claims = { iss: `${issuers.url}/second`, sub: fresh('twin'), email, email_verified: true }
    const oauthProviders = [{ providerName: 'second', oidcToken: await issuers.sign(claims) }]
    return { userName: fresh('twin'), userEmail: email, apiKeys: [], authenticators: [], oauthProviders }
  }
  const made = await complete(stage.root, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', {
    subOrganizationName: 'twins',
    rootUsers: [await one(), await one()],
    rootQuorumThreshold: 1,
  })
  return { organizationId: made.subOrganizationId, userId: made.rootUserIds![0]! }
}

/** A token of Google's for somebody, bound to a key. */
function googleToken(name: string, publicKey: string, claims: object = {}): Promise<string> {
  const usual = { sub: `google-${name}`, aud: 'web', email: emailOf(name), email_verified: true }
  return issuers.sign({ ...usual, nonce: nonceOf(publicKey), ...claims })
}

async function providersOf({ organizationId, userId }: Person) {
  return (await stage.root.query('get_oauth_providers', { organizationId, userId })).oauthProviders
}

/** One login that must not succeed. */
interface Attempt {
  readonly name: string
  readonly of?: keyof typeof homes
  readonly claims?: object
  /** Whether the home is named; otherwise it is looked for. */
  readonly named?: boolean
  /** Who submits it, where it is not the proxy that is asked. */
  readonly client?: () => TestClient
  /** Status, code, and where it matters the message. */
  readonly refusal: readonly (number | string)[]
}

const nobody = [404, 5] as const
/** What is wrong with a token of Google's, or with who has the address. */
const wrong: readonly Omit<Attempt, 'refusal' | 'named' | 'client'>[] = [
  { name: 'an address that Google has not verified', claims: { email_verified: false } },
  { name: 'an address of which Google says nothing', claims: { email_verified: undefined } },
  { name: 'an address verified by the number one', claims: { email_verified: 1 } },
  { name: 'no address', claims: { email: undefined } },
  { name: 'a list of addresses', claims: { email: ['ada@acme.test'] } },
  { name: 'the address of nobody', claims: { email: 'nobody@acme.test' } },
  { name: 'an address with a blank', claims: { email: ' ada@acme.test' } },
  { name: 'an address with a wildcard', claims: { email: '%@acme.test' } },
  { name: 'an address of the same letters to the eye', claims: { email: 'adа@acme.test' } },
  { name: 'a client id that is not listed', claims: { aud: 'other' } },
  { name: 'a client id in another case', claims: { aud: 'WEB' } },
  { name: 'a listed client id behind one that is not', claims: { aud: ['other', 'web'] } },
  { name: 'a listed client id that the token is not for', claims: { aud: ['other', 'third'], azp: 'web' } },
  { name: 'an address that its user has not proved', of: 'una' },
  { name: 'an address that its user has proved and left', of: 'moved', claims: { sub: 'another' } },
]
const attempts: readonly Attempt[] = [
  ...wrong.map((each) => ({ ...each, named: false, refusal: nobody })),
  ...wrong.map((each) => ({ ...each, named: true, refusal: nobody })),
  ...wrong.map((each) => ({ ...each, client: () => proxyKey, refusal: nobody })),
  { name: 'an address of two homes, neither of them named', of: 'spread', refusal: nobody },
  ...[undefined, () => proxyKey].map(
    (client): Attempt => ({
      name: client ? 'an address of two users, by the proxy’s own key' : 'an address of two users',
      of: 'twins',
      named: true,
      refusal: [400, 3, 'several users have the email twins@acme.test, so it logs none of them in'],
      ...(client ? { client } : {}),
    }),
  ),
  {
    name: 'a token sent by the parent’s root user',
    named: true,
    client: () => stage.root,
    refusal: nobody,
  },
]

function* otherIssuers() {
  for (const client of [undefined, () => proxyKey]) {
    for (const path of ['second', 'honest/', 'other-key']) yield { path, client }
  }
}

const abuse = abuseRows('social-linking', () => stage.dataDir)

describe('abuse of social linking', () => {
  test('abuse of social linking: who proved the address that Google vouches for is found, linked and logged in', async () => {
    const { publicKey, privateKey } = generateP256KeyPair()
    const oidcToken = await googleToken('ada', publicKey, { email: 'Ada@Acme.Test' })
    const before = await providersOf(homes.ada)
    const found = await stage.post('account', { filterType: 'OIDC_TOKEN', filterValue: oidcToken })
    expect(found.body).toEqual({ organizationId: homes.ada.organizationId })
    const login = await stage.post('oauth_login', { oidcToken, publicKey })
    expect([login.status, login.body['message']]).toEqual([200, undefined])
    expect(claimsOf(String(login.body['session']))).toMatchObject({ user_id: homes.ada.userId, public_key: publicKey })
    expect(await stage.client(privateKey).query('whoami', homes.ada)).toMatchObject(homes.ada)
    const linked = { providerName: 'Google', issuer: `${issuers.url}/honest`, audience: 'web', subject: 'google-ada' }
    expect(await providersOf(homes.ada)).toEqual([...before, expect.objectContaining(linked)])

    // From then on it is an identity as any other, whatever address the token has, and is not linked a second time.
    const next = generateP256KeyPair()
    const another = await googleToken('ada', next.publicKey, { email: undefined })
    expect((await stage.post('oauth_login', { oidcToken: another, publicKey: next.publicKey })).status).toBe(200)
    expect(await providersOf(homes.ada)).toHaveLength(before.length + 1)
    expect(said(await stage.post('oauth_login', { oidcToken, publicKey }))).toEqual([400, 3, 'invalid OIDC token'])
  })

  test('abuse of social linking: in one of several homes with the address, only where it is named', async () => {
    const { publicKey } = generateP256KeyPair()
    const oidcToken = await googleToken('spread', publicKey, { aud: ['web', 'ios'], azp: 'ios' })
    const { organizationId } = homes.spread
    const login = await stage.post('oauth_login', { oidcToken, publicKey, organizationId })
    expect([login.status, login.body['message']]).toEqual([200, undefined])
    expect((await providersOf(homes.spread)).at(-1)).toMatchObject({ audience: 'ios', subject: 'google-spread' })
  })

  test.each(attempts)(
    'abuse of social linking: $name (named: $named) is refused and changes nothing',
    async (attempt) => {
      const { of = 'ada', claims = {}, named, client, refusal } = attempt
      const { publicKey } = generateP256KeyPair()
      // Of somebody whom nobody knows: what was linked above does not count.
      const oidcToken = await googleToken(of, publicKey, { sub: fresh('stranger'), ...claims })
      const { organizationId } = homes[of]
      const parameters = { oidcToken, publicKey }
      const got = await abuse.refuse<readonly [number, unknown, unknown, ...unknown[]]>(
        `${attempt.name} (${client ? 'at the API itself' : `named: ${named ?? false}`})`,
        async () =>
          client
            ? refusalOf(client().submit(LOGIN, parameters, { organizationId }))
            : said(await stage.post('oauth_login', { ...parameters, ...(named ? { organizationId } : {}) })),
      )
      expect(got.slice(0, refusal.length)).toEqual(refusal)
    },
  )
  abuse.record()

  test.each([...otherIssuers()])(
    'abuse of social linking: an issuer at $path is not Google',
    async ({ path, client }) => {
      const { publicKey } = generateP256KeyPair()
      const oidcToken = await googleToken('ada', publicKey, { iss: `${issuers.url}/${path}`, sub: fresh('stranger') })
      const { organizationId } = homes.ada
      const before = stateDigest(stage.dataDir)
      const parameters = { oidcToken, publicKey }
      const got = client
        ? (await refusalOf(client().submit(LOGIN, parameters, { organizationId }))).slice(0, 2)
        : said(await stage.post('oauth_login', { ...parameters, organizationId })).slice(0, 2)
      expect(got).toEqual(path === 'second' ? nobody : [400, 3])
      const asked = await stage.post('account', { filterType: 'OIDC_TOKEN', filterValue: oidcToken })
      expect(asked.body).not.toHaveProperty('organizationId')
      expect(stateDigest(stage.dataDir)).toBe(before)
    },
  )

  test('abuse of social linking: nothing is linked by other ways in, nor where no client id is listed', async () => {
    const { publicKey } = generateP256KeyPair()
    const oidcToken = await googleToken('ada', publicKey, { sub: fresh('stranger') })
    const { organizationId, userId } = homes.ada
    const oauth = { oidcToken, targetPublicKey: publicKey }
    const before = stateDigest(stage.dataDir)
    expect((await refusalOf(proxyKey.submit('ACTIVITY_TYPE_OAUTH', oauth, { organizationId }))).slice(0, 2)).toEqual(
      nobody,
    )
    expect(stateDigest(stage.dataDir)).toBe(before)
    // The proxy's user may not register identities itself: linking is no right of its own.
    const create = { userId, oauthProviders: [{ providerName: 'mine', oidcToken }] }
    const denied = await refusalOf(
      proxyKey.submit('ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2', create, { organizationId }),
    )
    expect(denied.slice(0, 2)).toEqual([403, 7])
    await stage.set({ socialLinkingClientIds: [] })
    const unlisted = stateDigest(stage.dataDir)
    for (const named of [{}, { organizationId }]) {
      expect(said(await stage.post('oauth_login', { oidcToken, publicKey, ...named }))).toEqual([
        ...nobody,
        expect.any(String),
      ])
    }
    expect(stateDigest(stage.dataDir)).toBe(unlisted)
    await stage.set(settings)
  })

  test('abuse of social linking: two logins at once by one token link and log in once', async () => {
    const person = await home('race')
    const { publicKey } = generateP256KeyPair()
    const oidcToken = await googleToken('race', publicKey)
    const request = { oidcToken, publicKey, organizationId: person.organizationId }
    const answers = await Promise.all([0, 1, 2].map(() => stage.post('oauth_login', request)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400])
    expect((await providersOf(person)).filter(({ subject }) => subject === 'google-race')).toHaveLength(1)
  })
})
