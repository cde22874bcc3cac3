import { existsSync } from 'node:fs'
import type { Settings } from '../config/index.ts'
import { EXIT, type ExitCode } from '../diagnostics/index.ts'
import type { CommandDeadline } from './deadline.ts'
import type { Io } from './io.ts'

/** An option of a command, in commander's notation: `--json`, `--var <name=value...>`. */
export interface OptionRow {
  readonly flags: string
  readonly meaning: string
  /** Collects every use into a list. @default false */
  readonly repeatable?: boolean
  /** Its value is a file that is written at the end, or `-`: whether it can be is looked at first. @default false */
  readonly writes?: boolean
}

/** The input of a command: settings, streams, arguments and options. */
export interface CommandInput {
  readonly settings: Settings
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly io: Io
  readonly args: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
  /** Whether data goes out as JSON. */
  readonly json: boolean
  /** One for all reads of the command. */
  readonly deadline: CommandDeadline
  /** The command table itself. */
  readonly commands: readonly CommandRow[]
}

/** What the help of a command says beyond the rest of its row. */
export interface CommandHelp {
  /** What a reader wants to know before running it. Lines are broken where it is shown. */
  readonly description: string
  /** Further lines that can be typed, each with its purpose. */
  readonly examples?: readonly (readonly [line: string, purpose: string])[]
  /** Exits beside 0 and 1. */
  readonly exits?: readonly (keyof typeof EXIT)[]
  /** Names of commands. */
  readonly seeAlso: readonly string[]
}

/** One row of the command table: everything help says about it, and where its code is. */
export interface CommandRow {
  readonly name: string
  readonly summary: string
  /** In commander's notation: `[folder]`, `<id>`. */
  readonly args?: string
  readonly argMeanings?: Readonly<Record<string, string>>
  readonly options?: readonly OptionRow[]
  /** A line that can be typed unchanged. */
  readonly example: string
  /** Of every command that is not hidden. */
  readonly help?: CommandHelp
  readonly hidden?: boolean
  /**
   * Its first line, printed before its code is loaded, so that a reader knows within 300 ms what goes on. Undefined where what it would
   * begin with is not there: the error says that.
   */
  readonly opening?: (
    args: readonly string[],
    settings: Settings,
    options: Readonly<Record<string, unknown>>,
  ) => string | undefined
  /** Loaded only when the command runs, so that `--help` and the first line of output come at once. */
  readonly load: () => Promise<(input: CommandInput) => Promise<ExitCode>>
}

/** Whether `--ask-again` was given: what was rejected is asked once more. */
export function asksAgain({ options }: Pick<CommandInput, 'options'>): boolean {
  return options['askAgain'] === true
}

/** The API in words, before anything is known of it. */
export const apiName = ({ baseUrl }: Settings) => baseUrl ?? 'the embedded service'

/** The option that gives variables their values. */
export const valueOptions: readonly OptionRow[] = [
  {
    flags: '--var <name=value>',
    meaning: 'value of a `${var.name}` in the definitions; may be repeated',
    repeatable: true,
  },
]

/** What each exit code means. */
export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: 'done, or nothing to do',
  error: 'an error; the message says what and what to do',
  changes: 'there are changes (`plan --detailed-exitcode` alone)',
  waiting: 'it waits for approval',
  refused: 'refused before anything was submitted; the message says by what',
  stale: 'the plan is stale: the organization has moved since it was made',
  partial: 'a part was done and a part was not, or a part of the answer is unknown',
}

/** The exits of a command with what they mean, by their code. */
export function exitsOf({ help }: CommandRow): readonly { readonly code: number; readonly meaning: string }[] {
  const names = [...new Set<keyof typeof EXIT>(['done', 'error', ...(help?.exits ?? [])])]
  return names.map((name) => ({ code: EXIT[name], meaning: EXIT_MEANINGS[name] })).sort((a, b) => a.code - b.code)
}

/** The opening of a command that begins with a file or folder that it is given. */
export const openingWith =
  (opening: (where: string, api: string) => string): NonNullable<CommandRow['opening']> =>
  ([where = '.'], settings) =>
    existsSync(where) || where.startsWith('sha256:') ? opening(where, apiName(settings)) : undefined
