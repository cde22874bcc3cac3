/** The rows of the commands that rotate keys and secrets. */
import { type CommandRow, valueOptions } from '../command.ts'
import { askAgain } from './option-rows.ts'

export const rotationCommands: readonly CommandRow[] = [
  {
    name: 'rotate key',
    summary: 'replace an API key: register a new one, verify it, hand it over, then delete the old one',
    options: [
      { flags: '--user <user>', meaning: 'name or id of the user' },
      { flags: '--name <key>', meaning: 'name, id or public key of the key to replace' },
      { flags: '--to-file <path>', meaning: 'key file for the new private key; the file of the old one may be given' },
      { flags: '--to-env <path:variable>', meaning: 'file in which the line VARIABLE=… gets the new private key' },
      {
        flags: '--to-store <store:secret>',
        meaning: 'secret of Vault, AWS Secrets Manager or Kubernetes, such as vault:secret/ci#key',
      },
      { flags: '--to-command <command>', meaning: 'shell command that reads the new private key on stdin' },
      {
        flags: '--give-up-after <time>',
        meaning:
          'with --to-store: how long a store that does not answer is asked before the new key is deleted again (default: 24h)',
      },
      { flags: '--overlap <time>', meaning: 'how long both keys are valid, such as 24h, 30m or 0 (default: 24h)' },
      { flags: '--drop <key>', meaning: 'another key of the user, deleted first where there is no room for a new one' },
      { flags: '--definitions <folder>', meaning: 'print a patch that puts the new public key into these definitions' },
      { flags: '--write', meaning: 'put it into the files and the lock instead of printing the patch' },
      { flags: '--commit', meaning: 'write it, and commit those files alone on the branch that is checked out' },
      { flags: '--all', meaning: 'every long-lived key of every user that is old enough, one after the other' },
      { flags: '--older-than <time>', meaning: 'with --all: how old a key must be, such as 90d' },
      {
        flags: '--except <user>',
        meaning: 'with --all: name or id of a user whose keys are left alone; may be repeated',
        repeatable: true,
      },
      ...valueOptions,
      askAgain,
      { flags: '--wait', meaning: 'follow it to its end, over the overlap too' },
      { flags: '--detach', meaning: 'return at the first wait; `quorate status` shows it' },
      { flags: '--yes', meaning: 'do not ask for confirmation' },
    ],
    example: 'quorate rotate key --user ci-bot --name deploy --to-file ci-bot.key --yes',
    help: {
      description:
        'A durable workflow carries it out: what was begun goes on after any crash, and waits for approval as long as it takes. The old key is deleted only when the API has taken the new one and the overlap has passed; if the new key proves bad or cannot be handed over, it is taken away again. The worker makes the key and hands it over, on its machine. With `--all` the limits of every user are counted first; the next key is begun when the one before is handed over, or waits for people, and none once one has failed. The command may be ended and given again: it goes on with what is still due.',
      examples: [
        [
          'quorate rotate key --user ci-bot --name deploy --to-store vault:secret/ci#key --yes',
          'into a store of secrets',
        ],
        [
          'quorate rotate key --all --older-than 90d --to-store "vault:secret/{user}#{key}" --yes',
          'every key that is 90 days old',
        ],
      ],
      exits: ['waiting', 'refused', 'partial'],
      seeAlso: ['rotate oauth2', 'rotate auth-proxy', 'status', 'approve', 'worker'],
    },
    load: async () => (await import('./rotate.ts')).rotateKey,
  },
  {
    name: 'rotate oauth2',
    summary: 'replace the client secret of an OAuth 2.0 credential, and check a login with it',
    args: '<credential>',
    argMeanings: { credential: 'id of the credential, or the id that the provider gave to its client' },
    options: [
      { flags: '--from-file <path>', meaning: 'file of its owner alone with the new secret' },
      { flags: '--from-env <variable>', meaning: 'variable with the new secret' },
      { flags: '--from-command <command>', meaning: 'shell command that prints the new secret' },
      {
        flags: '--redirect-uri <uri>',
        meaning: 'check a login: where the provider sends the browser back to, as it is registered there',
      },
      { flags: '--login-page <url>', meaning: 'where the provider logs people in, instead of its public page' },
      { flags: '--encryption-key <hex>', meaning: 'key of the service that secrets are encrypted to' },
      { flags: '--service-keys <file>', meaning: '`bootstrap.json` of the service, which has that key' },
      { flags: '--yes', meaning: 'do not ask for confirmation' },
    ],
    example: 'quorate rotate oauth2 CLIENT_ID --from-file secret.txt --redirect-uri https://app.example.com/signed-in',
    help: {
      description:
        'The secret that the provider has made is encrypted to the key of the service and put into the credential. With `--redirect-uri` somebody then logs in at the provider: if the provider refuses the exchange, the secret before is put back, as the API still answers it. Without a new secret only a login is checked, for instance when an update that waited has been approved.',
      exits: ['waiting', 'refused'],
      seeAlso: ['rotate key', 'approve'],
    },
    load: async () => (await import('./rotate-oauth2.ts')).rotateOauth2Secret,
  },
  {
    name: 'rotate auth-proxy',
    summary: 'give the authentication proxy another key: disable it, and enable it again',
    options: [{ flags: '--yes', meaning: 'do not ask for confirmation' }],
    example: 'quorate rotate auth-proxy',
    help: {
      description:
        'The key is the service’s own: it can be replaced only by disabling the proxy, which deletes the key, and enabling it. Nobody can log in through the proxy between the two, which is said before it is done. Ended between the two, the same command enables it.',
      exits: ['waiting', 'partial'],
      seeAlso: ['rotate key', 'doctor'],
    },
    load: async () => (await import('./rotate-auth-proxy.ts')).rotateAuthProxy,
  },
]
