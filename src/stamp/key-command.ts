import { spawn } from 'node:child_process'
import { QuorateError } from '../diagnostics/index.ts'

/** Far above any key. */
const LONGEST_OUTPUT = 64 * 1024
const LONGEST_REASON = 200

/**
 * Runs a command of the user's with `/bin/sh -c` and gives what it prints; a password manager is asked so. Its stdin is
 * closed; its stderr is shown only by its first line, and only when it fails. Throws `stamp/key-command-failed`.
 */
export function runKeyCommand(command: string, { timeoutMs }: { readonly timeoutMs: number }): Promise<string> {
  return new Promise((resolve, reject) => {
    // In the terminal's own process group: a password manager may have to ask at `/dev/tty`.
    const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let complaint = ''
    const end = (settle: () => void) => {
      clearTimeout(timer)
      child.removeAllListeners('close')
      child.kill('SIGKILL')
      // A process left behind by the shell may hold the pipes open; nothing waits for it.
      child.stdout.destroy()
      child.stderr.destroy()
      settle()
    }
    const fail = (reason: string) => end(() => reject(commandFailed(command, reason)))
    const timer = setTimeout(() => fail(`it took longer than ${timeoutMs / 1000} s`), timeoutMs)

    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (output.length > LONGEST_OUTPUT) fail('it printed more than a key')
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (complaint.length < LONGEST_OUTPUT) complaint += text
    })
    child.on('error', (error) => fail(error.message))
    child.on('close', (status, signal) => {
      if (status === 0) end(() => resolve(output))
      else fail(`it ended with ${signal ?? `status ${status}`}${firstLine(complaint)}`)
    })
  })
}

/** The first line of a complaint, cut short. */
function firstLine(text: string): string {
  const line = withoutKeys(text.trim().split('\n')[0] ?? '')
  return line === '' ? '' : ` and said: ${line.slice(0, LONGEST_REASON)}`
}

/** Blots out whatever is long enough to be a key, in the command's text too: `echo <key>` is a command. */
function withoutKeys(text: string): string {
  return text.replace(/[0-9a-zA-Z+_=-]{32,}/g, '[secret]')
}

function commandFailed(command: string, reason: string): QuorateError {
  return new QuorateError('stamp/key-command-failed', `the key command \`${withoutKeys(command)}\` failed: ${reason}`, {
    next: 'run the command by itself; it must print the key alone and exit 0',
  })
}
