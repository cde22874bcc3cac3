import type { SendOrder } from '../../activities/index.ts'
import { readActual } from '../live/index.ts'
import { type Place, reader } from '../operations/index.ts'
import type { Actual } from '../resources/index.ts'
import { type World, worldOfActual } from '../scenarios/index.ts'
import { checkChain } from './check-chain.ts'
import { checkToken } from './check-token.ts'
import { describeSend } from './describe.ts'
import { forecastSend } from './forecast.ts'
import { createPartyCheck } from './look-alikes.ts'
import type { SendMeaning } from './meaning.ts'
import { chainOf, type Directory, readDirectory } from './order.ts'
import { readPaid } from './paid.ts'
import type { ledgerOf } from './running.ts'
import { createFeeCeilings, type FeeSettings, type WithFeeCeiling } from './send-fee-ceiling.ts'

/** Names of receivers and tokens, from definitions. */
export type SendNames = Pick<Directory, 'addressBook' | 'assets'>

/** The names and live state that orders are made and forecast with. */
export interface Known {
  readonly directory: Directory
  readonly organization: SendOrder['organization']
  /** Who orders. */
  readonly by: NonNullable<SendOrder['by']>
  readonly now: number
  readonly actual: Actual
  readonly world: World
  readonly partyCheck: ReturnType<typeof createPartyCheck>
  readonly withFeeCeiling: WithFeeCeiling
  /** Nodes of the user's own, by chain. */
  readonly nodes: FeeSettings['nodes']
}

/**
 * Reads what orders are made from; `parties` are those whose accounts must be known (`partiesOf`), `receivers` those who are
 * paid, as they were written.
 */
export async function readKnown(
  place: Place,
  {
    names,
    parties,
    receivers,
    ledger,
    fees,
  }: {
    readonly names: SendNames
    readonly parties: readonly string[]
    readonly receivers: readonly string[]
    readonly ledger: ReturnType<typeof ledgerOf>['sends']
    readonly fees: FeeSettings
  },
): Promise<Known> {
  const client = reader(place)
  const [named, actual] = await Promise.all([readDirectory(client, { ...names, parties }), readActual(client)])
  const { baseUrl, organizationId: id } = place
  const paid = await readPaid(ledger, { receivers, organizationId: id, directory: named })
  const directory = { ...named, ownAddresses: ownAddresses(actual), paid }
  const organization = { id, name: actual.organizationName, baseUrl }
  return {
    directory,
    organization,
    by: actual.actor,
    now: place.now(),
    actual,
    world: worldOfActual(actual, place.now()),
    partyCheck: createPartyCheck(directory),
    withFeeCeiling: createFeeCeilings(fees, ledger),
    nodes: fees.nodes,
  }
}

function ownAddresses({ resources }: Actual): NonNullable<Directory['ownAddresses']> {
  return resources.flatMap(({ kind, parent, known }) =>
    kind === 'walletAccount' && known?.address !== undefined ? [{ address: known.address, of: `${parent}` }] : [],
  )
}

/** Says what an order will do and what will come of asking for it. */
export function meaningOf(order: SendOrder, { directory, actual, world, now, partyCheck }: Known): SendMeaning {
  const lookAlikes = partyCheck(order)
  const description = describeSend(order, { directory, interfaces: world.interfaces })
  return {
    description: lookAlikes.length === 0 ? description : { ...description, lookAlikes },
    ...forecastSend(order, { actual, world, directory, now }),
  }
}

/** Reads what an order is made from, makes it, and says what it means. */
export async function prepareSend(
  place: Place,
  { make, ...given }: Parameters<typeof readKnown>[1] & { readonly make: (known: Known) => SendOrder },
): Promise<SendMeaning & { readonly order: SendOrder; readonly assets: Directory['assets'] }> {
  const known = await readKnown(place, given)
  // Also one that takes the place of another one's.
  const order = { ...(await known.withFeeCeiling(make(known))), by: known.by }
  await checkChain(reader(place), chainOf(order))
  const meaning = meaningOf(order, known)
  await checkTokens(place, [meaning], known)
  return { order, ...meaning, assets: known.directory.assets }
}

/** Each token that is paid is what the definitions say of it. Throws what `checkToken` does. */
export async function checkTokens(
  place: Place,
  meanings: readonly SendMeaning[],
  { directory: { assets }, nodes }: Pick<Known, 'directory' | 'nodes'>,
): Promise<void> {
  const names = new Set(meanings.flatMap(({ description }) => description.token?.name ?? []))
  for (const name of names) await checkToken(reader(place), { name, asset: assets[name]! }, nodes)
}
