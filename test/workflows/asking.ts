import { setTimeout as delay } from 'node:timers/promises'

const FIRST_MS = 25
const LATER_MS = 400

/** Asks a workflow until the answer is as wanted, ever less often: where none is cached, each question is a replay. */
export async function askUntil<T>(ask: () => Promise<T>, wanted: (answer: T) => boolean): Promise<T> {
  for (let afterMs = FIRST_MS; ; afterMs = Math.min(afterMs * 1.5, LATER_MS)) {
    const answer = await ask()
    if (wanted(answer)) return answer
    await delay(afterMs)
  }
}
