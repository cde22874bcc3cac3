import type { SendOrder } from '../../activities/index.ts'
import { namespaceOfAddress } from '../chain/index.ts'
import { indexAddressLookAlikes } from '../look-alikes/index.ts'
import { describeSend } from './describe.ts'
import type { Directory, KnownAddress } from './order.ts'
import type { ledgerOf } from './running.ts'

type Ledger = Pick<ReturnType<typeof ledgerOf>['sends'], 'list' | 'getProgress'>

/**
 * The addresses that an organization has paid before and that somebody who reads one of these receivers may take it for, itself
 * included. What was rejected, refused or stopped vouches for nothing. The ledger is read only where a receiver is an address.
 */
export async function readPaid(
  ledger: Ledger,
  {
    receivers,
    organizationId,
    directory,
  }: { readonly receivers: readonly string[]; readonly organizationId: string; readonly directory: Directory },
): Promise<readonly KnownAddress[]> {
  const addresses = receivers.filter((one) => namespaceOfAddress(one) !== undefined)
  if (addresses.length === 0) return []
  const asked = indexAddressLookAlikes(addresses.map((address) => ({ address, of: address })))
  const found: KnownAddress[] = []
  for (const { sendId, order, stopped } of await ledger.list(organizationId)) {
    const address = receiverOf(order, directory)
    if (stopped || !(asked.has(address) || asked.find(address))) continue
    const { state } = (await ledger.getProgress(sendId)) ?? {}
    if (state !== 'rejected' && state !== 'failed' && state !== 'given up')
      found.push({ address, of: `the receiver of send ${order.reference}` })
  }
  return found
}

/** Its name may mean another address by now, or nothing. */
function receiverOf(order: SendOrder, directory: Directory): string {
  return namespaceOfAddress(order.to) === undefined
    ? describeSend(order, { directory, interfaces: [] }).receiver.address
    : order.to
}
