/** The help of each command beyond its row: paragraphs, examples, exit codes, and related commands. */
import { EXIT } from '../../diagnostics/index.ts'

export interface Page {
  /** What a reader wants to know before running it. Lines are broken where it is shown. */
  readonly description: string
  /** Further lines that can be typed, each with its purpose. */
  readonly examples?: readonly (readonly [line: string, purpose: string])[]
  /** Exits beside 0 and 1. */
  readonly exits?: readonly (keyof typeof EXIT)[]
  /** Names of commands. */
  readonly seeAlso: readonly string[]
}

/** What each exit code means. */
export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: 'done, or nothing to do',
  error: 'an error; the message says what and what to do',
  changes: 'there are changes (`plan --detailed-exitcode` alone)',
  waiting: 'it waits for approval',
  refused: 'a guard refused the plan',
  stale: 'the plan is stale: the organization has moved since it was made',
  partial: 'a part of the plan was applied',
}

/** The exits of a command with what they mean, by their code. */
export function exitsOf({ exits = [] }: Page): readonly { readonly code: number; readonly meaning: string }[] {
  const names = [...new Set<keyof typeof EXIT>(['done', 'error', ...exits])]
  return names.map((name) => ({ code: EXIT[name], meaning: EXIT_MEANINGS[name] })).sort((a, b) => a.code - b.code)
}

