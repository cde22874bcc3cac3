import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { QuorateError } from '../diagnostics/index.ts'
import type { KeyReference, SignatureScheme } from '../stamp/index.ts'
import { Secret } from '../telemetry/index.ts'

/** Everything a command can be told from outside, in one typed object. */
export interface Settings {
  /** Folder of local state: the embedded service and Temporal server, plans, demo keys. @default .quorate */
  readonly dataDir: string
  /** The signed-activity API; absent: the embedded service. */
  readonly baseUrl?: string
  /** The organization to work in; absent: the embedded service's own. */
  readonly organizationId?: string
  /** Where the private key comes from; absent: the embedded service's root key. */
  readonly key?: KeyReference
  /** Folder with the keys of users of sub-organizations, `NAME.key` each; absent: only the key in use may act inside. */
  readonly subOrganizationKeys?: string
  /** Most requests a second that this process sends; absent: no limit, until the API refuses one. */
  readonly requestsPerSecond?: number
  /** Where the key is that payloads at Temporal are sealed with; absent: the data folder's own. */
  readonly payloadKey?: KeyReference
  /** Where sessions of `quorate login` are kept. */
  readonly sessions: {
    readonly folder: string
    /** Whether their keys are in the keychain of the system, where there is one. */
    readonly keychain: boolean
  }
  /** How requests are stamped; absent: the plain scheme of the key's curve. */
  readonly stampScheme?: SignatureScheme
}

interface SettingRow {
  readonly environment: string
  readonly flag: string
  readonly argument: string
  readonly meaning: string
}

/** Every setting: its environment variable and its flag. The flag wins. */
export const settingRows = {
  dataDir: {
    environment: 'QUORATE_DATA_DIR',
    flag: '--data-dir',
    argument: '<folder>',
    meaning: 'folder of local state (default: .quorate)',
  },
  baseUrl: {
    environment: 'QUORATE_BASE_URL',
    flag: '--base-url',
    argument: '<url>',
    meaning: 'the signed-activity API (default: the embedded service)',
  },
  organizationId: {
    environment: 'QUORATE_ORGANIZATION_ID',
    flag: '--organization-id',
    argument: '<uuid>',
    meaning: 'the organization to work in (default: the embedded one)',
  },
  keyFile: {
    environment: 'QUORATE_API_KEY_FILE',
    flag: '--key-file',
    argument: '<file>',
    meaning: 'file with the API private key, readable by you alone (default: the embedded root key)',
  },
  keyCommand: {
    environment: 'QUORATE_API_KEY_COMMAND',
    flag: '--key-command',
    argument: '<command>',
    meaning: 'command that prints the API private key',
  },
  payloadKeyFile: {
    environment: 'QUORATE_PAYLOAD_KEY_FILE',
    flag: '--payload-key-file',
    argument: '<file>',
    meaning:
      'file with the key that seals what Temporal holds, readable by you alone (default: payload.key in the data folder)',
  },
  payloadKeyCommand: {
    environment: 'QUORATE_PAYLOAD_KEY_COMMAND',
    flag: '--payload-key-command',
    argument: '<command>',
    meaning: 'command that prints the key that seals what Temporal holds',
  },
  sessionFolder: {
    environment: 'QUORATE_SESSION_FOLDER',
    flag: '--session-folder',
    argument: '<folder>',
    meaning:
      'folder to keep the sessions of `quorate login` in, their keys included (default: quorate/sessions in your configuration folder, the keys in the keychain of the system where there is one)',
  },
  subOrganizationKeys: {
    environment: 'QUORATE_SUB_ORGANIZATION_KEYS',
    flag: '--sub-organization-keys',
    argument: '<folder>',
    meaning: 'folder with a key `NAME.key` for each sub-organization to act in (default: none)',
  },
  stampScheme: {
    environment: 'QUORATE_STAMP_SCHEME',
    flag: '--stamp-scheme',
    argument: '<scheme>',
    meaning:
      '`eip191` stamps as an Ethereum wallet signs messages, with a secp256k1 key (default: the plain scheme of the key)',
  },
  requestsPerSecond: {
    environment: 'QUORATE_REQUESTS_PER_SECOND',
    flag: '--requests-per-second',
    argument: '<number>',
    meaning:
      'most requests a second of this process; published are 1, 3 or 60 by plan, 10 for a sub-organization (default: no limit)',
  },
} as const satisfies Record<string, SettingRow>

/** The private key itself may come in this variable; never on a command line, where every process can read it. */
export const KEY_VARIABLE = 'QUORATE_API_KEY'
/** The same for the key that payloads at Temporal are sealed with. */
export const PAYLOAD_KEY_VARIABLE = 'QUORATE_PAYLOAD_KEY'

