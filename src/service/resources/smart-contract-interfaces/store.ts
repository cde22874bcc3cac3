import { createTable, type InOrder, storedList, type Transaction } from '../../store/index.ts'

export interface SmartContractInterfaceRow {
  id: string
  organization_id: string
  /** As it was sent: Ethereum compares it without regard to case, Solana exactly. */
  address: string
  /** The JSON text as it was sent. */
  interface: string
  /** SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM or _SOLANA. */
  type: string
  label: string
  notes: string
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    smart_contract_interfaces: InOrder<SmartContractInterfaceRow>
  }
}

export const interfaceTable = createTable('smart_contract_interfaces')
export const interfaceList = storedList('smart_contract_interfaces', ['address', 'interface', 'label', 'notes'])

/** Reads the organization's contract interfaces, all or those of these addresses in any case, in the order of their creation. */
export async function listInterfaces(
  tx: Transaction,
  organizationId: string,
  addresses?: readonly string[],
): Promise<SmartContractInterfaceRow[]> {
  if (addresses?.length === 0) return []
  let query = tx.selectFrom('smart_contract_interfaces').selectAll().where('organization_id', '=', organizationId)
  if (addresses) {
    const folded = addresses.map((address) => address.toLowerCase())
    query = query.where(({ fn }) => fn('lower', ['address']), 'in', folded)
  }
  return query.orderBy('smart_contract_interfaces.position').execute()
}
