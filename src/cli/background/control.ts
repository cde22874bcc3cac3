import { join } from 'node:path'
import { QuorateError } from '../../diagnostics/index.ts'
import { askPrivately, listenPrivately, type PrivateListener, readPrivate } from '../../local/index.ts'
import { isAlive } from './is-alive.ts'
import { LOOK_MS } from './look-time.ts'
import type { BackgroundAnswer, BackgroundStatus } from './model.ts'

/** The name of the socket in the data folder on which its background process answers. */
const NAME = 'background'

/** Answers `status` and `stop` for the background process of a data folder, whose lock it holds, until closed. */
export function listenForControl(
  dataDir: string,
  { answer, stop }: { readonly answer: () => BackgroundAnswer; readonly stop: () => void },
): Promise<PrivateListener> {
  return listenPrivately(dataDir, NAME, (word) => {
    if (word === 'stop') stop()
    return JSON.stringify(answer())
  })
}

/**
 * Asks the background process of a data folder; undefined when none runs. Throws `local/exposed` and `local/not-proved`
 * where somebody else could answer, or does.
 */
export async function askBackground(
  dataDir: string,
  word: 'status' | 'stop',
  { withinMs }: { readonly withinMs?: number } = {},
): Promise<BackgroundAnswer | undefined> {
  let isSilent = false
  const onSilent = () => {
    isSilent = true
  }
  const text = await askPrivately(dataDir, NAME, word, {
    onSilent,
    ...(withinMs === undefined ? {} : { answerWithinMs: withinMs, listensWithinMs: withinMs }),
  })
  if (text !== undefined) return JSON.parse(text) as BackgroundAnswer
  // Who listens there holds the folder's lock, and has written this.
  const pid = isSilent ? Number(readPrivate(join(dataDir, 'lock.pid'))) : Number.NaN
  return pid > 0 && isAlive(pid) ? { state: 'silent', pid } : undefined
}

/** The same for a command that only looks. */
export const lookAtBackground = (dataDir: string): Promise<BackgroundAnswer | undefined> =>
  askBackground(dataDir, 'status', { withinMs: LOOK_MS })

/** Why a command goes no further: what runs is stopped, or so busy that it takes no request. */
export function silentBackground(dataDir: string, pid: number): QuorateError {
  return new QuorateError(
    'cli/background-silent',
    `the background process of \`${dataDir}\` runs and does not answer`,
    {
      facts: { pid, log: join(dataDir, 'background.log'), submitted: 'nothing by this command' },
      next: 'wait and run this again; `quorate down` ends it, by force where it must, and `quorate up` starts it again: nothing is lost',
    },
  )
}

/** The background process of a data folder where one is up. */
export async function findBackground(dataDir: string): Promise<BackgroundStatus | undefined> {
  const answer = await askBackground(dataDir, 'status')
  return answer?.state === 'up' ? answer.status : undefined
}

/** The pid of what answered. */
export function pidOf(answer: BackgroundAnswer): number {
  return answer.state === 'up' ? answer.status.pid : answer.pid
}
