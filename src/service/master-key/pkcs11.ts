/** An AES key of a hardware security module, which never leaves its token, wraps by AES-GCM (PKCS #11 mechanisms, §2.12.3). */
import { createPooledRandomBytes } from '../../crypto/index.ts'
import { concatBytes } from '../../encoding/index.ts'
import { openToken } from '../../keepers/index.ts'
import { type OpenKeeper, PURPOSE } from './keeper.ts'

const NONCE_LENGTH = 12
const TAG_BITS = 128

/** See `openToken` for the form of the URI. */
export const openPkcs11: OpenKeeper = async (rest, tools) => {
  const { module, names, session, key, close } = await openToken(rest, 'secret', tools)
  const mechanism = (iv: Uint8Array) => ({
    mechanism: names.CKM_AES_GCM,
    parameter: {
      type: names.CK_PARAMS_AES_GCM,
      ...{ iv: Buffer.from(iv), aad: Buffer.from(PURPOSE), tagBits: TAG_BITS },
    },
  })
  return {
    async wrap(plain) {
      const nonce = createPooledRandomBytes()(NONCE_LENGTH)
      module.C_EncryptInit(session, mechanism(nonce), key)
      return concatBytes(nonce, module.C_Encrypt(session, Buffer.from(plain), Buffer.alloc(plain.length + 64)))
    },
    async unwrap(wrapped) {
      module.C_DecryptInit(session, mechanism(wrapped.subarray(0, NONCE_LENGTH)), key)
      const sealed = Buffer.from(wrapped.subarray(NONCE_LENGTH))
      return module.C_Decrypt(session, sealed, Buffer.alloc(sealed.length))
    },
    close,
  }
}
