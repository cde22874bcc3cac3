/**
 * Service and authentication proxy are killed at random moments of every step from nothing to a session. A client that is not
 * answered asks again, with the same proof. What was answered must hold, every code that was promised must have been sent, and
 * no code and no token may have served twice.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { encryptOtpCodeToBundle } from '@turnkey/crypto'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import type { JsonObject } from '../../src/protocol/index.ts'
import { nonceOf } from '../service/oauth/stage.ts'
import { claimsOf, loginBy, type Proof, sign } from '../service/one-time-passcodes/outbox.ts'
import { newSignUp } from '../service/proxy/stage.ts'
import { openLoginStage, type ProxyReply } from './login-stage.ts'

/** A kill comes within so many ms of a request, which is about as long as one takes. */
const WITHIN_MS = 150
const STEPS = ['init', 'verify', 'signUp', 'login', 'oauth'] as const

export interface LoginKills {
  readonly kills: number
  /** Requests that were not answered, or only that the service was away. */
  readonly unanswered: number
  readonly sessions: number
  /** Sessions that were answered and do not hold. */
  readonly lost: number
  /** Codes that were promised, or are kept as asked for, and were never sent. */
  readonly unsent: number
  /** Codes and tokens that served once more when they were used again, or have by what the service keeps. */
  readonly twice: number
  readonly integrity: string
}

/** Kills them so many times, service and proxy in turns, in all steps in turns. */
export async function killLogins({ kills }: { readonly kills: number }): Promise<LoginKills> {
  const stage = await openLoginStage()
  const figures = { kills: 0, unanswered: 0, sessions: 0, lost: 0, unsent: 0, twice: 0 }
  const sessions: { readonly privateKey: string; readonly organizationId: string }[] = []
  /** What was answered and must be refused from then on. */
  const spent: (() => Promise<ProxyReply>)[] = []

  /** Does a step until it is answered; undefined where it was done before an answer was lost, and can be done no more. */
  async function step(name: (typeof STEPS)[number], ask: () => Promise<ProxyReply>): Promise<JsonObject | undefined> {
    for (let isRepeated = false; ; isRepeated = true) {
      const asked = ask()
      if (figures.kills < kills && !isRepeated && STEPS[figures.kills % STEPS.length] === name) {
        await pause(Math.random() * WITHIN_MS)
        // There are five steps, so that each has both.
        await stage.kill(figures.kills++ % 2 === 0 ? 'service' : 'proxy')
      }
      const reply = await asked
      if (reply?.status === 200) {
        if (name !== 'init') spent.push(ask)
        return reply.body
      }
      if (reply === undefined || reply.status >= 500) {
        figures.unanswered++
        // A code of its own may still come: one that is asked for again could not be told from it.
        if (name === 'init') return undefined
      } else if (isRepeated) return undefined
      else throw new Error(`${name} was refused: ${JSON.stringify(reply.body)}`)
    }
  }

  /** Proves an address by one code; undefined where the code, or what it gave, was lost with an answer. */
  async function prove(contact: string): Promise<Proof | undefined> {
    const had = stage.codesTo(contact).length
    const begun = await step('init', () => stage.post('otp_init_v2', { otpType: 'OTP_TYPE_EMAIL', contact }))
    if (!begun) return undefined
    const { otpId, otpEncryptionTargetBundle: bundle } = begun as Record<'otpId' | 'otpEncryptionTargetBundle', string>
    for (const code of await stage.nextCodes(contact, had)) {
      const key = generateP256KeyPair()
      const encryptedOtpBundle = await encryptOtpCodeToBundle(code, bundle, key.publicKey, stage.tlsFetcherPublicKey)
      const verified = await step('verify', () => stage.post('otp_verify_v2', { otpId, encryptedOtpBundle }))
      return verified && { token: String(verified['verificationToken']), key }
    }
    figures.unsent++
    return undefined
  }

  /** From nothing to two sessions: by a second code, and by an issuer. */
  async function comeIn(): Promise<void> {
    const contact = `${crypto.randomUUID()}@acme.test`
    const signedUp = await prove(contact)
    if (!signedUp) return
    const sub = crypto.randomUUID()
    const oauthProviders = [{ providerName: 'issuer', oidcToken: await stage.issuers.sign({ sub }) }]
    const made = await step('signUp', () => stage.post('signup_v2', signUpBy(signedUp, contact, oauthProviders)))
    if (!made) return
    const organizationId = String(made['organizationId'])
    const proof = await prove(contact)
    if (proof) {
      // Another key each time: what refuses the second one is the token.
      let key = generateP256KeyPair()
      const opened = await step('login', () => {
        key = generateP256KeyPair()
        return stage.post('otp_login_v2', loginBy(proof, key.publicKey))
      })
      if (opened) sessions.push({ privateKey: key.privateKey, organizationId })
    }
    const { privateKey, publicKey } = generateP256KeyPair()
    const oidcToken = await stage.issuers.sign({ sub, nonce: nonceOf(publicKey) })
    const login = { oidcToken, publicKey, organizationId }
    if (await step('oauth', () => stage.post('oauth_login', login))) sessions.push({ privateKey, organizationId })
  }

  try {
    while (figures.kills < kills) await comeIn()
    await comeIn()
    await stage.kill('service')
    figures.sessions = sessions.length
    for (const session of sessions) if (!(await stage.isSession(session))) figures.lost++
    for (const again of spent) if ((await again())?.status === 200) figures.twice++
    const kept = await stage.examine()
    const { integrity } = kept
    return { ...figures, unsent: figures.unsent + kept.unsent, twice: figures.twice + kept.twice, integrity }
  } finally {
    await stage.close()
  }
}

function signUpBy(proof: Proof, email: string, oauthProviders: readonly object[]) {
  const request = newSignUp({
    organizationName: email,
    userEmail: email,
    verificationToken: proof.token,
    oauthProviders,
  })
  const { apiKeys, authenticators } = request
  const signupV2 = { apiKeys, authenticators, oauthProviders, email }
  const message = { signupV2, tokenId: claimsOf(proof.token)['id'], type: 'USAGE_TYPE_SIGNUP' }
  return { ...request, clientSignature: sign(proof, message) }
}
