import type { SendOrder, SendProgress } from '../../../activities/index.ts'
import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import type { CommandInput } from '../command.ts'
import { findPlace } from '../connect.ts'
import { isFinal, ledgerOf } from '../sending/running.ts'
import { renderListedSend, toSendJson } from '../views/send.ts'

interface ListedSend {
  readonly sendId: string
  readonly order: SendOrder
  readonly progress?: SendProgress
}

/** Lists what was sent from here, oldest first, and how each stands; the ledger knows, no service is asked. */
export async function sends(input: CommandInput): Promise<ExitCode> {
  const { io, json, options, settings } = input
  const { organizationId } = await findPlace(input)
  const ledger = ledgerOf(settings.dataDir)
  const entered = await ledger.list(organizationId)
  const all = await Promise.all(
    entered.map(async (entry): Promise<ListedSend> => {
      const progress = await ledger.getProgress(entry.sendId)
      return progress === undefined ? entry : { ...entry, progress }
    }),
  )
  const chosen =
    options['open'] === true ? all.filter(({ progress }) => progress === undefined || !isFinal(progress)) : all
  if (json) io.out(`${JSON.stringify({ organizationId, sends: chosen.map(toSendJson) }, null, 2)}\n`)
  else if (chosen.length === 0) io.say('Nothing was sent from here.\n')
  else for (const one of chosen) io.out(renderListedSend(one, io.style, Date.now()))
  return EXIT.done
}
