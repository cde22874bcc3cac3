import { Command, CommanderError } from 'commander'
import { type SettingFlags, settingRows } from '../config/index.ts'
import { EXIT, type ExitCode, QuorateError, withoutKeys } from '../diagnostics/index.ts'
import { type CommandRow, exitsOf } from './command.ts'
import { commands } from './commands/index.ts'
import type { Style } from './io.ts'
import { HELP_COLUMNS } from './ready-text.ts'

/** The parsed command line: command, arguments, options and settings. */
export interface Invocation {
  readonly row: CommandRow
  readonly args: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
  readonly flags: SettingFlags
  /** Paths of files that the command writes at its end. */
  readonly writes: readonly string[]
}

interface ProgramOptions {
  readonly version: string
  readonly style: Style
  readonly out: (text: string) => void
  readonly say: (text: string) => void
}

/** Reads a command line: an invocation, or the exit code when help or version was all that was wanted or it was a group of commands. Throws `cli/usage`. */
export function readCommandLine(given: readonly string[], options: ProgramOptions): Invocation | ExitCode {
  const words = given[0] === 'help' ? given.slice(1).filter((word) => !word.startsWith('-')) : []
  if (words.length > 0 && !isKnown(words)) return sayTopic(words, options)
  // The parser's own `help` takes one word, and some commands have two.
  const argv = words.length > 0 ? [...words, '--help'] : given
  let invocation: Invocation | undefined
  const program = createProgram(rowsFor(argv), options, (found) => {
    invocation = found
  })
  try {
    program.parse(isKnown(argv) ? [...argv] : argv.filter((one) => !/^(-h|--help)$/.test(one)), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return EXIT.done
    // A group of commands alone: its help was said.
    if (error.code === 'commander.help') return EXIT.error
    throw refused(error, argv)
  }
  return invocation ?? EXIT.done
}

/** What the parser refused, as one of our errors: it quotes otherwise, and puts a suggestion into a line of its own. */
function refused({ code, message }: CommanderError, argv: readonly string[]): QuorateError {
  const [, said = '', suggested] =
    /^(?:error: )?(.*?)(?:\n\(Did you mean (?:one of )?(.*)\?\))?$/s.exec(message.trim()) ?? []
  const near = suggested?.split(', ').map((one) => `\`${one}\``)
  const example = code === 'commander.missingArgument' ? exampleOf(argv) : undefined
  const next = near
    ? `did you mean ${near.join(' or ')}?`
    : code === 'commander.unknownOption'
      ? optionLike(said, argv)
      : example && `give it, such as \`${example}\``
  return new QuorateError(
    'cli/usage',
    withoutKeys(
      said
        .replace(/'(.*?)'/s, '`$1`')
        .replace(/\. Expected (\d+) arguments? but got \d+: (.*)\.$/s, ': expected $1, got `$2`'),
    ),
    next === undefined ? {} : { next },
  )
}

/** How the command is typed that a command line names. */
function exampleOf(argv: readonly string[]): string | undefined {
  return rowOf(argv)?.example
}

/** The option that begins as the one that is not known, where the parser finds none like it; or else where the options stand. */
function optionLike(said: string, argv: readonly string[]): string | undefined {
  const row = rowOf(argv)
  const [asked = ''] = /--[a-z-]+/.exec(said) ?? []
  if (!row) return undefined
  const [nearest] = optionsOf(row)
    .map((name) => ({ name, shared: sharedLength(name, asked) }))
    .filter(({ shared }) => shared >= LEAST_SHARED)
    .sort((a, b) => b.shared - a.shared)
  return nearest ? `did you mean \`${nearest.name}\`?` : `\`quorate ${row.name} --help\` lists its options`
}

/** The options of a command, by their long names: its own, and those of all. */
function optionsOf({ options = [] }: CommandRow): readonly string[] {
  const all = [...options, ...Object.values(settingRows).map(({ flag }) => ({ flags: flag }))]
  return ['--json', ...all.map(({ flags }) => /--[a-z0-9-]+/.exec(flags)![0])]
}

/** Of two options, dashes included: two that share less are not alike. */
const LEAST_SHARED = '--abc'.length

function sharedLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return length
}

