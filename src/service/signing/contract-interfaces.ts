import type { SmartContractInterface } from '../../chain/index.ts'
import type { HandlerContext } from '../engine/handler.ts'
import { listInterfaces } from '../store/smart-contract-interfaces.ts'

/**
 * Reads what the organization has uploaded about contracts, oldest first, by which calls are decoded for policies.
 * @default addresses all that there are; each may have 400 kB
 */
export async function readContractInterfaces(
  { tx, organizationId }: Pick<HandlerContext, 'tx' | 'organizationId'>,
  addresses?: readonly string[],
): Promise<readonly SmartContractInterface[]> {
  const rows = await listInterfaces(tx, organizationId, addresses)
  return rows.map(({ address, type, interface: json }) => ({
    address,
    type: type as SmartContractInterface['type'],
    json,
  }))
}
