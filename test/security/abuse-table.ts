/**
 * One table of what must not log anybody in. Each row is tried at a real service: it is refused, and a digest over every row
 * that the service keeps is the same before and after. What a file's rows were answered is written down beside this file, and
 * the page of the documentation is made from that. `npx vitest -u` writes both anew.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test, vi } from 'vitest'
import { stateDigest } from './state-digest.ts'

export const ABUSE_FOLDER = join(import.meta.dirname, 'login-abuse')

/** What a service says in a refusal: over the socket, or as the tests of handlers read it. */
type Said =
  | { readonly status: number; readonly body: Readonly<Record<string, unknown>> }
  | readonly [status: number, code: unknown, message?: unknown, ...rest: unknown[]]

/** What is tried, how, and what is answered: its status, and a part of its message. */
export type AbuseRow<Answer extends Said = Said> = readonly [
  name: string,
  send: () => Promise<Answer>,
  status: number,
  says: string,
]

export interface AbuseRows {
  /** Adds a test for each row: it is refused as it says. */
  try(rows: readonly AbuseRow[]): void
  /** Does what must be refused and gives what was answered; fails where anything that the service keeps is another by it. */
  refuse<Answer extends Said>(name: string, send: () => Promise<Answer>): Promise<Answer>
  /** Adds the last test of a file: that all of its rows were refused as it is written down. */
  record(): void
}

/** @param file names the rows in the folder of what is written down; `dataDir` is asked when a row is tried */
export function abuseRows(file: string, dataDir: () => string): AbuseRows {
  const answers = new Map<string, string>()
  async function refuse<Answer extends Said>(name: string, send: () => Promise<Answer>): Promise<Answer> {
    const before = stateDigest(dataDir())
    const answer = await send()
    expect(stateDigest(dataDir()), 'something was changed').toBe(before)
    const [status, message] = read(answer)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(answers.has(name), `two rows are called ${name}`).toBe(false)
    answers.set(name, `${status} ${withoutChance(message)}`)
    return answer
  }
  return {
    refuse,
    try(rows) {
      test.each(rows)('%s is refused, and changes nothing', async (name, send, status, says) => {
        expect(read(await refuse(name, send))).toEqual([status, expect.stringContaining(says)])
      })
    },
    record() {
      test('every row is refused as it is written down', async () => {
        const lines = [...answers].map((row) => row.join('\t'))
        await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(join(ABUSE_FOLDER, `${file}.txt`))
      })
    },
  }
}

/** Waits until all messages have been sent and that is noted, which comes after it: a digest would be another by that. */
export async function untilMessagesAreNoted(dataDir: string): Promise<void> {
  const database = new DatabaseSync(join(dataDir, 'quorate.db'), { readOnly: true })
  const left = () => expect(database.prepare('select count(*) as count from messages').get()).toEqual({ count: 0 })
  await vi.waitFor(left)
  database.close()
}

function read(answer: Said): readonly [number, string] {
  if ('body' in answer) return [answer.status, String(answer.body['message'])]
  return [answer[0], String(answer[2])]
}

/** A message without what is another in each run: ids, keys, tokens, ports. */
function withoutChance(message: string): string {
  return message
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '…')
    .replaceAll(/[0-9a-f]{32,}/gi, '…')
    .replaceAll(/ey[\w-]{20,}(\.[\w-]+)*/g, '…')
    .replaceAll(/credentialId=[\w-]+/g, 'credentialId=…')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:…')
    .replaceAll(/\s+/g, ' ')
}
