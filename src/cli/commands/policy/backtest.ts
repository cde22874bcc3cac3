import { type BacktestRow, backtest as decideAgain, thingsAfter } from '../../../analysis/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../../diagnostics/index.ts'
import type { CommandInput } from '../../command.ts'
import { writeJson } from '../../io.ts'
import { findPlaceOf } from '../../place-of.ts'
import { planAndShow } from '../../planning.ts'
import { line } from '../../screen.ts'
import { differs, isUntold, renderBacktest } from '../../views/backtest.ts'
import { showingComputing } from '../../views/reading.ts'
import { readRecordings } from './recordings.ts'

/** What a difference may be for each word of `--expect`. */
const EXPECTED: Readonly<Record<string, (row: BacktestRow) => boolean>> = {
  equal: () => false,
  narrower: ({ after }) => after.outcome !== 'executed',
  wider: ({ before }) => before.outcome !== 'executed',
}

/** Decides the recorded activities again as definitions would have them decided. Submits nothing. */
export async function backtest(input: CommandInput): Promise<ExitCode> {
  const { io, json, args, options } = input
  const isExpected = readExpected(options['expect'])
  const folder = args[0] ?? '.'
  const place = await findPlaceOf(input, folder)
  const planned = await planAndShow(input, { folder, place })
  if (!planned) return EXIT.error
  const { plan, desired, actual } = planned
  const { recordings, recording } = await readRecordings(input, place)
  const after = thingsAfter(plan, { desired, actual })
  const rows = showingComputing(io, () => decideAgain(recordings, { before: actual.resources, after }))
  const report = { ...recording, definitions: folder, rows }
  if (json) writeJson(io, report)
  else io.out(renderBacktest(report, io.style))
  const unexpected = rows.filter((row) => differs(row) && isExpected && !isExpected(row)).length
  if (unexpected > 0) {
    io.say(
      line`expected every decision to be equal${options['expect'] === 'equal' ? '' : ` or ${options['expect']}`}; ${unexpected} would not be\n`,
    )
    return EXIT.error
  }
  return recording.isCut || rows.some(isUntold) ? EXIT.partial : EXIT.done
}

function readExpected(text: unknown): ((row: BacktestRow) => boolean) | undefined {
  if (text === undefined) return undefined
  if (typeof text === 'string' && Object.hasOwn(EXPECTED, text)) return EXPECTED[text]
  throw new QuorateError('cli/usage', `expected \`--expect\` to be equal, narrower or wider, got \`${text}\``, {
    next: '`wider` fails where something that was executed would not be, `narrower` where something more would be',
  })
}
