/**
 * The file `master.key`: 64 hex digits, or one line of JSON with the keeper that opens it. Changing the keeper, or having the same
 * one wrap the key anew, replaces the file and nothing else: processes that run have the key already.
 */
import { decodeBase64, encodeBase64, encodeHex } from '../../encoding/index.ts'
import { ClientMissing, type KeeperTools } from '../../keepers/index.ts'
import { type Exposure, readPrivate, writePrivate } from '../../local/index.ts'
import { Secret } from '../../telemetry/index.ts'
import { ServiceError } from '../error.ts'
import { openAwsKms } from './aws-kms.ts'
import { openGcpKms } from './gcp-kms.ts'
import { checkLength, type Keeper, type OpenKeeper } from './keeper.ts'
import { openKeyFile, openVariable } from './local-key.ts'
import { openPkcs11 } from './pkcs11.ts'
import { openVault } from './vault.ts'

/** Keepers by the scheme of their names. */
const KEEPERS: Readonly<Record<string, OpenKeeper>> = {
  file: openKeyFile,
  env: openVariable,
  vault: openVault,
  'aws-kms': openAwsKms,
  'gcp-kms': openGcpKms,
  pkcs11: openPkcs11,
}

interface WrappedKey {
  readonly keeper: string
  /** Base64, in the keeper's own form. */
  readonly wrapped: string
}

/**
 * Opens the master key in a file that has it wrapped; undefined for one that has it plain, or is not there. Throws
 * `service/key-keeper-failed`, `service/master-key-exposed`, `service/master-key-invalid`.
 */
export async function openMasterKey(path: string, tools: KeeperTools): Promise<Secret<Uint8Array> | undefined> {
  const kept = readWrapped(path)
  if (!kept) return undefined
  return new Secret(await withKeeper(kept.keeper, tools, (keeper) => keeper.unwrap(decodeBase64(kept.wrapped))))
}

/**
 * Has another keeper wrap the key of a file, or writes it plain for `none`, and says who kept it before. What is written is opened
 * once before it takes the old one's place. Throws as `openMasterKey` does.
 */
export async function rewrapMasterKey(
  path: string,
  to: string,
  tools: KeeperTools & { readonly readPlain: () => Secret<Uint8Array> },
): Promise<{ readonly from: string }> {
  const from = readWrapped(path)?.keeper ?? 'none'
  await keep(path, (await openMasterKey(path, tools)) ?? tools.readPlain(), to, tools)
  return { from }
}

/** Writes a new key beside the one of a file, kept by the same keeper, and says by whom. Throws as `openMasterKey` does. */
export async function keepBeside(
  path: string,
  beside: string,
  key: Secret<Uint8Array>,
  tools: KeeperTools,
): Promise<{ readonly keeper: string }> {
  const keeper = readWrapped(path)?.keeper ?? 'none'
  await keep(beside, key, keeper, tools)
  return { keeper }
}

/** Writes a key as a keeper wraps it. What is written is opened once before. */
async function keep(path: string, secret: Secret<Uint8Array>, to: string, tools: KeeperTools): Promise<void> {
  const key = secret.reveal()
  if (to === 'none') writePrivate(path, `${encodeHex(key)}\n`)
  else {
    const wrapped = await withKeeper(
      to,
      tools,
      async (keeper) => {
        const made = await keeper.wrap(key)
        if (!Buffer.from(await keeper.unwrap(made)).equals(key))
          throw new Error('what it wrapped opens to something else')
        return made
      },
      { isKey: false },
    )
    writePrivate(path, `${JSON.stringify({ keeper: to, wrapped: encodeBase64(wrapped) } satisfies WrappedKey)}\n`)
  }
}

/** Refuses a file of the master key that others could read or replace. */
export function keyExposed(path: string, { reason, next }: Exposure): ServiceError {
  return new ServiceError('service/master-key-exposed', `refusing the master key file \`${path}\`: ${reason}`, {
    facts: { path },
    next,
  })
}

function readWrapped(path: string): WrappedKey | undefined {
  const text = readPrivate(path, { refusal: keyExposed })?.trim()
  if (text === undefined || !text.startsWith('{')) return undefined
  try {
    const { keeper, wrapped } = JSON.parse(text) as Partial<WrappedKey>
    if (typeof keeper === 'string' && typeof wrapped === 'string') return { keeper, wrapped }
  } catch {
    // Said below.
  }
  throw new ServiceError('service/master-key-invalid', `the wrapped master key in \`${path}\` is not whole`, {
    facts: { path },
    next: 'put the file back from a backup or a snapshot',
  })
}

async function withKeeper(
  name: string,
  tools: KeeperTools,
  work: (keeper: Keeper) => Promise<Uint8Array>,
  { isKey = true } = {},
): Promise<Uint8Array> {
  const scheme = name.slice(0, name.indexOf(':'))
  const open = KEEPERS[scheme]
  if (!open) {
    const known = Object.keys(KEEPERS).map((each) => `${each}:…`)
    throw new ServiceError(
      'service/key-keeper-failed',
      `expected a keeper such as ${known.join(', ')}, got \`${name}\``,
      {
        next: 'name one of them, or `none`',
      },
    )
  }
  let keeper: Keeper | undefined
  try {
    keeper = await open(name.slice(scheme.length + 1), tools)
    const bytes = await work(keeper)
    return isKey ? checkLength(bytes, `\`${scheme}\``) : bytes
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}`.replaceAll(/\s+/g, ' ') : 'unknown'
    throw new ServiceError('service/key-keeper-failed', `the keeper \`${scheme}\` failed: ${reason}`, {
      facts: { keeper: scheme, changed: 'nothing' },
      next:
        cause instanceof ClientMissing
          ? 'install it, then run the same again'
          : 'see that it is named as docs/master-key.md says, is reached, and that its key may encrypt and decrypt; then run the same again',
      cause,
    })
  } finally {
    keeper?.close?.()
  }
}
