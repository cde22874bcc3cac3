import { spawn } from 'node:child_process'

/** Far above any key or signature. */
const LONGEST_OUTPUT = 64 * 1024
const LONGEST_REASON = 200

export interface CommandRun {
  /** Run with `/bin/sh -c`. */
  readonly command: string
  /** Written to its stdin, a pipe that it may also open as `/dev/stdin`, and which is then closed. @default closed at once */
  readonly input?: Uint8Array
  readonly timeoutMs: number
  /** What it should have printed, for the error of a command that printed more than 64 KiB. */
  readonly expected: string
  /** Makes the error from why it failed, a clause, and its exit status; undefined where it did not end by itself. */
  readonly failed: (reason: string, status?: number) => Error
}

/**
 * Runs a command of the user's and gives what it prints, when it ends with status 0. Its stderr is shown only by its first line,
 * and only when it fails. Throws what `failed` makes.
 */
export function runCommand(run: CommandRun): Promise<Buffer> {
  const { command, input, timeoutMs, expected, failed } = run
  return new Promise((resolve, reject) => {
    // In the terminal's own process group: a password manager may have to ask at `/dev/tty`.
    const child = spawn('/bin/sh', ['-c', input === undefined ? command : pipedInto(command)], {
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    const output: Buffer[] = []
    let size = 0
    let complaint = ''
    const end = (settle: () => void) => {
      clearTimeout(timer)
      child.removeAllListeners('close')
      child.kill('SIGKILL')
      // A process left behind by the shell may hold the pipes open; nothing waits for it.
      child.stdin?.destroy()
      child.stdout!.destroy()
      child.stderr!.destroy()
      settle()
    }
    const fail = (reason: string, status?: number) => end(() => reject(failed(reason, status)))
    const timer = setTimeout(() => fail(`it took longer than ${timeoutMs / 1000} s`), timeoutMs)

    // A command that does not read its stdin may end before all is written.
    child.stdin?.on('error', () => undefined).end(input)
    child.stdout!.on('data', (chunk: Buffer) => {
      output.push(chunk)
      size += chunk.length
      if (size > LONGEST_OUTPUT) fail(`it printed more than ${expected}`)
    })
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      if (complaint.length < LONGEST_OUTPUT) complaint += text
    })
    child.on('error', (error) => fail(error.message))
    child.on('close', (status, signal) => {
      if (status === 0) end(() => resolve(Buffer.concat(output)))
      else fail(`it ended with ${signal ?? `status ${status}`}${firstLine(complaint)}`, status ?? undefined)
    })
  })
}

/** Node.js gives a child a socket for its stdin, which no program can open by its name: a pipe of the shell can be. */
function pipedInto(command: string): string {
  return `cat | {\n${command}\n}`
}

/** The first line of a complaint, cut short. */
function firstLine(text: string): string {
  const line = withoutSecrets(text.trim().split('\n')[0] ?? '')
  return line === '' ? '' : ` and said: ${line.slice(0, LONGEST_REASON)}`
}

/** A command's own text for people, without all that is long enough to be a key: `echo <key>` is a command. */
export function withoutSecrets(command: string): string {
  return command.replace(/[0-9a-zA-Z+_=-]{32,}/g, '[secret]')
}
