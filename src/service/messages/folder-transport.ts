/**
 * The outbox in the data folder, where messages go that nobody has named another way for: a file each, which only the owner of
 * the folder reads.
 */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../diagnostics/index.ts'
import { ensurePrivateFolder, readPrivate, writePrivate } from '../../local/index.ts'
import type { Message, Transport } from './message.ts'

/** Inside of the data folder. */
export const MESSAGES_FOLDER = 'messages'

/** Most files that are kept: the newest. */
const MOST_FILES = 1_000

/** A message as it stands in the outbox. */
export interface WrittenMessage {
  readonly id: string
  readonly organizationId: string
  /** RFC 3339. */
  readonly at: string
  readonly message: Message
}

/** Its name begins with the time, so that names sort as messages came. */
const NAME = /^\d{16}-[0-9a-f-]{36}\.json$/

/** Writes messages into a folder. One that is sent once more takes its own place. */
export function createFolderTransport(dataDir: string): Transport {
  const folder = join(dataDir, MESSAGES_FOLDER)
  return {
    where: folder,
    async send({ id, organizationId, createdAt, content }) {
      try {
        ensurePrivateFolder(folder)
        const written: WrittenMessage = { id, organizationId, at: new Date(createdAt).toISOString(), message: content }
        writePrivate(join(folder, `${String(createdAt).padStart(16, '0')}-${id}.json`), `${JSON.stringify(written)}\n`)
        for (const name of listNames(folder).slice(0, -MOST_FILES)) rmSync(join(folder, name), { force: true })
        const from = content.kind === 'email' ? (content.from?.address ?? '') : ''
        return { kind: 'sent', from, response: 'written into the outbox of the service’s folder' }
      } catch (error) {
        return { kind: 'failed', reason: messageOf(error), isFinal: false }
      }
    },
    close() {},
  }
}

/**
 * Reads the messages in the outbox of a data folder, in the order in which they came; what is not a message is left out.
 * @param options.after the id of a message; only those that came later, or were written later
 */
export function listWrittenMessages(dataDir: string, seen: ReadonlySet<string> = new Set()): readonly WrittenMessage[] {
  const folder = join(dataDir, MESSAGES_FOLDER)
  return listNames(folder).flatMap((name) => {
    if (seen.has(name.slice(17, -'.json'.length))) return []
    // It may have been cleared away meanwhile.
    const text = readPrivate(join(folder, name))
    return text === undefined ? [] : [JSON.parse(text) as WrittenMessage]
  })
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => NAME.test(name))
      .sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
