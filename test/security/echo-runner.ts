/**
 * Runs command lines one after the other in one process, as the CLI would each in its own, and prints what each said as JSON.
 * Started by `key-echo.ts` with the secret and the command lines on stdin.
 */
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { main } from '../../src/cli/run.ts'

/** What serves until it is stopped, or waits for an editor, has said what it has to say by then. */
const PATIENCE_MS = 1_000
const MOST_WAITS = 20

const lines = JSON.parse(await text(process.stdin)) as readonly (readonly string[])[]
const write = process.stdout.write.bind(process.stdout)
let said = ''
const keep = (chunk: string | Uint8Array) => {
  said += String(chunk)
  return true
}
process.stdout.write = keep as typeof process.stdout.write
process.stderr.write = keep as typeof process.stderr.write
const exit = process.exit.bind(process)
process.exit = (() => undefined) as never

const environment = { ...process.env }
const ran: { readonly args: readonly string[]; readonly said: string }[] = []
for (const args of lines) {
  said = ''
  // The CLI takes its keys out of the environment.
  Object.assign(process.env, environment)
  const over = main(args)
  await Promise.race([over, pause(PATIENCE_MS)])
  // On a machine that has much else to do, the first word may take longer. An editor is to speak first.
  for (let left = MOST_WAITS; said === '' && args[1] !== 'lsp' && left > 0; left--)
    await Promise.race([over, pause(PATIENCE_MS)])
  ran.push({ args, said })
}
write(JSON.stringify(ran), () => exit(0))
