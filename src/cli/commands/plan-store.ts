import { join } from 'node:path'
import { movePlanStore, parseStorePlace, type StorePlace } from '../../../activities/index.ts'
import { PLAN_STORE_VARIABLE } from '../../config/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { findBackground } from '../background/index.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'

/** Moves the plan store of the data folder to a server that machines share, or joins the one that is there. */
export async function use(input: CommandInput): Promise<ExitCode> {
  const { io, json, settings, options } = input
  const place = readPlace(input)
  const running = await findBackground(settings.dataDir)
  if (running) {
    throw new QuorateError('cli/usage', 'a background process works with the plan store of this data folder', {
      facts: { pid: running.pid, moved: 'nothing' },
      next: 'end it with `quorate down`, and each `quorate worker` of this data folder; then run this again',
    })
  }
  const keyFile = typeof options['storeKey'] === 'string' ? options['storeKey'] : undefined
  const moved = await movePlanStore(join(settings.dataDir, 'plans'), place, { keyFile })
  if (json) writeJson(io, { place: place.shown, ...moved })
  else {
    io.out(line`The plan store of ${settings.dataDir} is at ${place.shown}.\n`)
    const { objects, put, references, digest } = moved
    if (digest !== undefined && objects > 0)
      io.out(
        line`  moved   ${objects} objects, ${put} of them now; ${references} references of sends\n  digest  ${digest}\n`,
      )
    else if (objects > 0)
      io.out(line`  it has  the ${objects} objects that were moved there, ${references} references of sends\n`)
    io.say(
      line`Other machines join it with the same command, and --store-key with a copy of ${join(settings.dataDir, 'plans.key')}. Without that key its records are refused.\n`,
    )
  }
  return EXIT.done
}

/** A URL with a password is read from a variable: a command line is shown to every process of the machine. */
function readPlace({ args, settings, environment }: CommandInput): StorePlace {
  const [given] = args
  if (given !== undefined) {
    if (URL.parse(given)?.password) {
      throw new QuorateError('cli/usage', 'the URL holds a password, and a command line is shown to others', {
        next: `give the URL in the variable ${PLAN_STORE_VARIABLE}`,
      })
    }
    return parseStorePlace(given)
  }
  const text = settings.planStore?.reveal() ?? environment['DATABASE_URL']
  if (text) return parseStorePlace(text)
  throw new QuorateError('cli/usage', 'no place for the plan store was given', {
    next: `give postgres://host/name or s3://bucket/prefix, or set ${PLAN_STORE_VARIABLE}; DATABASE_URL counts where neither is there`,
  })
}
