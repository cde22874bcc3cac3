import type { Settings } from '../../config/index.ts'
import { type CommandRow, type OptionRow, valueOptions } from '../command.ts'
import { proofOptions } from './option-rows.ts'
import { formatting, policyCommands } from './policy/index.ts'
import { sendCommands } from './send-rows.ts'
import { serviceCommands } from './service-rows.ts'

const folder = { folder: 'folder of definitions (default: the current folder)' }
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
const votePasskey: OptionRow = {
  flags: '--passkey',
  meaning: 'vote by a passkey in the browser, made with `quorate login --new-passkey` (default: the key in use)',
}
const jsonInto: OptionRow = { flags: '--json-into <file>', meaning: 'write the data as JSON into a file as well' }
const markdown: OptionRow = {
  flags: '--markdown <file>',
  meaning: 'write the plan as Markdown, for a pull request; `-` prints it instead',
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
    options: valueOptions,
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
      ...valueOptions,
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
    options: valueOptions,
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
      ...valueOptions,
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
      ...valueOptions,
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
  ...sendCommands,
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
    options: valueOptions,
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
    options: [{ flags: '--yes', meaning: 'do not ask for confirmation' }, votePasskey, ...proofOptions],
    example: 'quorate approve 7f3a-19c2 --key-file .quorate/keys/bob.json',
    load: async () => (await import('./vote.ts')).approve,
  },
  {
    name: 'reject',
    summary: 'vote against a waiting activity with the key in use; it ends for good',
    args: '<activity>',
    argMeanings: { activity: 'its id, its fingerprint, or the short code that plan and status show' },
    options: [{ flags: '--yes', meaning: 'do not ask for confirmation' }, votePasskey, ...proofOptions],
    example: 'quorate reject 7f3a-19c2 --key-file .quorate/keys/bob.json',
    load: async () => (await import('./vote.ts')).reject,
  },
  ...serviceCommands,
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
      ...proofOptions,
      {
        flags: '--new-passkey <name>',
        meaning: 'make a passkey in the browser, and print what definitions say of it; submits nothing',
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