export type SettingFlags = { readonly [Name in keyof typeof settingRows]?: string | undefined }
type Environment = Readonly<Record<string, string | undefined>>

/** Puts flags over environment over defaults. Throws `config/invalid` or `config/several-keys`. */
export function readSettings(environment: Environment, flags: SettingFlags = {}): Settings {
  const pick = (name: keyof typeof settingRows): string | undefined =>
    flags[name] ?? (environment[settingRows[name].environment] || undefined)
  const baseUrl = pick('baseUrl')
  const organizationId = pick('organizationId')
  const requestsPerSecond = pick('requestsPerSecond')
  const stampScheme = pick('stampScheme')
  const subOrganizationKeys = pick('subOrganizationKeys')
  const key = readKey(environment, flags, apiKey)
  const payloadKey = readKey(environment, flags, sealingKey)
  return {
    dataDir: resolve(pick('dataDir') ?? '.quorate'),
    sessions: readSessions(environment, pick('sessionFolder')),
    ...(baseUrl === undefined ? {} : { baseUrl: checkUrl(baseUrl) }),
    ...(organizationId === undefined ? {} : { organizationId: checkUuid(organizationId) }),
    ...(key === undefined ? {} : { key }),
    ...(payloadKey === undefined ? {} : { payloadKey }),
    ...(subOrganizationKeys === undefined ? {} : { subOrganizationKeys: resolve(subOrganizationKeys) }),
    ...(requestsPerSecond === undefined ? {} : { requestsPerSecond: checkRate(requestsPerSecond) }),
    ...(stampScheme === undefined ? {} : { stampScheme: checkScheme(stampScheme) }),
  }
}

/** A folder that is named is where everything of a session is; otherwise the keys are the system's to keep. */
function readSessions(environment: Environment, folder: string | undefined): Settings['sessions'] {
  if (folder !== undefined) return { folder: resolve(folder), keychain: false }
  const configuration = environment['XDG_CONFIG_HOME'] || join(environment['HOME'] || homedir(), '.config')
  return { folder: join(configuration, 'quorate', 'sessions'), keychain: true }
}

/** One key or none: a flag replaces the variables, and two of either kind are a mistake that could sign as the wrong user. */
function readKey(
  environment: Environment,
  flags: SettingFlags,
  { file, command, variable, what }: KeyNames,
): KeyReference | undefined {
  const fromFlags = keysOf(variable, flags[file], flags[command], undefined)
  const { [file]: keyFile, [command]: keyCommand } = settingRows
  const fromEnvironment = keysOf(
    variable,
    environment[keyFile.environment],
    environment[keyCommand.environment],
    environment[variable],
  )
  const keys = fromFlags.length > 0 ? fromFlags : fromEnvironment
  if (keys.length > 1) {
    throw new QuorateError('config/several-keys', `expected one ${what}, got ${keys.length}`, {
      facts: { given: keys.map(({ kind }) => kind).join(', ') },
      next: `keep one of ${keyFile.environment}, ${keyCommand.environment}, ${variable} (or one flag) and unset the others`,
    })
  }
  return keys[0]
}

interface KeyNames {
  readonly file: 'keyFile' | 'payloadKeyFile'
  readonly command: 'keyCommand' | 'payloadKeyCommand'
  readonly variable: string
  readonly what: string
}

const apiKey: KeyNames = { file: 'keyFile', command: 'keyCommand', variable: KEY_VARIABLE, what: 'API key' }
const sealingKey: KeyNames = {
  file: 'payloadKeyFile',
  command: 'payloadKeyCommand',
  variable: PAYLOAD_KEY_VARIABLE,
  what: 'payload key',
}

function keysOf(name: string, path?: string, command?: string, value?: string): KeyReference[] {
  const keys: KeyReference[] = []
  if (path) keys.push({ kind: 'file', path: resolve(path) })
  if (command) keys.push({ kind: 'command', command })
  if (value) keys.push({ kind: 'value', value: new Secret(value), name })
  return keys
}

function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.search || url.hash) {
    // What stands in a URL beside host and path may be a password.
    const shown = url
      ? `${url.protocol}//${url.host}${url.pathname}`
      : text.replace(/\/\/[^/@]*@/, '//').replace(/[?#].*/s, '')
    throw invalid('baseUrl', 'an http or https URL without user, query or fragment', shown)
  }
  return url.href.replace(/\/$/, '')
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

function invalid(name: keyof typeof settingRows, expected: string, got: string): QuorateError {
  const { environment, flag } = settingRows[name]
  return new QuorateError('config/invalid', `expected ${flag} to be ${expected}, got \`${got}\``, {
    next: `correct ${flag} or ${environment}`,
  })
}