/** The command that a command line names, with the long names of its options. */
export function commandOf(argv: readonly string[]) {
  const row = rowOf(argv)
  return row && { name: row.name, options: optionsOf(row) }
}

function rowOf(argv: readonly string[]): CommandRow | undefined {
  const line = argv.join(' ')
  const named = commands.filter(({ name }) => line === name || line.startsWith(`${name} `))
  return named.toSorted((a, b) => b.name.length - a.name.length)[0]
}

/** Whether the words name a command or a group of commands. Help of one that is not there would be that of all. */
function isKnown([word = '', next = '']: readonly string[]): boolean {
  if (word.startsWith('-') || ['', 'help'].includes(word)) return true
  const names = commands.map(({ name }) => name)
  if (names.includes(word)) return true
  const isWord = next !== '' && !next.startsWith('-')
  return names.some((name) => name.startsWith(isWord && next !== 'help' ? `${word} ${next}` : `${word} `))
}

/** Lists the commands that are about something: by name and summary, where none is by all of their help. */
function sayTopic(words: readonly string[], { out, say }: ProgramOptions): ExitCode {
  const topic = words.join(' ')
  // `keys` is found in `key`, and a part of a word is not: `art` is not about `start`.
  const all = words.map((word) => new RegExp(`\\b${word.replace(/s$/i, '').replace(/[^\w]/g, '\\$&')}`, 'i'))
  const about = (textOf: (row: CommandRow) => string) =>
    commands.filter((row) => !row.hidden && all.every((word) => word.test(textOf(row))))
  const brief = ({ name, summary }: CommandRow) => `${name} ${summary}`
  const whole = (row: CommandRow) =>
    [brief(row), row.help?.description, ...(row.options ?? []).map(({ flags, meaning }) => `${flags} ${meaning}`)].join(
      ' ',
    )
  const byName = about(brief)
  const found = byName.length > 0 ? byName : about(whole)
  if (found.length === 0) {
    throw new QuorateError('cli/usage', withoutKeys(`no command is called \`${topic}\`, and none is about it`))
  }
  say(`No command is called \`${topic}\`. About it ${found.length === 1 ? 'is' : 'are'}:\n`)
  const width = Math.max(...found.map(({ name }) => name.length))
  out(found.map(({ name, summary }) => `  quorate ${name.padEnd(width)}  ${summary}\n`).join(''))
  return EXIT.done
}

/** The rows under the word that a command line begins with: to set up the others takes as long as some commands. All, where none is. */
function rowsFor([word]: readonly string[]): readonly CommandRow[] {
  const named = commands.filter(({ name }) => name.split(' ')[0] === word)
  return named.length > 0 ? named : commands
}

function createProgram(
  rows: readonly CommandRow[],
  { version, style, out, say }: ProgramOptions,
  found: (invocation: Invocation) => void,
): Command {
  const program = new Command('quorate')
    .description('Custody and wallet policy as code: see what changes and who must approve, then apply it durably.')
    .version(version, '-V, --version', 'print the version')
    .helpCommand('help [command]', 'say what a command does, or the code of an error')
    .helpOption('-h, --help', 'say what a command does')
    .configureHelp({ sortSubcommands: false, showGlobalOptions: false, styleTitle: style.strong })
    .configureOutput({
      writeOut: out,
      writeErr: say,
      // Told as one of our errors.
      outputError: () => {},
      getOutHelpWidth: () => Math.min(process.stdout.columns ?? HELP_COLUMNS, HELP_COLUMNS),
    })
    .showSuggestionAfterError(true)
    // Without it everything after the first word is one heap, and `sends` takes what was meant for `sends replace`.
    .enablePositionalOptions()
    .exitOverride()
  program.addHelpText(
    'after',
    '\nExample:\n  $ quorate up definitions/acme\n\nExit codes: 0 done or no change, 1 error, 2 changes (plan --detailed-exitcode), 3 waiting for approval,\n4 refused before anything was submitted, 5 stale plan, 6 partly done, or partly known.\n',
  )
  for (const row of rows) addCommand(program, row, style, found)
  return program
}

