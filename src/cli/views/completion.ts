/** Shell completion: a script made from the command table, which asks quorate nothing when it runs. */
import type { CommandRow } from '../command.ts'
import { inQuotes } from '../shell-word.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** An option as completion sees it: `--out` of `--out <file>`, and whether something follows it. */
export interface CompletedOption {
  readonly name: string
  readonly takesValue: boolean
  readonly meaning: string
}

/** A command, or a word under which commands stand (`policy`), with what may follow it. */
interface Stop {
  /** `policy test`; empty for the program itself. */
  readonly path: string
  readonly words: readonly { readonly word: string; readonly meaning: string }[]
  readonly options: readonly CompletedOption[]
}

/** The script for a shell. `shared` are the options that every command has. */
export function renderCompletion(
  shell: Shell,
  commands: readonly CommandRow[],
  shared: readonly CompletedOption[],
): string {
  const stops = stopsOf(
    commands.filter(({ hidden }) => !hidden),
    shared,
  )
  return { bash, zsh, fish }[shell](stops)
}

/** An option out of its flags in commander's notation. */
export function completedOption(flags: string, meaning: string): CompletedOption {
  return { name: /--[a-z-]+/.exec(flags)![0], takesValue: flags.includes('<'), meaning }
}

function stopsOf(commands: readonly CommandRow[], shared: readonly CompletedOption[]): readonly Stop[] {
  const groups = new Set(['', ...commands.flatMap(({ name }) => name.split(' ').slice(0, -1))])
  return [
    ...[...groups].map((path) => ({ path, words: wordsAfter(path, commands), options: [] })),
    ...commands.map(({ name, options = [] }) => ({
      path: name,
      words: name === 'completion' ? SHELLS.map((word) => ({ word, meaning: `for ${word}` })) : [],
      options: [...options.map(({ flags, meaning }) => completedOption(flags, meaning)), ...shared],
    })),
  ]
}

function wordsAfter(path: string, commands: readonly CommandRow[]): Stop['words'] {
  const below = commands.filter(({ name }) => (path === '' ? true : name.startsWith(`${path} `)))
  const words = new Map<string, string>()
  for (const { name, summary } of below) {
    const [word, ...others] = name.slice(path === '' ? 0 : path.length + 1).split(' ')
    if (!words.has(word!)) words.set(word!, others.length > 0 ? `commands about ${word}` : summary)
  }
  return [...words].map(([word, meaning]) => ({ word, meaning }))
}

/** The words that were typed, joined as far as they lead to a stop: the same loop in each shell. */
function bash(stops: readonly Stop[]): string {
  const cases = stops.map(({ path, words, options }) => {
    const taking = options.filter(({ takesValue }) => takesValue).map(({ name }) => name)
    const names = options.map(({ name }) => name)
    return `    ${inQuotes(path)}) words=${inQuotes(words.map(({ word }) => word).join(' '))} options=${inQuotes(names.join(' '))} valued=${inQuotes(taking.join(' '))} ;;`
  })
  return `# Completion of quorate for bash. Load it with: source <(quorate completion bash)
_quorate_stop() {
  case "$1" in
${cases.join('\n')}
    *) return 1 ;;
  esac
}
_quorate() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path= words options valued index
  for ((index = 1; index < COMP_CWORD; index++)); do
    _quorate_stop "\${path:+$path }\${COMP_WORDS[index]}" || break
    path="\${path:+$path }\${COMP_WORDS[index]}"
  done
  _quorate_stop "$path"
  COMPREPLY=()
  if [[ " $valued " == *" $previous "* ]]; then
    COMPREPLY=($(compgen -f -- "$current"))
  elif [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$options --help" -- "$current"))
  elif [[ -n "$words" ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _quorate quorate
`
}

function zsh(stops: readonly Stop[]): string {
  const described = (name: string, meaning: string) => inQuotes(`${name.replaceAll(':', '\\:')}:${meaning}`)
  const cases = stops.map(({ path, words, options }) => {
    const listed = words.map(({ word, meaning }) => described(word, meaning)).join(' ')
    const flags = options.map(({ name, meaning }) => described(name, meaning)).join(' ')
    return `    ${inQuotes(path)}) words_after=(${listed}) options=(${flags}) ;;`
  })
  return `#compdef quorate
# Completion of quorate for zsh. Load it with: source <(quorate completion zsh)
_quorate_stop() {
  case "$1" in
${cases.join('\n')}
    *) return 1 ;;
  esac
}
_quorate() {
  local path_so_far= index
  local -a words_after options
  for ((index = 2; index < CURRENT; index++)); do
    _quorate_stop "\${path_so_far:+$path_so_far }\${words[index]}" || break
    path_so_far="\${path_so_far:+$path_so_far }\${words[index]}"
  done
  _quorate_stop "$path_so_far"
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe -o option options
  elif (( \${#words_after} )); then
    _describe command words_after
  else
    _files
  fi
}
compdef _quorate quorate
`
}

function fish(stops: readonly Stop[]): string {
  const typed = '__quorate_at'
  const lines = stops.flatMap(({ path, words, options }) => {
    const here = `complete -c quorate -n ${inQuotes(`${typed} ${inQuotes(path)}`)}`
    return [
      ...words.map(({ word, meaning }) => `${here} -f -a ${word} -d ${inQuotes(meaning)}`),
      ...options.map(
        ({ name, takesValue, meaning }) =>
          `${here} -l ${name.slice(2)}${takesValue ? ' -r' : ''} -d ${inQuotes(meaning)}`,
      ),
    ]
  })
  const paths = stops.map(({ path }) => inQuotes(path)).join(' ')
  return `# Completion of quorate for fish. Load it with: quorate completion fish | source
function __quorate_at
  set -l stops ${paths}
  set -l path ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$path $word")
    contains -- $next $stops; or break
    set path $next
  end
  test "$path" = "$argv[1]"
end
${lines.join('\n')}
`
}
