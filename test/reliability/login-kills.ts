/**
 * Service and authentication proxy are killed at random moments of every step from nothing to a session, by each way to log in.
 * A client that is not answered asks again, with the same proof. What was answered must hold, every code that was promised must
 * have been sent, and no code and no token may have served twice.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { encryptOtpCodeToBundle } from '@turnkey/crypto'
import { generateP256KeyPair, KEY_CURVES } from '../../src/crypto/index.ts'
import { encodeUtf8 } from '../../src/encoding/index.ts'
import type { JsonObject } from '../../src/protocol/index.ts'
import { createApiKeyStamper, type SignatureScheme, type StampingKey } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { nonceOf } from '../service/oauth/stage.ts'
import { claimsOf, loginBy, type Proof, sign } from '../service/one-time-passcodes/outbox.ts'
import { createPasskey } from '../service/passkey.ts'
import { newSignUp } from '../service/proxy/stage.ts'
import { type LoginStage, openLoginStage, type Reply, SESSION_S, type StampText } from './login-stage.ts'

/** The ways to log in, and the steps of each. */
const STEPS = {
  email: ['init', 'verify', 'signUp', 'login'],
  sms: ['init', 'verify', 'signUp', 'login'],
  oauth: ['signUp', 'login'],
  passkey: ['signUp', 'login', 'refresh'],
  wallet: ['signUp', 'login', 'refresh'],
} as const
type Flow = keyof typeof STEPS
type StepName = (typeof STEPS)[Flow][number]
export const FLOWS = Object.keys(STEPS) as readonly Flow[]

/** About as long as a request takes that nobody has timed yet. */
const FIRST_MS = 150

export interface LoginKills {
  /** Of all ways to log in. */
  readonly kills: number
  /** Requests that were not answered, or only that the service was away. */
  readonly unanswered: number
  readonly sessions: number
  /** Sessions that were answered and do not hold. */
  readonly lost: number
  /** Sessions that another has ended and that still hold. */
  readonly outlived: number
  /** Codes that were promised, or are kept as asked for, and were never sent. */
  readonly unsent: number
  /** Codes, tokens and other proofs that served once more when they were used again, or have by what the service keeps. */
  readonly twice: number
  readonly integrity: string
}

interface Session {
  readonly privateKey: string
  readonly organizationId: string
}

/** How a step asks, and what it is. */
interface Step {
  /** What it asks again with, where that is another request. @default the same */
  readonly again?: () => Promise<Reply>
  /** Whether the same request is answered alike for ever, instead of being refused once it was done. @default false */
  readonly isRepeatable?: boolean
  /** Whether the service is asked itself. @default false, the proxy */
  readonly isDirect?: boolean
}

/** What a way to log in is walked with. */
interface Walk {
  readonly stage: LoginStage
  /** A session that was answered. */
  hold(session: Session): void
  /** A session that another has ended. */
  end(session: Session): void
  /** Does a step until it is answered; undefined where it was done before an answer was lost, and can be done no more. */
  step(name: StepName, ask: () => Promise<Reply>, how?: Step): Promise<JsonObject | undefined>
  missCode(): void
}

