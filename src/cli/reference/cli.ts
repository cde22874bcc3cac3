import { KEY_VARIABLE, settingRows } from '../../config/index.ts'
import { EXIT } from '../../diagnostics/index.ts'
import { type CommandRow, EXIT_MEANINGS, exitsOf } from '../command.ts'
import { commands } from '../commands/index.ts'
import { cell } from './cell.ts'

/** Renders the reference page of commands, `docs/cli.md`. */
export function renderCliReference(): string {
  const shown = commands.filter(({ hidden }) => !hidden)
  const settings = Object.values(settingRows).map(
    ({ environment, flag, argument, meaning }) => `| \`${flag} ${argument}\` | \`${environment}\` | ${cell(meaning)} |`,
  )
  const exits = Object.entries(EXIT).map(
    ([name, code]) => `| ${code} | ${EXIT_MEANINGS[name as keyof typeof EXIT_MEANINGS]} |`,
  )
  return `# Commands

Generated from the command table and the settings by \`npm run generate\`. \`quorate COMMAND --help\` says the same.

${shown.map(({ name, summary }) => `- [\`quorate ${name}\`](#quorate-${name.replaceAll(' ', '-')}): ${summary}`).join('\n')}

## Settings

Every command takes these. A flag wins over its environment variable. Data goes to stdout, everything else to stderr.

| flag | environment | meaning |
|---|---|---|
${settings.join('\n')}
| | \`${KEY_VARIABLE}\` | the API private key itself; never a flag, where every process can read it |
| \`--json\` | | print data as JSON |
| \`-h, --help\` | | say what a command does |
| \`-V, --version\` | | print the version (of \`quorate\` itself) |

## Exit codes

| code | meaning |
|---|---|
${exits.join('\n')}

${shown.map(section).join('\n')}`
}

function section(row: CommandRow): string {
  const { name, summary, args, argMeanings = {}, options = [], example } = row
  const rows = [
    ...Object.entries(argMeanings).map(
      ([argument, meaning]) => `| \`${bracketed(args, argument)}\` | ${cell(meaning)} |`,
    ),
    ...options.map(({ flags, meaning }) => `| \`${flags}\` | ${cell(meaning)} |`),
  ]
  const table = rows.length === 0 ? '' : `\n| | meaning |\n|---|---|\n${rows.join('\n')}\n`
  const help = row.help!
  const exits = exitsOf(row).map(({ code }) => code)
  const lines = [[example, ''] as const, ...(help.examples ?? [])]
  const also = help.seeAlso.map((other) => `[\`${other}\`](#quorate-${other.replaceAll(' ', '-')})`)
  return `## quorate ${name}

${summary[0]!.toUpperCase()}${summary.slice(1)}. ${help.description}

\`\`\`sh
quorate ${name}${args === undefined ? '' : ` ${args}`}${options.length === 0 ? '' : ' [options]'}
\`\`\`
${table}
\`\`\`sh
${lines.map(([line, purpose]) => `${line}${purpose === '' ? '' : ` # ${purpose}`}`).join('\n')}
\`\`\`

Exits with ${exits.slice(0, -1).join(', ')} or ${exits.at(-1)}. See also ${also.join(', ')}.
`
}

/** The argument as the usage line has it: \`[folder]\`. */
function bracketed(args = '', argument: string): string {
  return args.split(' ').find((one) => one.replaceAll(/[[\]<>.]/g, '') === argument) ?? argument
}
