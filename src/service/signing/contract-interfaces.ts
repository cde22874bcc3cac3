import type { SmartContractInterface } from '../../chain/index.ts'
import type { HandlerContext } from '../engine/handler.ts'
import { listInterfaces } from '../store/smart-contract-interfaces.ts'

/** Reads what the organization has uploaded about contracts, oldest first, by which calls are decoded for policies. */
export async function readContractInterfaces({
  tx,
  organizationId,
}: Pick<HandlerContext, 'tx' | 'organizationId'>): Promise<readonly SmartContractInterface[]> {
  const rows = await listInterfaces(tx, organizationId)
  return rows.map(({ address, type, interface: json }) => ({
    address,
    type: type as SmartContractInterface['type'],
    json,
  }))
}
