/**
 * Reads command lines, runs each as `main` of the CLI does, in this one process, and sends back what it said, its exit code and
 * its processor time. A command that leaves something behind which would keep its own process alive never ends here either.
 */
import { main } from '../../src/cli/run.ts'

/** A command line as it is asked for. */
export interface Line {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

const given = { ...process.env }

function keep(stream: NodeJS.WriteStream): () => string {
  let text = ''
  stream.write = (part: string | Uint8Array, ...more: readonly unknown[]) => {
    text += typeof part === 'string' ? part : Buffer.from(part).toString()
    const written = more.at(-1)
    if (typeof written === 'function') process.nextTick(written)
    return true
  }
  return () => text
}

/** What keeps this process alive, by its kind. */
const alive = () => process.getActiveResourcesInfo().toSorted().join()
let idle: string | undefined

async function run({ args, env, cwd }: Line): Promise<object> {
  const [stdout, stderr] = [keep(process.stdout), keep(process.stderr)]
  // What is open of itself, its streams among it, which are opened when something first asks for them.
  idle ??= alive()
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, given, env)
  process.chdir(cwd)
  process.exitCode = 0
  await main(args)
  while (alive() !== idle) await new Promise((resolve) => setTimeout(resolve, 5).unref())
  const { user, system } = process.cpuUsage()
  return { exit: process.exitCode, stdout: stdout(), stderr: stderr(), seconds: (user + system) / 1e6 }
}

process.on('message', async (asked: Line) => {
  process.send!(await run(asked))
})
