/**
 * A key of a hardware security module, by PKCS #11 (OASIS, version 2.40) and the URI of RFC 7512. The key is an AES key that never
 * leaves its token; it wraps by AES-GCM (§2.12.3 of the mechanisms).
 */
import { createPooledRandomBytes } from '../../crypto/index.ts'
import { concatBytes } from '../../encoding/index.ts'
import { readPrivate } from '../../local/index.ts'
import { ServiceError } from '../error.ts'
import { type Keeper, loadClient, type OpenKeeper, PURPOSE } from './keeper.ts'

/** As much of `pkcs11js` as is used. */
interface Library {
  readonly PKCS11: new () => Module
  readonly CKF_SERIAL_SESSION: number
  readonly CKU_USER: number
  readonly CKA_CLASS: number
  readonly CKA_LABEL: number
  readonly CKO_SECRET_KEY: number
  readonly CKM_AES_GCM: number
  readonly CK_PARAMS_AES_GCM: number
}

interface Module {
  load(path: string): void
  C_Initialize(): void
  C_GetSlotList(tokenPresent: boolean): Buffer[]
  C_GetTokenInfo(slot: Buffer): { readonly label: string }
  C_OpenSession(slot: Buffer, flags: number): Buffer
  C_CloseSession(session: Buffer): void
  C_Login(session: Buffer, user: number, pin: string): void
  C_FindObjectsInit(session: Buffer, template: readonly object[]): void
  C_FindObjects(session: Buffer, most: number): Buffer[]
  C_FindObjectsFinal(session: Buffer): void
  C_EncryptInit(session: Buffer, mechanism: object, key: Buffer): void
  C_Encrypt(session: Buffer, input: Buffer, output: Buffer): Buffer
  C_DecryptInit(session: Buffer, mechanism: object, key: Buffer): void
  C_Decrypt(session: Buffer, input: Buffer, output: Buffer): Buffer
}

const NONCE_LENGTH = 12
const TAG_BITS = 128

/** `pkcs11:token=T;object=K?module-path=/usr/lib/….so&pin-source=file:/path`. The PIN stands in a file of its own, never in the URI. */
export const openPkcs11: OpenKeeper = async (rest, tools): Promise<Keeper> => {
  const at = readUri(rest)
  const pin = readPrivate(at.pinFile)?.trim()
  if (pin === undefined) throw fault(`the file of the PIN is not there: \`${at.pinFile}\``)
  const library = await loadClient<Library & { readonly default?: Library }>('pkcs11js', tools)
  const names = library.default ?? library
  const module = new names.PKCS11()
  module.load(at.module)
  unlessAlready('CKR_CRYPTOKI_ALREADY_INITIALIZED', () => module.C_Initialize())
  const slot = module.C_GetSlotList(true).find((each) => module.C_GetTokenInfo(each).label.trim() === at.token)
  if (!slot) throw fault(`no token is named \`${at.token}\``)
  const session = module.C_OpenSession(slot, names.CKF_SERIAL_SESSION)
  // The last session that is closed logs out (§5.6.2). The module stays: what stamps by a key of a token may use it beside this.
  const close = () => module.C_CloseSession(session)
  try {
    unlessAlready('CKR_USER_ALREADY_LOGGED_IN', () => module.C_Login(session, names.CKU_USER, pin))
    const key = findKey(module, session, names, at.object)
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
  } catch (error) {
    close()
    throw error
  }
}

/** Initialization and login are of the process, not of a session (PKCS #11, §5.4 and §5.6): others of this process may have done it. */
function unlessAlready(already: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes(already)) throw error
  }
}

function findKey(module: Module, session: Buffer, names: Library, label: string): Buffer {
  module.C_FindObjectsInit(session, [
    { type: names.CKA_CLASS, value: names.CKO_SECRET_KEY },
    { type: names.CKA_LABEL, value: label },
  ])
  const [key, another] = module.C_FindObjects(session, 2)
  module.C_FindObjectsFinal(session)
  if (key && !another) return key
  throw fault(`expected one secret key named \`${label}\` in the token, got ${key ? 'several' : 'none'}`)
}

function readUri(rest: string) {
  const [path = '', query = ''] = rest.split('?')
  const parts = (text: string, separator: string) =>
    new Map(
      text.split(separator).map((each) => {
        const at = each.indexOf('=')
        return [each.slice(0, at), decodeURIComponent(each.slice(at + 1))] as const
      }),
    )
  const named = parts(path, ';')
  const asked = parts(query, '&')
  const pinSource = asked.get('pin-source')
  const found = {
    token: named.get('token'),
    object: named.get('object'),
    module: asked.get('module-path'),
    pinFile: pinSource?.replace(/^file:/, ''),
  }
  const lacks = Object.entries({
    ...{ token: found.token, object: found.object, 'module-path': found.module, 'pin-source': found.pinFile },
  }).find(([, value]) => !value)
  if (lacks) throw fault(`the PKCS #11 URI lacks \`${lacks[0]}\``)
  return found as { readonly [name in keyof typeof found]: string }
}

function fault(message: string): ServiceError {
  return new ServiceError('service/key-keeper-failed', message, {
    next: 'name the key as `pkcs11:token=T;object=K?module-path=/path/of/module.so&pin-source=file:/path`',
  })
}
