import type { Settings } from '../../config/index.ts'
import type { CommandRow, OptionRow } from '../command.ts'
import { messageOptions } from '../message-options.ts'
import { proxyOptions } from '../proxy-options.ts'
import { formatting, policyCommands } from './policy/index.ts'

const folder = { folder: 'folder of definitions (default: the current folder)' }
const values: readonly OptionRow[] = [
  {
    flags: '--var <name=value>',
    meaning: 'value of a `${var.name}` in the definitions; may be repeated',
    repeatable: true,
  },
]
const guards: readonly OptionRow[] = [
  { flags: '--allow-delete', meaning: 'let the plan delete what the definitions say should go' },
  {
    flags: '--allow <bypass>',
    meaning: 'let one named guard pass, as the guard itself says; may be repeated',
    repeatable: true,
  },
]

const askAgain: OptionRow = {
  flags: '--ask-again',
  meaning: 'ask once more, as a new activity, for what somebody rejected',
}
const jsonInto: OptionRow = { flags: '--json-into <file>', meaning: 'write the data as JSON into a file as well' }
const markdown: OptionRow = {
  flags: '--markdown <file>',
  meaning: 'write the plan as Markdown, for a pull request; `-` prints it instead',
}

const replaced = {
  reference: 'what the send is called',
  folder: 'folder of definitions whose names the dry run shows (default: addresses alone)',
}
const replacing: readonly OptionRow[] = [
  {
    flags: '--max-fee <amount>',
    meaning: 'the most to pay for a unit of gas, such as 60gwei: an eighth more than before',
  },
  { flags: '--node <url>', meaning: 'a node of the chain, which tells the nonce (default: that of QUORATE_CHAINS)' },
  { flags: '--dry-run', meaning: 'show what would be sent, and what would come of it; send nothing' },
  { flags: '--yes', meaning: 'do not ask for confirmation' },
  { flags: '--detach', meaning: 'return when it has been submitted; list it with `quorate sends`' },
  ...values,
]

const serviceFolder: OptionRow = {
  flags: '--folder <folder>',
  meaning: 'the service’s data (default: service/ in the data folder)',
}

/** The API in words, before anything is known of it. */
const apiName = ({ baseUrl }: Settings) => baseUrl ?? 'the embedded service'

