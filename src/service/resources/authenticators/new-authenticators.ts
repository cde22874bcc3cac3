import { decodeBase64 } from '../../../encoding/index.ts'
import { apiError, REQUEST_LIMITS, resourceLimits, type Wire } from '../../../protocol/index.ts'
import { type HandlerContext, weightOfBytes } from '../../engine/index.ts'
import { authenticatorTaken } from '../../readings.ts'
import { modelOf, readAllowedOrigins } from '../../webauthn/index.ts'
import type { Registration, RegistrationParams } from '../../work/index.ts'
import { requireDistinct } from '../require.ts'
import { findAuthenticatorByCredentialId, insertAuthenticator } from './store.ts'

/** A passkey to be registered. */
export interface NewAuthenticator {
  readonly name: string
  readonly registration: RegistrationParams
  readonly transports: readonly Wire.AuthenticatorTransport[]
}

/**
 * An entry of `authenticators`; the older form wraps the browser's own object
 * (docs/protocol/organizations.md#passkey-registration).
 */
export function toNewAuthenticator(params: Wire.AuthenticatorParams | Wire.AuthenticatorParamsV2): NewAuthenticator {
  const { authenticatorName: name, challenge, attestation } = params
  const { credentialId, clientDataJson, attestationObject, transports } =
    'response' in attestation
      ? { ...attestation.response, credentialId: attestation.rawId || attestation.id }
      : attestation
  if (!attestationObject || !clientDataJson) throw apiError('missingAttestation')
  return {
    name,
    registration: { challenge, credentialId, clientDataJson, attestationObject },
    transports: transports ?? [],
  }
}

/** Throws the refusal of the first passkey that does not verify, or that the organization or the request has already. */
export async function checkNewAuthenticators(
  context: HandlerContext,
  added: readonly NewAuthenticator[],
  options: { readonly originsOf: string },
): Promise<void> {
  if (added.length === 0) return
  if (added.length > REQUEST_LIMITS.passkeys) {
    const most = `must have at most ${REQUEST_LIMITS.passkeys} passkeys together, got ${added.length}`
    throw apiError('invalidField', 'authenticators', most)
  }
  const allowedOrigins = await readAllowedOrigins(context.tx, options.originsOf)
  const ids = readRegistrations(context, added, allowedOrigins).map(({ credentialId }) => credentialId)
  requireDistinct('credentialId', ids)
  for (const id of ids) {
    const taken = await findAuthenticatorByCredentialId(context.tx, context.organizationId, id)
    if (taken) throw authenticatorTaken(id)
  }
}

/** Throws code 8 when a user would have too many passkeys. */
export function checkAuthenticatorLimit(count: { readonly present: number; readonly added: number }): void {
  if (count.present + count.added > resourceLimits.parent.authenticatorsPerUser) throw apiError('maxAuthenticators')
}

/** Registers passkeys of a user, which have been checked, and returns their ids. */
export async function addAuthenticators(
  context: HandlerContext,
  userId: string,
  added: readonly NewAuthenticator[],
): Promise<string[]> {
  const ids: string[] = []
  const registrations = readRegistrations(context, added)
  for (const [at, authenticator] of added.entries()) {
    const id = context.newId()
    await insertAuthenticator(context.tx, {
      id,
      organization_id: context.organizationId,
      user_id: userId,
      name: authenticator.name,
      transports: JSON.stringify(authenticator.transports),
      ...toColumns(registrations[at]!),
      created_at: context.now,
      updated_at: context.now,
    })
    ids.push(id)
  }
  return ids
}

/** Throws the refusal of the first that does not verify. What devices write may be as long as a request. */
function readRegistrations(
  { work }: HandlerContext,
  added: readonly NewAuthenticator[],
  allowedOrigins?: readonly string[],
): readonly Registration[] {
  if (added.length === 0) return []
  const registrations = added.map(({ registration }) => registration)
  const weight = weightOfBytes(registrations.flatMap((each) => Object.values<string>({ ...each })))
  const read = work.run('readRegistrations', { input: { registrations, allowedOrigins }, weight })
  if ('refusal' in read) throw apiError(read.refusal)
  return read.registrations
}

function toColumns(registration: Registration) {
  return {
    credential_id: registration.credentialId,
    public_key: registration.publicKey,
    attestation_type: registration.attestationType,
    aaguid: registration.aaguid,
    model: modelOf(decodeBase64(registration.aaguid)),
    rp_id_hash: registration.rpIdHash,
    backup_eligible: registration.backupEligible ? 1 : 0,
    sign_count: registration.signCount,
  }
}