/** Kills them so many times in each way to log in, service and proxy in turns, in all of its steps in turns. */
export async function killLogins({ killsOfEach }: { readonly killsOfEach: number }): Promise<LoginKills> {
  const stage = await openLoginStage()
  const figures = { kills: 0, unanswered: 0, sessions: 0, lost: 0, outlived: 0, unsent: 0, twice: 0 }
  const sessions: Session[] = []
  const ended: Session[] = []
  /** What was answered and must be refused from then on. */
  const spent: (() => Promise<Reply>)[] = []

  /** Walks one way until there were so many kills, and once more. */
  async function walkUnderKills(flow: Flow): Promise<void> {
    const killsOf = new Map<StepName, number>(STEPS[flow].map((name) => [name, 0]))
    /** How long each step took when nobody was killed: a kill comes within it. */
    const tookMs = new Map<StepName, number>()
    let kills = 0
    /** The next step to be killed in: the first of those that were killed in least. */
    const isTurnOf = (name: StepName) => [...killsOf].toSorted(([, a], [, b]) => a - b)[0]![0] === name
    const walk: Walk = {
      stage,
      hold: (session) => void sessions.push(session),
      end: (session) => void ended.push(session),
      missCode: () => void figures.unsent++,
      async step(name, ask, { again = ask, isRepeatable = false, isDirect = false } = {}) {
        for (let isRepeated = false; ; isRepeated = true) {
          const begun = performance.now()
          const asked = isRepeated ? again() : ask()
          if (kills < killsOfEach && !isRepeated && isTurnOf(name)) {
            await pause(Math.random() * (tookMs.get(name) ?? FIRST_MS))
            const before = killsOf.get(name)!
            killsOf.set(name, before + 1)
            kills++
            figures.kills++
            await stage.kill(isDirect || (before + FLOWS.indexOf(flow)) % 2 === 0 ? 'service' : 'proxy')
          } else if (!isRepeated) void asked.then(() => tookMs.set(name, performance.now() - begun))
          const reply = await asked
          if (reply?.status === 200) {
            if (name !== 'init' && !isRepeatable) spent.push(ask)
            return reply.body
          }
          if (reply === undefined || reply.status >= 500) {
            figures.unanswered++
            // A code of its own may still come: one that is asked for again could not be told from it.
            if (name === 'init') return undefined
          } else if (isRepeated && !isRepeatable) return undefined
          else throw new Error(`${flow}: ${name} was refused: ${JSON.stringify(reply.body)}`)
        }
      },
    }
    while (kills < killsOfEach) await comeIn[flow](walk)
    await comeIn[flow](walk)
  }

  try {
    for (const flow of FLOWS) await walkUnderKills(flow)
    await stage.kill('service')
    figures.sessions = sessions.length
    for (const session of sessions) if (!(await stage.isSession(session))) figures.lost++
    for (const session of ended) if (await stage.isSession(session)) figures.outlived++
    for (const again of spent) if ((await again())?.status === 200) figures.twice++
    const kept = await stage.examine()
    const { integrity } = kept
    return { ...figures, unsent: figures.unsent + kept.unsent, twice: figures.twice + kept.twice, integrity }
  } finally {
    await stage.close()
  }
}

