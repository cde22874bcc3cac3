import type { CommandRow } from '../command.ts'
import { askAgain } from './option-rows.ts'

/** The commands that replace credentials. */
export const rotateCommands: readonly CommandRow[] = [
  {
    name: 'rotate key',
    summary: 'replace an API key: register a new one, verify it, hand it over, then delete the old one',
    options: [
      { flags: '--user <user>', meaning: 'name or id of the user' },
      { flags: '--name <key>', meaning: 'name, id or public key of the key to replace' },
      { flags: '--to-file <path>', meaning: 'key file for the new private key; the file of the old one may be given' },
      { flags: '--to-env <path:variable>', meaning: 'file in which the line VARIABLE=… gets the new private key' },
      { flags: '--to-command <command>', meaning: 'shell command that reads the new private key on stdin' },
      { flags: '--overlap <time>', meaning: 'how long both keys are valid, such as 24h, 30m or 0 (default: 24h)' },
      { flags: '--drop <key>', meaning: 'another key of the user, deleted first where there is no room for a new one' },
      askAgain,
      { flags: '--wait', meaning: 'follow it to its end, over the overlap too' },
      { flags: '--detach', meaning: 'return at the first wait; `quorate status` shows it' },
      { flags: '--yes', meaning: 'do not ask for confirmation' },
    ],
    example: 'quorate rotate key --user ci-bot --name deploy --to-file ci-bot.key --yes',
    help: {
      description:
        'A durable workflow carries it out: what was begun goes on after any crash, and waits for approval as long as it takes. The old key is deleted only when the API has taken the new one and the overlap has passed; if the new key proves bad or cannot be handed over, it is taken away again. The worker makes the key and hands it over, on its machine.',
      examples: [
        [
          "quorate rotate key --user ci-bot --name deploy --to-command 'vault kv put secret/ci key=-' --yes",
          'into a store of secrets',
        ],
      ],
      exits: ['waiting', 'refused', 'partial'],
      seeAlso: ['status', 'approve', 'worker'],
    },
    load: async () => (await import('./rotate.ts')).rotateKey,
  },
]
