/** Reads command lines, runs each as `main` of the CLI does, in this one process, and sends back what it said and its exit code. */
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
  stream.write = (part: string | Uint8Array) => {
    text += typeof part === 'string' ? part : Buffer.from(part).toString()
    return true
  }
  return () => text
}

async function run({ args, env, cwd }: Line): Promise<object> {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, given, env)
  process.chdir(cwd)
  process.exitCode = 0
  const [stdout, stderr] = [keep(process.stdout), keep(process.stderr)]
  await main(args)
  return { exit: process.exitCode, stdout: stdout(), stderr: stderr() }
}

process.on('message', async (asked: Line) => {
  process.send!(await run(asked))
})
