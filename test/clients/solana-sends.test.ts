/** The published server SDK sends on Solana through this service: nothing is changed but the base URL. */
import { PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { Turnkey } from '@turnkey/sdk-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from '../service/harness.ts'
import { receiver } from '../service/sends/solana-drafts.ts'
import { startSolanaNode, type TestSolanaNode } from '../service/sends/solana-node.ts'
import { makeWallet, SOLANA } from '../service/signing/keys.ts'
import { recordOperations } from './operations.ts'

let node: TestSolanaNode
let service: TestService
beforeAll(async () => {
  node = await startSolanaNode()
  service = await startTestService({ chains: { 'solana:devnet': { url: node.url, pollMs: 30 } } })
})
afterAll(async () => {
  await service.close()
  await node.close()
})

test('server SDK: a transaction of version 0 is sent, and its status asked for until it is included', async () => {
  const from = new PublicKey((await makeWallet(service.root, SOLANA)).accounts[0]!.address)
  node.fund(from.toBase58(), 1)
  const sdk = new Turnkey({
    apiBaseUrl: service.url,
    apiPublicKey: service.root.publicKey,
    apiPrivateKey: service.root.privateKey,
    defaultOrganizationId: service.organizationId,
    activityPoller: { intervalMs: 1, numRetries: 1 },
  }).apiClient()
  const to = receiver()
  const message = new TransactionMessage({
    payerKey: from,
    recentBlockhash: PublicKey.default.toBase58(),
    instructions: [SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: 2_000_000 })],
  }).compileToV0Message()
  const { sendTransactionStatusId } = await sdk.solSendTransaction({
    unsignedTransaction: Buffer.from(new VersionedTransaction(message).serialize()).toString('base64'),
    signWiths: [from.toBase58()],
    caip2: 'solana:devnet',
  })
  const { solana } = await sdk.pollTransactionStatus({ sendTransactionStatusId, pollingIntervalMs: 20 })
  expect([node.balance(to.toBase58()), [...node.landed.keys()]]).toEqual([2_000_000n, [solana!.signature]])
})

recordOperations('solana-sends')
