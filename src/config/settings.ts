import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { QuorateError } from '../diagnostics/index.ts'
import type { CommandKey, KeeperKey, KeyReference, SignatureScheme } from '../stamp/index.ts'
import { Secret } from '../telemetry/index.ts'
import { type Environment, invalid, type SettingFlags, settingRows } from './setting-rows.ts'

/** Everything a command can be told from outside, in one typed object. */
export interface Settings {
  /** Folder of local state: the embedded service and Temporal server, plans, demo keys. @default .quorate */
  readonly dataDir: string
  /** The signed-activity API; absent: the embedded service. */
  readonly baseUrl?: string
  /** The organization to work in; absent: the embedded service's own. */
  readonly organizationId?: string
  /** Where the private key comes from, or what signs with it; absent: the embedded service's root key. */
  readonly key?: KeyReference | SigningKey | KeptKey
  /** Folder with the keys of users of sub-organizations, `NAME.key` each; absent: only the key in use may act inside. */
  readonly subOrganizationKeys?: string
  /** Most requests a second that this process sends; absent: no limit, until the API refuses one. */
  readonly requestsPerSecond?: number
  /** Through which processes share rates. @default `turns` of the data folder */
  readonly turnsDir?: string
  /** Where the key is that payloads at Temporal are sealed with; absent: the data folder's own. */
  readonly payloadKey?: KeyReference
  /** Where sessions of `quorate login` are kept. */
  readonly sessions: {
    readonly folder: string
    /** Whether their keys are in the keychain of the system, where there is one. */
    readonly keychain: boolean
  }
  /** Where the plan store is to be, with its password; the data folder says where it is. */
  readonly planStore?: Secret
  /** How requests are stamped; absent: the plain scheme of the key's curve. */
  readonly stampScheme?: SignatureScheme
}

/** Puts flags over environment over defaults. Throws `config/invalid`, `config/several-keys` or `config/public-key-missing`. */
export function readSettings(environment: Environment, flags: SettingFlags = {}): Settings {
  const pick = (name: keyof typeof settingRows): string | undefined =>
    flags[name] ?? (environment[settingRows[name].environment] || undefined)
  const baseUrl = pick('baseUrl')
  const organizationId = pick('organizationId')
  const requestsPerSecond = pick('requestsPerSecond')
  const turnsDir = pick('turnsDir')
  const stampScheme = pick('stampScheme')
  const subOrganizationKeys = pick('subOrganizationKeys')
  const key = readApiKey(environment, flags)
  const payloadKey = readPayloadKey(environment, flags)
  const planStore = environment[PLAN_STORE_VARIABLE]
  return {
    dataDir: resolve(pick('dataDir') ?? DATA_DIR),
    sessions: readSessions(environment, pick('sessionFolder')),
    ...(baseUrl === undefined ? {} : { baseUrl: checkUrl(baseUrl) }),
    ...(organizationId === undefined ? {} : { organizationId: checkUuid(organizationId) }),
    ...(key === undefined ? {} : { key }),
    ...(payloadKey === undefined ? {} : { payloadKey }),
    ...(planStore ? { planStore: new Secret(planStore) } : {}),
    ...(subOrganizationKeys === undefined ? {} : { subOrganizationKeys: resolve(subOrganizationKeys) }),
    ...(requestsPerSecond === undefined ? {} : { requestsPerSecond: checkRate(requestsPerSecond) }),
    ...(turnsDir === undefined ? {} : { turnsDir: resolve(turnsDir) }),
    ...(stampScheme === undefined ? {} : { stampScheme: checkScheme(stampScheme) }),
  }
}

/** A folder that is named is where everything of a session is; otherwise the keys are the system's to keep. */
function readSessions(environment: Environment, folder: string | undefined): Settings['sessions'] {
  if (folder !== undefined) return { folder: resolve(folder), keychain: false }
  const configuration = environment['XDG_CONFIG_HOME'] || join(environment['HOME'] || homedir(), '.config')
  return { folder: join(configuration, 'quorate', 'sessions'), keychain: true }
}

