import type { Io } from './io.ts'
import { line } from './screen.ts'

/**
 * Follows work that goes on by itself. Ctrl-C ends the command, not the work, and says so: the user may mean to stop the
 * work, and `otherwise` says how that is done. The process ends by the signal, as it would have. While nothing answers,
 * `patience` says what is waited for.
 */
export async function looking<T>(
  io: Pick<Io, 'say'>,
  {
    what,
    otherwise,
    patience,
  }: {
    readonly what: string
    readonly otherwise: string
    readonly patience?: { readonly during: <R>(work: () => Promise<R>) => Promise<R> }
  },
  follow: () => Promise<T>,
): Promise<T> {
  const interrupted = () => {
    io.say(line`\nStopped looking; ${what} goes on. ${otherwise}\n`)
    process.kill(process.pid, 'SIGINT')
  }
  process.once('SIGINT', interrupted)
  try {
    return await (patience ? patience.during(follow) : follow())
  } finally {
    process.removeListener('SIGINT', interrupted)
  }
}