/** Every command, in the order in which help lists them. */
export const commands: readonly CommandRow[] = [
  {
    name: 'up',
    summary: 'bring up service, Temporal and worker in the background, and apply definitions to it',
    args: '[folder]',
    argMeanings: { folder: 'folder of definitions to apply, with demo approvers (default: none, only come up)' },
    options: [...values],
    example: 'quorate up definitions/acme',
    load: async () => (await import('./up.ts')).up,
  },
  {
    name: 'down',
    summary: 'stop the background process; its state is kept',
    example: 'quorate down',
    load: async () => (await import('./down.ts')).down,
  },
  {
    name: 'reset',
    summary: 'delete the state in the data folder, after naming it; the next `up` begins anew',
    options: [{ flags: '--yes', meaning: 'do not ask for confirmation' }],
    example: 'quorate reset',
    load: async () => (await import('./reset.ts')).reset,
  },
  {
    name: 'init',
    summary: 'write first definitions for a live organization into a new folder',
    args: '<folder>',
    argMeanings: { folder: 'folder to make' },
    example: 'quorate init definitions/mine',
    load: async () => (await import('./init.ts')).init,
  },
  {
    name: 'import',
    summary: 'make definitions follow the live organization, and write the lock file; submits nothing',
    args: '<folder>',
    argMeanings: { folder: 'folder of definitions; what is written there stays but for what differs' },
    options: [
      ...values,
      {
        flags: '--sub-organizations',
        meaning: 'also every sub-organization, each in a folder of its own; those of a template stay as they are',
      },
    ],
    example: 'quorate import definitions/mine',
    opening: ([where = '.'], settings) => `Reading ${apiName(settings)} into ${where} …`,
    load: async () => (await import('./import.ts')).follow,
  },
  {
    name: 'validate',
    summary: 'check definitions without asking the API anything',
    args: '[folder]',
    argMeanings: folder,
    options: [...values],
    example: 'quorate validate definitions/acme',
    opening: ([where = '.']) => `Checking ${where} …`,
    load: async () => (await import('./validate.ts')).validate,
  },
  {
    name: 'fmt',
    summary: 'format files of definitions in place: the order of keys, columns, and expressions; comments stay',
    args: '[path...]',
    argMeanings: { path: 'folders or files of definitions (default: the current folder)' },
    options: formatting,
    example: 'quorate fmt definitions/acme --check',
    load: async () => (await import('./fmt.ts')).fmt,
  },
  {
    name: 'plan',
    summary: 'show what applying would change, who must approve, and what is refused; submits nothing',
    args: '[folder]',
    argMeanings: folder,
    options: [
      ...values,
      ...guards,
      askAgain,
      {
        flags: '--as <user>',
        meaning: 'say what would come of it if this user applied it (default: the user of the key in use)',
      },
      { flags: '--out <file>', meaning: 'save the plan, to be applied as it is with `quorate apply FILE`' },
      markdown,
      jsonInto,
      { flags: '--detailed-exitcode', meaning: 'exit with 2 when there are changes' },
    ],
    example: 'quorate plan definitions/acme --out plan.json',
    opening: ([where = '.'], settings) => `Planning ${where} against ${apiName(settings)} …`,
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
      ...values,
      ...guards,
      askAgain,
      { flags: '--yes', meaning: 'do not ask for confirmation' },
      { flags: '--detach', meaning: 'start it and return at once; follow it with `quorate status`' },
      { flags: '--events', meaning: 'print one JSON event a line as it goes; the first names the version' },
      jsonInto,
    ],
    example: 'quorate apply plan.json',
    opening: ([what = '.'], settings) => `Applying ${what} to ${apiName(settings)} …`,
    load: async () => (await import('./apply.ts')).apply,
  },
  {
    name: 'send',
    summary: 'send a transaction under a reference, and follow it to its end; a reference is sent once',
    args: '[folder]',
    argMeanings: {
      folder:
        'folder of definitions whose `addressBook` and `assets` name receivers and tokens (default: addresses, and the chain’s currency alone)',
    },
    options: [
      { flags: '--from <wallet>', meaning: 'wallet, WALLET/ACCOUNT where it has several, or address that pays' },
      {
        flags: '--to <receiver>',
        meaning: 'name in the address book, wallet.NAME for a wallet of the organization, or address',
      },
      {
        flags: '--amount <amount>',
        meaning: 'with its unit: 1.5eth, 30gwei, 1.5sol, 5000lamports; of an asset: 12.5 or 12.5usdc',
      },
      {
        flags: '--asset <name>',
        meaning: 'token to pay, by its name in `assets` (default: the currency of the chain)',
      },
      {
        flags: '--chain <id>',
        meaning: 'chain in CAIP-2 form, such as eip155:1 or solana:mainnet (default: that of the asset)',
      },
      {
        flags: '--data <hex>',
        meaning: 'on Ethereum, bytes to call a contract with, 0x…; `--amount` may then be left out',
      },
      {
        flags: '--max-fee <amount>',
        meaning:
          'the most to pay for a unit of gas, such as 60gwei; on Solana all of the fee, such as 0.00001sol (default: the service chooses)',
      },
      {
        flags: '--gas <units>',
        meaning: 'on Ethereum, the most gas to use, such as 21000 (default: the service chooses)',
      },
      { flags: '--ref <text>', meaning: 'what this payment is called where it was decided, such as an invoice number' },
      {
        flags: '--batch <file>',
        meaning: 'CSV of many sends, with columns named like these options: ref,from,to,amount,…',
      },
      { flags: '--skip-denied', meaning: 'of a batch, leave out what the policies would deny (default: send nothing)' },
      { flags: '--stop-on-failure', meaning: 'of a batch, begin nothing more once a send has failed' },
      { flags: '--resume', meaning: 'of a batch that was stopped, send what was not submitted (default: refuse it)' },
      { flags: '--report <file>', meaning: 'of a batch, write what came of each row to FILE.json or FILE.csv' },
      { flags: '--events', meaning: 'of a batch, print one JSON event a line as it goes; the first names the version' },
      { flags: '--dry-run', meaning: 'show what would be sent, and what would come of it; send nothing' },
      { flags: '--yes', meaning: 'do not ask for confirmation' },
      { flags: '--detach', meaning: 'return when it has been submitted; list it with `quorate sends`' },
      ...values,
    ],
    example: 'quorate send mine --from treasury --to payroll --amount 1.5eth --chain eip155:1 --ref INV-42',
    load: async () => (await import('./send.ts')).send,
  },
  {
    name: 'sends',
    summary: 'list what was sent from here, and how each stands',
    options: [
      { flags: '--open', meaning: 'only what has not come to its end' },
      { flags: '--follow', meaning: 'follow what is open until it has ended' },
      { flags: '--batch <id>', meaning: 'the rows of a batch, by its id or the beginning of it' },
      { flags: '--csv', meaning: 'of a batch, print its report as CSV' },
      { flags: '--report <file>', meaning: 'of a batch, write its report to FILE.json or FILE.csv' },
    ],
    example: 'quorate sends --open',
    load: async () => (await import('./sends.ts')).sends,
  },
  {
    name: 'sends stop',
    summary: 'stop a batch: no row that has not been submitted is submitted any more',
    args: '<batch>',
    argMeanings: { batch: 'id of the batch, or the beginning of it' },
    options: [{ flags: '--report <file>', meaning: 'write how each row stands to FILE.json or FILE.csv' }],
    example: 'quorate sends stop 3f9c0a',
    load: async () => (await import('./stop-batch.ts')).stopBatch,
  },
  {
    name: 'sends replace',
    summary: 'offer a send that is not included for more, with the same nonce',
    args: '<reference> [folder]',
    argMeanings: replaced,
    options: replacing,
    example: 'quorate sends replace INV-42 --max-fee 60gwei',
    load: async () => (await import('./replace-send.ts')).replaceSend,
  },
  {
    name: 'sends cancel',
    summary: 'use the nonce of a send that is not included for nothing, so that it never will be',
    args: '<reference> [folder]',
    argMeanings: replaced,
    options: replacing,
    example: 'quorate sends cancel INV-42 --max-fee 60gwei',
    load: async () => (await import('./replace-send.ts')).cancelSend,
  },
  {
    name: 'show',
    summary: 'show a saved plan and say whether the live organization has moved since',
    args: '<plan>',
    argMeanings: { plan: 'plan saved by `quorate plan --out`' },
    options: [markdown, jsonInto, { flags: '--offline', meaning: 'do not compare it with the live organization' }],
    example: 'quorate show plan.json',
    load: async () => (await import('./show.ts')).show,
  },
  {
    name: 'unmanaged',
    summary: 'list what is live and in no definition',
    args: '[folder]',
    argMeanings: folder,
    options: [...values],
    example: 'quorate unmanaged definitions/acme',
    opening: ([where = '.'], settings) => `Reading ${where} and ${apiName(settings)} …`,
    load: async () => (await import('./unmanaged.ts')).unmanaged,
  },
  {
    name: 'status',
    summary: 'say how the apply of this organization stands: done, waiting, on whom, since when',
    options: [
      { flags: '--follow', meaning: 'stay and show progress until it ends' },
      { flags: '--cancel', meaning: 'stop it at the next safe point' },
    ],
    example: 'quorate status --follow',
    opening: () => 'Asking Temporal how the apply stands …',
    load: async () => (await import('./status.ts')).status,
  },
  {
    name: 'activities',
    summary: 'list activities, newest first',
    options: [
      { flags: '--waiting', meaning: 'only those that wait for approval' },
      { flags: '--limit <count>', meaning: 'how many (default: 20)' },
    ],
    example: 'quorate activities --waiting',
    opening: (_, settings) => `Reading activities of ${apiName(settings)} …`,
    load: async () => (await import('./activities.ts')).activities,
  },
  {
    name: 'approve',
    summary: 'vote for a waiting activity with the key in use, after showing what it does',
    args: '<activity>',
    argMeanings: { activity: 'its id, its fingerprint, or the short code that plan and status show' },
    options: [{ flags: '--yes', meaning: 'do not ask for confirmation' }],
    example: 'quorate approve 7f3a-19c2 --key-file .quorate/keys/bob.json',
    load: async () => (await import('./vote.ts')).approve,
  },
  {
    name: 'reject',
    summary: 'vote against a waiting activity with the key in use; it ends for good',
    args: '<activity>',
    argMeanings: { activity: 'its id, its fingerprint, or the short code that plan and status show' },
    options: [{ flags: '--yes', meaning: 'do not ask for confirmation' }],
    example: 'quorate reject 7f3a-19c2 --key-file .quorate/keys/bob.json',
    load: async () => (await import('./vote.ts')).reject,
  },
  {
    name: 'serve',
    summary: 'run the service in the foreground',
    options: [
      { flags: '--port <port>', meaning: 'port on 127.0.0.1 (default: a free one)' },
      serviceFolder,
      { flags: '--log-file <file>', meaning: 'where the log goes, as lines of JSON (default: stderr)' },
      { flags: '--organization-name <name>', meaning: 'name of the organization made in an empty folder' },
      { flags: '--root-user <name>', meaning: 'name of the root user made in an empty folder (default: root)' },
      {
        flags: '--chain <id=url>',
        meaning: 'a chain to send transactions to, and its node; may be repeated (default: QUORATE_CHAINS)',
        repeatable: true,
      },
      {
        flags: '--price <id=usd>',
        meaning: 'dollars for one of a chain’s currency; may be repeated (default: QUORATE_PRICES)',
        repeatable: true,
      },
      {
        flags: '--token <caip19>',
        meaning: 'a token whose balances are told; may be repeated (default: QUORATE_TOKENS)',
        repeatable: true,
      },
      {
        flags: '--gas-station <id=station/delegate>',
        meaning: 'contracts other than the published ones for sponsored sends (default: QUORATE_GAS_STATIONS)',
        repeatable: true,
      },
      {
        flags: '--rate-profile <plan>',
        meaning: 'the published rates of `free`, `pro` or `enterprise`; each --rate goes over them (default: none)',
      },
      {
        flags: '--rate <name=count>',
        meaning: 'requests a second of a `source`, a `sub-organization`, or of all `sends`; may be repeated',
        repeatable: true,
      },
      {
        flags: '--limit <name=number>',
        meaning:
          'a bound on what strangers may cost: connections, connections-per-source, held-mib, bytes-per-second; may be repeated',
        repeatable: true,
      },
      {
        flags: '--drain-ms <ms>',
        meaning: 'how long a shutdown takes at most, whatever connections do (default: 10000)',
      },
      {
        flags: '--keep-denials <count>',
        meaning: 'denied requests of one user that are kept of one day; others are only counted (default: 100)',
      },
      {
        flags: '--disk-watermark <bytes|percent>',
        meaning:
          'free space of the disk of the service’s folder below which submits are refused, as 503 (default: 67108864)',
      },
      {
        flags: '--metrics-port <port>',
        meaning: 'serve metrics for Prometheus at this port of 127.0.0.1, 0 for a free one (default: none are taken)',
      },
      {
        flags: '--trusted-proxy <address>',
        meaning: 'a proxy in front, or a block of them, whose `X-Forwarded-For` counts; may be repeated',
        repeatable: true,
      },
      {
        flags: '--allow-webhook-host <host>',
        meaning: 'a private or plain http host that webhooks may go to, for development; may be repeated',
        repeatable: true,
      },
      {
        flags: '--rotate-webhook-key',
        meaning: 'make the next key that webhooks are signed with: published at once, used from a day later on',
      },
      {
        flags: '--private-issuer <origin>',
        meaning: 'an OIDC issuer on plain http or a private address, for development; may be repeated',
        repeatable: true,
      },
      {
        flags: '--issuer-url <url>',
        meaning: 'where others find the OIDC issuer that the service is (default: the first address that it had)',
      },
      {
        flags: '--rotate-issuer-key',
        meaning: 'make the next key that its OIDC tokens are signed with: published at once, used from a day later on',
      },
      {
        flags: '--provider <name=url>',
        meaning:
          'where google, apple, facebook, x or discord is instead of its public place: a stand-in or self-hosted; may be repeated',
        repeatable: true,
      },
      { flags: '--proxy-port <port>', meaning: 'port of the authentication proxy on 127.0.0.1 (default: a free one)' },
      ...proxyOptions,
      ...messageOptions,
      { flags: '--operator', meaning: 'listen to `clock` and `fault` with NODE_ENV=production too' },
    ],
    example: 'quorate serve --port 8080 --chain eip155:11155111=http://127.0.0.1:8545',
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    name: 'proxy',
    summary: 'run the authentication proxy as a process of its own, beside a service on this machine',
    options: [
      { flags: '--port <port>', meaning: 'port on 127.0.0.1 (default: a free one)' },
      serviceFolder,
      { flags: '--log-file <file>', meaning: 'where the log goes, as lines of JSON (default: stderr)' },
      ...proxyOptions,
      {
        flags: '--limit <name=number>',
        meaning:
          'a bound on what strangers may cost: connections, connections-per-source, held-mib, bytes-per-second; may be repeated',
        repeatable: true,
      },
      {
        flags: '--drain-ms <ms>',
        meaning: 'how long a shutdown takes at most, whatever connections do (default: 10000)',
      },
      {
        flags: '--trusted-proxy <address>',
        meaning: 'a proxy in front, or a block of them, whose `X-Forwarded-For` counts; may be repeated',
        repeatable: true,
      },
    ],
    example: 'quorate proxy --port 8081 --base-url http://127.0.0.1:8080',
    load: async () => (await import('./proxy.ts')).proxy,
  },
  {
    name: 'proxy check',
    summary: 'walk through an authentication proxy as a client does, and say what fails',
    args: '[url]',
    argMeanings: { url: 'the proxy (default: the embedded service’s)' },
    options: [
      { flags: '--proxy-config-id <uuid>', meaning: 'its configuration (default: the embedded service’s)' },
      { flags: '--origin <origin>', meaning: 'also ask as a browser on a page of this origin does' },
      { flags: '--email <address>', meaning: 'also have a code sent there, and ask for it' },
      { flags: '--yes', meaning: 'also sign up a sub-organization, log in to it, and delete it again' },
      {
        flags: '--service-keys <file>',
        meaning: 'JSON with the public keys of the service and its proxy, as its bootstrap.json has them',
      },
    ],
    example: 'quorate proxy check --yes',
    load: async () => (await import('./check-proxy.ts')).checkProxy,
  },
  {
    name: 'messages',
    summary: 'show the e-mails and text messages that the service on this machine has put into its outbox',
    options: [{ flags: '--follow', meaning: 'go on with those that come, until Ctrl-C' }, serviceFolder],
    example: 'quorate messages',
    load: async () => (await import('./messages.ts')).messages,
  },
  {
    name: 'snapshot save',
    summary: 'write everything that the service on this machine keeps into one file, keys included',
    args: '<file>',
    argMeanings: { file: 'file to make; it is readable by you alone' },
    options: [serviceFolder],
    example: 'quorate snapshot save acme.snapshot',
    load: async () => (await import('./snapshot.ts')).saveToFile,
  },
  {
    name: 'snapshot restore',
    summary: 'put a snapshot into the folder of a service that does not run',
    args: '<file>',
    argMeanings: { file: 'file that `quorate snapshot save` wrote' },
    options: [{ flags: '--yes', meaning: 'do not ask before replacing what the folder holds' }, serviceFolder],
    example: 'quorate snapshot restore acme.snapshot',
    load: async () => (await import('./snapshot.ts')).restoreFromFile,
  },
  {
    name: 'clock',
    summary: 'say what time the service on this machine has, or move it: votes lapse, keys expire, bodies grow stale',
    args: '[move]',
    argMeanings: { move: 'forward by a time such as `+25h` or `+1d12h`, or `reset` to go back to the machine’s' },
    options: [serviceFolder],
    example: 'quorate clock +25h',
    load: async () => (await import('./clock.ts')).clock,
  },
  {
    name: 'fault add',
    summary: 'let requests to the service on this machine be late, be refused, or stay without an answer',
    options: [
      { flags: '--path <pattern>', meaning: 'paths it meets; `*` stands for any characters (default: all)' },
      { flags: '--times <count>', meaning: 'how many requests it meets (default: all until it is cleared)' },
      { flags: '--status <status>', meaning: 'refuse with 429, 500 or 503; the request changes nothing' },
      { flags: '--retry-after <seconds>', meaning: 'when the refusal says to try again' },
      { flags: '--drop', meaning: 'carry the request out and close the connection instead of answering' },
      { flags: '--delay <seconds>', meaning: 'wait before anything else: late votes make a slow quorum' },
      serviceFolder,
    ],
    example: "quorate fault add --path '/public/v1/submit/*' --times 3 --status 429 --retry-after 1",
    load: async () => (await import('./fault.ts')).addFault,
  },
  {
    name: 'fault list',
    summary: 'list the faults in force',
    options: [serviceFolder],
    example: 'quorate fault list',
    load: async () => (await import('./fault.ts')).listFaults,
  },
  {
    name: 'fault clear',
    summary: 'end one fault, or all of them',
    args: '[id]',
    argMeanings: { id: 'as `quorate fault list` shows it (default: all)' },
    options: [serviceFolder],
    example: 'quorate fault clear',
    load: async () => (await import('./fault.ts')).clearFaults,
  },
  {
    name: 'worker',
    summary: 'run a worker in the foreground, against the Temporal of TEMPORAL_ADDRESS or the embedded one',
    example: 'quorate worker',
    load: async () => (await import('./worker.ts')).worker,
  },
  {
    name: 'login',
    summary: 'log a person in, and work with their session until it expires: no key in a file is needed',
    options: [
      { flags: '--passkey', meaning: 'by a passkey in the browser, made with --new-passkey (default)' },
      { flags: '--email <address>', meaning: 'by a code that is sent by mail' },
      { flags: '--phone <number>', meaning: 'by a code that is sent by SMS' },
      { flags: '--oidc <issuer>', meaning: 'at an OpenID provider that is registered with the user' },
      { flags: '--client-id <id>', meaning: 'the client at the provider' },
      { flags: '--client-secret-file <file>', meaning: 'for a provider that gives installed programs a secret' },
      {
        flags: '--new-passkey <name>',
        meaning: 'make a passkey in the browser, and print what definitions say of it; submits nothing',
      },
      { flags: '--proxy-url <url>', meaning: 'the authentication proxy (default: the embedded service’s)' },
      { flags: '--proxy-config-id <uuid>', meaning: 'its configuration (default: the embedded service’s)' },
      {
        flags: '--service-keys <file>',
        meaning:
          'JSON with the public keys of the service, as its bootstrap.json has them, to check answers with (default: the embedded service’s; otherwise the connection alone vouches)',
      },
    ],
    example: 'quorate login --email alice@example.com',
    load: async () => (await import('./login.ts')).login,
  },
  {
    name: 'logout',
    summary: 'end the session of this organization, at the API and here',
    example: 'quorate logout',
    load: async () => (await import('./logout.ts')).logout,
  },
  {
    name: 'whoami',
    summary: 'ask the API who is asking, with the key or session in use',
    example: 'quorate whoami',
    load: async () => (await import('./whoami.ts')).whoami,
  },
  {
    name: 'doctor',
    summary: 'check Node.js, Temporal, the key, the API and the clock, and say what to mend',
    example: 'quorate doctor',
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
