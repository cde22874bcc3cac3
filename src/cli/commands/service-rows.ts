import type { CommandRow, OptionRow } from '../command.ts'
import { databaseOptions, issuerOptions, messageOptions, proxyOptions, serviceFolder } from './option-rows.ts'

/** Options of each server: where it listens, its certificate and folder, where its log goes. */
const serverOptions: readonly OptionRow[] = [
  { flags: '--port <port>', meaning: 'port to listen at (default: a free one)' },
  {
    flags: '--listen <address>',
    meaning:
      'IP address to listen at (default: 127.0.0.1). Others reach it over TLS alone, unless --plain-http is given too',
  },
  {
    flags: '--tls-cert <file>',
    meaning: 'its certificate in PEM, followed by those that signed it; read again when it changes, and on SIGHUP',
  },
  { flags: '--tls-key <file>', meaning: 'the key of the certificate in PEM, readable by you alone' },
  { flags: '--plain-http', meaning: 'let others than this machine speak plain HTTP, where a proxy in front encrypts' },
  serviceFolder,
  { flags: '--log-file <file>', meaning: 'where the log goes, as lines of JSON (default: stderr)' },
]
/** Options of each server: how much strangers may use of it, and how long a shutdown may take. */
const strangerOptions: readonly OptionRow[] = [
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
]
const metricsPort: OptionRow = {
  flags: '--metrics-port <port>',
  meaning: 'serve metrics for Prometheus at this port of 127.0.0.1, 0 for a free one (default: none are taken)',
}
const trustedProxy: OptionRow = {
  flags: '--trusted-proxy <address>',
  meaning: 'a proxy in front, or a block of them, whose `X-Forwarded-For` counts; may be repeated',
  repeatable: true,
}

