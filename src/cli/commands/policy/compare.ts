import { stringify } from 'yaml'
import { comparePolicies, type Play, relationOf } from '../../../analysis/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../../diagnostics/index.ts'
import {
  DEFAULT_TIME,
  explainRequest,
  type World,
  worldOfDefinitions,
  writeScenario,
} from '../../../scenarios/index.ts'
import type { CommandInput } from '../../command.ts'
import { writeText } from '../../files.ts'
import { writeJson } from '../../io.ts'
import { loadPolicies } from '../../policies.ts'
import { policySetOf } from '../../policy-set.ts'
import { line } from '../../screen.ts'
import { type ComparedView, renderCompared, type ShownDifference, scenarioWord } from '../../views/compared.ts'
import { showingComputing } from '../../views/reading.ts'

const EXPECTED = ['equal', 'narrower'] as const

/** Says how the policies of one folder relate to those of another. Asks nothing of anybody. */
export async function compare(input: CommandInput): Promise<ExitCode> {
  const { args, io, json, options } = input
  const expected = readExpected(options['expect'])
  const [before, after] = [await readWorld(input, args[0]!), await readWorld(input, args[1]!)]
  if (!before || !after) return EXIT.error
  const rows = showingComputing(io, () =>
    comparePolicies(policySetOf(before), policySetOf(after), { nowMs: Date.parse(DEFAULT_TIME) }),
  )
  const shown = (play: Play | undefined, by: World, not: World): ShownDifference | undefined =>
    play && differenceOf(play, { by, not, before })
  const report: ComparedView = {
    before: args[0]!,
    after: args[1]!,
    relation: relationOf(rows),
    powers: rows.map(({ power, relation, unknown, because, ...row }) => {
      const [wider, narrower] = [shown(row.wider, after, before), shown(row.narrower, before, after)]
      return { power, relation, ...(wider && { wider }), ...(narrower && { narrower }), unknown, because }
    }),
  }
  if (json) writeJson(io, plain(report))
  else io.out(renderCompared(report, io.style))
  const file = options['scenarios']
  if (typeof file === 'string') writeText(file, scenariosOf(report))
  return exitOf(input, report, expected)
}

function exitOf({ io }: CommandInput, report: ComparedView, expected: string | undefined): ExitCode {
  const isWider = report.powers.some(({ wider }) => wider)
  const isBroken =
    expected !== undefined && (isWider || (expected === 'equal' && report.powers.some(({ narrower }) => narrower)))
  if (isBroken) {
    io.say(
      line`expected ${report.after} to be ${expected === 'equal' ? 'equal' : 'equal or narrower'}, and it is ${report.relation}\n`,
    )
    return EXIT.error
  }
  return report.powers.some(({ unknown }) => unknown.length > 0) ? EXIT.partial : EXIT.done
}

function readExpected(text: unknown): (typeof EXPECTED)[number] | undefined {
  const found = EXPECTED.find((one) => one === text)
  if (text === undefined || found) return found
  throw new QuorateError('cli/usage', `expected \`--expect\` to be equal or narrower, got \`${text}\``, {
    next: 'a set that lets through less is `narrower`; one that may let through more needs no check',
  })
}

async function readWorld(input: CommandInput, path: string): Promise<World | undefined> {
  const loaded = await loadPolicies(input, path)
  return loaded && worldOfDefinitions(loaded)
}

/** The request in the keys of a scenario, which expects what comes of it in the first set. */
function differenceOf(
  { context, votes, count, outcome, otherwise }: Play,
  { by, not, before }: { readonly by: World; readonly not: World; readonly before: World },
): ShownDifference {
  const written = votes.slice(0, count).map(({ user, credential }) => ({ user, credentialId: credential?.id }))
  const [ofBefore, ofAfter] = not === before ? [otherwise, outcome] : [outcome, otherwise]
  const known = ofBefore && scenarioWord(ofBefore)
  const { keys, unsaid } = writeScenario(by, { context, votes: written, ...(known && { expect: known }) })
  return {
    people: votes.map(({ user }) => user),
    before: ofBefore ? scenarioWord(ofBefore) : 'not possible',
    after: ofAfter ? scenarioWord(ofAfter) : 'not possible',
    scenario: keys,
    // Of somebody who is not in the first set no scenario of it can tell.
    unsaid:
      known === undefined ? [...unsaid, 'what the first set decides, which does not have all of these users'] : unsaid,
    errors: not === before ? errorsOf(not, by) : errorsOf(by, not),
  }

  /** What errs in one of them alone. */
  function errorsOf(first: World, second: World): ShownDifference['errors'] {
    const [ofBefore, ofAfter] = [errorsIn(first, 'before'), errorsIn(second, 'after')]
    const same = (a: ShownDifference['errors'][number], b: typeof a) =>
      a.policy === b.policy && a.effect === b.effect && a.field === b.field && a.part === b.part
    const alone = (some: ShownDifference['errors'], others: ShownDifference['errors']) =>
      some.filter((one) => !others.some((other) => same(one, other)))
    return [...alone(ofBefore, ofAfter), ...alone(ofAfter, ofBefore)]
  }

  function errorsIn(world: World, set: 'before' | 'after'): ShownDifference['errors'] {
    const cast = votes.slice(0, count)
    const approvers = cast.map(({ approver }) => approver)
    const credentials = cast.flatMap(({ credential }) => (credential ? [credential] : []))
    const { policies } = explainRequest(world, { ...context, approvers, credentials })
    return policies.flatMap(({ name, effect, error, fields }) => {
      if (!error) return []
      const { message, field, start, end } = error
      const part = fields.find((one) => one.field === field)?.text.slice(start, end) ?? ''
      return [{ set, policy: name, effect: effect === 'EFFECT_DENY' ? 'deny' : 'allow', field, part, message } as const]
    })
  }
}

function scenariosOf({ before, powers }: ComparedView): string {
  const named = powers.flatMap(({ power, wider, narrower }) => [
    [`${power}: wider`, wider] as const,
    [`${power}: narrower`, narrower] as const,
  ])
  const scenarios = named.flatMap(([name, found]) =>
    found && found.unsaid.length === 0 ? [[name, found.scenario]] : [],
  )
  return `# What ${JSON.stringify(before)} decides.\n${stringify({ scenarios: Object.fromEntries(scenarios) }, { lineWidth: 0 })}`
}

/** Whole numbers as JSON can carry them: as a text where a number would lose digits. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, one) =>
      typeof one === 'bigint' ? (Number.isSafeInteger(Number(one)) ? Number(one) : `${one}`) : one,
    ),
  )
}
