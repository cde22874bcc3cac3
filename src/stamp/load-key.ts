import { Secret } from '../telemetry/index.ts'
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
  const { text, where } = await loadKeyText(reference, options)
  return parseKeyText(text.reveal(), where)
}

/** Loads the text of any key, with the words for where it was. Throws as `loadPrivateKey` does where it cannot be read. */
export async function loadKeyText(
  reference: KeyReference,
  { effectiveUser = process.geteuid?.(), timeoutMs = 30_000 }: LoadKeyOptions = {},
): Promise<{ readonly text: Secret; readonly where: string }> {
  switch (reference.kind) {
    case 'file': {
      const text = new Secret(await readKeyFile(reference.path, effectiveUser))
      return { text, where: `key file \`${reference.path}\`` }
    }
    case 'value': {
      const { value: text, name } = reference
      if (text.reveal().trim() === '') throw keyUnreadable(`\`${name}\``, 'it is empty', 'set it to a private key')
      return { text, where: `the value of \`${name}\`` }
    }
    case 'command': {
      const text = new Secret(await runKeyCommand(reference.command, { timeoutMs }))
      return { text, where: 'the output of the key command' }
    }
    default:
      return reference satisfies never
  }
}
