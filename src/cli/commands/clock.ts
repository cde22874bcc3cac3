import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { askOperator, type OperatorState } from '../../service/operator/index.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { serviceFolder } from '../service-folder.ts'
import { MOVE_UNITS, renderAhead } from '../views/operator.ts'

/** Says what time it is for the service of the data folder, after moving it when a move is given. */
export async function clock(input: CommandInput): Promise<ExitCode> {
  const { io, json, args } = input
  const state = await askOperator(serviceFolder(input), requestOf(args[0]))
  if (json) writeJson(io, { now: new Date(state.now).toISOString(), aheadMs: state.aheadMs })
  else io.out(renderClock(state))
  return EXIT.done
}

function requestOf(move: string | undefined) {
  if (move === undefined) return { kind: 'state' } as const
  if (move === 'reset') return { kind: 'reset-clock' } as const
  return { kind: 'move-clock', ms: parseMove(move) } as const
}

/** `+25h`, `+1d12h`, `+90s` in milliseconds. */
function parseMove(text: string): number {
  const parts = /^\+((?:\d+[dhms])+)$/.exec(text)?.[1]?.matchAll(/(\d+)([dhms])/g)
  if (parts)
    return [...parts].reduce(
      (sum, [, count, unit]) => sum + Number(count) * MOVE_UNITS[unit as keyof typeof MOVE_UNITS],
      0,
    )
  throw new QuorateError('cli/usage', `expected a move such as +25h, +1d12h or +90s, or \`reset\`, got \`${text}\``, {
    next: 'correct the move; nothing was changed',
  })
}

function renderClock({ now, aheadMs }: OperatorState): string {
  const time = new Date(now).toISOString()
  return aheadMs === 0
    ? `${time}, as this machine has it\n`
    : `${time}, ${renderAhead(aheadMs)} ahead of this machine's clock\n`
}