function addCommand(program: Command, row: CommandRow, style: Style, found: (invocation: Invocation) => void): void {
  const words = row.name.split(' ')
  const command = groupOf(program, words.slice(0, -1), style)
    .command(`${words.at(-1)}${row.args ? ` ${row.args}` : ''}`, { hidden: row.hidden ?? false })
    .summary(row.summary)
    .description(sentence(row.summary))
    // `sends` stands alone and before `sends replace`: what comes after a name is for that name.
    .enablePositionalOptions()
    .configureHelp({ styleTitle: style.strong, subcommandTerm: (one) => one.name() })
  if (row.help) command.description(`${sentence(row.summary)} ${row.help.description}`)
  for (const argument of command.registeredArguments) argument.description = row.argMeanings?.[argument.name()] ?? ''
  for (const option of row.options ?? []) {
    const collect = (value: string, all: readonly string[] = []) => [...all, value]
    if (option.repeatable) command.option(option.flags, option.meaning, collect)
    else command.option(option.flags, option.meaning)
  }
  command.option('--json', 'print data as JSON')
  for (const { flag, argument, meaning, environment } of Object.values(settingRows)) {
    const option = command.createOption(`${flag} ${argument}`, `${meaning} [${environment}]`)
    command.addOption(option.helpGroup('Settings, the same for every command:'))
  }
  command.addHelpText('after', () => ending(row, style))
  command.action(() => {
    const options = command.opts<Record<string, unknown>>()
    const flags = Object.fromEntries(Object.keys(settingRows).map((name) => [name, options[name]])) as SettingFlags
    const writing = new Set((row.options ?? []).filter(({ writes }) => writes).map((one) => one.flags))
    const paths = command.options.flatMap((one) => (writing.has(one.flags) ? [options[one.attributeName()]] : []))
    const writes = paths.filter((path) => typeof path === 'string' && path !== '-') as readonly string[]
    found({ row, args: command.args, options, flags, writes })
  })
}

/** The end of a command's help: exit codes, examples, and related commands. */
function ending(row: CommandRow, { strong }: Style): string {
  const { examples: further = [], seeAlso = [] } = row.help ?? {}
  const examples = [[row.example, ''] as const, ...further]
  const lines = [
    strong('Exit codes:'),
    ...exitsOf(row).map(({ code, meaning }) => `  ${code}  ${meaning}`),
    '',
    strong('Examples:'),
    ...examples.map(([line, purpose]) => `  $ ${line}${purpose === '' ? '' : `   # ${purpose}`}`),
    ...(seeAlso.length === 0
      ? []
      : ['', strong('See also:'), `  ${seeAlso.map((name) => `quorate ${name}`).join(', ')}`]),
  ]
  return `\n${lines.join('\n')}\n`
}

function sentence(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`
}

/** The command under which a row like `policy test` stands; made when its first row comes. */
function groupOf(program: Command, words: readonly string[], style: Style): Command {
  let group = program
  for (const word of words) {
    const found = group.commands.find((one) => one.name() === word)
    group =
      found ??
      group
        .command(word)
        .summary(groupSummaries[word] ?? '')
        .configureHelp({ styleTitle: style.strong })
  }
  return group
}

const groupSummaries: Readonly<Record<string, string>> = {
  fault: 'let the service on this machine fail on request, for tests and rehearsals',
  snapshot: 'keep the state of the service on this machine in a file, and go back to it',
  webhooks: 'see what comes to an endpoint, check it, and have it sent again',
  key: 'make an API key, and show the public half of one',
  incident: 'cut off a key or a person, and say what they did',
  'master-key': 'change the key under which the service on this machine keeps its keys',
  'plan-store': 'say where plans and records are kept, or move them to where all machines reach them',
  rotate: 'replace a key: made, tried, handed over, and the old one deleted',
  store: 'copy the rows of the service between SQLite and PostgreSQL',
  watch: 'look after an organization from now on: report, propose or repair what drifts',
  policy: 'try, test, explain, format and lint policies on this machine',
}
