import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { assertNone, ledgerOf, makeOrder, makeRequest, memberOf, partiesOf, prepareSend } from '../../sending/index.ts'
import { readFeeSettings } from '../background/kept-chains.ts'
import type { CommandInput } from '../command.ts'
import { findPlaceOf } from '../place-of.ts'
import { carryOut, readNames, sendBatch } from '../sending/index.ts'

/** Sends one transaction under a reference and follows it to its end; a reference is sent once, however often it is asked. */
export async function send(input: CommandInput): Promise<ExitCode> {
  const { args, options, settings } = input
  if (typeof options['batch'] === 'string') return sendBatch(input, options['batch'])
  assertNone(options, {
    names: ['skip-denied', 'stop-on-failure', 'resume', 'report', 'events'],
    unless: 'it is for many sends of a file, --batch FILE',
  })
  const place = await findPlaceOf(input, args[0], { acts: options['dryRun'] !== true })
  const names = await readNames(input, place, args[0])
  if (!names) return EXIT.error
  const request = makeRequest((name) => options[memberOf(name)])
  const make = (known: Parameters<typeof makeOrder>[1]) => makeOrder(request, known)
  const { sends: ledger } = ledgerOf(settings.dataDir)
  const given = { names, parties: partiesOf(request), receivers: [request.to], ledger, fees: readFeeSettings(input) }
  return carryOut(input, place, await prepareSend(place, { ...given, make }))
}
