import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { addTenant, complete, type Tenant } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { fetchKeys, type Received, type Receiver, startReceiver, verdictOf } from '../outbox/receiver.ts'
import { draftOf } from '../sends/solana-drafts.ts'
import { DEVNET_GENESIS, startSolanaNode, type TestSolanaNode } from '../sends/solana-node.ts'
import { accountsOf, SOLANA } from '../signing/keys.ts'
import { msgOf, toldTo } from './told.ts'

const DEVNET = `solana:${DEVNET_GENESIS.slice(0, 32)}`
const TOKEN_PROGRAM = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
const mint = Keypair.generate().publicKey.toBase58()
const stranger = Keypair.generate()

let node: TestSolanaNode
let receiver: Receiver
let service: TestService
let tenant: Tenant
let ours: string
beforeAll(async () => {
  ;[node, receiver] = await Promise.all([startSolanaNode({ blocks: 'on-request' }), startReceiver()])
  node.fund(stranger.publicKey.toBase58(), 100)
  node.makeToken(mint, 6)
  service = await startTestService({
    chains: { [DEVNET]: { url: node.url, pollMs: 20, tokens: [mint] } },
    allowedWebhookHosts: [receiver.host],
  })
  tenant = await addTenant(service, { parentId: service.organizationId })
  const wallet = { walletName: 'w', accounts: accountsOf(SOLANA) }
  const made = await complete(tenant.client, 'ACTIVITY_TYPE_CREATE_WALLET', wallet, tenant.organizationId)
  ;[ours] = made.addresses as [string]
  node.fund(ours, 10)
})
afterAll(async () => {
  await service.close()
  await Promise.all([node.close(), receiver.close()])
})

const { of, sumsOf } = toldTo(() => receiver)

/** Hands a transaction of the stranger to the node, whose next block has it. */
async function offer(...instructions: TransactionInstruction[]): Promise<string> {
  const draft = { payer: stranger.publicKey, blockhash: node.blockhash(), signedBy: stranger }
  const body = {
    ...{ jsonrpc: '2.0', id: 1, method: 'sendTransaction' },
    params: [draftOf(instructions, draft).toString('base64'), { encoding: 'base64', skipPreflight: true }],
  }
  const response = await fetch(node.url, { method: 'POST', body: JSON.stringify(body) })
  return ((await response.json()) as { readonly result: string }).result
}
const pay = (to: string, lamports: number) =>
  SystemProgram.transfer({ fromPubkey: stranger.publicKey, toPubkey: new PublicKey(to), lamports })
function payToken(from: string, to: string, amount: number): TransactionInstruction {
  const data = Buffer.alloc(9)
  data.writeUInt8(3)
  data.writeBigUInt64LE(BigInt(amount), 1)
  const key = (of: string | PublicKey, isSigner = false) => ({
    pubkey: new PublicKey(of),
    isSigner,
    isWritable: !isSigner,
  })
  return new TransactionInstruction({
    programId: TOKEN_PROGRAM,
    keys: [key(from), key(to), key(stranger.publicKey, true)],
    data,
  })
}
/** Blocks until what the first of them has is told of as confirmed. */
const confirm = () => node.produce(2)

