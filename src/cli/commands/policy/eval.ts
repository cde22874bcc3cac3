import { EXIT, type ExitCode } from '../../../diagnostics/index.ts'
import { explainRequest } from '../../../scenarios/index.ts'
import type { CommandInput } from '../../command.ts'
import { writeJson } from '../../io.ts'
import { line } from '../../screen.ts'
import { headline, outcomeWords } from '../../views/explanation.ts'
import { runCases } from './cases.ts'
import { readAsked } from './request.ts'

/** Decides one request, or every case of a file. */
export async function evaluate(input: CommandInput): Promise<ExitCode> {
  const { io, json, options } = input
  if (typeof options['cases'] === 'string') return runCases(input, options['cases'])
  const asked = await readAsked(input)
  if (asked === undefined) return EXIT.error
  const explanation = explainRequest(asked.world, asked.context)
  const { outcome, basis, decidedBy, policies, needs, timedBy } = explanation
  if (json) {
    const decision = {
      outcome: outcomeWords[outcome] ?? outcome,
      final: outcome,
      basis,
      decidedBy,
      policies: Object.fromEntries(policies.map((policy) => [policy.name, policy.outcome])),
      ...(needs === undefined ? {} : { needs }),
      ...(timedBy === undefined ? {} : { timedBy }),
    }
    writeJson(io, decision)
  } else io.out(line`${headline(explanation)}\n`)
  return EXIT.done
}
