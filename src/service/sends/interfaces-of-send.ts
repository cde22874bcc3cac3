import type { SmartContractInterface } from '../../chain/index.ts'
import { executionInterfaces } from '../nodes/index.ts'
import type { SendRow } from '../resources/sends/store.ts'
import { readContractInterfaces } from '../signing/index.ts'
import type { EthereumTools } from './ethereum-tools.ts'

/** The interfaces that decode the errors of a send's contracts: those of its organization, and the gas station's own. */
export async function readInterfaces(
  { database, chain }: EthereumTools,
  { organization_id, account, sender }: SendRow,
): Promise<readonly SmartContractInterface[]> {
  const uploaded = await database.read((tx) => readContractInterfaces({ tx, organizationId: organization_id }))
  return [...executionInterfaces(account ?? sender, chain.gasStation), ...uploaded]
}
