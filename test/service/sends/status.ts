import { setTimeout as pause } from 'node:timers/promises'
import type { Wire } from '../../../src/protocol/index.ts'
import type { TestClient } from '../harness.ts'
import type { Anvil } from './anvil.ts'

/** The one that nodes of tests serve. */
export const SEPOLIA = 'eip155:11155111'

export type Ended = Wire.GetSendTransactionStatusResponse

/** The hash once the node has the transaction: the service keeps it before it hands the transaction over. */
export async function untilOffered(client: TestClient, anvil: Anvil, sendTransactionStatusId: string): Promise<string> {
  for (;;) {
    const { eth } = await client.query('get_send_transaction_status', { sendTransactionStatusId })
    if (eth?.txHash && (await anvil.rpc('eth_getTransactionByHash', eth.txHash)) !== null) return eth.txHash
    await pause(20)
  }
}

/** Reads a send's status until it is final. */
export async function untilEnded(client: Pick<TestClient, 'query'>, sendTransactionStatusId: string): Promise<Ended> {
  for (;;) {
    const status = await client.query('get_send_transaction_status', { sendTransactionStatusId })
    if (status.txStatus === 'INCLUDED' || status.txStatus === 'FAILED') return status
    await pause(100)
  }
}
