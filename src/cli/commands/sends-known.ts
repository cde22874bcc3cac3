/** What the reader of an activity knows of sends by themselves: names, the references of their ledger, and what they would offer. */
import { EXIT, QuorateError } from '../../diagnostics/index.ts'
import type { Place } from '../../operations/index.ts'
import type { Wire } from '../../protocol/index.ts'
import { createGasCeilings, ledgerOf, type SendNames } from '../../sending/index.ts'
import { readFeeSettings } from '../background/kept-chains.ts'
import type { CommandInput } from '../command.ts'
import { readNames } from '../sending/names.ts'
import type { ActivityView } from '../views/activity.ts'

export interface SendsKnown {
  readonly names: SendNames
  readonly ledger: ReturnType<typeof ledgerOf>['sends']
  readonly ceilingOf: ReturnType<typeof createGasCeilings>
}

/** Reads them, the names from the folder of `--definitions`. Throws `cli/usage` for definitions that are wrong. */
export async function readSendsKnown(input: CommandInput, place: Place): Promise<SendsKnown> {
  const { options, settings } = input
  const folder = options['definitions']
  const names = await readNames(input, place, typeof folder === 'string' ? folder : undefined)
  if (!names) {
    throw new QuorateError('cli/usage', `the definitions in \`${String(folder)}\` name nobody while they are wrong`, {
      exit: EXIT.error,
      next: 'correct them, or leave --definitions out',
    })
  }
  return { names, ledger: ledgerOf(settings.dataDir).sends, ceilingOf: createGasCeilings(readFeeSettings(input)) }
}

/** Sets beside what an activity asks for its reference, and what the settings of who reads it would offer at most. */
export async function withSendsKnown(
  view: ActivityView,
  { fingerprint, status }: Pick<Wire.Activity, 'fingerprint' | 'status'>,
  { ledger, ceilingOf }: SendsKnown,
): Promise<ActivityView> {
  const { reference } = (await ledger.findByBody(fingerprint)) ?? {}
  const found = reference === undefined ? view : { ...view, reference }
  const { caip2 } = view.parameters as { readonly caip2?: unknown }
  if (view.sends === undefined || typeof caip2 !== 'string' || status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED')
    return found
  const { feeCeiling, wei } = await ceilingOf(caip2)
  const yours = { ...feeCeiling, wei: wei.toString() }
  return { ...found, sends: view.sends.map((send) => ({ ...send, fee: { ...send.fee, yours } })) }
}
