/**
 * Plays ways to a power in a service, move by move: each step is carried out by the votes of those who are told for it, and what was gained
 * is put to use before the next. Tags, names and addresses that may be chosen are tried until the next step gets through.
 */
import { decryptCredentialBundle } from '@turnkey/crypto'
import type { IndirectPath, IndirectStep } from '../../src/analysis/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import type { ActivityType, Wire } from '../../src/protocol/index.ts'
import type { Made, Name } from '../authority/organizations.ts'
import { complete } from '../service/handlers/steps.ts'
import type { TestClient, TestService } from '../service/harness.ts'
import { nonceOf } from '../service/oauth/stage.ts'
import type { TestIssuer } from '../service/oidc/issuer.ts'
import { createPasskey } from '../service/passkey.ts'
import type { Goal, Held } from './path-goals.ts'
import { createPlayers } from './players.ts'

const ANYTHING = { effect: 'EFFECT_ALLOW', consensus: 'true', condition: 'true', notes: '' } as const
/** How somebody may look to policies. */
interface Look {
  readonly tagged: boolean
  readonly alias?: string
  readonly email?: string
}
/** Names and addresses that the policies of generated organizations ask for. */
const ALIASES = ['carol', 'bob']
const EMAILS = ['desk@acme.test', 'other@acme.test']
/** What looks are made of, and the words of what gains each. */
const LOOKS = [
  ['tags', 'itself any tag'],
  ['name', 'any name'],
  ['email', 'any e-mail address'],
] as const
const MOST_LOOKS = 300
/** Names that policies of generated organizations ask of wallets, and one that none does. */
export const WALLET_NAMES = ['payroll', 'hot', 'vault', 'a new name'] as const

export interface Scene {
  readonly service: TestService
  /** Where anybody can log in, as anybody. */
  readonly issuer: TestIssuer
  readonly clock: () => number
  readonly made: Made
  readonly tagId: string
  readonly policies: readonly { readonly id: string; readonly denies: boolean }[]
}

/** Of a way to a request that none of them has what it takes for, such as a target to import to. */
export const NOT_STAGED = 'nothing to ask for'

