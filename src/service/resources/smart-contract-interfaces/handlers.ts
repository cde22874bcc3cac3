import { apiError, apiErrorAt, type Wire } from '../../../protocol/index.ts'
import { weightOfBytes } from '../../engine/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { interfaceTable } from './store.ts'

/**
 * Several for one address are allowed; which of them policies use is decided where transactions are read
 * (docs/protocol/policies.md#contract-interfaces).
 */
const create: TypedHandler<Wire.CreateSmartContractInterfaceIntent, Wire.CreateSmartContractInterfaceResult> = {
  async validate({ work }, { smartContractInterface: json, type }) {
    const { refusal } = work.run('checkInterface', { input: { type, json }, weight: weightOfBytes(json) })
    if (refusal !== undefined) throw apiErrorAt('smartContractInterface', 'requestInvalid', refusal)
  },
  async execute(context, { smartContractAddress, smartContractInterface, type, label, notes = '' }) {
    const id = context.newId()
    await interfaceTable.insert(context.tx, [
      {
        id,
        organization_id: context.organizationId,
        address: smartContractAddress,
        interface: smartContractInterface,
        type,
        label,
        notes,
        created_at: context.now,
        updated_at: context.now,
      },
    ])
    return { smartContractInterfaceId: id }
  },
}

const remove: TypedHandler<Wire.DeleteSmartContractInterfaceIntent, Wire.DeleteSmartContractInterfaceResult> = {
  async validate({ tx, organizationId }, { smartContractInterfaceId: id }) {
    if (!(await interfaceTable.find(tx, organizationId, id))) throw apiError('notFound', 'smart contract interface', id)
  },
  async execute({ tx, organizationId }, { smartContractInterfaceId }) {
    await interfaceTable.delete(tx, organizationId, [smartContractInterfaceId])
    return { smartContractInterfaceId }
  },
}

export const smartContractInterfaceHandlers = {
  ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE: create,
  ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE: remove,
} satisfies HandlerRows
