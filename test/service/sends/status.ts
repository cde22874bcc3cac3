import { setTimeout as pause } from 'node:timers/promises'
import type { Wire } from '../../../src/protocol/index.ts'
import type { TestClient } from '../harness.ts'

/** The one that nodes of tests serve. */
export const SEPOLIA = 'eip155:11155111'

export type Ended = Wire.GetSendTransactionStatusResponse

/** Reads a send's status until it is final. */
export async function untilEnded(client: TestClient, sendTransactionStatusId: string): Promise<Ended> {
  for (;;) {
    const status = await client.query('get_send_transaction_status', { sendTransactionStatusId })
    if (status.txStatus === 'INCLUDED' || status.txStatus === 'FAILED') return status
    await pause(100)
  }
}
