import { passkeyFacts } from '../../../authority/index.ts'
import { decodeBase64 } from '../../../encoding/index.ts'
import { apiError } from '../../../protocol/index.ts'
import { verifyWebAuthnStamp } from '../../../stamp/index.ts'
import {
  findAuthenticatorByCredentialId,
  findAuthenticatorsBelow,
  setSignCount,
} from '../../resources/authenticators/store.ts'
import { readAllowedOrigins } from '../../webauthn/index.ts'
import type { CredentialSort } from './credential-sort.ts'
import { findInTree } from './find-in-tree.ts'

/** Passkeys: the stamp does not name its key, so that nothing is proved before the passkey is found. */
export const passkeySort: CredentialSort<'webauthn'> = {
  async find(tx, { stamp, body }, target) {
    const { credentialId } = stamp
    const authenticator = await findInTree(target, {
      inside: (id) => findAuthenticatorByCredentialId(tx, id, credentialId),
      below: (id) => findAuthenticatorsBelow(tx, id, credentialId),
      conflict: () => apiError('credentialConflict'),
    })
    if (!authenticator) throw apiError('credentialNotFound', target.id, credentialId)
    const { id, user_id: userId, organization_id: homeId, public_key: publicKey } = authenticator
    const verdict = verifyWebAuthnStamp(stamp, {
      body,
      publicKeyCose: decodeBase64(publicKey),
      rpIdHash: decodeBase64(authenticator.rp_id_hash),
      backupEligible: authenticator.backup_eligible === 1,
      allowedOrigins: await readAllowedOrigins(tx, homeId),
    })
    if (!verdict.verified) throw apiError('webauthnNotVerified')
    return {
      userId,
      homeId,
      facts: passkeyFacts({ id, userId, credentialId, publicKey }),
      signed: { public_key: publicKey, signature: stamp.text, scheme: 'SIGNATURE_SCHEME_TK_WEBAUTHN' },
      onTaken: (tx) => setSignCount(tx, authenticator, verdict.signCount),
    }
  },
}
