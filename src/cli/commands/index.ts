import { apiName, type CommandRow, openingWith, valueOptions } from '../command.ts'
import {
  askAgain,
  comparedPlans,
  guards,
  jsonInto,
  markdown,
  payeeNames,
  proofOptions,
  revert,
  target,
  votePasskey,
  voteReason,
  wait,
} from './option-rows.ts'
import { formatting, policyCommands } from './policy/index.ts'
import { sendCommands } from './send-rows.ts'
import { serviceCommands } from './service-rows.ts'

const folder = { folder: 'folder of definitions (default: the current folder)' }

const loadWatch = async () => import('./watch.ts')

/** Commands that watch organizations. */
const watchCommands: readonly CommandRow[] = [
  {
    name: 'watch add',
    summary: 'look at the organization again and again, and report, propose or repair what is not as defined',
    args: '[folder]',
    argMeanings: { folder: 'folder of definitions, with --git its path in the repository (default: the current one)' },
    options: [
      ...valueOptions,
      { flags: '--from <source>', meaning: '`push`: definitions come from `quorate push`, without a folder here' },
      {
        flags: '--signer <public-key>',
        meaning: 'with --from push: a P-256 public key whose pushes count; may be repeated',
        repeatable: true,
      },
      { flags: '--git <url>', meaning: 'definitions come from this Git repository, https:// or ssh://' },
      { flags: '--branch <name>', meaning: 'with --git: the branch' },
      {
        flags: '--allowed-signers <file>',
        meaning: 'with --git: whose signatures on commits count, as ssh-keygen(1) has such files',
      },
      { flags: '--every <time>', meaning: 'how often, over `watch:` of the definitions (default: 1m)' },
      { flags: '--sweep <time>', meaning: 'how often all is read although no activity is new (default: 1h)' },
      {
        flags: '--kind <kind=mode>',
        meaning: 'ignore, report, propose or repair a kind, such as `policies=repair`; may be repeated',
        repeatable: true,
      },
    ],
    example: 'quorate watch add definitions/acme --every 5m --kind policies=repair',
    help: {
      description:
        'Keeps the definitions, with the values that they refer to, beside the plans that the worker applies, and has a Temporal Schedule look at the organization from now on. Run it again after a change of the definitions, from CI for instance: what it was given last is what counts. It needs a worker, and no working tree where that runs. Whatever is not told otherwise is reported and nothing more.',
      examples: [
        ['quorate watch add definitions/acme', 'report what drifts, once a minute'],
        ['quorate watch add --from push --signer 02ab…', 'take what a pipeline pushes, signed with its key'],
        [
          'quorate watch add --git https://git.acme.example/acme --branch main --allowed-signers signers',
          'take signed commits',
        ],
      ],
      seeAlso: ['push', 'watch list', 'watch pause', 'status', 'worker', 'plan'],
    },
    // A folder of a repository elsewhere is not looked for here.
    opening: (args, settings, { git, from }) =>
      git === undefined && from === undefined
        ? openingWith((where) => `Planning ${where} …`)(args, settings, {})
        : 'Planning definitions from elsewhere …',
    load: async () => (await loadWatch()).add,
  },
  {
    name: 'watch list',
    summary: 'say how each watched organization stands: last good, what drifted and by whom, next look',
    example: 'quorate watch list',
    help: {
      description:
        'Says of each organization that is watched from this data folder when it was last as defined, what has drifted since when and who did it, what waits for approval, why a repair is held, and when it is looked at next.',
      examples: [['quorate watch list --json', 'as data']],
      seeAlso: ['watch add', 'status'],
    },
    load: async () => (await loadWatch()).list,
  },
  {
    name: 'watch pause',
    summary: 'look at the organization no more until it is resumed',
    options: [{ flags: '--because <text>', meaning: 'why, told to everybody who asks how it stands' }],
    example: 'quorate watch pause --because INC-7',
    help: {
      description: 'Nothing is looked at and nothing repaired until `watch resume`. An apply that was begun goes on.',
      seeAlso: ['watch resume', 'watch run', 'status'],
    },
    load: async () => (await loadWatch()).pause,
  },
  {
    name: 'watch resume',
    summary: 'look at the organization again, and try once more what was held',
    example: 'quorate watch resume',
    help: {
      description:
        'Ends a pause, and lets a repair go on that was held because the same things were changed again and again, or because the last one failed.',
      seeAlso: ['watch pause', 'watch list'],
    },
    load: async () => (await loadWatch()).resume,
  },
  {
    name: 'watch run',
    summary: 'look at the organization now',
    example: 'quorate watch run',
    help: {
      description:
        'Looks once, also while it is paused; after the look that runs, if one does. Waits for its end, up to 20 s, and shows what it has found.',
      seeAlso: ['watch list', 'watch pause'],
    },
    load: async () => (await loadWatch()).run,
  },
  {
    name: 'watch remove',
    summary: 'stop watching the organization',
    example: 'quorate watch remove',
    help: {
      description: 'Deletes the Schedule and forgets what was found. An apply that was begun goes on.',
      seeAlso: ['watch add', 'watch pause'],
    },
    load: async () => (await loadWatch()).remove,
  },
]

