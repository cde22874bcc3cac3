/**
 * Definitions that a pipeline has pushed. They lie in the plan store under the digest of their contents, and beside them, for each
 * organization and key that pushes, one document that names the newest and is signed with that key. Who may write to the store and
 * has not the key can take a push away or put an older one back, and no more: the signature covers the time, and who watches takes
 * nothing older than it has taken. Neither needs the store's own key, so that a pipeline need not have it.
 */
import { join } from 'node:path'
import { sha256 } from '../src/crypto/index.ts'
import { canonicalJson, encodeHex, encodeUtf8 } from '../src/encoding/index.ts'
import { readStamp, type Stamp, verifyStamp } from '../src/stamp/index.ts'
import { ApplyError } from './error.ts'
import { fileNameOf } from './store-files.ts'
import type { StorePlace } from './store-model.ts'
import { openStoreFiles, type StoreFiles } from './store-opened.ts'
import { definitionsText } from './watch-ledger.ts'
import type { OfferedDefinitions, Watch, WatchedDefinitions } from './watch-model.ts'

/** What is signed. */
export interface Push {
  readonly format: 'quorate.push/1'
  readonly organizationId: string
  /** Digest of the definitions. */
  readonly definitions: string
  readonly given: Watch['given']
  /** ISO 8601. */
  readonly pushedAt: string
  readonly commit?: string
}

export interface SignedPush {
  readonly push: Push
  /** A stamp over `pushText`. */
  readonly signature: string
}

/** A push may be ahead of the clock of the worker by so much: one from the far future would keep all others out. */
const AHEAD_MS = 5 * 60_000
const SCHEME = 'SIGNATURE_SCHEME_TK_API_P256'

/** No request body begins so: what is signed here is no request. */
export function pushText(push: Push): Uint8Array {
  return encodeUtf8(`quorate.push/1\n${canonicalJson(push)}`)
}

export interface PushLedger {
  /**
   * Keeps definitions and the push that names them. Throws `apply/push-refused` where the last push with this key is newer.
   */
  put(signed: SignedPush, definitions: WatchedDefinitions): Promise<void>
  /**
   * The newest push for an organization with one of these keys. Throws `apply/push-refused` for one that is not as it was signed, is
   * from the future or older than `since`, and `apply/nothing-pushed`.
   */
  newest(
    organizationId: string,
    options: { readonly keys: readonly string[]; readonly nowMs: number; readonly since?: string | undefined },
  ): Promise<OfferedDefinitions>
}

/**
 * Opens the pushes of a plan store, which need no key of it.
 * @param place where it is, for a data folder that does not say it
 */
export function openPushes(folder: string, place?: StorePlace): PushLedger {
  return createPushLedger(folder, openStoreFiles(folder, place))
}

/** Makes the ledger of pushes. */
export function createPushLedger(folder: string, files: Pick<StoreFiles, 'read' | 'write'>): PushLedger {
  const pushAt = (organizationId: string, publicKey: string) =>
    join(folder, 'pushes', encodeHex(sha256(encodeUtf8(`${organizationId} ${publicKey}`))))
  const definitionsAt = (digest: string) => join(folder, 'definitions', fileNameOf(digest))

  /** Undefined where nothing was pushed with this key. */
  const find = async (organizationId: string, publicKey: string): Promise<Push | undefined> => {
    const text = await files.read(pushAt(organizationId, publicKey))
    if (text === undefined) return undefined
    const { push, signature } = parse(text)
    const stamp = stampOf(signature)
    const isSigned = stamp?.publicKey === publicKey && stamp.scheme === SCHEME && verifyStamp(stamp, pushText(push))
    if (!isSigned) throw refused(`what was pushed is not as ${publicKey} has signed it`)
    if (push.organizationId !== organizationId) throw refused('what was pushed is for another organization')
    return push
  }

  return {
    async put({ push, signature }, definitions) {
      const { text, digest } = definitionsText(definitions)
      const publicKey = stampOf(signature)?.publicKey
      if (publicKey === undefined || digest !== push.definitions) throw refused('the push is not of these definitions')
      const before = await find(push.organizationId, publicKey).catch((error: unknown) => {
        // What somebody has spoilt is replaced.
        if (error instanceof ApplyError && error.code === 'apply/push-refused') return undefined
        throw error
      })
      if (before && before.pushedAt > push.pushedAt)
        throw refused(`the last push with this key is of ${before.pushedAt}, and this one of ${push.pushedAt}`)
      await files.write(definitionsAt(digest), text)
      await files.write(pushAt(push.organizationId, publicKey), JSON.stringify({ push, signature }))
    },

    async newest(organizationId, { keys, nowMs, since }) {
      const found = await Promise.all(
        keys.map(async (by) => {
          const push = await find(organizationId, by)
          return push ? [{ push, by }] : []
        }),
      )
      const [last] = found.flat().sort((a, b) => (a.push.pushedAt < b.push.pushedAt ? 1 : -1))
      if (!last) throw nothingPushed(keys)
      const { push, by } = last
      if (Date.parse(push.pushedAt) > nowMs + AHEAD_MS)
        throw refused(`the newest push is of ${push.pushedAt}, which is in the future`)
      if (since !== undefined && push.pushedAt < since)
        throw refused(`the newest push is of ${push.pushedAt}, and one of ${since} was taken before`)
      const text = await files.read(definitionsAt(push.definitions))
      const definitions = text === undefined ? undefined : (JSON.parse(text) as WatchedDefinitions)
      if (!definitions || encodeHex(sha256(encodeUtf8(text!))) !== push.definitions)
        throw refused(`the plan store does not have the definitions \`${push.definitions}\` as they were pushed`)
      const { given, pushedAt: at, commit } = push
      return { definitions, given, at, by, ...(commit === undefined ? {} : { commit }) }
    },
  }
}

function stampOf(text: string): Stamp | undefined {
  try {
    return readStamp({ 'x-stamp': text })
  } catch {
    return undefined
  }
}

function parse(text: string): SignedPush {
  try {
    const read = JSON.parse(text) as Partial<SignedPush>
    const { format, pushedAt = '' } = read.push ?? {}
    if (format === 'quorate.push/1' && pushedAt === new Date(pushedAt).toISOString()) return read as SignedPush
  } catch {
    // Refused as the rest.
  }
  throw refused('what was pushed is not of the form of a push')
}

function refused(why: string): ApplyError {
  return new ApplyError('apply/push-refused', why)
}

function nothingPushed(keys: readonly string[]): ApplyError {
  return new ApplyError('apply/nothing-pushed', `nothing was pushed with ${keys.join(' or ')}`)
}
