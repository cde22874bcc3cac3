import { QuorateError } from '../diagnostics/index.ts'
import { runCommand, withoutSecrets } from './run-command.ts'

/**
 * Runs a command that prints a private key, and gives its text; a password manager is asked so. Its stdin is closed. Throws
 * `stamp/key-command-failed`.
 */
export async function runKeyCommand(command: string, { timeoutMs }: { readonly timeoutMs: number }): Promise<string> {
  const failed = (reason: string) =>
    new QuorateError('stamp/key-command-failed', `the key command \`${withoutSecrets(command)}\` failed: ${reason}`, {
      next: 'run the command by itself; it must print the key alone and exit 0',
    })
  return (await runCommand({ command, timeoutMs, expected: 'a key', failed })).toString('utf8')
}