/** The commands that run the service and its authentication proxy, and work on the service of this machine. */
export const serviceCommands: readonly CommandRow[] = [
  {
    name: 'serve',
    summary: 'run the service in the foreground',
    options: [
      ...serverOptions,
      { flags: '--organization-name <name>', meaning: 'name of the organization made in an empty folder' },
      { flags: '--root-user <name>', meaning: 'name of the root user made in an empty folder (default: root)' },
      {
        flags: '--chain <id=url>',
        meaning: 'a chain to send transactions to, and its node; may be repeated (default: QUORATE_CHAINS)',
        repeatable: true,
      },
      {
        flags: '--confirmations <id=blocks>',
        meaning: 'blocks that make a send final; may be repeated (default: QUORATE_CONFIRMATIONS, or the chain’s own)',
        repeatable: true,
      },
      {
        flags: '--fee-cap <id=gwei>',
        meaning:
          'the most that a unit of gas may cost, on Solana the most SOL for a send; may be repeated (default: QUORATE_FEE_CAPS)',
        repeatable: true,
      },
      {
        flags: '--fee-multiple <id=times>',
        meaning:
          'how many times what recent blocks took may be offered; may be repeated (default: QUORATE_FEE_MULTIPLES, or 4)',
        repeatable: true,
      },
      {
        flags: '--bump <when>',
        meaning: 'offer more for what is not included: `never` or `auto` (default: QUORATE_BUMP, or never)',
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
      ...strangerOptions,
      {
        flags: '--keep-denials <count>',
        meaning: 'denied requests of one user that are kept of one day; others are only counted (default: 100)',
      },
      {
        flags: '--disk-watermark <bytes|percent>',
        meaning:
          'free space of the disk of the service’s folder below which submits are refused, as 503 (default: 67108864)',
      },
      metricsPort,
      trustedProxy,
      {
        flags: '--allow-webhook-host <host>',
        meaning: 'a private or plain http host that webhooks may go to, for development; may be repeated',
        repeatable: true,
      },
      {
        flags: '--webhook-filters',
        meaning: 'apply the filters of webhook subscriptions (default: they are kept and not applied)',
      },
      {
        flags: '--rotate-webhook-key',
        meaning: 'make the next key that webhooks are signed with: published at once, used from a day later on',
      },
      ...issuerOptions,
      {
        flags: '--issuer-url <url>',
        meaning: 'where others find the OIDC issuer that the service is (default: the first address that it had)',
      },
      {
        flags: '--rotate-issuer-key',
        meaning: 'make the next key that its OIDC tokens are signed with: published at once, used from a day later on',
      },
      { flags: '--proxy-port <port>', meaning: 'port of the authentication proxy (default: a free one)' },
      ...proxyOptions,
      ...messageOptions,
      {
        flags: '--enrolment-secret-file <file>',
        meaning: 'a file with the secret that a new parent organization is made with (default: none can be made)',
      },
      ...databaseOptions,
      { flags: '--operator', meaning: 'listen to `clock` and `fault` with NODE_ENV=production too' },
    ],
    example: 'quorate serve --port 8080 --chain eip155:11155111=http://127.0.0.1:8545',
    help: {
      description:
        'Answers the signed-activity API on 127.0.0.1, or at the address of `--listen`, with every commit on disk before it is answered. Rows are kept in a file of SQLite in its folder, or in the PostgreSQL that DATABASE_URL names. An empty folder gets an organization with one root user, whose key is written to `bootstrap.json`, readable by you alone.',
      examples: [
        ['quorate serve --trusted-proxy 10.0.0.0/8', 'behind a proxy'],
        ['quorate serve --allow-webhook-host 127.0.0.1:9000', 'with a receiver on this machine'],
      ],
      seeAlso: ['up', 'clock', 'fault add', 'snapshot save'],
    },
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    name: 'proxy',
    summary: 'run the authentication proxy as a process of its own, beside a service on this machine',
    options: [
      ...serverOptions,
      ...issuerOptions,
      ...proxyOptions,
      ...strangerOptions,
      metricsPort,
      trustedProxy,
      ...databaseOptions,
    ],
    example: 'quorate proxy --port 8081 --base-url http://127.0.0.1:8080',
    help: {
      description:
        'Browsers sign up and log in through it (docs/protocol/auth-proxy.md). It reads settings and its key from the folder of the service, writes nothing there, and submits over HTTP like any client. `quorate serve` runs one by itself.',
      seeAlso: ['proxy check', 'serve'],
    },
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
    help: {
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
    load: async () => (await import('./check-proxy.ts')).checkProxy,
  },
  {
    name: 'messages',
    summary: 'show the e-mails and text messages that the service on this machine has put into its outbox',
    options: [{ flags: '--follow', meaning: 'go on with those that come, until Ctrl-C' }, serviceFolder],
    example: 'quorate messages',
    help: {
      description:
        'What has no mail server or SMS gateway goes into the folder `messages` of the service’s folder (`.quorate/service`): a file each, which you alone may read. The thousand newest are kept. With `--follow --json` each is a line.',
      examples: [['quorate messages --follow', 'and those that come']],
      seeAlso: ['serve', 'doctor'],
    },
    load: async () => (await import('./messages.ts')).messages,
  },
  {
    name: 'webhooks listen',
    summary: 'show webhooks as they come, each verified, and forward them to a program on this machine',
    options: [
      { flags: '--forward-to <url>', meaning: 'send each there, and let its answer be the answer to the service' },
      {
        flags: '--event <type>',
        meaning: 'an event to be told of; may be repeated (default: all, of which a sub-organization may ask for some)',
        repeatable: true,
      },
      { flags: '--count <events>', meaning: 'end after so many (default: at Ctrl-C)' },
      { flags: '--wait <time>', meaning: 'end once the service was gone for so long (default: 2m)' },
      { flags: '--port <port>', meaning: 'port on 127.0.0.1 to listen at (default: a free one)' },
      { flags: '--url <url>', meaning: 'where the service finds that port, such as a tunnel (default: 127.0.0.1)' },
      serviceFolder,
    ],
    example: 'quorate webhooks listen --forward-to http://127.0.0.1:3000/webhooks',
    help: {
      description:
        'Makes a webhook endpoint in the organization, listens on 127.0.0.1, verifies what comes by the keys that the service publishes, shows it, and deletes the endpoint when it ends. When the service is gone, that is said within ten seconds, and it is asked until it is back, for as long as `--wait` says. A service on this machine lets webhooks go to that one port as long as the command runs; another one needs `serve --allow-webhook-host`, or a public address and `--url`. With `--forward-to`, the same bytes and headers go to your program; an answer of 5xx, or none, has the service try again. With `--json` each event is a line.',
      examples: [['quorate webhooks listen --event ACTIVITY_UPDATES --count 1', 'wait for the next activity']],
      seeAlso: ['webhooks verify', 'webhooks deliveries', 'serve', 'fault add'],
    },
    load: async () => (await import('./webhook-listen.ts')).listenForWebhooks,
  },
  {
    name: 'webhooks verify',
    summary: 'say whether a webhook is what the service has signed',
    args: '[body]',
    argMeanings: { body: 'file with the bytes that came (default: stdin)' },
    options: [
      { flags: '--headers <file>', meaning: 'its headers, as an object of JSON or as lines such as `Name: value`' },
      { flags: '--header <line>', meaning: 'one of its headers, `Name: value`; may be repeated', repeatable: true },
      { flags: '--keys <file>', meaning: 'the published list of keys as a file (default: the service is asked)' },
      { flags: '--max-age <seconds>', meaning: 'how far its time may be from now (default: 300)' },
      { flags: '--any-age', meaning: 'whenever it was signed' },
    ],
    example: 'quorate webhooks verify body.json --headers headers.txt',
    help: {
      description:
        'Checks headers, time, key and signature as receivers must, and says what is wrong by the reasons of the published helper. The body must be the bytes that came: text that was parsed and written again is not what was signed.',
      examples: [['quorate webhooks verify body.json --headers headers.txt --any-age', 'one that came some time ago']],
      seeAlso: ['webhooks listen', 'webhooks deliveries'],
    },
    load: async () => (await import('./webhook-verify.ts')).verifyWebhook,
  },
  {
    name: 'webhooks deliveries',
    summary: 'show which webhooks wait or were given up, and why',
    options: [{ flags: '--redeliver <event-id>', meaning: 'deliver one that was given up again, now' }, serviceFolder],
    example: 'quorate webhooks deliveries',
    help: {
      description:
        'What waits is tried again by itself; what was given up stays until the newest thousand have come after it. One that is delivered again keeps its event id. Bodies above 64 KiB are not kept. `quorate doctor` says when webhooks were given up of late.',
      examples: [
        ['quorate webhooks deliveries --redeliver 0198c0de-0000-4000-8000-000000000001', 'have one delivered again'],
      ],
      seeAlso: ['webhooks listen', 'webhooks verify', 'doctor', 'serve'],
    },
    load: async () => (await import('./webhook-deliveries.ts')).webhookDeliveries,
  },
  {
    name: 'snapshot save',
    summary: 'write everything that the service on this machine keeps into one file, keys included',
    args: '<file>',
    argMeanings: { file: 'file to make; it is readable by you alone' },
    options: [serviceFolder],
    example: 'quorate snapshot save acme.snapshot',
    help: {
      description:
        'The file holds the master key and the root key: a reader of it has the wallets. With DATABASE_URL the rows are those of PostgreSQL at one moment, and the folder is that of any of its processes.',
      seeAlso: ['snapshot restore', 'serve', 'reset'],
    },
    load: async () => (await import('./snapshot.ts')).saveToFile,
  },
  {
    name: 'snapshot restore',
    summary: 'put a snapshot into the folder of a service that does not run',
    args: '<file>',
    argMeanings: { file: 'file that `quorate snapshot save` wrote' },
    options: [{ flags: '--yes', meaning: 'do not ask before replacing what the folder holds' }, serviceFolder],
    example: 'quorate snapshot restore acme.snapshot',
    help: {
      description:
        'Replaces all that the service keeps. Stop it first. With DATABASE_URL the rows go to that PostgreSQL, which must hold none, and the keys into the folder.',
      seeAlso: ['snapshot save', 'serve'],
    },
    load: async () => (await import('./snapshot.ts')).restoreFromFile,
  },
  {
    name: 'migrate',
    summary: 'bring the rows of the service to the schema of this version, and say by which steps',
    options: [serviceFolder],
    example: 'quorate migrate',
    help: {
      description:
        'A service does this by itself as it starts; here it is done before, with no service on the folder. With DATABASE_URL it is done there, while older processes go on. A schema that is newer than this version is refused.',
      seeAlso: ['store copy', 'doctor'],
    },
    load: async () => (await import('./store.ts')).migrate,
  },
  {
    name: 'store copy',
    summary: 'copy all rows of a service that does not run from its folder to PostgreSQL, or back',
    args: '<to>',
    argMeanings: { to: '`postgres`, the one of DATABASE_URL, or `folder`; nothing may be there yet' },
    options: [serviceFolder],
    example: 'quorate store copy postgres --folder /var/lib/quorate',
    help: {
      description:
        'DATABASE_URL names the PostgreSQL, `--folder` the folder of the service, which must not run. What is there already is refused; where the rows come from stays as it was. All or nothing is copied, and a digest over all rows is the same on both sides.',
      examples: [
        [
          'quorate store copy folder --folder /var/lib/quorate',
          'from PostgreSQL back into the folder of one of its processes',
        ],
      ],
      seeAlso: ['migrate', 'snapshot save'],
    },
    load: async () => (await import('./store.ts')).copyRows,
  },
  {
    name: 'plan-store use',
    summary: 'move the plan store and its ledger of sends to PostgreSQL or S3, or join the one that is there',
    args: '[url]',
    argMeanings: {
      url: '`postgres://host/name` or `s3://bucket/prefix` (default: QUORATE_PLAN_STORE, else DATABASE_URL)',
    },
    options: [
      {
        flags: '--store-key <file>',
        meaning: 'copy of `plans.key` of a machine that uses the place',
      },
    ],
    example: 'quorate plan-store use postgres://quorate@localhost/quorate',
    help: {
      description:
        'From then on all machines that use the place have one ledger of sends, one record of what runs did, and the same plans, and share no folder. What the data folder has is put there and read back; it may be run again wherever it was ended. Nothing is moved where the place says otherwise about something. The data folder keeps where its plan store is; a variable alone changes nothing. End the workers of the data folder first. A password is given in QUORATE_PLAN_STORE alone; a server of others that speaks as S3 does is named by `?endpoint=https://host&region=name`. The place holds no key: its records are believed by the key in `plans.key`.',
      examples: [
        ['quorate plan-store use s3://acme-custody/quorate --store-key plans.key', 'join from another machine'],
      ],
      exits: ['refused'],
      seeAlso: ['doctor', 'worker', 'sends'],
    },
    load: async () => (await import('./plan-store.ts')).use,
  },
  {
    name: 'master-key wrap',
    summary: 'have a key management service, or another key, wrap the master key of the service on this machine',
    args: '<keeper>',
    argMeanings: {
      keeper:
        '`vault:MOUNT/KEY`, `aws-kms:KEY`, `gcp-kms:NAME`, `pkcs11:…`, `env:NAME`, `file:PATH`; `none` writes it plain',
    },
    options: [serviceFolder],
    example: 'quorate master-key wrap vault:transit/quorate --folder /var/lib/quorate',
    help: {
      description:
        'Opens `master.key` with who keeps it now, has the keeper named wrap it, opens that once to be sure, and puts it into its place. The same keeper may be named again, once its own key was rotated. A service may run meanwhile; from its next start on it asks the new keeper. Of processes on one PostgreSQL, each has a folder with a `master.key` of its own.',
      examples: [
        [
          'quorate master-key wrap aws-kms:alias/quorate',
          'region and credentials are found as other programs of AWS find them',
        ],
        ['quorate master-key wrap none', 'back to a plain file'],
      ],
      seeAlso: ['serve', 'snapshot save'],
    },
    load: async () => (await import('./master-key.ts')).wrapMasterKey,
  },
  {
    name: 'master-key rotate',
    summary: 'have the service on this machine seal everything anew, under another master key',
    options: [serviceFolder],
    example: 'quorate master-key rotate --folder /var/lib/quorate',
    help: {
      description:
        'Makes 32 new bytes, wrapped by the same keeper as the old ones, and puts them beside those as `master.key.next`. The service takes them up while it works: it seals with them, seals anew what stands under the old key, and puts them in its place once nothing does. Each process on one PostgreSQL needs the file in its folder. Whoever has had the old key in the clear cannot read what is in the database then; what they have read before, and backups, they can.',
      seeAlso: ['master-key status', 'master-key wrap'],
    },
    load: async () => (await import('./master-key-rotate.ts')).rotateMasterKey,
  },
  {
    name: 'master-key status',
    summary: 'say how far the change of the master key of the service on this machine is',
    options: [serviceFolder],
    example: 'quorate master-key status --folder /var/lib/quorate',
    help: {
      description:
        'With DATABASE_URL it is read there. Exits with 0 once nothing is sealed under the old key and the folder has the new one in its place.',
      seeAlso: ['master-key rotate'],
    },
    load: async () => (await import('./master-key-rotate.ts')).showMasterKey,
  },
  {
    name: 'clock',
    summary: 'say what time the service on this machine has, or move it: votes lapse, keys expire, bodies grow stale',
    args: '[move]',
    argMeanings: { move: 'forward by a time such as `+25h` or `+1d12h`, or `reset` to go back to the machine’s' },
    options: [serviceFolder],
    example: 'quorate clock +25h',
    help: {
      description:
        'The time stays moved over restarts, until `reset`. Only the owner of the data folder can move it, and never in production unless `serve --operator` was given.',
      examples: [
        ['quorate clock', 'what time it has'],
        ['quorate clock reset', 'the time of the machine again'],
      ],
      seeAlso: ['fault add', 'serve'],
    },
    load: async () => (await import('./clock.ts')).clock,
  },
  {
    name: 'fault add',
    summary: 'let requests to the service on this machine fail or be late, and its webhooks be lost, doubled or late',
    options: [
      { flags: '--path <pattern>', meaning: 'paths it meets; `*` stands for any characters (default: all)' },
      {
        flags: '--webhook <pattern>',
        meaning: 'types of events it meets, instead of requests; `*` for any characters',
      },
      { flags: '--times <count>', meaning: 'how many it meets (default: all until it is cleared)' },
      { flags: '--status <status>', meaning: 'refuse with 429, 500 or 503; the request changes nothing' },
      { flags: '--retry-after <seconds>', meaning: 'when the refusal says to try again' },
      { flags: '--drop', meaning: 'carry the request out and close the connection instead of answering' },
      { flags: '--delay <seconds>', meaning: 'wait before anything else: late votes make a slow quorum' },
      { flags: '--lose', meaning: 'take the webhook for delivered without sending it' },
      { flags: '--twice', meaning: 'send the webhook two times, by the same event id' },
      serviceFolder,
    ],
    example: "quorate fault add --path '/public/v1/submit/*' --times 3 --status 429 --retry-after 1",
    help: {
      description:
        'They meet requests to the service and to the authentication proxy beside it; one that runs by `quorate proxy` meets those of the service alone. Faults stay over restarts, until they are used up or cleared. Only the owner of the data folder can ask for them.',
      examples: [
        ["quorate fault add --path '/public/v1/submit/*' --drop", 'do the work and answer nothing'],
        ['quorate fault add --webhook ACTIVITY_UPDATES --times 1 --lose', 'one that never comes'],
      ],
      seeAlso: ['fault list', 'fault clear', 'clock'],
    },
    load: async () => (await import('./fault.ts')).addFault,
  },
  {
    name: 'fault list',
    summary: 'list the faults in force',
    options: [serviceFolder],
    example: 'quorate fault list',
    help: {
      description: 'Shows each fault with its id and how often it will still strike.',
      seeAlso: ['fault add', 'fault clear'],
    },
    load: async () => (await import('./fault.ts')).listFaults,
  },
  {
    name: 'fault clear',
    summary: 'end one fault, or all of them',
    args: '[id]',
    argMeanings: { id: 'as `quorate fault list` shows it (default: all)' },
    options: [serviceFolder],
    example: 'quorate fault clear',
    help: { description: 'From then on requests are answered as usual.', seeAlso: ['fault add', 'fault list'] },
    load: async () => (await import('./fault.ts')).clearFaults,
  },
]
