/**
 * The organizations that are watched, kept in the plan store: what a person asked for, with the definitions under the digest of
 * their contents, and how each stood when it was last looked at. A worker believes these records because they carry the store's
 * mark (`records.ts`); no workflow can say otherwise.
 */
import { join } from 'node:path'
import { sha256 } from '../src/crypto/index.ts'
import { encodeHex, encodeUtf8 } from '../src/encoding/index.ts'
import { ApplyError } from './error.ts'
import type { NoticeEvent, NoticeState } from './notice-model.ts'
import type { Records } from './records.ts'
import { fileNameOf } from './store-files.ts'
import type { StoreFiles } from './store-opened.ts'
import type { ReadsPart, TakenDefinitions, Watch, WatchedDefinitions, WatchLock, WatchState } from './watch-model.ts'

export interface WatchLedger {
  /** Undefined for an organization that is not watched. */
  get(organizationId: string): Promise<Watch | undefined>
  put(watch: Watch): Promise<void>
  /** It is watched no longer. */
  remove(organizationId: string): Promise<void>
  list(): Promise<readonly Watch[]>
  /** Keeps definitions and returns the digest of their contents. */
  putDefinitions(definitions: WatchedDefinitions): Promise<string>
  /** Throws `apply/definitions-missing`. */
  getDefinitions(digest: string): Promise<WatchedDefinitions>
  /** What was taken last from the source of the watch. */
  takenOf(organizationId: string): Promise<TakenDefinitions | undefined>
  putTaken(organizationId: string, taken: TakenDefinitions): Promise<void>
  lockOf(organizationId: string): Promise<WatchLock>
  putLock(organizationId: string, lock: WatchLock): Promise<void>
  stateOf(organizationId: string): Promise<WatchState | undefined>
  putState(organizationId: string, state: WatchState): Promise<void>
  /** The last news of what is inside it, by a name of its own; undefined where there never was any. */
  newsOf(organizationId: string): Promise<string | undefined>
  putNews(organizationId: string, news: string): Promise<void>
  /** What looks that have not ended have read inside sub-organizations, in the order in which it was read. */
  readsOf(organizationId: string): Promise<readonly ReadsPart[]>
  putReads(organizationId: string, index: number, part: ReadsPart): Promise<void>
  /** @param count how many there are */
  removeReads(organizationId: string, count: number): Promise<void>
  /** What was told to whom; undefined before the first time. */
  noticesOf(organizationId: string): Promise<NoticeState | undefined>
  putNotices(organizationId: string, notices: NoticeState): Promise<void>
  /** How applies ended, by a name each (64 hex digits), until everybody was told. */
  noticeEvents(organizationId: string): Promise<Readonly<Record<string, NoticeEvent>>>
  putNoticeEvent(name: string, event: NoticeEvent): Promise<void>
  removeNoticeEvent(name: string): Promise<void>
}

const NONE = 'null'

