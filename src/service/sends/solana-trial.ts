/** A Solana send's transaction, tried before anything of it is signed; rent is paid in advance where that is wanted. */

import { readSolanaDraft, sumOfPrefunds, withPrefunds } from '../../chain/index.ts'
import { type Bytes, encodeBase64 } from '../../encoding/index.ts'
import type { Wire } from '../../protocol/index.ts'
import { NodeRefusal } from '../nodes/index.ts'
import type { SendRow } from '../resources/sends/store.ts'
import { paysRent } from './gas-usage.ts'
import { explainRun, isRefusedForGood, refusalFailure } from './solana-failure.ts'
import { findRent, lacksPayer, NO_RENT, type Rent } from './solana-rent.ts'
import type { SolanaTools } from './solana-tools.ts'

/** A form that can be sent, and the compute units that it has used. */
interface Tried {
  readonly form: Bytes
  readonly units: number | undefined
}

/**
 * Tries a transaction, whose payer and blockhash are in it. Nothing comes of it while the node lags behind its own blockhash.
 * Throws `NodeUnreachable`, and `NodeRefusal` where the node may answer otherwise another time.
 */
export async function tryOut(
  tools: SolanaTools,
  row: SendRow,
  transaction: Bytes,
): Promise<Tried | { readonly failure: Wire.TxError } | 'waits'> {
  try {
    return await tryNow(tools, row, transaction)
  } catch (error) {
    if (!(error instanceof NodeRefusal && isRefusedForGood(error))) throw error
    return { failure: refusalFailure('simulation', error) }
  }
}

async function tryNow(tools: SolanaTools, row: SendRow, transaction: Bytes) {
  const { node, database } = tools
  const isPaid = row.account !== null && (await database.read((tx) => paysRent(tx, row.organization_id)))
  const rent = isPaid ? await findRent(node, transaction) : NO_RENT
  if (rent === 'waits') return rent
  const form = rent.prefunds.length === 0 ? transaction : withPrefunds(transaction, rent.prefunds)
  const run = await node.simulate(encodeBase64(form))
  const { error } = run
  if (error === null) return { form, units: run.unitsConsumed }
  const { nonceAccount } = readSolanaDraft(transaction)
  if (error === 'BlockhashNotFound' && nonceAccount === undefined) return 'waits'
  if (rent.prefunds.length > 0 && lacksPayer(error, form)) return 'waits'
  const failure = await explainRun(tools, row, { source: 'simulation', error, run, transaction: form })
  const asked = isPaid || row.account === null ? rent : await findRent(node, transaction)
  const advice = asked === 'waits' ? undefined : adviceOf(asked, isPaid)
  return { failure: advice === undefined ? failure : { ...failure, message: `${failure.message}; ${advice}` } }
}

function adviceOf({ prefunds, advice }: Rent, isPaid: boolean): string | undefined {
  if (isPaid) return advice
  if (prefunds.length === 0) return undefined
  return `${sumOfPrefunds(prefunds)} lamports of it are the rent of new accounts, which its sender pays: who sponsors it has not set FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED`
}