function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const instead = otherUrl(text, url)
  if (!url || instead !== undefined) {
    // User, query and fragment of a URL may hold a password.
    const shown =
      url && text.includes('//')
        ? `${url.protocol}//${url.host}${url.pathname}`
        : text.replace(/\/\/[^/@]*@/, '//').replace(/[?#].*/s, '')
    throw invalid('baseUrl', 'an http or https URL without user, query or fragment', shown, instead)
  }
  return url.href.replace(/\/$/, '')
}

/** What was probably meant where a text is no base URL; undefined where it is one, or nothing can be told. */
function otherUrl(text: string, url: URL | undefined): string | undefined {
  // A part of a host's name has at most 63 characters (RFC 1035, 2.3.4): 64 hex digits are a key.
  const bare = /^(?:\w+:(?!\d)\/*|\w+\/\/)?((?![^.:]{64})[\w.-]+(?::\d{1,5})?)\/*$/.exec(text)?.[1]
  const [, port] = /^https?:\/\/[^/]*:(\d+)(?:\/|$)/.exec(text) ?? []
  if (!url) {
    if (port !== undefined && Number(port) > 65_535) return 'a port is a number up to 65535'
    return bare === undefined ? 'write it as `https://HOST` or `http://HOST:PORT`' : `did you mean \`http://${bare}\`?`
  }
  if (!['http:', 'https:'].includes(url.protocol))
    return bare === undefined ? 'it begins with http:// or https://' : `did you mean \`http://${bare}\`?`
  const origin = url.origin
  if (url.username || url.password)
    return `leave out the user, as in \`${origin}\`: requests are signed by a key, and nobody logs in`
  if (url.search || url.hash) return `leave out what follows the path, as in \`${origin}\``
  const [api] = /\/public\/v\d+(?:\/.*)?$/.exec(url.pathname) ?? []
  if (api !== undefined)
    return `leave out \`${api}\`, which each request adds: \`${origin}${url.pathname.slice(0, -api.length)}\``
  return undefined
}

function checkUuid(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) throw invalid('organizationId', 'a UUID', text)
  return text.toLowerCase()
}

function checkRate(text: string): number {
  const rate = Number(text)
  if (!(rate > 0) || !Number.isFinite(rate)) throw invalid('requestsPerSecond', 'a number above 0', text)
  return rate
}

function checkScheme(text: string): SignatureScheme {
  if (text.toLowerCase() === 'eip191') return 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191'
  throw invalid('stampScheme', '`eip191`', text)
}

/** A key that a command signs with. */
export interface SigningKey extends CommandKey {
  readonly kind: 'sign command'
}

/** A key of a keeper that signs by itself; how the keeper is reached stands in the environment. */
export interface KeptKey extends Omit<KeeperKey, 'tools'> {
  readonly kind: 'sign key'
}

/** The data folder where nobody names another: in the folder that a command is given in. */
export const DATA_DIR = '.quorate'

/** The private key itself may come in this variable; never on a command line, where every process can read it. */
export const KEY_VARIABLE = 'QUORATE_API_KEY'
/** The same for the key that payloads at Temporal are sealed with. */
export const PAYLOAD_KEY_VARIABLE = 'QUORATE_PAYLOAD_KEY'

/** Names the place of a plan store that machines share, with its password: never a flag. */
export const PLAN_STORE_VARIABLE = 'QUORATE_PLAN_STORE'

/** The API key that settings name, if any. Throws `config/several-keys`, `config/public-key-missing` or `config/invalid`. */
export function readApiKey(environment: Environment, flags: SettingFlags): Settings['key'] {
  const key = readKey<KeyReference | Pick<SigningKey, 'kind' | 'signCommand'> | Pick<KeptKey, 'kind' | 'signKey'>>(
    environment,
    flags,
    {
      what: 'API key',
      variable: KEY_VARIABLE,
      settings: {
        keyFile: keyInFile,
        keyCommand: keyOfCommand,
        signCommand: (signCommand) => ({ kind: 'sign command', signCommand }),
        signKey: readSignKey,
      },
    },
  )
  if (key?.kind === 'sign key') {
    const { publicKey, curve } = readPublicKey(environment, flags)
    if (curve !== 'p256') throw invalid('publicKey', 'a key on P-256: keepers sign with no other', curve)
    return { ...key, publicKey, curve }
  }
  return key?.kind === 'sign command' ? { ...key, ...readPublicKey(environment, flags) } : key
}

/** The payload key that settings name, if any. Throws `config/several-keys`. */
export function readPayloadKey(environment: Environment, flags: SettingFlags): KeyReference | undefined {
  return readKey<KeyReference>(environment, flags, {
    what: 'payload key',
    variable: PAYLOAD_KEY_VARIABLE,
    settings: { payloadKeyFile: keyInFile, payloadKeyCommand: keyOfCommand },
  })
}

const keyInFile = (path: string): KeyReference => ({ kind: 'file', path: resolve(path) })
const keyOfCommand = (command: string): KeyReference => ({ kind: 'command', command })

type SettingName = keyof typeof settingRows

/** Where a key may be named. */
interface KeySettings<Key> {
  readonly what: string
  /** The variable that may hold the key itself. */
  readonly variable: string
  readonly settings: { readonly [Name in SettingName]?: (value: string) => Key }
}

/** One key or none: a flag replaces the variables, and two of either kind are a mistake that could sign as the wrong user. */
function readKey<Key extends { readonly kind: string }>(
  environment: Environment,
  flags: SettingFlags,
  { what, variable, settings }: KeySettings<Key | KeyReference>,
): Key | KeyReference | undefined {
  const rows = Object.entries(settings) as readonly [SettingName, (value: string) => Key | KeyReference][]
  const given = (textOf: (name: SettingName) => string | undefined) =>
    rows.flatMap(([name, read]) => {
      const value = textOf(name)
      return value ? [read(value)] : []
    })
  const fromFlags = given((name) => flags[name])
  const keys = fromFlags.length > 0 ? fromFlags : given((name) => environment[settingRows[name].environment])
  const own = environment[variable]
  if (fromFlags.length === 0 && own) keys.push({ kind: 'value', value: new Secret(own), name: variable })
  if (keys.length > 1) {
    const names = [...rows.map(([name]) => settingRows[name].environment), variable]
    throw new QuorateError('config/several-keys', `expected one ${what}, got ${keys.length}`, {
      facts: { given: keys.map(({ kind }) => kind).join(', ') },
      next: `keep one of ${names.join(', ')} (or one flag) and unset the others`,
    })
  }
  return keys[0]
}

/** The keepers that `src/stamp/sign-key.ts` opens; that file is loaded when something is signed, and not before the first line. */
const SIGN_KEY = /^(?:aws-kms|gcp-kms|vault|pkcs11):./s

function readSignKey(signKey: string): Pick<KeptKey, 'kind' | 'signKey'> {
  if (SIGN_KEY.test(signKey)) return { kind: 'sign key', signKey }
  throw invalid(
    'signKey',
    'aws-kms:KEY, gcp-kms:VERSION, vault:MOUNT/KEY or pkcs11:URI',
    `${signKey.length} characters`,
  )
}

/** The public key that a sign command, or a keeper, signs with. */
function readPublicKey(environment: Environment, flags: SettingFlags): Pick<SigningKey, 'publicKey' | 'curve'> {
  const { environment: variable, flag } = settingRows.publicKey
  const text = flags.publicKey ?? (environment[variable] || undefined)
  if (text === undefined) {
    throw new QuorateError(
      'config/public-key-missing',
      'a sign command or key is given without the public key that it signs with',
      {
        next: `give ${flag} or ${variable}`,
      },
    )
  }
  const form = PUBLIC_KEY.exec(text.trim().toLowerCase())
  // The value is not shown: a private key put there by mistake looks alike.
  if (!form) {
    const expected = 'a compressed public key in hex, followed by `:secp256k1` or `:ed25519` where it is not P-256'
    throw invalid('publicKey', expected, `${text.length} characters`)
  }
  const { point, of, edwards } = form.groups!
  if (edwards !== undefined) return { publicKey: edwards, curve: 'ed25519' }
  return { publicKey: point!, curve: of === 'secp256k1' ? of : 'p256' }
}

/** Hex of a compressed point, or of the 32 bytes of Ed25519, with the curve as key files mark it. */
const PUBLIC_KEY = /^(?<point>0[23][0-9a-f]{64})(:(?<of>p256|secp256k1))?$|^(?<edwards>[0-9a-f]{64}):ed25519$/
