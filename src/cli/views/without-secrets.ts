import { claimsOf, type Value } from '../../resources/index.ts'

/** What logs somebody in, or proves who somebody is: a record of its use has it, and nobody who reads that needs it. */
const SECRETS: ReadonlySet<string> = new Set(['otpCode', 'authCode', 'codeVerifier', 'oidcToken', 'verificationToken'])

/**
 * Parameters, or a whole activity, without codes and tokens, at any depth and in the signed bodies of its votes; of a token of an OIDC
 * issuer, whom it says that it is of. A body that had one is no longer the text that was signed.
 */
export function withoutSecrets(value: Value): Value {
  if (Array.isArray(value)) return value.map((one: Value) => withoutSecrets(one))
  if (typeof value !== 'object' || value === null) return value
  const shown = Object.entries(value).map(([name, member]) => [
    name,
    SECRETS.has(name) && member !== ''
      ? (tokenClaims(name, member) ?? '[not shown]')
      : name === 'message' && typeof member === 'string'
        ? bodyWithoutSecrets(member)
        : withoutSecrets(member),
  ])
  return Object.fromEntries(shown) as Value
}

function bodyWithoutSecrets(text: string): string {
  try {
    const body = JSON.parse(text) as Value
    const shown = JSON.stringify(withoutSecrets(body))
    return shown === JSON.stringify(body) ? text : shown
  } catch {
    return text
  }
}

function tokenClaims(name: string, member: Value): Value | undefined {
  const claims = name === 'oidcToken' ? claimsOf(member) : undefined
  return claims && { ...claims, token: '[not shown]' }
}
