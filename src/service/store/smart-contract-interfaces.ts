import { inCreationOrder } from './creation-order.ts'
import type { SmartContractInterfaceRow } from './schema.ts'
import type { Transaction } from './transaction.ts'

/** Adds a contract interface. */
export async function insertInterface(tx: Transaction, row: SmartContractInterfaceRow): Promise<void> {
  await tx.insertInto('smart_contract_interfaces').values(row).execute()
}

/** Reads the organization's contract interfaces, in the order of their creation. */
export async function listInterfaces(tx: Transaction, organizationId: string): Promise<SmartContractInterfaceRow[]> {
  return tx
    .selectFrom('smart_contract_interfaces')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy(inCreationOrder('smart_contract_interfaces'))
    .execute()
}

/** Reads one contract interface. */
export async function findInterface(
  tx: Transaction,
  organizationId: string,
  interfaceId: string,
): Promise<SmartContractInterfaceRow | undefined> {
  return tx
    .selectFrom('smart_contract_interfaces')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', interfaceId)
    .executeTakeFirst()
}

/** Deletes a contract interface. */
export async function deleteInterface(tx: Transaction, organizationId: string, interfaceId: string): Promise<void> {
  await tx
    .deleteFrom('smart_contract_interfaces')
    .where('organization_id', '=', organizationId)
    .where('id', '=', interfaceId)
    .execute()
}
