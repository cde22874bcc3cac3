import { QuorateError } from '../diagnostics/index.ts'

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
  signCommand: {
    environment: 'QUORATE_API_SIGN_COMMAND',
    flag: '--sign-command',
    argument: '<command>',
    meaning: 'command that signs with the API private key, which then stays where it is kept (needs --public-key)',
  },
  signKey: {
    environment: 'QUORATE_API_SIGN_KEY',
    flag: '--sign-key',
    argument: '<keeper:key>',
    meaning:
      'key of AWS KMS (aws-kms:…), Google Cloud KMS (gcp-kms:…), Vault transit (vault:…) or a token (pkcs11:…) that signs (needs --public-key)',
  },
  publicKey: {
    environment: 'QUORATE_API_PUBLIC_KEY',
    flag: '--public-key',
    argument: '<hex>',
    meaning:
      'public key that --sign-command or --sign-key signs with, followed by `:secp256k1` or `:ed25519` where it is not P-256',
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
      'most requests a second of all processes that share turns; published are 1, 3 or 60 by plan, 10 for a sub-organization (default: no limit)',
  },
  turnsDir: {
    environment: 'QUORATE_TURNS_DIR',
    flag: '--turns-dir',
    argument: '<folder>',
    meaning:
      'folder through which all who are given it, whatever their data folders, share rates (default: turns in the data folder)',
  },
} as const satisfies Record<string, SettingRow>

export type SettingFlags = { readonly [Name in keyof typeof settingRows]?: string | undefined }
export type Environment = Readonly<Record<string, string | undefined>>

/** A setting has a value that it cannot have. */
export function invalid(name: keyof typeof settingRows, expected: string, got: string, instead?: string): QuorateError {
  const { environment, flag } = settingRows[name]
  return new QuorateError('config/invalid', `expected ${flag} to be ${expected}, got \`${got}\``, {
    next: `correct ${flag} or ${environment}${instead === undefined ? '' : `: ${instead}`}`,
  })
}
