import type { SendOrder } from '../../../activities/index.ts'
import { hasErrors } from '../../diagnostics/index.ts'
import { readActual } from '../../live/index.ts'
import { worldOfActual } from '../../scenarios/index.ts'
import type { CommandInput } from '../command.ts'
import { type Place, reader } from '../connect.ts'
import { loadFolder } from '../planning.ts'
import { sayDiagnostics } from '../views/diagnostics.ts'
import type { SendMeaning } from './carry-out.ts'
import { checkToken } from './check-token.ts'
import { describeSend } from './describe.ts'
import { forecastSend } from './forecast.ts'
import { type Directory, readDirectory } from './order.ts'

/** Names of receivers and tokens, from definitions. */
export type SendNames = Pick<Directory, 'addressBook' | 'assets'>

/** Reads the names of a folder of definitions, which has been said when it is wrong; without a folder there are none. */
export async function readNames(
  input: CommandInput,
  place: Place,
  folder: string | undefined,
): Promise<SendNames | undefined> {
  if (folder === undefined) return { addressBook: {}, assets: {} }
  const { addressBook, assets, diagnostics } = await loadFolder(input, folder, place.embedded)
  sayDiagnostics(input, diagnostics)
  return hasErrors(diagnostics) ? undefined : { addressBook, assets }
}

/** Reads what an order is made from, makes it, and says what it will do and what will come of asking for it. */
export async function prepareSend(
  place: Place,
  {
    names,
    from,
    make,
  }: {
    readonly names: SendNames
    /** Name or address of who pays. */
    readonly from: string
    readonly make: (known: {
      readonly directory: Directory
      readonly organization: SendOrder['organization']
      readonly now: number
    }) => SendOrder
  },
): Promise<SendMeaning & { readonly order: SendOrder }> {
  const client = reader(place)
  const [directory, actual] = await Promise.all([readDirectory(client, { ...names, from }), readActual(client)])
  const { baseUrl, organizationId: id } = place
  const now = place.now()
  const order = make({ directory, organization: { id, name: actual.organizationName, baseUrl }, now })
  const world = worldOfActual(actual)
  const description = describeSend(order, { directory, interfaces: world.interfaces })
  const { name } = description.token ?? {}
  if (name !== undefined) await checkToken(client, { name, asset: names.assets[name]! })
  return {
    order,
    description,
    explanation: forecastSend(order, { actual, world, directory, now }),
  }
}
