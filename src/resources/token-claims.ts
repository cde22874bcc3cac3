import { decodeBase64, decodeUtf8 } from '../encoding/index.ts'

/** Whom a token of an OIDC issuer says that it is of. */
export interface TokenClaims {
  readonly issuer: string
  readonly audience: string
  readonly subject: string
}

/**
 * Reads the claims of a token without its signature: it is shown in the token's place, and proves nothing. Undefined where it says
 * not all three, or names several audiences.
 */
export function claimsOf(token: unknown): TokenClaims | undefined {
  if (typeof token !== 'string') return undefined
  const [, body, , more] = token.split('.')
  if (body === undefined || more !== undefined) return undefined
  try {
    const { iss, aud, sub } = JSON.parse(decodeUtf8(decodeBase64(body))) ?? {}
    const [audience, another] = Array.isArray(aud) ? aud : [aud]
    if (![iss, audience, sub].every(isText) || another !== undefined) return undefined
    return { issuer: iss, audience, subject: sub }
  } catch {
    return undefined
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
