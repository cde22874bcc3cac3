import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { askAboutLanes, type SeenLanes } from '../../service/operator/index.ts'
import type { CommandInput } from '../command.ts'
import { parseDuration } from '../durations.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { serviceFolder } from '../service-folder.ts'
import { renderLanes } from '../views/lanes.ts'

/** Shows what was sent for which the service's sends hold still, asks, and has it written. */
export async function reconcileSends(input: CommandInput): Promise<ExitCode> {
  const { io, json, options } = input
  const folder = serviceFolder(input)
  const others = readHashes(options['other'])
  const within = options['within']
  const time = typeof within === 'string' ? { withinMs: parseDuration(within, '--within') } : {}
  const found = await askAboutLanes(folder, { kind: 'list-lanes', others, ...time })
  const isNothing = found.lanes.length === 0
  if (options['dryRun'] === true || isNothing) {
    if (json) writeJson(io, { ...found, isWritten: false })
    else io.out(renderLanes(found))
    return isNothing ? exitOf(found) : EXIT.waiting
  }
  if (!json) io.say(renderLanes(found, { isAsked: true }))
  await assertConfirmed(input, { question: 'Is that so?', otherwise: 'nothing was written' })
  const written = await askAboutLanes(folder, { kind: 'reconcile-lanes', others, ...time })
  if (json) writeJson(io, { ...written, isWritten: true })
  else io.out(renderLanes(written, { isWritten: true }))
  return exitOf(written)
}

function exitOf({ lanes, unread }: SeenLanes): ExitCode {
  return unread.length > 0 || lanes.some(({ isHeld }) => isHeld) ? EXIT.waiting : EXIT.done
}

/** Reads hashes, or signatures, of transactions, with commas between. Throws `cli/usage`. */
function readHashes(given: unknown): readonly string[] {
  const hashes = String(given ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .map((one) => (/^0x/i.test(one) ? one.toLowerCase() : one))
  const wrong = hashes.find((one) => !/^(0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/.test(one))
  if (wrong === undefined) return hashes
  throw new QuorateError(
    'cli/usage',
    `expected the hash of a transaction, 0x and 64 hex digits, or a signature in base58, got \`${wrong}\``,
    {
      next: 'take it from what `quorate sends reconcile --dry-run` shows; nothing was written',
    },
  )
}
