/**
 * The identities that the OIDC tokens of a request name. Verifying a token may ask its issuer over the network, which
 * must not happen while the store is held: so it is done before, and the outcome is looked up where it is needed.
 * Nobody can make the service ask issuers without a credential of the organization.
 */
import { apiError, type JsonObject, mayHold } from '../../protocol/index.ts'
import { type OidcIdentity, type OidcVerifier, readVerifiedIdentity } from '../oidc/index.ts'

/** The identity that a token of the request names. Throws `ApiError` for a token that does not verify. */
export type IdentityOf = (oidcToken: string) => Promise<OidcIdentity>

/** More tokens than this in one request are not looked at: it would wait for too many issuers. */
const MAX_TOKENS = 32

const TOKENS: ReadonlySet<string> = new Set(['oidcToken'])

/** Finds the tokens in a request: every `oidcToken`, and what an account is looked up by. `message` names its schema. */
export function findTokens(message: string, request: JsonObject): readonly string[] {
  const found = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (name === 'oidcToken' && typeof member === 'string' && member !== '') found.add(member)
      else visit(member)
    }
  }
  if (mayHold(message, TOKENS)) visit(request)
  if (request['filterType'] === 'OIDC_TOKEN') found.add(String(request['filterValue'] ?? ''))
  return [...found].slice(0, MAX_TOKENS)
}

/** Of a request without tokens. */
export const identityOfNone: IdentityOf = async () => orRefuse(undefined)

/** Verifies the tokens of a new request, all at once: their issuers may be slow. */
export async function verifyTokens(verifier: OidcVerifier, tokens: readonly string[]): Promise<IdentityOf> {
  const identities = new Map<string, OidcIdentity | undefined>()
  await Promise.all(tokens.map(async (token) => identities.set(token, await verifier.verify(token))))
  return async (token) => orRefuse(identities.get(token))
}

/**
 * Reads the tokens of an activity that has been recorded. INVARIANT: it was only because they verified; by now they may
 * have expired, and the approval of others is no reason to ask again.
 */
export const identityOfRecorded: IdentityOf = async (token) => orRefuse(await readVerifiedIdentity(token))

function orRefuse(identity: OidcIdentity | undefined): OidcIdentity {
  if (!identity) throw apiError('invalidOidcToken')
  return identity
}
