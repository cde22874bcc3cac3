import { type CommandRow, type OptionRow, valueOptions } from '../command.ts'

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
      ...valueOptions,
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
]
