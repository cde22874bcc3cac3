import type { Settings } from '../config/index.ts'
import type { ExitCode } from '../diagnostics/index.ts'
import type { Io } from './io.ts'

/** An option of a command, in commander's notation: `--json`, `--var <name=value...>`. */
export interface OptionRow {
  readonly flags: string
  readonly meaning: string
  /** Collects every use into a list. @default false */
  readonly repeatable?: boolean
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
  /** The command table itself. */
  readonly commands: readonly CommandRow[]
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
  readonly hidden?: boolean
  /** Its first line, printed before its code is loaded, so that a reader knows within 300 ms what goes on. */
  readonly opening?: (args: readonly string[], settings: Settings) => string
  /** Loaded only when the command runs, so that `--help` and the first line of output come at once. */
  readonly load: () => Promise<(input: CommandInput) => Promise<ExitCode>>
}

/** Whether `--ask-again` was given: what was rejected is asked once more. */
export function asksAgain({ options }: Pick<CommandInput, 'options'>): boolean {
  return options['askAgain'] === true
}

/** The option that gives variables their values. */
export const valueOptions: readonly OptionRow[] = [
  {
    flags: '--var <name=value>',
    meaning: 'value of a `${var.name}` in the definitions; may be repeated',
    repeatable: true,
  },
]
