import type { KeyAtHand } from '../../chain/index.ts'
import type { Wire } from '../../protocol/index.ts'
import type { SendRow } from '../resources/sends/store.ts'
import { lookForSigner, withSigningKey } from '../signing/index.ts'
import type { Transaction } from '../store/index.ts'
import { failure } from './failure.ts'
import type { SendTools } from './family.ts'
import { withRelayerKey } from './relayers.ts'

type Use<Result> = (key: KeyAtHand) => Result

/** Signs with the key of an address of the send's organization; undefined where it is gone. */
export async function withAccountKey<Result>(
  tools: SendTools,
  row: SendRow,
  address: string,
  use: Use<Result>,
): Promise<Result | undefined> {
  return tools.database.read((tx) => ofOrganization(tools, tx, { row, address }, use))
}

/** Signs with the key that a transaction is sent by: the sender's, or the relayer's where that pays; undefined where it is gone. */
export async function withSenderKey<Result>(
  tools: SendTools,
  tx: Transaction,
  row: SendRow,
  use: Use<Result>,
): Promise<Result | undefined> {
  if (row.account !== null) return withRelayerKey({ tx, unseal: tools.sealing.unseal }, 'eip155', use)
  return ofOrganization(tools, tx, { row, address: row.sender }, use)
}

/** The failure of a send whose key was deleted. */
export function keyGone(address: string): Wire.TxError {
  return failure(`the key of ${address} is gone`)
}

async function ofOrganization<Result>(
  { sealing }: SendTools,
  tx: Transaction,
  { row, address }: { readonly row: SendRow; readonly address: string },
  use: Use<Result>,
): Promise<Result | undefined> {
  const context = { tx, organizationId: row.organization_id, unseal: sealing.unseal }
  const signer = await lookForSigner(context, address)
  return signer === undefined ? undefined : withSigningKey(context, signer, use)
}