/** Puts definitions where watches take them from. */
const pushCommand: CommandRow = {
  name: 'push',
  summary: 'sign definitions and put them into the plan store, for organizations that are watched from there',
  args: '[folder]',
  argMeanings: folder,
  options: valueOptions,
  example: 'quorate push definitions/acme',
  help: {
    description:
      'Checks the folder, and puts its files with the values that they refer to into the plan store under their digest, with a document that names the organization, the digest and the time and is signed with the key in use (P-256). `watch add --from push --signer KEY` has a worker take the newest of them from there. It asks the API nothing and needs no key of the plan store: where the data folder does not say where that is, QUORATE_PLAN_STORE does. What is older than the last push with the same key is refused.',
    examples: [['quorate push definitions/acme --json', 'digest, key and time as data, for the log of a pipeline']],
    exits: ['refused'],
    seeAlso: ['watch add', 'validate', 'plan'],
  },
  opening: openingWith((where) => `Checking ${where} …`),
  load: async () => (await import('./push.ts')).push,
}

/** Every command, in the order in which help lists them. */
export const commands: readonly CommandRow[] = [
  {
    name: 'up',
    summary: 'bring up service, Temporal and worker in the background, and apply definitions to it',
    args: '[folder]',
    argMeanings: { folder: 'folder of definitions to apply, with demo approvers (default: none, only come up)' },
    options: valueOptions,
    example: 'quorate up definitions/acme',
    help: {
      description:
        'Starts what is missing, on this machine and on 127.0.0.1 alone, and leaves it running. With a folder, it gives the definitions an organization and demo keys, plans, applies, approves as the demo approvers, and plans once more to show that nothing is left. Run again, it goes on where it was.',
      examples: [['quorate up', 'come up and apply nothing']],
      exits: ['waiting', 'refused', 'stale', 'partial'],
      seeAlso: ['down', 'status', 'plan', 'doctor'],
    },
    load: async () => (await import('./up.ts')).up,
  },
  {
    name: 'down',
    summary: 'stop the background process; its state is kept',
    example: 'quorate down',
    help: {
      description:
        'Ends the background process of the data folder. An apply that was under way goes on after the next `up`, or after the next command that acts (`apply`, `send`, `approve` …); commands that only look bring nothing up, and say since when it is down.',
      seeAlso: ['up', 'reset', 'status'],
    },
    load: async () => (await import('./down.ts')).down,
  },
  {
    name: 'reset',
    summary: 'delete the state in the data folder, after naming it; the next `up` begins anew',
    options: [{ flags: '--yes', meaning: 'do not ask for confirmation' }],
    example: 'quorate reset',
    help: {
      description:
        'Names what would be lost and asks. It deletes only what quorate itself has written into the data folder, and refuses while something works in it.',
      examples: [['quorate reset --yes', 'in a script']],
      seeAlso: ['down', 'up', 'snapshot save'],
    },
    load: async () => (await import('./reset.ts')).reset,
  },
  {
    name: 'init',
    summary: 'write first definitions for a live organization into a new folder',
    args: '<folder>',
    argMeanings: { folder: 'folder to make' },
    example: 'quorate init definitions/mine',
    help: {
      description:
        'Writes the smallest definitions that have no change against the live organization: its name, its id and its root quorum. To take over everything that lives, use `import`.',
      seeAlso: ['import', 'plan', 'validate'],
    },
    load: async () => (await import('./init.ts')).init,
  },
  {
    name: 'import',
    summary: 'make definitions follow the live organization, and write the lock file; submits nothing',
    args: '<folder>',
    argMeanings: { folder: 'folder of definitions; what is written there stays but for what differs' },
    options: [
      ...valueOptions,
      {
        flags: '--sub-organizations',
        meaning: 'also every sub-organization, each in a folder of its own; those of a template stay as they are',
      },
    ],
    example: 'quorate import definitions/mine',
    help: {
      description:
        'Reads everything that lives and writes it as definitions, with a lock file that says which live thing each name means. In a folder that has definitions already, only what differs is written; comments, order and formatting stay. The plan right after it is empty. A key that may only read is enough.',
      examples: [['quorate import definitions/mine && quorate plan definitions/mine', 'ends with `No changes.`']],
      seeAlso: ['plan', 'unmanaged', 'init', 'fmt'],
    },
    opening: ([where = '.'], settings) => `Reading ${apiName(settings)} into ${where} …`,
    load: async () => (await import('./import.ts')).follow,
  },
  {
    name: 'validate',
    summary: 'check definitions without asking the API anything',
    args: '[folder]',
    argMeanings: folder,
    options: valueOptions,
    example: 'quorate validate definitions/acme',
    help: {
      description:
        'Loads the definitions, checks every reference, field and policy expression, and reports all mistakes at their line and column. A word that no known activity has, such as a typo in a DENY, which then denies nothing, is a warning: the API may know newer ones; `policy lint` ends with 1 for it. It needs no key and no network. In GitHub Actions, mistakes annotate their lines.',
      examples: [['quorate validate definitions/acme --json', 'mistakes as data']],
      seeAlso: ['fmt', 'policy lint', 'plan'],
    },
    opening: openingWith((where) => `Checking ${where} …`),
    load: async () => (await import('./validate.ts')).validate,
  },
  {
    name: 'fmt',
    summary: 'format files of definitions in place: the order of keys, columns, and expressions; comments stay',
    args: '[path...]',
    argMeanings: { path: 'folders or files of definitions (default: the current folder)' },
    options: formatting,
    example: 'quorate fmt definitions/acme --check',
    help: {
      description:
        'Gives every file one form, so that a difference in a review is a difference in meaning. Formatting twice changes nothing.',
      examples: [['quorate fmt definitions/acme --diff', 'show what would change']],
      seeAlso: ['policy fmt', 'validate'],
    },
    load: async () => (await import('./fmt.ts')).fmt,
  },
  {
    name: 'plan',
    summary: 'show what applying would change, who must approve, and what is refused; submits nothing',
    args: '[folder]',
    argMeanings: folder,
    options: [
      ...valueOptions,
      target,
      ...guards,
      askAgain,
      {
        flags: '--as <user>',
        meaning: 'forecast the plan as if this user, by name or id, applied it (default: the user of the key in use)',
      },
      {
        flags: '--out <file>',
        writes: true,
        meaning: 'save the plan, to be applied as it is with `quorate apply FILE`',
      },
      markdown,
      jsonInto,
      { flags: '--detailed-exitcode', meaning: 'exit with 2 when there are changes' },
    ],
    example: 'quorate plan definitions/acme --out plan.json',
    help: {
      description:
        'Compares definitions with the live organization: each change with its fields and its place, the activities it takes, what will come of each, who gains or loses power, and what a guard refuses. The client that plans has no way to submit. A saved plan can be reviewed and applied as it is, once.',
      examples: [
        ['quorate plan definitions/acme --detailed-exitcode --markdown plan.md', 'in a pipeline'],
        ['quorate plan definitions/acme --as ci-apply', 'with a key that only reads, told for the user that applies'],
        ['quorate plan definitions/acme --allow-delete', 'let it delete what should go'],
        ['quorate plan definitions/acme --target user.dana', 'a part: dana, her keys and the tags that she is to have'],
      ],
      exits: ['changes', 'refused'],
      seeAlso: ['apply', 'show', 'unmanaged', 'policy explain'],
    },
    opening: openingWith((where, api) => `Planning ${where} against ${api} …`),
    load: async () => (await import('./plan.ts')).plan,
  },
  {
    name: 'apply',
    summary: 'carry out a saved plan, or plan definitions and carry that out',
    args: '[plan-or-folder]',
    argMeanings: {
      'plan-or-folder': 'plan saved by `quorate plan --out`, or a folder of definitions (default: the current folder)',
    },
    options: [
      ...valueOptions,
      target,
      ...guards,
      askAgain,
      { flags: '--yes', meaning: 'do not ask for confirmation' },
      { flags: '--detach', meaning: 'start it and return at once; follow it with `quorate status`' },
      wait,
      { flags: '--events', meaning: 'print one JSON event a line as it goes; the first names the version' },
      jsonInto,
    ],
    example: 'quorate apply plan.json',
    help: {
      description:
        'A durable workflow submits each activity once and keeps its bytes, so that a crash of anything changes nothing but time. On a terminal it follows to the end, and Ctrl-C only stops looking. Anywhere else it exits with 3 at the first wait for people; the next apply finds what waits and makes nothing twice. A saved plan that was edited, spent, or left behind by the organization is refused; it takes no `--allow`, `--allow-delete` or `--target`, and `--var` only with the values that it was made with, to write the lock.',
      examples: [
        ['quorate apply definitions/acme', 'plan, ask, and carry it out'],
        ['quorate apply plan.json --events --json-into result.json', 'in a pipeline'],
      ],
      exits: ['waiting', 'refused', 'stale', 'partial'],
      seeAlso: ['plan', 'status', 'activities', 'approve'],
    },
    opening: openingWith((what, api) => `Applying ${what} to ${api} …`),
    load: async () => (await import('./apply.ts')).apply,
  },
  ...sendCommands,
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
  {
    name: 'incident key',
    summary: 'say where a leaked API key is registered, what it could do and did, and cut it off',
    args: '<public-key>',
    argMeanings: { 'public-key': 'the public half of the key, in hex' },
    options: [
      { flags: '--contain', meaning: 'cut it off first, then read what it did' },
      { flags: '--since <time>', meaning: 'what it did since then: a time as ISO 8601, or 30d (default: all of it)' },
      {
        flags: '--made-for-others',
        meaning: 'with --contain and --since: also delete credentials that were made for other users since then',
      },
      {
        flags: '--everywhere',
        meaning:
          'also look through every organization inside in which the key is no longer registered, two requests each (default: where it is registered)',
      },
      { flags: '--leaked-key-file <file>', meaning: 'the private key, to prove that the API refuses it afterwards' },
      { flags: '--delete-user', meaning: 'delete a user who has no other way in: the API keeps the last credential' },
      {
        flags: '--timeline <file>',
        writes: true,
        meaning: 'write a timeline in Markdown (with --contain by default into the data folder)',
      },
      ...revert,
      { flags: '--yes', meaning: 'do not ask for confirmation' },
    ],
    example: `quorate incident key 02${'ab'.repeat(32)}`,
    help: {
      description:
        'Looks in the organization and in its sub-organizations. `--contain` asks once, and then: plans of this data folder may no longer name the key; the key and every credential that it made are deleted; waiting activities that it requested or approved are rejected; where its deletion waits for others, a policy that denies whatever it approves is requested. Sub-organizations follow, each as it is found; without `--yes` all are shown first, and a second question is asked. Each step is looked for before it is submitted, so the same command may be given again. It needs no Temporal.',
      examples: [
        ['quorate incident key "$PUBLIC_KEY" --contain --since 7d --yes', 'cut it off, then say what it did in a week'],
      ],
      exits: ['waiting', 'refused', 'partial'],
      seeAlso: ['incident user', 'rotate key', 'who-can', 'activities'],
    },
    load: async () => (await import('./incident.ts')).incidentKey,
  },
  {
    name: 'incident user',
    summary: 'cut off a user whose credentials somebody else may have, and say what the user could do and did',
    args: '<user>',
    argMeanings: { user: 'name or id of the user' },
    options: [
      { flags: '--contain', meaning: 'cut the user off first, then read what the user did' },
      { flags: '--since <time>', meaning: 'what was done since then: a time as ISO 8601, or 30d (default: all of it)' },
      {
        flags: '--made-for-others',
        meaning: 'with --contain and --since: also delete credentials that were made for other users since then',
      },
      { flags: '--delete-user', meaning: 'delete the user: otherwise the last credential stays, denied by a policy' },
      {
        flags: '--timeline <file>',
        writes: true,
        meaning: 'write a timeline in Markdown (with --contain by default into the data folder)',
      },
      ...revert,
      { flags: '--yes', meaning: 'do not ask for confirmation' },
    ],
    example: 'quorate incident user ci-bot',
    help: {
      description:
        'For a stolen laptop, or a person who is not to be trusted any more. With `--contain`, after one question: a policy that denies whatever the user approves is asked for; the user leaves the root quorum; every credential but the one that the API keeps is deleted, or the user with `--delete-user`; what the user asked for or approved and still waits is rejected; the user’s API keys are cut off in the organizations inside after that, without `--yes` after a second question. The same command may be given again. It needs no Temporal.',
      examples: [['quorate incident user ann --contain --delete-user --yes', 'cut her off and delete her']],
      exits: ['waiting', 'refused', 'partial'],
      seeAlso: ['incident key', 'who-can', 'activities'],
    },
    load: async () => (await import('./incident.ts')).incidentUser,
  },
  {
    name: 'show',
    summary: 'show a saved plan and say whether the live organization has moved since',
    args: '<plan>',
    argMeanings: { plan: 'plan saved by `quorate plan --out`' },
    options: [markdown, jsonInto, { flags: '--offline', meaning: 'do not compare it with the live organization' }],
    example: 'quorate show plan.json',
    help: {
      description:
        'Shows a plan as it was made, however old, and marks it when the organization has moved. It refuses nothing; `apply` does.',
      examples: [['quorate show plan.json --offline --markdown -', 'as Markdown, without asking the API']],
      seeAlso: ['plan', 'apply'],
    },
    load: async () => (await import('./show.ts')).show,
  },
  {
    name: 'unmanaged',
    summary: 'list what is live and in no definition',
    args: '[folder]',
    argMeanings: folder,
    options: valueOptions,
    example: 'quorate unmanaged definitions/acme',
    help: {
      description:
        'Lists live things that definitions leave alone, with their ids: what an import would add, or `manage: all` would delete.',
      examples: [['quorate unmanaged definitions/acme --json', 'as data']],
      seeAlso: ['import', 'plan'],
    },
    opening: openingWith((where, api) => `Reading ${where} and ${api} …`),
    load: async () => (await import('./unmanaged.ts')).unmanaged,
  },
  {
    name: 'who-can',
    summary: 'say who can sign, send, export, or change who may',
    args: '[power...]',
    argMeanings: {
      power:
        'sign, send, export, import, policies, quorum, users, credentials, features, wallets or organizations (default: all)',
    },
    options: [
      ...valueOptions,
      { flags: '--wallet <name>', meaning: 'only over this wallet' },
      { flags: '--key <name>', meaning: 'only over this private key' },
      { flags: '--why', meaning: 'also the policies that are named, with their text, who made and last changed them' },
      {
        flags: '--indirect',
        meaning: 'also who could get the power by changing tags, users, credentials or policies first',
      },
      { flags: '--user <name>', meaning: 'only sets of people that this user, by name or id, is in' },
      {
        flags: '--at <time>',
        meaning: 'as the organization was then, from its activities: 2026-06-30, or with time and zone',
      },
      {
        flags: '--diff <a..b>',
        meaning:
          'who gains or loses what from A to B, each a time, `now`, or a folder of definitions that would be applied',
      },
      { flags: '--as-code <folder>', meaning: 'by the definitions in a folder alone; nothing is asked of the API' },
      { flags: '--csv', meaning: 'print it as CSV' },
      { flags: '--markdown', meaning: 'print Markdown' },
    ],
    example: 'quorate who-can sign --wallet treasury',
    help: {
      description:
        'Reads the live organization and names, for each power, the smallest sets of people who have it together, counting every credential and login of theirs and every order of their votes. What depends on the request is given as a condition. To change policies, tags, credentials or the quorum is a power of its own; `--indirect` follows what people could gain by such changes, by a shortest path, and names who is as good as the root quorum. It submits nothing; a key that may only read is enough. It exits with 6 where something is unknown.',
      examples: [
        ['quorate who-can --json', 'as data, with a digest of the state'],
        ['quorate who-can sign --indirect', 'and who could get there by moves'],
        ['quorate who-can --diff 2026-06-30..now', 'what has changed since'],
        ['quorate who-can --as-code definitions/acme', 'before anything is applied'],
        ['quorate who-can sign --why --markdown', 'with what it rests on and whose that is, for an auditor'],
      ],
      exits: ['partial'],
      seeAlso: ['plan', 'policy explain', 'unmanaged'],
    },
    load: async () => (await import('./who-can.ts')).whoCan,
  },
  {
    name: 'status',
    summary: 'say how the apply of this organization stands: done, waiting, on whom, since when',
    options: [
      { flags: '--follow', meaning: 'stay and show progress until it ends' },
      {
        flags: '--watch',
        meaning:
          'look again every five seconds, and print the state each time that it has changed, with --json on one line; until Ctrl-C or `--wait`',
      },
      wait,
      { flags: '--cancel', meaning: 'stop it at the next safe point' },
    ],
    example: 'quorate status --follow',
    help: {
      description:
        'Asks the workflow of the organization at Temporal: every machine that reaches the same server is told the same. For an apply that waits, the API is asked at that moment who has voted; with `--json` and `--watch` the votes are as last seen, at most a minute ago. It starts nothing: where nothing runs, it says so and exits with 1. For a probe: it exits with 0 while an apply runs or is done, and with the apply’s own code where that waits, is stale or has failed.',
      examples: [
        ['quorate status', 'once'],
        ['quorate status --watch --wait 10m', 'for ten minutes; exits as the last look would'],
        ['quorate status --cancel', 'stop before the next submit; what was submitted stays'],
      ],
      exits: ['waiting', 'stale', 'partial'],
      seeAlso: ['apply', 'activities', 'watch list'],
    },
    opening: () => 'Asking Temporal how the apply stands …',
    load: async () => (await import('./status.ts')).status,
  },
  {
    name: 'activities',
    summary: 'list activities, newest first; what waits for you, oldest first',
    options: [
      { flags: '--waiting', meaning: 'only those that wait for your approval' },
      { flags: '--all', meaning: 'with --waiting: also what you have approved, and what waits for others' },
      { flags: '--limit <count>', meaning: 'how many (default: 20)' },
      payeeNames,
    ],
    example: 'quorate activities --waiting',
    help: {
      description:
        'Shows each activity with its short code, its status, who requested it, and its id; of what waits also what it would change. `review` shows one whole, with its votes.',
      examples: [
        ['quorate activities --waiting --all', 'also what waits for others'],
        ['quorate activities --limit 100 --json', 'as data'],
      ],
      seeAlso: ['approvals', 'status'],
    },
    opening: (_, settings) => `Reading activities of ${apiName(settings)} …`,
    load: async () => (await import('./activities.ts')).activities,
  },
  {
    name: 'evidence',
    summary: 'write what decided an activity into a file that can be checked without access to the organization',
    args: '<activity>',
    argMeanings: { activity: 'id or fingerprint of an activity, or the short code of a waiting one' },
    options: [{ flags: '--out <file>', writes: true, meaning: 'write it there instead of printing it' }],
    example: 'quorate evidence 018c1f6a-7f3a-7c21-9d52-aa51d4a1c9d0 --out payment.json',
    help: {
      description:
        'Holds the bytes that were submitted, every vote with its stamp, the people, policies and wallets that decided, and what the service says that each policy made of it, signed with the key in use. It holds no result and no private key; an ID token that was submitted is in it whole, since that is what was signed. Submits nothing; a key that may read suffices.',
      seeAlso: ['evidence verify', 'review', 'policy explain'],
    },
    load: async () => (await import('./evidence.ts')).evidence,
  },
  {
    name: 'evidence verify',
    summary: 'check evidence again, without asking anybody: stamps, votes, and the decision',
    args: '<file>',
    argMeanings: { file: 'what `quorate evidence` has written' },
    options: [{ flags: '--collector <public-key>', meaning: 'the key that must have signed it; with none, any' }],
    example: 'quorate evidence verify payment.json --collector 02ab…',
    help: {
      description:
        'Checks the submitted bytes, each signature and whose key made it, and whether the policies decide as recorded; says what holds, what is broken, and what the file cannot tell. People and policies are as the collector has signed them: get the public key of the collector from elsewhere, and give it as `--collector`. It exits with 1 where anything is broken, and with 6 where something cannot be told.',
      exits: ['partial'],
      seeAlso: ['evidence'],
    },
    load: async () => (await import('./evidence.ts')).verify,
  },
  {
    name: 'approvals',
    summary: 'list what waits for the vote of the key in use, oldest first',
    options: [
      { flags: '--all', meaning: 'also what you have approved, and what waits for others' },
      comparedPlans,
      payeeNames,
    ],
    example: 'quorate approvals --key-file .quorate/keys/bob.json',
    help: {
      description:
        'For each activity: its short code; what it changes, or whom it pays how much; who requested it and when; the plan and commit that ask for it; whose approval it still needs, and whether yours counts. An activity that no known plan asks for is marked as made outside; a rotation or a send of this data folder is named as that; where no plan is known, that is said. --definitions names payees. References, and the rows of a batch together, come from the ledger of this data folder.',
      examples: [['quorate approvals --plan plan.json', 'held against the plan that you have approved']],
      seeAlso: ['review', 'approve', 'reject', 'activities'],
    },
    opening: (_, settings) => `Reading what waits at ${apiName(settings)} …`,
    load: async () => (await import('./approvals.ts')).approvals,
  },
  {
    name: 'review',
    summary:
      'show what a waiting activity would change, who gains or loses power by it, and whose approval it still needs',
    args: '<activity>',
    argMeanings: { activity: 'its id, its fingerprint, or the short code that plan and status show' },
    options: [comparedPlans, payeeNames],
    example: 'quorate review 7f3a-19c2 --key-file .quorate/keys/bob.json',
    help: {
      description:
        'The change is rebuilt from the activity’s own intent and from the live organization, not from anybody’s words about it. Votes are counted as the service counts them. It casts no vote.',
      examples: [['quorate review 7f3a-19c2 --plan plan.json', 'and says where it is not what that plan says']],
      seeAlso: ['approvals', 'approve', 'reject'],
    },
    opening: (_, settings) => `Reading the activity at ${apiName(settings)} …`,
    load: async () => (await import('./review.ts')).review,
  },
  {
    name: 'approve',
    summary: 'vote for waiting activities with the key in use, after showing what they do',
    args: '[activity...]',
    argMeanings: { activity: 'its id, its fingerprint, or the short code that plan and status show; several at once' },
    options: [
      { flags: '--yes', meaning: 'do not ask for confirmation' },
      voteReason,
      comparedPlans,
      {
        flags: '--despite-mismatch',
        meaning:
          'approve also an activity that asks for something else than its plan; of a batch, one whose names look like others',
      },
      {
        flags: '--batch <file>',
        meaning: 'CSV of sends, as `quorate send --batch` reads it: approve what waits for its rows',
      },
      payeeNames,
      votePasskey,
      ...proofOptions,
    ],
    example: 'quorate approve 7f3a-19c2 --key-file .quorate/keys/bob.json',
    help: {
      description:
        'Shows what the activity itself asks for, not what anybody says about it, asks once, and votes. Your key decides whose vote it is; a vote lapses after 24 hours. Several activities are all shown and checked before the first vote; where a vote fails, the command says which votes were cast, which is unknown and which were not cast, and exits with 6. It also exits with 6 where an activity has ended otherwise than you vote. With --batch each row of a file of sends is shown with its payee, amount, reference and fee ceiling; nothing is voted while any activity asks for something else than its row. Each row has its own result, and the same command again votes on what is left: it exits with 6 while a row was not submitted yet, was refused or has ended unpaid. A further factor that an MFA policy asks of you is given by approving once more with `--passkey`, `--email`, `--phone` or `--oidc`; with --batch by `--passkey`, whose page opens for each row.',
      examples: [
        ['quorate approve 7f3a-19c2 d031-77e0 --reason "as agreed"', 'two at once'],
        ['quorate approve 7f3a-19c2 --passkey', 'by the passkey that is still missing'],
        ['quorate approve --batch march.csv --definitions mine', 'all rows of a batch of sends'],
      ],
      exits: ['refused', 'partial'],
      seeAlso: ['approvals', 'review', 'reject', 'policy explain'],
    },
    load: async () => (await import('./vote.ts')).approve,
  },
  {
    name: 'reject',
    summary: 'vote against waiting activities with the key in use; each ends for good',
    args: '[activity...]',
    argMeanings: { activity: 'its id, its fingerprint, or the short code that plan and status show; several at once' },
    options: [
      { flags: '--yes', meaning: 'do not ask for confirmation' },
      voteReason,
      comparedPlans,
      {
        flags: '--batch <file>',
        meaning: 'CSV of sends, as `quorate send --batch` reads it: reject what waits for its rows',
      },
      payeeNames,
      votePasskey,
      ...proofOptions,
    ],
    example: 'quorate reject 7f3a-19c2 --key-file .quorate/keys/bob.json',
    help: {
      description:
        'Shows what the activity asks for, and votes against it. An apply that waited for it ends as rejected, and requests it again only with `apply --ask-again`. What was carried out already is not undone: the command says so and exits with 6. With --batch everything that waits under the references of a file of sends is shown and rejected after one question, also an activity that asks for something else than its row; it exits with 6 while a row was not submitted yet, was refused or is paid already.',
      examples: [['quorate reject --batch march.csv --definitions mine', 'all rows of a batch of sends']],
      exits: ['partial'],
      seeAlso: ['activities', 'approve'],
    },
    load: async () => (await import('./vote.ts')).reject,
  },
  pushCommand,
  ...watchCommands,
  ...serviceCommands,
  {
    name: 'codec-server',
    summary: 'let Temporal’s UI and CLI show what workflows of this data folder hold',
    options: [
      { flags: '--port <port>', meaning: 'port on 127.0.0.1 to listen at (default: a free one)' },
      {
        flags: '--origin <url>',
        meaning: 'a page that may ask from a browser, such as Temporal’s UI; may be repeated (default: none)',
        repeatable: true,
      },
      {
        flags: '--token-file <file>',
        meaning:
          'file of its owner alone with what callers must know (default: `codec.token` in the data folder, made at first use)',
      },
    ],
    example: 'quorate codec-server --port 8081 --origin http://localhost:8233',
    help: {
      description:
        'Payloads at Temporal are sealed. This opens them for a person who reads a history: it answers `/decode` on 127.0.0.1 until Ctrl-C, for who has the token, as `Authorization: Bearer …` or as the first part of the path. Temporal’s UI is given `http://127.0.0.1:8081/TOKEN` as its codec server, and its CLI `--codec-endpoint http://127.0.0.1:8081 --codec-auth "Bearer TOKEN"`. It opens with each key of the data folder, the newest and the older ones, and seals nothing: what Temporal’s UI sends to a workflow is refused by workers. What it cannot open is given back as it came.',
      seeAlso: ['worker', 'status'],
    },
    load: async () => (await import('./codec-server.ts')).codecServer,
  },
  {
    name: 'worker',
    summary: 'run a worker in the foreground, against the Temporal of TEMPORAL_ADDRESS or the embedded one',
    options: [
      {
        flags: '--metrics-port <port>',
        meaning: 'serve /metrics and /healthz at this port of 127.0.0.1, 0 for a free one (default: none)',
      },
      { flags: '--build-id <id>', meaning: 'the version that this worker is at Temporal (default: none)' },
      {
        flags: '--versioning <how>',
        meaning:
          '`auto-upgrade`: workflows go on at the current version (default); `pinned`: they end where they began',
      },
      { flags: '--current', meaning: 'make this version the current one, which takes new workflows' },
      {
        flags: '--webhook-port <port>',
        meaning:
          'take webhooks at /webhooks of this port of 127.0.0.1: a change is looked at when it is made (default: none)',
      },
    ],
    example: 'quorate worker',
    help: {
      description:
        'Carries out applies for one organization with one key. Several may run, with keys of one and the same user: what one leaves, another takes up, with its own key. On SIGTERM it takes nothing new, gives the steps it is at ten seconds to end, and exits 0. Its log is JSON on stdout.',
      examples: [
        ['TEMPORAL_ADDRESS=temporal:7233 quorate worker', 'with a Temporal server of your own'],
        ['quorate worker --metrics-port 9464', 'with metrics for Prometheus and a health probe'],
        ['quorate worker --build-id 0.1.0 --current', 'as a version that takes over from the one before'],
        ['quorate worker --webhook-port 9465', 'look at a watched organization as soon as something is done there'],
      ],
      seeAlso: ['apply', 'status', 'doctor'],
    },
    load: async () => (await import('./worker.ts')).worker,
  },
  {
    name: 'key new',
    summary: 'make an API key: the private half in a file, the public half as definitions take it',
    args: '<file>',
    argMeanings: { file: 'file to make, readable by you alone; never overwritten' },
    options: [{ flags: '--curve <curve>', meaning: 'p256, secp256k1 or ed25519 (default: p256)' }],
    example: 'quorate key new deploy.json',
    help: {
      description:
        'Asks the API nothing and registers nothing: what it prints belongs under `apiKeys` of a user in the definitions, and an apply registers it. The file is one that `--key-file` takes. A key that is registered is replaced by `quorate rotate key`.',
      examples: [['quorate key new ci.json --curve ed25519 --json', 'as data']],
      seeAlso: ['key show', 'rotate key', 'whoami'],
    },
    load: async () => (await import('./key.ts')).newKey,
  },
  {
    name: 'key show',
    summary: 'show the public half of the key in use, as definitions take it',
    example: 'quorate key show --key-file deploy.json',
    help: {
      description:
        'Takes a key wherever the settings take one: a file, a variable, a command or a keeper. Asks the API nothing.',
      seeAlso: ['key new', 'whoami'],
    },
    load: async () => (await import('./key.ts')).showKey,
  },
  {
    name: 'login',
    summary: 'log a person in, and work with their session until it expires: no key in a file is needed',
    options: [
      { flags: '--passkey', meaning: 'by a passkey in the browser, made with --new-passkey (default)' },
      ...proofOptions,
      {
        flags: '--new-passkey <name>',
        meaning: 'make a passkey in the browser, and print what definitions say of it; submits nothing',
      },
    ],
    example: 'quorate login --email alice@example.com',
    help: {
      description:
        'Makes a key on this machine, has the API take it as the key of a session of yours (15 minutes unless the organization says otherwise), asks the API with it who you are, and keeps it in the keychain of the system or in a file that only you can read. Until the session ends, every command without another key works as you. A passkey belongs to `localhost`: make it with `--new-passkey`, and an administrator registers it under your user in the definitions. A code is sent by the authentication proxy, and logs in where a feature of the organization allows it.',
      examples: [
        ['quorate login --new-passkey laptop', 'once: prints what definitions say of the passkey'],
        ['quorate login', 'by the passkey'],
        ['quorate login --oidc https://accounts.google.com --client-id 1234.apps.example', 'at a provider'],
        ['quorate login --oidc https://id.acme.test --client-id cli --device', 'where this machine has no browser'],
      ],
      seeAlso: ['logout', 'whoami', 'approve', 'doctor'],
    },
    load: async () => (await import('./login.ts')).login,
  },
  {
    name: 'logout',
    summary: 'end the session of this organization, at the API and here',
    example: 'quorate logout',
    help: {
      description:
        'Deletes the key of the session at the API with the key itself, and forgets it here. Where the API cannot be reached, the key is forgotten all the same; the exit is 1, and it says until when the API would still take it.',
      seeAlso: ['login', 'whoami'],
    },
    load: async () => (await import('./logout.ts')).logout,
  },
  {
    name: 'whoami',
    summary: 'ask the API who is asking, with the key or session in use',
    example: 'quorate whoami',
    help: {
      description: 'Shows the user and the organization that the API knows the key by, and until when a session lasts.',
      seeAlso: ['login', 'doctor'],
    },
    load: async () => (await import('./whoami.ts')).whoami,
  },
  {
    name: 'doctor',
    summary: 'check Node.js, Temporal, the key, the API, the clock and the nodes of chains, and say what to mend',
    example: 'quorate doctor',
    help: {
      description:
        'Changes nothing and starts nothing. It says what it found and, for each thing that is wrong, what to do; in a pipeline it warns of a key of the root quorum.',
      examples: [['quorate doctor --json', 'as data']],
      seeAlso: ['up', 'worker'],
    },
    opening: () => 'Looking at this machine and what it reaches …',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  ...policyCommands,
  {
    name: 'completion',
    summary: 'print the completion script of a shell, made from the table of commands',
    args: '<shell>',
    argMeanings: { shell: 'bash, zsh or fish' },
    example: 'quorate completion bash',
    help: {
      description:
        'Completes commands and options, and files where one belongs; the script asks quorate nothing when it runs.',
      examples: [
        ['source <(quorate completion bash)', 'in ~/.bashrc'],
        ['quorate completion fish > ~/.config/fish/completions/quorate.fish', 'for fish'],
      ],
      seeAlso: ['doctor'],
    },
    load: async () => (await import('./completion.ts')).completion,
  },
  {
    name: 'background',
    summary: 'what `up` runs in the background',
    hidden: true,
    example: 'quorate background',
    load: async () => (await import('../background/process.ts')).background,
  },
]
