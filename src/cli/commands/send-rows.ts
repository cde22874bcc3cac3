import { type CommandRow, type OptionRow, valueOptions } from '../command.ts'
import { askAgain, serviceFolder, wait } from './option-rows.ts'

const confirmations: OptionRow = {
  flags: '--confirmations <id=blocks>',
  meaning:
    'blocks that make a send final where QUORATE_CHAINS names a node; may be repeated (default: QUORATE_CONFIRMATIONS, or the chain’s own)',
  repeatable: true,
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
  askAgain,
  { flags: '--dry-run', meaning: 'show what would be sent, and what would come of it; send nothing' },
  { flags: '--yes', meaning: 'do not ask for confirmation' },
  { flags: '--detach', meaning: 'return when it has been submitted; list it with `quorate sends`' },
  wait,
  ...valueOptions,
]

/** The commands that send transactions, and say what came of them. */
export const sendCommands: readonly CommandRow[] = [
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
        meaning: 'with its unit: 1.5ETH, 30gwei, 1.5SOL, 5000lamports; of an asset: 12.5 or 12.5usdc',
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
          'the most to pay for a unit of gas, such as 60gwei; on Solana all of the fee, such as 0.00001SOL (default: QUORATE_FEE_MULTIPLES times what recent blocks took where QUORATE_CHAINS names a node, 4 where it is not set, never above QUORATE_FEE_CAPS)',
      },
      {
        flags: '--gas <units>',
        meaning: 'on Ethereum, the most gas to use, such as 21000 (default: the service chooses)',
      },
      { flags: '--ref <text>', meaning: 'the name of this payment in your books, such as an invoice number' },
      {
        flags: '--batch <file>',
        meaning: 'CSV of many sends, with columns named like these options: ref,from,to,amount,…',
      },
      {
        flags: '--not <others>',
        meaning:
          'activity ids, or references that look like this one, with commas between: other payments, though they pay the same or seem to have this reference (default: such a send is refused)',
      },
      askAgain,
      { flags: '--skip-denied', meaning: 'of a batch, leave out what the policies would deny (default: send nothing)' },
      { flags: '--stop-on-failure', meaning: 'of a batch, begin nothing more once a send has failed' },
      { flags: '--resume', meaning: 'of a batch that was stopped, send what was not submitted (default: refuse it)' },
      {
        flags: '--report <file>',
        writes: true,
        meaning: 'of a batch, write what came of each row to FILE.json or FILE.csv',
      },
      { flags: '--events', meaning: 'of a batch, print one JSON event a line as it goes; the first names the version' },
      { flags: '--dry-run', meaning: 'show what would be sent, and what would come of it; send nothing' },
      { flags: '--yes', meaning: 'do not ask for confirmation' },
      { flags: '--detach', meaning: 'return when it has been submitted; list it with `quorate sends`' },
      confirmations,
      wait,
      ...valueOptions,
    ],
    example: 'quorate send mine --from treasury --to payroll --amount 1.5ETH --chain eip155:1 --ref INV-42',
    help: {
      description:
        'Shows who is paid, what would come of it and what it would leave sender and payee with, asks, and begins a durable workflow that submits the send, waits for approval and tracks the transaction until it is included or has failed. A reference is sent once: asked again, from any terminal, it says how that send stands. From a machine with another data folder the activities of the organization, 90 days back, tell what has the reference: the same send is joined (for the API, asked by another user, that is an approval), another is refused. A payment equal to one that the ledger does not know is refused until `--not` names its activity, and so is one under a reference that looks like that of an equal payment (case, dashes, letters of another alphabet). On a terminal it follows to the end, and Ctrl-C only stops looking; anywhere else it exits with 3 at the first wait for people. What has failed is never sent again by itself; of what was given up nothing was broadcast, and the same command sends it anew. What approvers have rejected stays rejected, until `--ask-again` asks for the same payment once more, as a new activity under the same reference; however many machines ask again at once, that is one activity. A batch is read as a whole first: while anything is wrong with any row, nothing is sent. Its rows are submitted at the rate that the API allows, and the same file again goes on with what is open; one that was stopped with `quorate sends stop` goes on with --resume alone. On Solana it pays SOL, or a token by its mint: a token is paid to its owner, whose account for it is found, and opened where there is none. An address that nobody has a key for, such as that account itself, is not paid in tokens. `--max-fee` is there all of the fee, and what is offered is paid.',
      examples: [
        [
          'quorate send mine --batch payments.csv --report paid.csv',
          'pay all rows of a file, and say what came of each',
        ],
        [
          'quorate send mine --from ops --to payroll --amount 30gwei --chain eip155:1 --ref INV-43 --dry-run',
          'only look',
        ],
        [
          'quorate send mine --from ops --to payroll --asset usdc --amount 12.5 --ref INV-44',
          'pay in a token of the definitions',
        ],
        ['quorate send mine --from ops --to crew --amount 1.5SOL --chain solana:mainnet --ref INV-45', 'pay on Solana'],
      ],
      exits: ['waiting', 'refused', 'partial'],
      seeAlso: ['sends', 'sends stop', 'sends replace', 'activities', 'approve', 'serve'],
    },
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
      { flags: '--report <file>', writes: true, meaning: 'of a batch, write its report to FILE.json or FILE.csv' },
      confirmations,
    ],
    example: 'quorate sends --open',
    help: {
      description:
        'Reads the ledger of the data folder: every reference that was sent from it, who was paid how much, and how that send stands. The API is asked about the newest of what is open; nodes of QUORATE_CHAINS, whether what is included is final: without one it is said to be included as reported by the API. They tell the nonces too, and what the senders have, which otherwise the API tells. Where a part is away that would carry on what is open (the background process, Temporal, a worker, the API), it is named with what to do; nothing is started. With --follow, each change of what is open is shown until all has ended; where nobody watches, it exits with 3 when all that is open waits for people.',
      examples: [
        ['quorate sends --follow', 'see what is open through to its end'],
        ['quorate sends --json', 'as data'],
        ['quorate sends --batch 3f9c0a --csv', 'what came of each row of a batch'],
      ],
      exits: ['waiting', 'partial'],
      seeAlso: ['send', 'sends stop', 'sends replace', 'sends cancel', 'activities'],
    },
    load: async () => (await import('./sends.ts')).sends,
  },
  {
    name: 'sends stop',
    summary: 'stop a batch: no row that has not been submitted is submitted any more',
    args: '<batch>',
    argMeanings: { batch: 'id of the batch, or the beginning of it' },
    options: [
      { flags: '--report <file>', writes: true, meaning: 'write how each row stands to FILE.json or FILE.csv' },
    ],
    example: 'quorate sends stop 3f9c0a',
    help: {
      description:
        'Holds back every row of a batch that has not been submitted, at once and without a question, also where neither Temporal nor a worker runs. Requests that are on their way just then are waited for, and told apart. What was submitted is followed to its end by the workflow of the batch; what of it waits for approval is ended with `quorate reject`. References of rows that were held back are free: the file can be corrected and sent as it is then, or sent as it was with `quorate send --batch FILE --resume`. It exits with 3 where of some rows it is not yet known whether they were submitted.',
      examples: [['quorate sends stop 3f9c0a --report stopped.csv', 'and say how each row stands']],
      exits: ['waiting'],
      seeAlso: ['send', 'sends', 'reject'],
    },
    load: async () => (await import('./stop-batch.ts')).stopBatch,
  },
  {
    name: 'sends reconcile',
    summary: 'find the transactions that used a sender’s nonces outside this service, so that held sends go on',
    options: [
      {
        flags: '--other <hashes>',
        meaning:
          'transactions, with commas between: other payments, though they do what a send asks for (default: they are that send)',
      },
      {
        flags: '--pay <sends>',
        meaning:
          'ids of held sends, with commas between, that are to be signed; `all`: each that --give-up does not name',
      },
      {
        flags: '--give-up <sends>',
        meaning: 'ids of held sends that are to end: they were paid otherwise, or not to be',
      },
      { flags: '--within <time>', meaning: 'ask the nodes no longer than this, such as 10m (default: 4m)' },
      { flags: '--dry-run', meaning: 'show what was sent; write nothing' },
      { flags: '--yes', meaning: 'do not ask for confirmation' },
      serviceFolder,
    ],
    example: 'quorate sends reconcile --dry-run',
    help: {
      description:
        'A service whose records are behind the chain, such as after `quorate snapshot restore`, or whose key signs elsewhere too, may take a send for unsent that is paid. Where an address of Ethereum has used nonces that are in none of its sends, nothing more is signed for that address and chain until this command has had the transactions of those nonces looked up at the service’s own nodes, which must agree, in blocks that are settled. A transaction that does what an unsigned send asks for is that send: it is told as included, and never paid again. On Solana, where transactions have no nonce, an address of a restored service holds still in the same way, for what it has paid for since the snapshot, and until nothing that was signed before the restore can be included any more. What a snapshot has open, and no transaction is, may have been given up, cancelled or replaced since and paid under another reference: it is listed, and signed only with --pay; --give-up ends it, and so does the ledger of the data folder where it was told as over. Any other transaction is kept as sent from elsewhere: a later send that asks for the same waits, until this command is given again, with --other where it is another payment. It ends within its time whatever nodes say, and exits with 3 while something cannot be identified or looked at: of that nothing is written, and its address goes on holding still. Nodes that keep no old states cannot tell what used old nonces; serve the chain with one that does.',
      examples: [
        ['quorate sends reconcile --other 0x5c50…,0x88df… --yes', 'these are other payments'],
        ['quorate sends reconcile --give-up 5f0c… --pay all --yes', 'of what the snapshot has open one was cancelled'],
      ],
      exits: ['waiting'],
      seeAlso: ['sends', 'snapshot restore', 'serve'],
    },
    load: async () => (await import('./reconcile-sends.ts')).reconcileSends,
  },
  {
    name: 'sends replace',
    summary: 'offer a higher fee for a send that is not included, with the same nonce',
    args: '<reference> [folder]',
    argMeanings: replaced,
    options: replacing,
    example: 'quorate sends replace INV-42 --max-fee 60gwei',
    help: {
      description:
        'For a send that is broadcast and not included, because it offers too little. The replacement is a send of its own, under a reference made of the old one and the price, with all that the old one has and its nonce, so that of the two at most one is ever in the chain. Policies and approvers are asked again. The API does not tell nonces, so a node of the chain is asked for the transaction; what it says is believed when it has the hash that the API told. Nothing is ever replaced by itself, and nothing on Solana can be: transactions have no nonce there.',
      examples: [['quorate sends replace INV-42 --max-fee 60gwei --node http://127.0.0.1:8545 --dry-run', 'only look']],
      exits: ['waiting', 'refused', 'partial'],
      seeAlso: ['sends cancel', 'sends', 'send'],
    },
    load: async () => (await import('./replace-send.ts')).replaceSend,
  },
  {
    name: 'sends cancel',
    summary: 'cancel a send that is not included: use its nonce for an empty transaction',
    args: '<reference> [folder]',
    argMeanings: replaced,
    options: replacing,
    example: 'quorate sends cancel INV-42 --max-fee 60gwei',
    help: {
      description:
        'As `sends replace`, with nothing in it: no value, from the account to itself. Included first, it leaves the old send without its nonce, and that ends as `cancelled`. Whichever of the two is included is shown at the end; a send that waits for approval is ended with `quorate reject`.',
      exits: ['waiting', 'refused', 'partial'],
      seeAlso: ['sends replace', 'sends', 'reject'],
    },
    load: async () => (await import('./replace-send.ts')).cancelSend,
  },
]
