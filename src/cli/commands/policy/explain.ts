import { EXIT, type ExitCode, QuorateError, suggest } from '../../../diagnostics/index.ts'
import type { Explanation } from '../../../policy/index.ts'
import { explainRequest, type WhyNot, whyNot } from '../../../scenarios/index.ts'
import type { CommandInput } from '../../command.ts'
import { writeJson } from '../../io.ts'
import { line } from '../../screen.ts'
import { renderExplanation, renderExplanationMarkdown } from '../../views/explanation.ts'
import { type AskedRequest, readAsked } from './request.ts'

/** Says why a request is decided as it is: each clause with its values, and which made the difference. */
export async function explain(input: CommandInput): Promise<ExitCode> {
  const asked = await readAsked(input)
  if (asked === undefined) return EXIT.error
  const { whyNot: user } = input.options
  if (typeof user === 'string') showWhyNot(input, asked, user)
  else show(input, explainRequest(asked.world, asked.context))
  return EXIT.done
}

function show({ io, json, options }: CommandInput, explanation: Explanation): void {
  if (json) writeJson(io, explanation)
  else if (options['markdown'] === true) io.out(renderExplanationMarkdown(explanation))
  else io.out(renderExplanation(explanation, io.style))
}

function showWhyNot(input: CommandInput, { world, context }: AskedRequest, user: string): void {
  const found = whyNot(world, context, user)
  if (found === undefined) {
    const [near] = suggest(user, Object.keys(world.users))
    throw new QuorateError('cli/usage', `no user \`${user}\` is defined`, {
      next: near === undefined ? 'name one of the users' : `did you mean \`${near}\`?`,
    })
  }
  if (input.json) writeJson(input.io, found)
  else {
    input.io.out(line`${sayWhyNot(found)}\n`)
    show(input, found.explanation)
  }
}

function sayWhyNot({ user, allowedAlone, mayVote, waits }: WhyNot): string {
  const alone = allowedAlone ? `${user} may do this alone` : `${user} may not do this alone`
  if (!waits) return `${alone}:`
  return `${alone}; their approval of the request as it waits ${mayVote ? 'counts' : 'does not count'}:`
}