test('balances: what wallets receive and send on Solana is told once confirmed and once final, through a fork, skipped slots and a restart', async () => {
  const theirs = node.giveToken(mint, stranger.publicKey.toBase58(), 1_000n)
  const held = node.giveToken(mint, ours, 0n)
  const subscriptions = ['BALANCE_CONFIRMED_UPDATES', 'BALANCE_FINALIZED_UPDATES'].map((eventType) => ({ eventType }))
  const endpoint = { url: `${receiver.url}/balances`, name: 'ops', subscriptions }
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', endpoint)
  await vi.waitUntil(() => node.asked.has('getBlock'))

  // Two payments in one transaction are one deposit; what fails, and what goes elsewhere, is none.
  const deposited = await offer(pay(ours, 5), pay(ours, 2), payToken(theirs, held, 70))
  await offer(pay(Keypair.generate().publicKey.toBase58(), 2_000_000))
  await offer(pay(ours, 3), payToken(theirs, held, 5_000))
  node.skip(3)
  confirm()
  const [sol, token] = [`${DEVNET}/slip44:501`, `${DEVNET}/token:${mint}`]
  await receiver.until(() => of('confirmed').length >= 2)
  expect(sumsOf('confirmed')).toEqual([`deposit 7 ${sol}`, `deposit 70 ${token}`])
  const isSol = (each: Received) => msgOf(each).asset['caip19'] === sol
  const first = of('confirmed').find(isSol)!
  const { slot } = node.landed.get(deposited)!
  expect(first.body).toEqual({
    type: 'balances:confirmed',
    organizationId: tenant.organizationId,
    parentOrganizationId: service.organizationId,
    msg: {
      operation: 'deposit',
      caip2: DEVNET,
      txHash: deposited,
      address: ours,
      idempotencyKey: expect.stringMatching(/^[0-9a-f]{64}:balances:confirmed$/),
      asset: { symbol: 'SOL', name: 'Solana', decimals: 9, caip19: sol, amount: '7' },
      block: { number: slot, hash: expect.stringMatching(/^\w{43,44}$/), timestamp: expect.stringMatching(/Z$/) },
    },
  })
  expect(verdictOf(first, await fetchKeys(service.url))).toBe('ok')
  expect(of('finalized')).toEqual([])

  // A fork: other blocks in place of those, in which the same transaction comes again.
  const bytes = node.landed.get(deposited)!.bytes
  node.takeBack(2)
  await fetch(node.url, {
    method: 'POST',
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'sendTransaction' },
      params: [Buffer.from(bytes).toString('base64'), { encoding: 'base64', skipPreflight: true }],
    }),
  })
  confirm()
  await receiver.until(() => of('confirmed').length >= 4)
  const [, again] = of('confirmed').filter(isSol)
  expect(msgOf(again!).idempotencyKey).toBe(msgOf(first).idempotencyKey)
  expect(msgOf(again!).block['hash']).not.toBe(msgOf(first).block['hash'])

  // Blocks that are made while the service is away are looked through when it is back; a fee is no withdrawal.
  await service.service.close()
  const before = node.balance(ours)
  node.produce(4)
  const late = await offer(pay(ours, 11))
  confirm()
  await service.restart()
  await receiver.until(() => of('finalized').length >= 2 && of('confirmed').some((each) => msgOf(each).txHash === late))
  const sent = await complete(
    tenant.client,
    'ACTIVITY_TYPE_SOL_SEND_TRANSACTION',
    {
      unsignedTransaction: draftOf(
        [
          SystemProgram.transfer({
            fromPubkey: new PublicKey(ours),
            toPubkey: stranger.publicKey,
            lamports: 1_000_000,
          }),
        ],
        { payer: new PublicKey(ours) },
      ).toString('hex'),
      signWith: ours,
      caip2: DEVNET,
    },
    tenant.organizationId,
  )
  expect(sent.sendTransactionStatusId).toBeDefined()
  await vi.waitUntil(() => node.waiting.size > 0)
  confirm()
  await receiver.until(() => of('confirmed').some((each) => msgOf(each).operation === 'withdraw'))
  expect(before + 11n - node.balance(ours)).toBeGreaterThan(1_000_000n)
  node.produce(4)
  await receiver.until(() => of('finalized').length >= 4)
  expect(sumsOf('finalized')).toEqual([
    `deposit 11 ${sol}`,
    `deposit 7 ${sol}`,
    `deposit 70 ${token}`,
    `withdraw 1000000 ${sol}`,
  ])
  const final = of('finalized').find((each) => msgOf(each).txHash === deposited && isSol(each))!
  expect(msgOf(final).block).toEqual(msgOf(again!).block)
  expect(msgOf(final).idempotencyKey).toBe(msgOf(first).idempotencyKey.replace('confirmed', 'finalized'))
})
