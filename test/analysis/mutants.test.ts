/** The analysis with a mistake put into it: the trials over generated organizations find each. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { powersOf } from '../../src/analysis/index.ts'
import { actualOf } from '../plan/organization.ts'
import { allFaults, NOW, organizationIn, shapes } from './generated.ts'

const SRC = join(import.meta.dirname, '../../src')
/** Rooms that are copied, so that mistakes can be put into them; the others are the real ones. */
const COPIED = ['analysis', 'policy']

interface Mutant {
  readonly mistake: string
  readonly file: string
  readonly from: string
  readonly to: string
}

const MUTANTS: readonly Mutant[] = [
  {
    mistake: 'a negation is dropped',
    file: 'analysis/possible.ts',
    from: 'values: new Set([...values].map(negated)), tree',
    to: 'values, tree',
  },
  {
    mistake: 'what errs is taken to be false',
    file: 'analysis/possible.ts',
    from: "return holds === undefined ? 'error' : holds",
    to: "return holds === undefined ? 'false' : holds",
  },
  {
    mistake: 'a person has one credential',
    file: 'policy/who-else.ts',
    from: '(credentials[0] ? credentials : [undefined])',
    to: '(credentials[0] ? credentials.slice(0, 1) : [undefined])',
  },
  {
    mistake: 'a vote that is denied is gone on from',
    file: 'policy/who-else.ts',
    from: "return outcome === 'OUTCOME_REQUIRES_CONSENSUS' ? { waits: joined } : 'denied'",
    to: 'return { waits: joined }',
  },
  {
    mistake: 'nobody is asked whether they may vote',
    file: 'policy/who-else.ts',
    from: 'if (!asks && !mayVote(',
    to: 'if (false && !mayVote(',
  },
  {
    mistake: 'members of the quorum are as everybody else',
    file: 'policy/who-else.ts',
    from: 'key: [members.has(approver.id), ...',
    to: 'key: [...',
  },
  {
    mistake: 'people are told apart only by what they are compared with',
    file: 'policy/who-else.ts',
    from: "one == null || use === 'otherwise' || use.has",
    to: "use !== 'otherwise' && use.has",
  },
  {
    mistake: 'one fewer of each sort of people is tried',
    file: 'policy/coalitions.ts',
    from: 'const member = classes[of]![used[of]!]',
    to: 'const member = classes[of]!.slice(0, -1)[used[of]!]',
  },
  {
    mistake: 'the order of votes is never looked at',
    file: 'policy/coalitions.ts',
    from: 'const more = ordered ?',
    to: 'const more = !ordered && ordered ?',
  },
  {
    mistake: 'of the sets of one size one is kept',
    file: 'policy/coalitions.ts',
    from: 'found.push(...here.sort(byCounts))',
    to: 'found.push(...here.sort(byCounts).slice(0, 1))',
  },
  {
    mistake: 'a DENY that may apply is taken not to',
    file: 'analysis/power-lines.ts',
    from: 'add([...closed, ...denials], {}, [])',
    to: 'add(closed, {}, [])',
  },
  {
    mistake: 'two conditions together are never asked',
    file: 'analysis/power-lines.ts',
    from: 'if (groups.length < 2 || eachByItself(question)) return lines',
    to: 'if (groups.length >= 0) return lines',
  },
  {
    mistake: 'nobody ever needs two conditions together',
    file: 'analysis/power-lines.ts',
    from: 'if (policy.consensus === undefined) return true',
    to: 'if (policy.effect !== undefined) return true',
  },
]

const folder = mkdtempSync(join(tmpdir(), 'quorate-mutants-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The analysis with a text of one of its files changed. */
async function analysisWith({ file, from, to }: Pick<Mutant, 'file' | 'from' | 'to'>): Promise<typeof powersOf> {
  const copy = mkdtempSync(join(folder, 'src-'))
  for (const room of readdirSync(SRC)) {
    if (COPIED.includes(room)) cpSync(join(SRC, room), join(copy, room), { recursive: true })
    else symlinkSync(join(SRC, room), join(copy, room))
  }
  const text = readFileSync(join(copy, file), 'utf8')
  expect(text.split(from), `the text to change in ${file}`).toHaveLength(2)
  writeFileSync(
    join(copy, file),
    text.replace(from, () => to),
  )
  const { powersOf: mutated } = await import(pathToFileURL(join(copy, 'analysis/powers.ts')).href)
  return mutated
}

const ASKED = { nowMs: NOW, powers: ['sign', 'export'] } as const

/** Whether one of so many generated organizations shows a fault in the answers; only other answers than the analysis gives are tried. */
function isFound(mutated: typeof powersOf, most: number): boolean {
  return fc.sample(shapes, { numRuns: most, seed: 20_261_124 }).some((shape) => {
    const resources = organizationIn(shape)
    const [rows, right] = [mutated, powersOf].map((powers) => powers(actualOf(resources), ASKED))
    return !isDeepStrictEqual(rows, right) && allFaults(resources, rows!).length > 0
  })
}

describe('mistakes in the analysis', () => {
  test.each(MUTANTS)('$mistake: found', async (mutant) => {
    expect(isFound(await analysisWith(mutant), 2000)).toBe(true)
  })
})
