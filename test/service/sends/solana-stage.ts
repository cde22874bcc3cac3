/** A Solana node of a test's own, and a service that sends there; all is closed with the test. */
import { setTimeout as pause } from 'node:timers/promises'
import { PublicKey } from '@solana/web3.js'
import { onTestFinished } from 'vitest'
import type { createService } from '../../../src/service/index.ts'
import { complete } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { makeWallet, SOLANA } from '../signing/keys.ts'
import { type SolanaNodeOptions, startSolanaNode, type TestSolanaNode } from './solana-node.ts'
import type { Ended } from './status.ts'

const DEVNET = 'solana:devnet'

export interface SolanaStage {
  readonly node: TestSolanaNode
  readonly service: TestService
  readonly from: PublicKey
}

/** A node that makes a block when it is told to, a service, and a key with ten SOL. @param create makes the service */
export async function setStage(
  options: SolanaNodeOptions = { blocks: 'on-request' },
  settings: object = {},
  create?: typeof createService,
): Promise<SolanaStage> {
  const node = await startSolanaNode(options)
  onTestFinished(() => node.close())
  return { node, ...(await startOn(node.url, node, { settings, create })) }
}

/** A service that reaches a node by an address of its own. */
export async function startOn(
  url: string,
  node: TestSolanaNode,
  { settings = {}, create }: { readonly settings?: object; readonly create?: typeof createService | undefined } = {},
): Promise<Omit<SolanaStage, 'node'>> {
  const service = await startTestService({ chains: { [DEVNET]: { url, pollMs: 25, ...settings } } }, create)
  onTestFinished(() => service.close())
  const from = new PublicKey((await makeWallet(service.root, SOLANA)).accounts[0]!.address)
  node.fund(from.toBase58(), 10)
  return { service, from }
}

export async function submit({ service, from }: Omit<SolanaStage, 'node'>, transaction: Buffer): Promise<string> {
  const unsignedTransaction = transaction.toString('hex')
  const intent = { unsignedTransaction, signWith: from.toBase58(), caip2: DEVNET }
  return (await complete(service.root, 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION', intent)).sendTransactionStatusId
}

export const statusOf = ({ service }: Omit<SolanaStage, 'node'>, sendTransactionStatusId: string): Promise<Ended> =>
  service.root.query('get_send_transaction_status', { sendTransactionStatusId })

/** The signature once a node has it: the service keeps it before it hands the transaction over. */
export async function signatureOf(stage: SolanaStage, id: string): Promise<string> {
  const signature = await untilTrue(async () => (await statusOf(stage, id)).solana?.signature)
  await untilTrue(() => stage.node.offered.has(signature))
  return signature
}

/** Reads until something is there; throws after the time of a test. */
export async function untilTrue<Value>(read: () => Promise<Value | undefined | false> | Value | undefined | false) {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    const value = await read()
    if (value !== undefined && value !== false) return value
    await pause(15)
  }
  throw new Error('it is still not there')
}

/** Long enough for the service to have looked several times. */
export const someTurns = () => pause(250)

/** More than what a service waits for that is told nothing new, such as a later slot. */
export async function manyLooks({ asked }: TestSolanaNode): Promise<void> {
  const looks = () => asked.get('getSignatureStatuses') ?? 0
  const before = looks()
  await untilTrue(() => looks() > before + 50)
}
