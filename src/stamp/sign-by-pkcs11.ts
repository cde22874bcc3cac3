/**
 * A key of a hardware security module, by PKCS #11 (OASIS, version 2.40) and the URI of RFC 7512: a private key on P-256 that never
 * leaves its token signs by CKM_ECDSA (§2.3.6 of the mechanisms), which gives `r ‖ s`.
 */
import { readPrivate } from '../local/index.ts'
import { loadClient, type OpenKeeperKey } from './keeper-tools.ts'

/** As much of `pkcs11js` as is used. */
interface Library {
  readonly PKCS11: new () => Module
  readonly CKF_SERIAL_SESSION: number
  readonly CKU_USER: number
  readonly CKA_CLASS: number
  readonly CKA_LABEL: number
  readonly CKO_PRIVATE_KEY: number
  readonly CKM_ECDSA: number
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
}

/** `pkcs11:token=T;object=K?module-path=/usr/lib/….so&pin-source=file:/path`. The PIN stands in a file of its own, never in the URI. */
export const openPkcs11Key: OpenKeeperKey = async (rest, tools) => {
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
  // After a fault the next signature opens another one; the module stays, others of this process may sign by it.
  const orClose = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      module.C_CloseSession(session)
      throw error
    }
  }
  const key = orClose(() => {
    unlessAlready('CKR_USER_ALREADY_LOGGED_IN', () => module.C_Login(session, names.CKU_USER, pin))
    return findKey(module, session, names, at.object)
  })
  return async (digest) =>
    orClose(() => {
      module.C_SignInit(session, { mechanism: names.CKM_ECDSA }, key)
      return module.C_Sign(session, Buffer.from(digest), Buffer.alloc(64))
    })
}

/** Initialization and login are of the process, not of a session (PKCS #11, §5.4 and §5.6): another signer may have done it. */
function unlessAlready(already: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes(already)) throw error
  }
}

function findKey(module: Module, session: Buffer, names: Library, label: string): Buffer {
  module.C_FindObjectsInit(session, [
    { type: names.CKA_CLASS, value: names.CKO_PRIVATE_KEY },
    { type: names.CKA_LABEL, value: label },
  ])
  const [key, another] = module.C_FindObjects(session, 2)
  module.C_FindObjectsFinal(session)
  if (key && !another) return key
  throw new Error(`expected one private key of this name in the token, got ${key ? 'several' : 'none'}`)
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
    token: named.get('token'),
    object: named.get('object'),
    module: asked.get('module-path'),
    pinFile: asked.get('pin-source')?.replace(/^file:/, ''),
  }
  const lacks = Object.entries(found).find(([, value]) => !value)
  if (lacks) throw new Error('the PKCS #11 URI needs token, object, module-path and pin-source')
  return found as { readonly [name in keyof typeof found]: string }
}
