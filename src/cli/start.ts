import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { startVariables } from '../config/index.ts'
import { isColoured } from './colour.ts'
import { tuneForOnePass } from './one-pass.ts'
import { readyText } from './ready-text.ts'

/** The exit code of a process that SIGPIPE ends, as a shell has it: 128 and the number of the signal. */
const SIGPIPE_EXIT = 141

/** Starts the program: with a text that the build has made, else with the command that is asked for, which is loaded only now. */
export async function start(argv: readonly string[]): Promise<void> {
  // A reader that goes away (`quorate plan | head`) is no fault of ours; yet 0 would say that there is no change, or all was done.
  process.stdout.once('error', (error: NodeJS.ErrnoException) => {
    process.stdout.on('error', () => {})
    if (error.code === 'EPIPE') process.exit(SIGPIPE_EXIT)
    void import('./unwritten.ts').then(({ endUnwritten }) => endUnwritten(error))
  })
  process.stderr.on('error', () => {})

  const variables = startVariables()
  const text = readyText(argv, {
    isColoured: isColoured(variables, Boolean(process.stdout.isTTY)),
    columns: process.stdout.columns,
  })
  if (text !== undefined) {
    process.stdout.write(text)
    return
  }
  // Compiled code is kept between runs: what a command imports then costs a quarter (the first line of output is to come
  // within 300 ms). It must be switched on before anything else is imported, and after V8 has its flags: code that was
  // compiled under others is refused, and kept apart. It is run as it is found, so it is kept in this user's own folder, and
  // not in the temporary folder that Node.js would take.
  tuneForOnePass(argv[0])
  enableCompileCache(variables['NODE_COMPILE_CACHE'] ?? join(homedir(), '.cache', 'quorate', 'compiled'))

  const { main } = await import('./run.ts')
  await main(argv)
  await endSoon()
}

/** What may still end by itself once the command has: closed files and connections. */
const GRACE_MS = 250

/**
 * Ends the process once all that was said is out. A Temporal that was given up leaves tries and timers of its SDK behind, which
 * nobody can end, and the process would stay for as long as they last.
 */
async function endSoon(): Promise<void> {
  const streams = [process.stdout, process.stderr]
  await Promise.all(streams.map((stream) => new Promise<void>((resolve) => stream.write('', () => resolve()))))
  setTimeout(() => process.exit(), GRACE_MS).unref()
}
