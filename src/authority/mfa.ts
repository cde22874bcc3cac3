/**
 * Which further factors a vote needs (docs/protocol/mfa.md). The service asks it of each vote, and so does a forecast.
 */
import { type CredentialFacts, compilePolicy, conditionHolds, type PolicyContext } from '../policy/index.ts'

/** A way to prove oneself; an id narrows it to one credential, or of sessions to one profile. */
export interface AuthenticationMethod {
  readonly type: string
  readonly id?: string | undefined
}

/** What one user's votes need where the condition holds. */
export interface MfaPolicy {
  readonly id: string
  readonly condition: string
  readonly order: number
  /** Each is satisfied by any one of its methods, in whatever order. */
  readonly steps: readonly (readonly AuthenticationMethod[])[]
}

/** What a stamp has proved: its type, and the ids by which it may be asked for. */
export interface Factor {
  readonly type: string
  readonly ids: readonly string[]
}

/** The id that stands for sessions without a profile. */
export const NO_SESSION_PROFILE = '00000000-0000-0000-0000-000000000000'

/**
 * The factor of a stamp, by the facts of its credential and its scheme. Sessions are not transitive: one that a passkey began is
 * a session, and no passkey.
 */
export function factorOf(credential: CredentialFacts, scheme: string): Factor {
  const { id, type, credential_id: credentialId, public_key: publicKey } = credential
  const ids = [id, credentialId, publicKey].filter((one) => one !== undefined)
  if (scheme === 'SIGNATURE_SCHEME_TK_WEBAUTHN') return { type: 'AUTHENTICATION_TYPE_PASSKEY', ids }
  if (scheme === 'SIGNATURE_SCHEME_TK_ATTESTED_P256') {
    if (type === 'CREDENTIAL_TYPE_OAUTH_KEY_P256') return { type: 'AUTHENTICATION_TYPE_OAUTH', ids: [id] }
    const contact = id.slice(id.indexOf(' ') + 1)
    const isNumber = contact.startsWith('+')
    return { type: isNumber ? 'AUTHENTICATION_TYPE_SMS_OTP' : 'AUTHENTICATION_TYPE_EMAIL_OTP', ids: [contact] }
  }
  if (type.startsWith('CREDENTIAL_TYPE_API_KEY_')) return { type: 'AUTHENTICATION_TYPE_API_KEY', ids }
  return { type: 'AUTHENTICATION_TYPE_SESSION', ids: [credential.session_profile_id ?? NO_SESSION_PROFILE] }
}

/**
 * The policy that applies to a vote: by ascending order the first whose condition holds, and no other. One that cannot be
 * evaluated does not apply (U-other-errors).
 */
export function applyingMfaPolicy(
  policies: readonly MfaPolicy[],
  holds: (condition: string) => boolean | undefined,
): MfaPolicy | undefined {
  return policies.toSorted((a, b) => a.order - b.order).find(({ condition }) => holds(condition) === true)
}

/** The steps that these factors leave open. */
export function openSteps({ steps }: MfaPolicy, factors: readonly Factor[]): MfaPolicy['steps'] {
  return steps.filter((methods) => !methods.some((method) => isSatisfied(method, factors)))
}

/** What one user's vote still needs besides the credential in use: of each step the methods of which one suffices, in words. */
export interface MissingFactors {
  /** The user's name. */
  readonly of: string
  readonly steps: readonly (readonly string[])[]
}

/** What a user's own MFA policies leave open when the user submits a request; undefined when nothing. */
export function missingFactors(
  {
    name,
    factor,
    mfaPolicies,
  }: { readonly name: string; readonly factor: Factor; readonly mfaPolicies: readonly MfaPolicy[] },
  context: PolicyContext,
): MissingFactors | undefined {
  const policy = applyingMfaPolicy(mfaPolicies, (condition) =>
    conditionHolds(compilePolicy({ id: '', name: '', effect: 'EFFECT_ALLOW', condition }), context),
  )
  return policy && inWords(name, openSteps(policy, [factor]))
}

/** What a user's votes on an activity leave open, by the methods that are satisfied; undefined when nothing. */
export function missingMethods(
  name: string,
  steps: MfaPolicy['steps'],
  satisfied: readonly AuthenticationMethod[],
): MissingFactors | undefined {
  const known = new Set(satisfied.map(keyOf))
  return inWords(
    name,
    steps.filter((methods) => !methods.some((method) => known.has(keyOf(method)))),
  )
}

function inWords(name: string, steps: MfaPolicy['steps']): MissingFactors | undefined {
  return steps.length === 0 ? undefined : { of: name, steps: steps.map((methods) => methods.map(methodText)) }
}

const PREFIX = 'AUTHENTICATION_TYPE_'

/** The word of definitions for a type: `passkey`. */
export function methodWord(type: string): string {
  return type.startsWith(PREFIX) ? type.slice(PREFIX.length).toLowerCase().replaceAll('_', '-') : type
}

/** The word of definitions for a method, and what narrows it. */
function methodText({ type, id }: AuthenticationMethod): string {
  return id ? `${methodWord(type)} ${id}` : methodWord(type)
}

/** The methods that these factors have satisfied, each once. */
export function satisfiedMethods({ steps }: MfaPolicy, factors: readonly Factor[]): AuthenticationMethod[] {
  const satisfied = steps.flat().filter((method) => isSatisfied(method, factors))
  return [...new Map(satisfied.map((method) => [keyOf(method), method])).values()]
}

function keyOf({ type, id }: AuthenticationMethod): string {
  return `${type} ${id ?? ''}`
}

function isSatisfied({ type, id }: AuthenticationMethod, factors: readonly Factor[]): boolean {
  return factors.some((factor) => factor.type === type && (!id || factor.ids.includes(id)))
}