/** Why a way does not end in a request of this goal; undefined where it does. */
export async function playPath(
  scene: Scene,
  { people, steps }: IndirectPath,
  { goal, held }: { readonly goal: Goal; readonly held: Held },
): Promise<string | undefined> {
  const { service, issuer, clock, made, tagId: tag, policies } = scene
  const playing = Object.fromEntries(people.map((name) => [name, made.stampings[name as Name]]))
  const { get, joins } = createPlayers(service, made.organizationId, playing)
  const denials = policies.filter(({ denies }) => denies).map(({ id }) => id)
  const userIds = new Map(Object.entries(made.userIds as Readonly<Record<string, string>>))
  const looks = new Map<string, Look>(Object.entries(made.shape.people).map(([name, { tagged }]) => [name, { tagged }]))
  /** Who carries out a move that was gained, again and again. */
  const movers = new Map<string, { readonly type: ActivityType; readonly voters: readonly string[] }>()

  const addOwn = async (name: string, type: ActivityType) => {
    const key = generateP256KeyPair()
    if (type === 'ACTIVITY_TYPE_STAMP_LOGIN') {
      if (await get(type, { publicKey: key.publicKey }, [name])) joins(name, service.client(key.privateKey).raw)
    } else if (type === 'ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2') {
      const begun = await get(type, { targetPublicKey: key.publicKey, userId: userIds.get(name)! }, [name])
      const bundle = begun?.result.createReadWriteSessionResultV2?.credentialBundle
      if (bundle) joins(name, service.client(decryptCredentialBundle(bundle, key.privateKey)).raw)
    } else if (await get(type, { userId: userIds.get(name)!, ...(await keysFor(type, name)) }, [name])) replaces(name)
  }
  const ownTypes = steps.flatMap(({ activity, people: [who] }) =>
    who === 'each of them' ? [activity as ActivityType] : [],
  )

  /** Has somebody look so; a new user is made so. */
  const wear = async (name: string, look: Look): Promise<boolean> => {
    const had = looks.get(name)
    if (had === undefined) return makeUser(name, look)
    looks.set(name, look)
    const isChanged = {
      tags: look.tagged !== had.tagged,
      name: look.alias !== had.alias,
      email: look.email !== had.email,
    }
    for (const what of ['tags', 'name', 'email'] as const) {
      const mover = movers.get(what)
      if (!isChanged[what] || !mover) continue
      const parameters = changing(what, mover.type, name, look)
      if (!(await get(mover.type, parameters, mover.voters))) return false
    }
    return true
  }
  /** The parameters of an activity that makes a user look so. */
  const changing = (what: 'tags' | 'name' | 'email', type: ActivityType, name: string, look: Look): object => {
    const userId = userIds.get(name)!
    const isWhole = type === 'ACTIVITY_TYPE_UPDATE_USER'
    if (what === 'name') return { userId, userName: look.alias ?? name }
    if (what === 'email') return { userId, userEmail: look.email ?? `${name}@acme.test` }
    if (isWhole) return { userId, userTagIds: look.tagged ? [tag] : [] }
    const moved = look.tagged
      ? { addUserIds: [userId], removeUserIds: [] }
      : { addUserIds: [], removeUserIds: [userId] }
    return { userTagId: tag, newUserTagName: 'ops', ...moved }
  }

  const makeUser = async (name: string, { tagged, alias, email }: Look): Promise<boolean> => {
    const { type, voters } = movers.get('users')!
    const key = generateP256KeyPair()
    const named = { apiKeyName: 'new', publicKey: key.publicKey }
    const userName = alias ?? `${name} ${crypto.randomUUID()}`
    const userTags = tagged ? [tag] : []
    const user = { userName, ...(email === undefined ? {} : { userEmail: email }), userTags, authenticators: [] }
    const parameters = {
      ACTIVITY_TYPE_CREATE_USERS: { users: [{ ...user, apiKeys: [named], accessType: 'ACCESS_TYPE_ALL' }] },
      ACTIVITY_TYPE_CREATE_USERS_V2: { users: [{ ...user, apiKeys: [named], oauthProviders: [] }] },
      ACTIVITY_TYPE_CREATE_USERS_V3: {
        users: [{ ...user, apiKeys: [{ ...named, curveType: 'API_KEY_CURVE_P256' }], oauthProviders: [] }],
      },
    }[type as string]
    if (parameters === undefined) throw new Error(`users are made by ${type}`)
    if (!(await get(type, parameters, voters))) return false
    newest.set(name, service.client(key.privateKey).raw)
    return true
  }
  /** A new user is made anew for each look that is tried; the last one votes. */
  const newest = new Map<string, Parameters<typeof joins>[1]>()

  /** Tries a step as its people look, then as they could look. */
  const through = async (
    type: ActivityType,
    parameters: object,
    voters: readonly string[],
  ): Promise<Wire.Activity | undefined> => {
    const isNew = (name: string) => !userIds.has(name)
    const done = voters.some(isNew) ? undefined : await get(type, parameters, voters)
    if (done || movers.size === 0) return done
    const mayBe = (name: string): readonly Look[] => {
      const had = looks.get(name) ?? { tagged: false }
      const isFree = isNew(name)
      const tags = isFree || movers.has('tags') ? [had.tagged, !had.tagged] : [had.tagged]
      const mayName = isFree || movers.has('name')
      const mayMail = isFree || movers.has('email')
      return tags.flatMap((tagged) =>
        (mayName ? [undefined, ...ALIASES] : [had.alias]).flatMap((alias) =>
          (mayMail ? [undefined, ...EMAILS] : [had.email]).map((email) => ({
            tagged,
            ...(alias === undefined ? {} : { alias }),
            ...(email === undefined ? {} : { email }),
          })),
        ),
      )
    }
    const all = voters.reduce<readonly (readonly Look[])[]>(
      (some, name) => some.flatMap((one) => mayBe(name).map((look) => [...one, look])),
      [[]],
    )
    const size = (some: readonly Look[]) => some.reduce((sum, look) => sum + Object.keys(look).length, 0)
    for (const chosen of all.toSorted((a, b) => size(a) - size(b)).slice(0, MOST_LOOKS)) {
      let isDone = true
      for (const [at, name] of voters.entries()) isDone &&= await wear(name, chosen[at]!)
      if (!isDone) continue
      for (const name of voters) if (newest.has(name)) replaces(name)
      const got = await get(type, parameters, voters)
      if (got) return got
    }
    return undefined
  }
  const replaces = (name: string) => {
    joins(name, newest.get(name)!)
    newest.delete(name)
  }

  let isStaged = false
  const reachGoal = async (voters: readonly string[]): Promise<boolean> => {
    const requests = await goal.requests(
      {
        userId: userIds.get(people[0]!)!,
        organizationId: made.organizationId,
        signerPublicKey: service.service.bootstrap.signerPublicKey,
        voters: voters.flatMap((name) => userIds.get(name) ?? []),
        policyIds: policies.flatMap(({ id, denies }) => (denies ? [] : [id])),
        get: (type, parameters) => through(type, parameters, voters),
      },
      held,
    )
    isStaged ||= requests.length > 0
    for (const { type, parameters } of requests) if (await through(type, parameters, voters)) return true
    return false
  }

  const carryOut = async (step: IndirectStep): Promise<boolean> => {
    const type = step.activity as ActivityType
    const voters = step.people.map((name) => name.replace(' (taken over)', ''))
    const gains = step.gains ?? ''
    if (step.people[0] === 'each of them') {
      for (const name of people) await addOwn(name, type)
      return true
    }
    if (gains === '') {
      if (await reachGoal(voters)) return true
      const rename = movers.get('wallets')
      if (!rename) return false
      for (const walletName of WALLET_NAMES) {
        if (!(await through(rename.type, { walletId: held.id, walletName }, rename.voters))) return false
        if (await reachGoal(voters)) return true
      }
      return false
    }
    if (gains.includes('gives wallets any name')) movers.set('wallets', { type, voters })
    for (const [what, words] of LOOKS) {
      if (!gains.includes(words)) continue
      // As somebody looks already: those who ask may have to look otherwise themselves for it, and do from then on.
      const [first] = people
      if (!(await through(type, changing(what, type, first!, looks.get(first!)!), voters))) return false
      movers.set(what, { type, voters })
    }
    if (gains.includes('users made')) movers.set('users', { type, voters })
    if (gains.includes('acts for any user')) {
      for (const name of userIds.keys())
        if (!people.includes(name)) {
          const userId = userIds.get(name)!
          if (!(await through(type, { userId, ...(await keysFor(type, name)) }, voters))) return false
          replaces(name)
          for (const own of ownTypes) await addOwn(name, own)
        }
      return true
    }
    if (gains.includes('changes the root quorum')) {
      const [first] = people
      if (!(await through(type, { threshold: 1, userIds: [userIds.get(first!)!] }, voters))) return false
      return (
        (await get('ACTIVITY_TYPE_CREATE_POLICIES', { policies: [{ policyName: 'any', ...ANYTHING }] }, [first!])) !==
          undefined &&
        (denials.length === 0 ||
          (await get('ACTIVITY_TYPE_DELETE_POLICIES', { policyIds: denials }, [first!])) !== undefined)
      )
    }
    if (!gains.includes('polic')) return true
    for (const parameters of policyMoves(type, { denials, all: policies.map(({ id }) => id) }))
      if (!(await through(type, parameters, voters))) return false
    return true
  }
  const keysFor = async (type: ActivityType, name: string): Promise<object> => {
    if (type.includes('OAUTH')) {
      const sub = crypto.randomUUID()
      const target = generateP256KeyPair()
      const token = (claims: object) => {
        const iat = Math.floor(clock() / 1000)
        return issuer.token({ sub, iat, nbf: iat, exp: iat + 3600, ...claims })
      }
      // A login gives the key that votes: it begins when this user votes for the first time.
      let login: Promise<TestClient> | undefined
      const logIn = async () => {
        const oidcToken = await token({ nonce: nonceOf(target.publicKey) })
        const parameters = { oidcToken, targetPublicKey: target.publicKey }
        const { credentialBundle } = await complete(
          service.root,
          'ACTIVITY_TYPE_OAUTH',
          parameters,
          made.organizationId,
        )
        return service.client(decryptCredentialBundle(credentialBundle, target.privateKey))
      }
      newest.set(name, async (path, text) => {
        login ??= logIn()
        return (await login).raw(path, text)
      })
      return { oauthProviders: [{ providerName: 'new', oidcToken: await token({}) }] }
    }
    if (type.includes('AUTHENTICATORS')) {
      const passkey = createPasskey()
      newest.set(name, (path, text) =>
        service.root.raw(path, text, { 'x-stamp': '', 'x-stamp-webauthn': passkey.stamp(text) }),
      )
      return { authenticators: [passkey.register()] }
    }
    const key = generateP256KeyPair()
    newest.set(name, service.client(key.privateKey).raw)
    const named = { apiKeyName: 'new', publicKey: key.publicKey }
    return {
      apiKeys: [type === 'ACTIVITY_TYPE_CREATE_API_KEYS' ? named : { ...named, curveType: 'API_KEY_CURVE_P256' }],
    }
  }

  for (const [at, step] of steps.entries())
    if (!(await carryOut(step)))
      return step.gains === undefined && !isStaged
        ? NOT_STAGED
        : `step ${at + 1}, ${step.activity} by ${step.people.join(' and ')}, is not executed`
  if (steps.at(-1)!.gains === undefined) return undefined
  // As good as the root quorum: then they can do it, whatever the policies say.
  return (await reachGoal(people)) ? undefined : 'they cannot do it'
}

/** The parameters of an activity about policies, one request after another, that gain all that it gains. */
function policyMoves(
  type: ActivityType,
  { denials, all }: { readonly denials: readonly string[]; readonly all: readonly string[] },
): readonly object[] {
  const policy = { policyName: 'any', ...ANYTHING }
  const changed = (policyId: string) => ({
    policyId,
    policyEffect: ANYTHING.effect,
    policyCondition: 'true',
    policyConsensus: 'true',
  })
  switch (type) {
    case 'ACTIVITY_TYPE_CREATE_POLICIES':
      return [{ policies: [policy] }]
    case 'ACTIVITY_TYPE_CREATE_POLICY_V3':
      return [policy]
    case 'ACTIVITY_TYPE_UPDATE_POLICY':
    case 'ACTIVITY_TYPE_UPDATE_POLICY_V2':
      return (denials.length > 0 ? denials : all.slice(0, 1)).map(changed)
    case 'ACTIVITY_TYPE_DELETE_POLICIES':
      return denials.length > 0 ? [{ policyIds: denials }] : []
    case 'ACTIVITY_TYPE_DELETE_POLICY':
      return denials.map((policyId) => ({ policyId }))
    default:
      throw new Error(`policies are changed by ${type}`)
  }
}