export const pages: Readonly<Record<string, Page>> = {
  up: {
    description:
      'Starts what is missing, on this machine and on 127.0.0.1 alone, and leaves it running. With a folder, it gives the definitions an organization and demo keys, plans, applies, approves as the demo approvers, and plans once more to show that nothing is left. Run again, it goes on where it was.',
    examples: [['quorate up', 'come up and apply nothing']],
    exits: ['waiting', 'refused', 'stale', 'partial'],
    seeAlso: ['down', 'status', 'plan', 'doctor'],
  },
  down: {
    description:
      'Ends the background process of the data folder. An apply that was under way goes on after the next `up`.',
    seeAlso: ['up', 'reset', 'status'],
  },
  reset: {
    description:
      'Names what would be lost and asks. It deletes only what quorate itself has written into the data folder, and refuses while something works in it.',
    examples: [['quorate reset --yes', 'in a script']],
    seeAlso: ['down', 'up', 'snapshot save'],
  },
  init: {
    description:
      'Writes the smallest definitions that have no change against the live organization: its name, its id and its root quorum. To take over everything that lives, use `import`.',
    seeAlso: ['import', 'plan', 'validate'],
  },
  import: {
    description:
      'Reads everything that lives and writes it as definitions, with a lock file that says which live thing each name means. In a folder that has definitions already, only what differs is written; comments, order and formatting stay. The plan right after it is empty. A key that may only read is enough.',
    examples: [['quorate import definitions/mine && quorate plan definitions/mine', 'ends with `No changes.`']],
    seeAlso: ['plan', 'unmanaged', 'init', 'fmt'],
  },
  validate: {
    description:
      'Loads the definitions, checks every reference, field and policy expression, and reports all mistakes at their line and column. It needs no key and no network. In GitHub Actions, mistakes annotate their lines.',
    examples: [['quorate validate definitions/acme --json', 'mistakes as data']],
    seeAlso: ['fmt', 'policy lint', 'plan'],
  },
  fmt: {
    description:
      'Gives every file one form, so that a difference in a review is a difference in meaning. Formatting twice changes nothing.',
    examples: [['quorate fmt definitions/acme --diff', 'show what would change']],
    seeAlso: ['policy fmt', 'validate'],
  },
  plan: {
    description:
      'Compares definitions with the live organization: each change with its fields and its place, the activities it takes, what will come of each, who gains or loses power, and what a guard refuses. The client that plans has no way to submit. A saved plan can be reviewed and applied as it is, once.',
    examples: [
      ['quorate plan definitions/acme --detailed-exitcode --markdown plan.md', 'in a pipeline'],
      ['quorate plan definitions/acme --as ci-apply', 'with a key that only reads, told for the user that applies'],
      ['quorate plan definitions/acme --allow-delete', 'let it delete what should go'],
    ],
    exits: ['changes', 'refused'],
    seeAlso: ['apply', 'show', 'unmanaged', 'policy explain'],
  },
  apply: {
    description:
      'A durable workflow submits each activity once and keeps its bytes, so that a crash of anything changes nothing but time. On a terminal it follows to the end, and Ctrl-C only stops looking. Anywhere else it exits with 3 at the first wait for people; the next apply finds what waits and makes nothing twice. A saved plan that was edited, spent, or left behind by the organization is refused.',
    examples: [
      ['quorate apply definitions/acme', 'plan, ask, and carry it out'],
      ['quorate apply plan.json --events --json-into result.json', 'in a pipeline'],
    ],
    exits: ['waiting', 'refused', 'stale', 'partial'],
    seeAlso: ['plan', 'status', 'activities', 'approve'],
  },
  send: {
    description:
      'Shows who is paid and what would come of it, asks, and begins a durable workflow that submits the send, waits for approval and tracks the transaction until it is included or has failed. A reference is sent once: asked again, from any terminal, it says how that send stands. On a terminal it follows to the end, and Ctrl-C only stops looking; anywhere else it exits with 3 at the first wait for people. What has failed is never sent again by itself. A batch is read as a whole first: while anything is wrong with any row, nothing is sent. Its rows are submitted at the rate that the API allows, and the same file again goes on with what is open; one that was stopped with `quorate sends stop` goes on with --resume alone. On Solana it pays SOL, or a token by its mint: a token is paid to its owner, whose account for it is found, and opened where there is none. An address that nobody has a key for, such as that account itself, is not paid in tokens. `--max-fee` is there all of the fee, and what is offered is paid.',
    examples: [
      ['quorate send mine --batch payments.csv --report paid.csv', 'pay all rows of a file, and say what came of each'],
      [
        'quorate send mine --from ops --to payroll --amount 30gwei --chain eip155:1 --ref INV-43 --dry-run',
        'only look',
      ],
      [
        'quorate send mine --from ops --to payroll --asset usdc --amount 12.5 --ref INV-44',
        'pay in a token of the definitions',
      ],
      ['quorate send mine --from ops --to crew --amount 1.5sol --chain solana:mainnet --ref INV-45', 'pay on Solana'],
    ],
    exits: ['waiting', 'refused', 'partial'],
    seeAlso: ['sends', 'sends stop', 'sends replace', 'activities', 'approve', 'serve'],
  },
  sends: {
    description:
      'Reads the ledger of the data folder: every reference that was sent from it, who was paid how much, and how that send stands. Neither the API nor Temporal is asked about a send. With --follow, each change of what is open is shown until all has ended; where nobody watches, it exits with 3 when all that is open waits for people.',
    examples: [
      ['quorate sends --follow', 'see what is open through to its end'],
      ['quorate sends --json', 'as data'],
      ['quorate sends --batch 3f9c0a --csv', 'what came of each row of a batch'],
    ],
    exits: ['waiting', 'partial'],
    seeAlso: ['send', 'sends stop', 'sends replace', 'sends cancel', 'activities'],
  },
  'sends stop': {
    description:
      'Holds back every row of a batch that has not been submitted, at once and without a question, also where neither Temporal nor a worker runs. Requests that are on their way just then are waited for, and told apart. What was submitted is followed to its end by the workflow of the batch; what of it waits for approval is ended with `quorate reject`. References of rows that were held back are free: the file can be corrected and sent as it is then, or sent as it was with `quorate send --batch FILE --resume`. It exits with 3 where of some rows it is not yet known whether they were submitted.',
    examples: [['quorate sends stop 3f9c0a --report stopped.csv', 'and say how each row stands']],
    exits: ['waiting'],
    seeAlso: ['send', 'sends', 'reject'],
  },
  'sends replace': {
    description:
      'For a send that is broadcast and not included, because it offers too little. The replacement is a send of its own, under a reference made of the old one and the price, with all that the old one has and its nonce, so that of the two at most one is ever in the chain. Policies and approvers are asked again. The API does not tell nonces, so a node of the chain is asked for the transaction; what it says is believed when it has the hash that the API told. Nothing is ever replaced by itself, and nothing on Solana can be: transactions have no nonce there.',
    examples: [['quorate sends replace INV-42 --max-fee 60gwei --node http://127.0.0.1:8545 --dry-run', 'only look']],
    exits: ['waiting', 'refused', 'partial'],
    seeAlso: ['sends cancel', 'sends', 'send'],
  },
  'sends cancel': {
    description:
      'As `sends replace`, with nothing in it: no value, from the account to itself. Included first, it leaves the old send without its nonce, and that ends as failed. Whichever of the two is included is shown at the end; a send that waits for approval is ended with `quorate reject`.',
    exits: ['waiting', 'refused', 'partial'],
    seeAlso: ['sends replace', 'sends', 'reject'],
  },
  show: {
    description:
      'Shows a plan as it was made, however old, and marks it when the organization has moved. It refuses nothing; `apply` does.',
    examples: [['quorate show plan.json --offline --markdown -', 'as Markdown, without asking the API']],
    seeAlso: ['plan', 'apply'],
  },
  unmanaged: {
    description:
      'Lists live things that definitions leave alone, with their ids: what an import would add, or `manage: all` would delete.',
    examples: [['quorate unmanaged definitions/acme --json', 'as data']],
    seeAlso: ['import', 'plan'],
  },
  status: {
    description:
      'Asks the workflow of the organization. What it says is the same from every machine that reaches the same Temporal server.',
    examples: [
      ['quorate status', 'once'],
      ['quorate status --cancel', 'stop before the next submit; what was submitted stays'],
    ],
    exits: ['waiting', 'stale', 'partial'],
    seeAlso: ['apply', 'activities'],
  },
  activities: {
    description: 'Shows each activity with its short code, status, author and votes.',
    examples: [['quorate activities --limit 100 --json', 'as data']],
    seeAlso: ['approve', 'reject', 'status'],
  },
  approve: {
    description:
      'Shows what the activity itself asks for, not what anybody says about it, and then votes. Your key decides who votes; a vote lapses after 24 hours. What an MFA policy of yours still asks for is given by approving once more, by `--passkey`, `--email`, `--phone` or `--oidc`.',
    examples: [['quorate approve 7f3a-19c2 --passkey', 'by the passkey that is still missing']],
    seeAlso: ['activities', 'reject', 'policy explain'],
  },
  reject: {
    description:
      'Shows what the activity asks for, and then votes. An apply that waited for it ends as rejected, and nothing is tried again until somebody asks for it anew.',
    seeAlso: ['activities', 'approve'],
  },
  serve: {
    description:
      'Answers the signed-activity API on 127.0.0.1, on SQLite, with every commit on disk before it is answered. An empty folder gets an organization with one root user, whose key is written to `bootstrap.json`, readable by you alone.',
    examples: [
      ['quorate serve --trusted-proxy 10.0.0.0/8', 'behind a proxy'],
      ['quorate serve --allow-webhook-host 127.0.0.1:9000', 'with a receiver on this machine'],
    ],
    seeAlso: ['up', 'clock', 'fault add', 'snapshot save'],
  },
  proxy: {
    description:
      'Browsers sign up and log in through it (docs/protocol/auth-proxy.md). It reads settings and its key from the folder of the service, writes nothing there, and submits over HTTP like any client. `quorate serve` runs one by itself.',
    seeAlso: ['proxy check', 'serve'],
  },
  'proxy check': {
    description:
      'Goes the way of a client from nothing to a session: configuration, refusals, CORS, sign-up, look-up, login at the API, clean-up, and a code. Without `--yes` nothing is made. It needs no key: what it makes is a sub-organization of its own, which it deletes. It exits with 1 where a step failed.',
    examples: [
      [
        'quorate proxy check https://auth.example.com --service-keys keys.json --origin https://app.example.com --yes',
        'any proxy',
      ],
    ],
    seeAlso: ['proxy', 'login', 'doctor'],
  },
  messages: {
    description:
      'What has no mail server or SMS gateway goes into the folder `messages` of the service’s folder (`.quorate/service`): a file each, which you alone may read. The thousand newest are kept. With `--follow --json` each is a line.',
    examples: [['quorate messages --follow', 'and those that come']],
    seeAlso: ['serve', 'doctor'],
  },
  'snapshot save': {
    description: 'The file holds the master key and the root key: a reader of it has the wallets.',
    seeAlso: ['snapshot restore', 'serve', 'reset'],
  },
  'snapshot restore': {
    description: 'Replaces all that the service keeps. Stop it first.',
    seeAlso: ['snapshot save', 'serve'],
  },
  clock: {
    description:
      'The time stays moved over restarts, until `reset`. Only the owner of the data folder can move it, and never in production unless `serve --operator` was given.',
    examples: [
      ['quorate clock', 'what time it has'],
      ['quorate clock reset', 'the time of the machine again'],
    ],
    seeAlso: ['fault add', 'serve'],
  },
  'fault add': {
    description:
      'Faults stay over restarts, until they are used up or cleared. Only the owner of the data folder can ask for them.',
    examples: [["quorate fault add --path '/public/v1/submit/*' --drop", 'do the work and answer nothing']],
    seeAlso: ['fault list', 'fault clear', 'clock'],
  },
  'fault list': {
    description: 'Shows each fault with its id and how often it will still strike.',
    seeAlso: ['fault add', 'fault clear'],
  },
  'fault clear': { description: 'From then on requests are answered as usual.', seeAlso: ['fault add', 'fault list'] },
  worker: {
    description:
      'Carries out applies for one organization with one key. Several may run; what one leaves, another takes up. Its log is JSON on stdout.',
    examples: [['TEMPORAL_ADDRESS=temporal:7233 quorate worker', 'with a Temporal server of your own']],
    seeAlso: ['apply', 'status', 'doctor'],
  },
  login: {
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
  logout: {
    description:
      'Deletes the key of the session at the API with the key itself, and forgets it here. Where the API cannot be reached, the key is forgotten all the same; the exit is 1, and it says until when the API would still take it.',
    seeAlso: ['login', 'whoami'],
  },
  whoami: {
    description: 'Shows the user and the organization that the API knows the key by, and until when a session lasts.',
    seeAlso: ['login', 'doctor'],
  },
  doctor: {
    description:
      'Changes nothing and starts nothing. It says what it found and, for each thing that is wrong, what to do; in a pipeline it warns of a key of the root quorum.',
    examples: [['quorate doctor --json', 'as data']],
    seeAlso: ['up', 'worker'],
  },
  'policy test': {
    description:
      'Decides each scenario as the service would, and shows expected, got, and the clause that made the difference.',
    examples: [['quorate policy test definitions/acme --watch', 'again whenever a file changes']],
    seeAlso: ['policy explain', 'policy lint'],
  },
  'policy eval': {
    description: 'Says the outcome and what decided it, for one request or for many.',
    examples: [['quorate policy eval --cases cases.yaml', 'cases of the language itself']],
    seeAlso: ['policy explain', 'policy test'],
  },
  'policy explain': {
    description:
      'Shows every policy that had a say with the value of each clause, who else would have to approve, and why a person cannot.',
    seeAlso: ['policy eval', 'policy test'],
  },
  'policy fmt': {
    description: 'Lays the expressions out in one way; the tree they stand for is compared before anything is written.',
    examples: [['quorate policy fmt definitions/acme --check', 'in a pipeline']],
    seeAlso: ['fmt', 'policy lint'],
  },
  'policy lint': {
    description:
      'Points at policies that let through more than they seem to, that never apply, or that say the same twice. Each finding names its rule, which docs/rules explains. In GitHub Actions, findings annotate their lines.',
    examples: [
      ['quorate policy lint definitions/acme --fix', 'mend what can be mended safely'],
      ['quorate policy lint definitions/acme --sarif lint.sarif', 'for code scanning'],
    ],
    seeAlso: ['policy test', 'validate'],
  },
  'policy lsp': {
    description:
      'Speaks the Language Server Protocol: mistakes, advice, hover, completion and fixes in YAML files of definitions.',
    seeAlso: ['policy lint', 'validate'],
  },
  completion: {
    description:
      'Completes commands and options, and files where one belongs; the script asks quorate nothing when it runs.',
    examples: [
      ['source <(quorate completion bash)', 'in ~/.bashrc'],
      ['quorate completion fish > ~/.config/fish/completions/quorate.fish', 'for fish'],
    ],
    seeAlso: ['doctor'],
  },
}
