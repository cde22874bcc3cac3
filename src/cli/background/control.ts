import { askPrivately, listenPrivately, type PrivateListener } from '../../local/index.ts'
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
 * Asks the background process of a data folder; undefined when none answers. Throws `local/exposed` and `local/not-proved`
 * where somebody else could answer, or does.
 */
export async function askBackground(dataDir: string, word: 'status' | 'stop'): Promise<BackgroundAnswer | undefined> {
  const text = await askPrivately(dataDir, NAME, word)
  return text === undefined ? undefined : (JSON.parse(text) as BackgroundAnswer)
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
