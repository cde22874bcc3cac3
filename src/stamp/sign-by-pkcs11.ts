/** A private key on P-256 of a hardware security module signs by CKM_ECDSA (PKCS #11 mechanisms, §2.3.6), which gives `r ‖ s`. */
import { openToken } from '../keepers/index.ts'
import type { OpenKeeperKey } from './keeper-key.ts'

/** See `openToken` for the form of the URI. */
export const openPkcs11Key: OpenKeeperKey = async (rest, tools) => {
  const { module, names, session, key, close } = await openToken(rest, 'private', tools)
  return async (digest) => {
    try {
      module.C_SignInit(session, { mechanism: names.CKM_ECDSA }, key)
      return module.C_Sign(session, Buffer.from(digest), Buffer.alloc(64))
    } catch (error) {
      // The next signature opens another session.
      close()
      throw error
    }
  }
}
