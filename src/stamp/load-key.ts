import type { Secret } from '../telemetry/index.ts'
import { runKeyCommand } from './key-command.ts'
import { keyUnreadable } from './key-errors.ts'
import { readKeyFile } from './key-file.ts'
import { type LoadedKey, parseKeyText } from './key-text.ts'

/** Where a private key is: a file, a value that was found under a name, or a command that prints it. */
export type KeyReference =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'value'; readonly value: Secret; readonly name: string }
  | { readonly kind: 'command'; readonly command: string }

export interface LoadKeyOptions {
  /** Whose file it must be. @default the effective user of this process; not checked where there is none */
  readonly effectiveUser?: number | undefined
  /** How long a command may take. @default 30 s */
  readonly timeoutMs?: number
}

/**
 * Loads a private key of any curve. Errors name the place and the next step, never the contents: `stamp/key-unreadable`,
 * `stamp/key-exposed`, `stamp/key-malformed`, `stamp/key-mismatch`, `stamp/key-command-failed`.
 */
export async function loadPrivateKey(reference: KeyReference, options: LoadKeyOptions = {}): Promise<LoadedKey> {
  const { effectiveUser = process.geteuid?.(), timeoutMs = 30_000 } = options
  switch (reference.kind) {
    case 'file':
      return parseKeyText(await readKeyFile(reference.path, effectiveUser), `key file \`${reference.path}\``)
    case 'value': {
      const text = reference.value.reveal()
      if (text.trim() === '') throw keyUnreadable(`\`${reference.name}\``, 'it is empty', 'set it to a private key')
      return parseKeyText(text, `the value of \`${reference.name}\``)
    }
    case 'command':
      return parseKeyText(await runKeyCommand(reference.command, { timeoutMs }), 'the output of the key command')
    default:
      return reference satisfies never
  }
}
