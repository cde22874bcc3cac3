import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { allCodes } from '../../src/cli/reference/errors.ts'
import { type CodeRow, EXIT } from '../../src/diagnostics/index.ts'

const root = join(import.meta.dirname, '../..')

/** What README says that each exit code means. */
const README_ROWS = new Map(
  [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^\| (\d) \| (.*) \|$/gm)].map(([, code, meaning]) => [
    Number(code),
    meaning!,
  ]),
)

/**
 * Which of README's words for exit code 4 each refusal is. What a worker refuses (`apply/…`) ends the command by how its run ended. A
 * fault of a definition, which stands at its line, is an error (1).
 */
const REFUSALS = {
  'by a guard': [
    'cli/refused',
    'cli/key-in-plan',
    'cli/lock-out',
    'rotate/own-key',
    'rotate/refused',
    'rotate/no-room',
    'rotate/uncommittable',
    'cli/plan-store',
    'cli/batch-stopped',
    'cli/not-as-planned',
    'cli/not-as-in-file',
    'cli/not-replaceable',
    'cli/no-token',
    'cli/other-decimals',
  ],
  'for lack of funds': ['cli/too-little'],
  'for a reference that is taken': ['cli/reference-taken', 'cli/reference-alike', 'cli/sent-elsewhere'],
  'as what policies would deny': ['cli/denied', 'cli/send-denied'],
  'as somebody has rejected': ['cli/rejected'],
}

/** Codes of other exits than 0, 1 and 4. */
const OTHERS = { 3: ['cli/still-runs'], 5: ['plan/stale'], 6: ['cli/votes-broken-off', 'rotate/still-accepted'] }

/** Every place of the sources that makes an error, with its code and the exit it is given there. */
const made = ['src', 'activities'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => errorsMadeIn(readFileSync(join(root, folder, name), 'utf8'), join(folder, name))),
)

function errorsMadeIn(text: string, file: string) {
  return [...text.matchAll(/new (QuorateError|ServiceError|LiveError|WorkerError)\(\s*'([a-z]+\/[a-z-]+)'/g)].map(
    (found) => {
      const exit = /\bexit: EXIT\.(\w+)/.exec(argumentsAt(text, found.index))?.[1]
      return { at: `${file}: ${found[2]}`, code: found[2]!, exit: EXIT[(exit ?? 'error') as keyof typeof EXIT] }
    },
  )
}

/** The text from a call to the first line that ends the statement it is in: formatting puts the closing bracket at its indent. */
function argumentsAt(text: string, index: number): string {
  const lines = text.slice(text.lastIndexOf('\n', index) + 1).split('\n')
  const indent = /^ */.exec(lines[0]!)![0].length
  const end = lines.findIndex((line, at) => at > 0 && /\S/.test(line) && /^ */.exec(line)![0].length <= indent)
  return lines.slice(0, /[({[]$/.test(lines[0]!) ? end : 1).join('\n')
}

describe('exit codes', () => {
  test('every error is made with the exit code of its row', () => {
    expect(made.length).toBeGreaterThan(150)
    const rows: Readonly<Record<string, CodeRow>> = allCodes
    const wrong = made.filter(({ code, exit }) => exit !== (rows[code]?.exit ?? EXIT.error))
    expect(wrong).toEqual([])
  })

  test('what is refused with 4 is what README says, and no other code ends so', () => {
    const codesOf = (exit: number) =>
      Object.entries(allCodes as Readonly<Record<string, CodeRow>>)
        .filter(([code, row]) => row.exit === exit && !code.startsWith('apply/'))
        .map(([code]) => code)
        .sort()
    expect(codesOf(EXIT.refused)).toEqual(Object.values(REFUSALS).flat().sort())
    for (const words of Object.keys(REFUSALS)) expect(README_ROWS.get(EXIT.refused)).toContain(words)
    for (const [exit, codes] of Object.entries(OTHERS)) expect(codesOf(Number(exit))).toEqual(codes)
    expect(codesOf(EXIT.changes)).toEqual([])
    expect([...README_ROWS.keys()]).toEqual([0, 1, 2, 3, 4, 5, 6])
  })
})
