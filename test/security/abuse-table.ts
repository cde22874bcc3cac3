/**
 * One table of what must not log anybody in. Each row is tried at a real service: it is refused, and a digest over every row
 * that the service keeps is the same before and after. What a file's rows were answered is written down beside this file, and
 * the page of the documentation is made from that. `npx vitest -u` writes both anew.
 */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { stateDigest } from './state-digest.ts'

export const ABUSE_FOLDER = join(import.meta.dirname, 'login-abuse')

/** What a service says in a refusal: over the socket, or as the tests of handlers read it. */
type Said =
  | { readonly status: number; readonly body: Readonly<Record<string, unknown>> }
  | readonly [status: number, code: unknown, message?: unknown, ...rest: unknown[]]

export interface AbuseRows {
  /** Does what must be refused and gives what was answered; fails where anything that the service keeps is another by it. */
  refuse<Answer extends Said>(name: string, send: () => Promise<Answer>): Promise<Answer>
  /** Adds the last test of a file: that all of its rows were refused as it is written down. */
  record(): void
}

/** @param file names the rows in the folder of what is written down; `dataDir` is asked when a row is tried */
export function abuseRows(file: string, dataDir: () => string): AbuseRows {
  const answers = new Map<string, string>()
  return {
    async refuse(name, send) {
      const before = stateDigest(dataDir())
      const answer = await send()
      expect(stateDigest(dataDir()), 'something was changed').toBe(before)
      const [status, message] = read(answer)
      expect(status).toBeGreaterThanOrEqual(400)
      expect(answers.has(name), `two rows are called ${name}`).toBe(false)
      answers.set(name, `${status} ${withoutChance(message)}`)
      return answer
    },
    record() {
      test('every row is refused as it is written down', async () => {
        const lines = [...answers].map((row) => row.join('\t'))
        await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(join(ABUSE_FOLDER, `${file}.txt`))
      })
    },
  }
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
