import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Help is made for so many columns. */
export const HELP_COLUMNS = 80

/** The folder beside the program in which the build puts texts; there is none beside the sources. */
export const TEXTS = 'texts'

/** Texts that the build makes, by the command lines that ask for them. */
export const READY_TEXTS: Readonly<Record<string, string>> = {
  '--help': 'help.txt',
  '-h': 'help.txt',
  help: 'help.txt',
  'completion bash': 'completion.bash',
  'completion zsh': 'completion.zsh',
  'completion fish': 'completion.fish',
}

const RENDITION = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g')

/** A text that needs no command to be loaded; undefined where the build has made none, or a narrow terminal needs another. */
export function readyText(
  argv: readonly string[],
  { isColoured, columns = HELP_COLUMNS }: { readonly isColoured: boolean; readonly columns: number | undefined },
): string | undefined {
  const asked = argv.join(' ')
  if (columns < HELP_COLUMNS || !Object.hasOwn(READY_TEXTS, asked)) return undefined
  const file = join(import.meta.dirname, TEXTS, READY_TEXTS[asked]!)
  if (!existsSync(file)) return undefined
  const text = readFileSync(file, 'utf8')
  return isColoured ? text : text.replaceAll(RENDITION, '')
}
