import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { askOperator, type OperatorState } from '../../service/index.ts'
import type { CommandInput } from '../command.ts'
import { serviceFolder } from '../service-folder.ts'

const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 } as const

/** Says what time it is for the service of the data folder, after moving it when a move is given. */
export async function clock(input: CommandInput): Promise<ExitCode> {
  const { io, json, args } = input
  const state = await askOperator(serviceFolder(input), requestOf(args[0]))
  if (json) io.out(`${JSON.stringify({ now: new Date(state.now).toISOString(), aheadMs: state.aheadMs }, null, 2)}\n`)
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
    return [...parts].reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit as keyof typeof UNITS], 0)
  throw new QuorateError('cli/usage', `expected a move such as +25h, +1d12h or +90s, or \`reset\`, got \`${text}\``, {
    next: 'correct the move; nothing was changed',
  })
}

function renderClock({ now, aheadMs }: OperatorState): string {
  const time = new Date(now).toISOString()
  return aheadMs === 0
    ? `${time}, as this machine has it\n`
    : `${time}, ${renderMove(aheadMs).slice(1)} ahead of this machine's clock\n`
}

/** The sum of all moves as one would be typed: `+1d1h`. */
export function renderMove(ms: number): string {
  let left = ms
  const parts = Object.entries(UNITS).map(([unit, size]) => {
    const count = Math.floor(left / size)
    left -= count * size
    return count === 0 ? '' : `${count}${unit}`
  })
  return `+${parts.join('')}`
}
