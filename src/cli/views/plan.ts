import { type Plan, renderPlanMarkdown, renderPlanText, writePlan } from '../../plan/index.ts'
import type { CommandInput } from '../command.ts'
import { writePrivate } from '../files.ts'
import { line } from '../screen.ts'

/** Shows a plan: the document itself as JSON, or the tree for people. */
export function showPlan({ io, json }: Pick<CommandInput, 'io' | 'json'>, plan: Plan): void {
  io.out(json ? writePlan(plan) : renderPlanText(plan, { ...io.style, bold: io.style.strong }))
}

/** Shows a plan and writes it wherever the options say: `--markdown FILE|-`, `--json-into FILE`. */
export function presentPlan(
  { io, json, options }: Pick<CommandInput, 'io' | 'json' | 'options'>,
  plan: Plan,
  moved: readonly string[] = [],
): void {
  const markdown = options['markdown']
  const toStdout = markdown === '-' && !json
  if (!toStdout) showPlan({ io, json }, plan)
  if (typeof markdown === 'string') {
    const text = renderPlanMarkdown(plan, { moved })
    if (toStdout) io.out(text)
    else if (markdown !== '-') {
      writePrivate(markdown, text)
      io.say(line`The plan is in ${markdown} as Markdown.\n`)
    }
  }
  if (typeof options['jsonInto'] === 'string') writePrivate(options['jsonInto'], writePlan(plan))
}
