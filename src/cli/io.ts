import { printable, printableJson, QuorateError } from '../diagnostics/index.ts'
import { isColoured } from './colour.ts'
import { rendition, toTerminal } from './screen.ts'
import { withhold } from './withheld.ts'

/** The output of a command: data to stdout, messages to stderr. Neither control characters (`screen.ts`) nor keys (`withheld.ts`) reach them. */
export interface Io {
  /** Data: what a command was asked for. */
  out(text: string): void
  /** Talk: progress, hints, faults. */
  say(text: string): void
  /** Whether a person watches and can be asked. */
  readonly terminal: boolean
  /** Whether the live view may redraw lines it has written. */
  readonly live: boolean
  readonly style: Style
  /** Asks a yes-or-no question; only on a terminal. @default no */
  ask(question: string): Promise<boolean>
  /** Asks for a line of text, which may also come through a pipe; undefined when none comes. */
  askText(question: string): Promise<string | undefined>
}

/** Colours by meaning; every function is the identity when colour is off. */
export interface Style {
  readonly added: (text: string) => string
  readonly changed: (text: string) => string
  readonly removed: (text: string) => string
  readonly good: (text: string) => string
  readonly warning: (text: string) => string
  readonly error: (text: string) => string
  readonly dim: (text: string) => string
  readonly strong: (text: string) => string
}

/** Makes the style; `isColoured` says whether there is colour. */
export function createStyle(colour: boolean): Style {
  const painted = (on: number, off: number) => (colour ? rendition(on, off) : (text: string) => text)
  const [red, green, yellow] = [painted(31, 39), painted(32, 39), painted(33, 39)]
  return {
    added: green,
    changed: yellow,
    removed: red,
    good: green,
    warning: yellow,
    error: red,
    dim: painted(2, 22),
    strong: painted(1, 22),
  }
}

/** The process's own streams. */
export function createIo(environment: Readonly<Record<string, string | undefined>>): Io {
  const ci = Boolean(environment['CI'])
  const terminal = Boolean(process.stdout.isTTY && process.stdin.isTTY && process.stderr.isTTY) && !ci
  const colour = isColoured(environment, Boolean(process.stdout.isTTY))
  const say = (text: string) => {
    // Talk that cannot be written (its disk is full) is no reason to end what it tells of.
    try {
      process.stderr.write(toTerminal(withhold(text).shown))
    } catch (error) {
      if (error instanceof QuorateError) throw error
    }
  }
  const readLine = async (question: string): Promise<string | undefined> => {
    const { createInterface } = await import('node:readline/promises')
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    // Ctrl-C rejects, and at the end of the input nothing answers: neither is an answer.
    const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)))
    try {
      return await Promise.race([lines.question(`${printable(withhold(question).shown)} `), ended])
    } catch (error) {
      if (error instanceof Error && error.name === 'AbortError') return undefined
      throw error
    } finally {
      lines.close()
    }
  }
  return {
    out(text) {
      const { shown, said } = withhold(text)
      process.stdout.write(toTerminal(shown))
      for (const one of said) say(`stdout, ${one}`)
    },
    say,
    terminal,
    live: terminal && environment['TERM'] !== 'dumb',
    style: createStyle(colour),
    async ask(question) {
      if (!terminal) return false
      return /^y(es)?$/i.test((await readLine(`${question} [y/N]`))?.trim() ?? '')
    },
    askText: readLine,
  }
}

/** A document of JSON, as files and stdout have it: indented, ended by a line break, and printable. */
export function jsonText(value: unknown): string {
  return `${printableJson(JSON.stringify(value, null, 2))}\n`
}

/** Puts out one document of JSON: all that a command was asked for. */
export function writeJson(io: Pick<Io, 'out'>, value: unknown): void {
  io.out(jsonText(value))
}

/** Puts out one line of JSON, for a program that reads the stream while it grows. */
export function writeJsonLine(io: Pick<Io, 'out'>, value: unknown): void {
  io.out(`${printableJson(JSON.stringify(value))}\n`)
}

/** Goes on when `--yes` was given or a person says yes. Throws `cli/not-confirmed`, saying that `otherwise`. */
export async function assertConfirmed(
  { io, options }: { readonly io: Io; readonly options: Readonly<Record<string, unknown>> },
  { question, otherwise }: { readonly question: string; readonly otherwise: string },
): Promise<void> {
  if (options['yes'] || (io.terminal && (await io.ask(question)))) return
  throw new QuorateError('cli/not-confirmed', otherwise, { next: io.terminal ? 'answer yes' : 'give --yes' })
}