/** Makes the ledger in the plan store's folder. */
export function createWatchLedger(
  folder: string,
  records: Records,
  { read, write }: Pick<StoreFiles, 'read' | 'write'>,
): WatchLedger {
  const at = (shelf: string, organizationId: string) => join(folder, shelf, digestOf(organizationId))
  const definitionsAt = (digest: string) => join(folder, 'definitions', fileNameOf(digest))
  const eventAt = (name: string) => join(folder, 'watch-events', fileNameOf(name))
  const eventsOf = async (organizationId: string): Promise<readonly (readonly [string, NoticeEvent])[]> => {
    const names = [...(await records.list(join(folder, 'watch-events')))].sort()
    const texts = await Promise.all(names.map((name) => records.read(eventAt(name))))
    return names.flatMap((name, index) => {
      // Told and removed since the shelf was listed.
      if (texts[index] === undefined) return []
      const event = JSON.parse(texts[index]) as NoticeEvent
      return event.organizationId === organizationId ? [[name, event] as const] : []
    })
  }
  const get = async <T>(shelf: string, organizationId: string): Promise<T | undefined> => {
    const text = await records.read(at(shelf, organizationId))
    return text === undefined ? undefined : ((JSON.parse(text) as T | null) ?? undefined)
  }
  const put = async (shelf: string, organizationId: string, value: unknown) => {
    const text = JSON.stringify(value)
    // Each write of a record that is kept adds its number to a file that only grows.
    if ((await records.read(at(shelf, organizationId))) !== text) await records.write(at(shelf, organizationId), text)
  }
  const readsAt = (organizationId: string, index: number) => at('watch-reads', `${organizationId} ${index}`)
  const readsOf = async (organizationId: string): Promise<readonly ReadsPart[]> => {
    const parts: ReadsPart[] = []
    for (;;) {
      const text = await records.read(readsAt(organizationId, parts.length))
      if (text === undefined) return parts
      parts.push(JSON.parse(text) as ReadsPart)
    }
  }
  const removeReads = async (organizationId: string, count: number) => {
    // The last one first: one that dies on the way leaves no gap.
    for (let index = count - 1; index >= 0; index--) await records.remove(readsAt(organizationId, index))
  }
  return {
    get: (organizationId) => get('watches', organizationId),
    put: (watch) => put('watches', watch.organizationId, watch),
    async remove(organizationId) {
      // A record that was made is never taken away: one that is missing was taken by somebody else.
      if ((await records.read(at('watches', organizationId))) !== undefined)
        await records.write(at('watches', organizationId), NONE)
      await records.remove(at('watch-states', organizationId))
      await records.remove(at('watch-notices', organizationId))
      await records.remove(at('watch-news', organizationId))
      await removeReads(organizationId, (await readsOf(organizationId)).length)
      for (const [name] of await eventsOf(organizationId)) await records.remove(eventAt(name))
    },
    async list() {
      const names = await records.list(join(folder, 'watches'))
      const texts = await Promise.all(names.map((name) => records.read(join(folder, 'watches', name))))
      return texts.flatMap((text) => (text === undefined || text === NONE ? [] : [JSON.parse(text) as Watch]))
    },
    async putDefinitions(definitions) {
      const { text, digest } = definitionsText(definitions)
      await write(definitionsAt(digest), text)
      return digest
    },
    async getDefinitions(digest) {
      const text = await read(definitionsAt(digest))
      if (text === undefined || digestOf(text) !== digest) {
        const what = text === undefined ? 'has no definitions' : 'has changed definitions'
        throw new ApplyError('apply/definitions-missing', `the plan store ${what} \`${digest}\``, { facts: { folder } })
      }
      return JSON.parse(text) as WatchedDefinitions
    },
    takenOf: (organizationId) => get('watch-taken', organizationId),
    putTaken: (organizationId, taken) => put('watch-taken', organizationId, taken),
    lockOf: async (organizationId) => (await get<WatchLock>('watch-locks', organizationId)) ?? {},
    putLock: (organizationId, lock) => put('watch-locks', organizationId, lock),
    stateOf: (organizationId) => get('watch-states', organizationId),
    putState: (organizationId, state) => records.write(at('watch-states', organizationId), JSON.stringify(state)),
    newsOf: (organizationId) => get('watch-news', organizationId),
    putNews: (organizationId, news) => records.write(at('watch-news', organizationId), JSON.stringify(news)),
    readsOf,
    putReads: (organizationId, index, part) => records.write(readsAt(organizationId, index), JSON.stringify(part)),
    removeReads,
    noticesOf: (organizationId) => get('watch-notices', organizationId),
    putNotices: (organizationId, notices) =>
      records.write(at('watch-notices', organizationId), JSON.stringify(notices)),
    noticeEvents: async (organizationId) => Object.fromEntries(await eventsOf(organizationId)),
    putNoticeEvent: (name, event) => records.write(eventAt(name), JSON.stringify(event)),
    removeNoticeEvent: (name) => records.remove(eventAt(name)),
  }
}

/** Definitions as they are kept, and the digest of that. */
export function definitionsText(definitions: WatchedDefinitions): { readonly text: string; readonly digest: string } {
  const text = JSON.stringify(definitions)
  return { text, digest: digestOf(text) }
}

function digestOf(text: string): string {
  return encodeHex(sha256(encodeUtf8(text)))
}
