import { apiError } from '../../../protocol/index.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { interfaceTable, listInterfaces } from './store.ts'
import { toWireInterface } from './wire.ts'

const get: QueryOf<'get_smart_contract_interface'> = async (
  { tx, organizationId },
  { smartContractInterfaceId: id },
) => {
  const row = await interfaceTable.find(tx, organizationId, id)
  if (!row) throw apiError('notFound', 'smart contract interface', id)
  return { smartContractInterface: toWireInterface(row) }
}

const list: QueryOf<'list_smart_contract_interfaces'> = async ({ tx, organizationId }) => ({
  smartContractInterfaces: (await listInterfaces(tx, organizationId)).map(toWireInterface),
})

export const smartContractInterfaceQueries = {
  get_smart_contract_interface: get,
  list_smart_contract_interfaces: list,
} satisfies QueryRows
