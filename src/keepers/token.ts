/** A token, such as that of a hardware security module, by PKCS #11 (OASIS, version 2.40) and the URI of RFC 7512. */
import { readPrivate } from '../local/index.ts'
import { type KeeperTools, loadClient } from './client.ts'

/** As much of `pkcs11js` as is used. */
interface Library {
  readonly PKCS11: new () => Module
  readonly CKF_SERIAL_SESSION: number
  readonly CKU_USER: number
  readonly CKA_CLASS: number
  readonly CKA_LABEL: number
  readonly CKO_PRIVATE_KEY: number
  readonly CKO_SECRET_KEY: number
  readonly CKM_ECDSA: number
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
  C_SignInit(session: Buffer, mechanism: object, key: Buffer): void
  C_Sign(session: Buffer, data: Buffer, output: Buffer): Buffer
  C_EncryptInit(session: Buffer, mechanism: object, key: Buffer): void
  C_Encrypt(session: Buffer, input: Buffer, output: Buffer): Buffer
  C_DecryptInit(session: Buffer, mechanism: object, key: Buffer): void
  C_Decrypt(session: Buffer, input: Buffer, output: Buffer): Buffer
}

/** A session with a token, and a key that never leaves it. */
export interface KeyToken {
  readonly module: Module
  readonly names: Library
  readonly session: Buffer
  readonly key: Buffer
  /**
   * The last session that is closed logs out (§5.6.2). The module stays: a process may ask a token by several sessions, one for
   * stamps and one for a master key among them.
   */
  close(): void
}

const FORM = '`pkcs11:token=T;object=K?module-path=/path/of/module.so&pin-source=file:/path`'

/**
 * Opens the key of a URI, `token=T;object=K?module-path=/usr/lib/….so&pin-source=file:/path`. The PIN stands in a file of its own,
 * never in the URI. Throws an `Error` that shows neither.
 */
export async function openToken(rest: string, kind: 'private' | 'secret', tools: KeeperTools): Promise<KeyToken> {
  const at = readUri(rest)
  const pin = readPrivate(at.pinFile)?.trim()
  if (pin === undefined) throw new Error('the file of the PIN is not there')
  const library = await loadClient<Library & { readonly default?: Library }>('pkcs11js', tools)
  const names = library.default ?? library
  const module = new names.PKCS11()
  module.load(at.module)
  unlessAlready('CKR_CRYPTOKI_ALREADY_INITIALIZED', () => module.C_Initialize())
  const slot = module.C_GetSlotList(true).find((each) => module.C_GetTokenInfo(each).label.trim() === at.token)
  if (!slot) throw new Error('no token has this name')
  const session = module.C_OpenSession(slot, names.CKF_SERIAL_SESSION)
  const close = () => module.C_CloseSession(session)
  try {
    unlessAlready('CKR_USER_ALREADY_LOGGED_IN', () => module.C_Login(session, names.CKU_USER, pin))
    module.C_FindObjectsInit(session, [
      { type: names.CKA_CLASS, value: kind === 'private' ? names.CKO_PRIVATE_KEY : names.CKO_SECRET_KEY },
      { type: names.CKA_LABEL, value: at.object },
    ])
    const [key, another] = module.C_FindObjects(session, 2)
    module.C_FindObjectsFinal(session)
    if (key && !another) return { module, names, session, key, close }
    throw new Error(`expected one ${kind} key of this name in the token, got ${key ? 'several' : 'none'}`)
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

function readUri(rest: string) {
  const [path = '', query = ''] = rest.split('?')
  const parts = (text: string, separator: string) =>
    new Map(
      text.split(separator).map((each) => {
        const at = each.indexOf('=')
        return [each.slice(0, at), decodeURIComponent(each.slice(at + 1))] as const
      }),
    )
  const [named, asked] = [parts(path, ';'), parts(query, '&')]
  const found = {
    ...{ token: named.get('token'), object: named.get('object') },
    ...{ module: asked.get('module-path'), pinFile: asked.get('pin-source')?.replace(/^file:/, '') },
  }
  if (Object.values(found).every(Boolean)) return found as { readonly [name in keyof typeof found]: string }
  throw new Error(`the PKCS #11 URI needs token, object, module-path and pin-source: ${FORM}`)
}
