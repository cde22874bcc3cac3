/**
 * Words that people bring along from other tools (Terraform, kubectl, git), and what does that work here. They are no commands, and
 * are told only where a command line is refused.
 */
export const COMMANDS: Readonly<Record<string, string>> = {
  audit: '`quorate activities` lists what happened and who voted, `quorate evidence ACTIVITY` writes it for an auditor',
  clean: '`quorate reset` deletes the state in the data folder',
  console: '`quorate policy explain` says why a request is decided as it is',
  create: 'what a definition names and is not live is created: write it, and run `quorate plan`',
  delete: 'what is taken out of the definitions is deleted: `quorate plan --allow-delete`',
  destroy: 'what is taken out of the definitions is deleted: `quorate plan --allow-delete`',
  diff: '`quorate plan` shows what differs between the definitions and the organization',
  drift: '`quorate plan` shows it once, `quorate watch add` keeps looking',
  'force-unlock': 'nothing is locked: `quorate status` says which apply is under way',
  get: '`quorate activities`, `quorate unmanaged` and `quorate init FOLDER` show what is live',
  history: '`quorate activities` lists what happened, newest first',
  lint: '`quorate validate` checks definitions, `quorate policy lint` policies',
  log: '`quorate activities` lists what happened, newest first',
  logs: '`quorate activities` lists what happened, newest first',
  output: '`quorate plan --json` and `quorate status --json` give data',
  providers: 'there are none: `quorate doctor` checks what an apply needs',
  refresh: 'every plan reads the live organization: `quorate plan`',
  rollback: 'put the definitions back as they were, and apply them: `quorate plan`',
  start: '`quorate up` brings everything up, `npm start` does so for the example',
  state:
    'the live organization is the state: `quorate import` follows it, `forget: [ADDRESS]` in the definitions hands a thing back',
  stop: '`quorate down` stops the background process',
  taint: '`quorate rotate` replaces a key; anything else is replaced by a new name',
  test: '`quorate policy test` runs the tests of policies',
  untaint: 'nothing is marked: `quorate plan` shows what would change',
  version: '`quorate --version`',
  workspace: 'each organization has a folder of definitions: name it, as in `quorate plan definitions/acme`',
}

/** Advice whose first word is an option is given of commands that have that option. */
export const OPTIONS: Readonly<Record<string, string>> = {
  'auto-approve': '`--yes`; a plan that was saved is carried out without a question',
  destroy: '`--allow-delete` lets a plan delete what the definitions no longer hold',
  'dry-run': '`quorate plan` submits nothing, and neither does `quorate send --dry-run`',
  force: 'a guard is passed by its own name: `--allow BYPASS`, as the guard says',
  'input=false': '`--yes`; off a terminal nothing is asked',
  key: '`--key-file FILE`, `--key-command COMMAND` or `--sign-command COMMAND`; a key itself stands in no command line',
  'no-color': 'set NO_COLOR',
  org: '`--organization-id UUID`',
  organization: '`--organization-id UUID`',
  'refresh-only': 'every plan reads what is live: `quorate plan`; `quorate import` writes it into the definitions',
  plan: 'a plan that was saved is named without an option: `quorate apply FILE`, `quorate show FILE`',
  replace: '`quorate rotate` replaces a key; anything else is replaced by a new name',
  url: '`--base-url URL`',
  'var-file': 'give `--var NAME=VALUE` or an environment variable: `${env.NAME}` in the definitions',
  yes: 'this command asks nothing: leave it out',
}

/** The same of one command, where what is meant is known. */
const OF_COMMANDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'key new': { force: 'a key is never overwritten: name another file, or move the old one away' },
  reset: { force: '`--yes` asks no question' },
}

/**
 * What to do about a command line that was refused.
 * @param suggested a name like the one that is not known
 * @param command the one that was given, with the long names of its options. @default none that is known
 */
export function adviceFor(argv: readonly string[], suggested?: string, command?: KnownCommand): string {
  return (
    habitOf(argv, command) ??
    suggested ??
    '`quorate --help` lists the commands, `quorate COMMAND --help` what one takes'
  )
}

interface KnownCommand {
  readonly name: string
  readonly options: readonly string[]
}

/** What it may have meant; undefined where that is not known. */
function habitOf(argv: readonly string[], command: KnownCommand | undefined): string | undefined {
  const [word = ''] = argv[0] === 'help' ? argv.slice(1) : argv
  if (Object.hasOwn(COMMANDS, word)) return COMMANDS[word]
  for (const one of argv) {
    const name = /^--?([a-z-]+(?:=false)?)/.exec(one)?.[1] ?? ''
    const advice = command && OF_COMMANDS[command.name]?.[name]
    if (advice !== undefined) return advice
    if (Object.hasOwn(OPTIONS, name) && isHeard(OPTIONS[name]!, command)) return OPTIONS[name]
    const [, long, rest = ''] = /^-([a-z][a-z-]+)(=.*)?$/.exec(one) ?? []
    if (long !== undefined) return `options have two dashes: \`--${long}${rest === '' ? '' : '=…'}\``
  }
  return undefined
}

/** Whether a command has the option that an advice names; a command that is not known may have any. */
function isHeard(advice: string, command: KnownCommand | undefined): boolean {
  const [, option] = /`(--[a-z-]+)/.exec(advice) ?? []
  return command === undefined || option === undefined || command.options.includes(option)
}
