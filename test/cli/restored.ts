/** Services whose records are behind their chains: put back from a snapshot, and reconciled by the command. */
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import type { SeenLanes } from '../../src/service/operator/index.ts'
import type { TestService } from '../service/harness.ts'
import { quorateShared as quorate, testFolder } from './harness.ts'

export const stateOf = ({ root }: TestService, sendTransactionStatusId: string) =>
  root.query('get_send_transaction_status', { sendTransactionStatusId })

/** Why a send holds still, once it does. */
export async function untilWaits(service: TestService, id: string): Promise<string> {
  await vi.waitUntil(async () => (await stateOf(service, id)).txError !== undefined, { interval: 20 })
  return (await stateOf(service, id)).txError!
}

/** What a service had at the moment of a snapshot, served from another folder; the first one has ended. */
export async function restored(
  service: TestService,
  {
    afterSnapshot,
    serve,
  }: { readonly afterSnapshot: () => Promise<void>; readonly serve: (dataDir: string) => Promise<TestService> },
): Promise<TestService> {
  const file = join(testFolder(), 'before.snapshot')
  expect((await quorate(['snapshot', 'save', file, '--folder', service.dataDir])).exit).toBe(0)
  await afterSnapshot()
  await service.close()
  const folder = join(testFolder(), 'service')
  expect((await quorate(['snapshot', 'restore', file, '--folder', folder])).exit).toBe(0)
  return serve(folder)
}

export async function reconcile(service: TestService, ...more: readonly string[]) {
  const { exit, stdout } = await quorate(['sends', 'reconcile', '--json', '--folder', service.dataDir, ...more])
  return { exit, ...(JSON.parse(stdout) as SeenLanes & { readonly isWritten: boolean }) }
}