/** From nothing to a session, by each way. */
const comeIn: Readonly<Record<Flow, (walk: Walk) => Promise<void>>> = {
  email: (walk) => comeByCode(walk, 'OTP_TYPE_EMAIL', `${crypto.randomUUID()}@acme.test`),
  sms: (walk) => comeByCode(walk, 'OTP_TYPE_SMS', `+4930${String(Math.random()).slice(2, 10).padEnd(8, '1')}`),
  async oauth(walk) {
    const { stage } = walk
    const sub = crypto.randomUUID()
    const token = await stage.issuers.sign({ sub })
    const oauthProviders = [{ providerName: 'issuer', oidcToken: token }]
    const organizationId = await signUpOnce(walk, { oauthProviders }, ['OIDC_TOKEN', token])
    const { privateKey, publicKey } = generateP256KeyPair()
    const login = { oidcToken: await stage.issuers.sign({ sub, nonce: nonceOf(publicKey) }), publicKey, organizationId }
    if (await walk.step('login', () => stage.post('oauth_login', login))) walk.hold({ privateKey, organizationId })
  },
  async passkey(walk) {
    const passkey = createPasskey()
    const signUp = { authenticators: [passkey.register()] }
    const organizationId = await signUpOnce(walk, signUp, ['CREDENTIAL_ID', passkey.credentialId])
    await comeByStamp(walk, organizationId, async (text) => ({ name: 'X-Stamp-Webauthn', value: passkey.stamp(text) }))
  },
  async wallet(walk) {
    const { privateKey, publicKey } = KEY_CURVES.secp256k1.generateKeyPair()
    const apiKeys = [{ apiKeyName: 'wallet', publicKey, curveType: 'API_KEY_CURVE_SECP256K1' }]
    const organizationId = await signUpOnce(walk, { apiKeys }, ['PUBLIC_KEY', publicKey])
    const key = { privateKey: new Secret(privateKey), curve: 'secp256k1' } as const
    await comeByStamp(walk, organizationId, stampBy(key, 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191'))
  },
}

type OtpType = 'OTP_TYPE_EMAIL' | 'OTP_TYPE_SMS'

/** Signs somebody up by one code, and logs them in by another. */
async function comeByCode(walk: Walk, otpType: OtpType, contact: string): Promise<void> {
  const signedUp = await prove(walk, otpType, contact)
  if (!signedUp) return
  const made = await walk.step('signUp', () => walk.stage.post('signup_v2', signUpBy(signedUp, otpType, contact)))
  if (!made) return
  const organizationId = String(made['organizationId'])
  const proof = await prove(walk, otpType, contact)
  if (!proof) return
  // Another key each time: what refuses the second one is the token.
  let key = generateP256KeyPair()
  const opened = await walk.step('login', () => {
    key = generateP256KeyPair()
    return walk.stage.post('otp_login_v2', loginBy(proof, key.publicKey))
  })
  if (opened) walk.hold({ privateKey: key.privateKey, organizationId })
}

/** Proves a contact by one code; undefined where the code, or what it gave, was lost with an answer. */
async function prove({ stage, step, missCode }: Walk, otpType: OtpType, contact: string): Promise<Proof | undefined> {
  const had = stage.codesTo(contact).length
  const begun = await step('init', () => stage.post('otp_init_v2', { otpType, contact }))
  if (!begun) return undefined
  const { otpId, otpEncryptionTargetBundle: bundle } = begun as Record<'otpId' | 'otpEncryptionTargetBundle', string>
  for (const code of await stage.nextCodes(contact, had)) {
    const key = generateP256KeyPair()
    const encryptedOtpBundle = await encryptOtpCodeToBundle(code, bundle, key.publicKey, stage.tlsFetcherPublicKey)
    const verified = await step('verify', () => stage.post('otp_verify_v2', { otpId, encryptedOtpBundle }))
    return verified && { token: String(verified['verificationToken']), key }
  }
  missCode()
  return undefined
}

function signUpBy(proof: Proof, otpType: OtpType, contact: string) {
  const isEmail = otpType === 'OTP_TYPE_EMAIL'
  const request = newSignUp({
    organizationName: contact,
    ...(isEmail ? { userEmail: contact } : { userPhoneNumber: contact }),
    verificationToken: proof.token,
  })
  const { apiKeys, authenticators, oauthProviders } = request
  const signed = {
    apiKeys,
    authenticators,
    oauthProviders,
    ...(isEmail ? { email: contact } : { phoneNumber: contact }),
  }
  const message = { signupV2: signed, tokenId: claimsOf(proof.token)['id'], type: 'USAGE_TYPE_SIGNUP' }
  return { ...request, clientSignature: sign(proof, message) }
}

/**
 * Signs somebody up by a credential, which would do it as often as it is asked: who was not answered asks for the account first.
 */
async function signUpOnce(
  { stage, step }: Walk,
  credentials: object,
  [filterType, filterValue]: readonly [string, string],
): Promise<string> {
  const request = newSignUp({ organizationName: crypto.randomUUID(), apiKeys: [], ...credentials })
  const signUp = () => stage.post('signup_v2', request)
  const again = async () => {
    const found = await stage.post('account', { filterType, filterValue })
    return found?.status === 200 && found.body['organizationId'] === undefined ? signUp() : found
  }
  const made = await step('signUp', signUp, { again, isRepeatable: true })
  return String(made!['organizationId'])
}

/** Logs somebody in by a stamp of theirs, and has the session take another one's place. */
async function comeByStamp(walk: Walk, organizationId: string, stamp: StampText): Promise<void> {
  const { stage, step } = walk
  const [first, next] = [generateP256KeyPair(), generateP256KeyPair()]
  const login = (publicKey: string, by: StampText) => {
    const parameters = { publicKey, expirationSeconds: SESSION_S, invalidateExisting: true }
    return stage.submit('ACTIVITY_TYPE_STAMP_LOGIN', organizationId, parameters, by)
  }
  await step('login', await login(first.publicKey, stamp), { isDirect: true, isRepeatable: true })
  // Where its answer was lost, the session that asks has been ended by it.
  const refresh = await login(next.publicKey, stampBy({ privateKey: new Secret(first.privateKey) }))
  await step('refresh', refresh, { isDirect: true })
  walk.end({ privateKey: first.privateKey, organizationId })
  walk.hold({ privateKey: next.privateKey, organizationId })
}

function stampBy(key: StampingKey, scheme?: SignatureScheme): StampText {
  return (text) => createApiKeyStamper(key, { scheme }).stamp(encodeUtf8(text))
}
