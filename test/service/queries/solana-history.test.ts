import { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { complete } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { draftOf, receiver, transferOf } from '../sends/solana-drafts.ts'
import { startSolanaNode, type TestSolanaNode } from '../sends/solana-node.ts'
import { untilEnded } from '../sends/status.ts'
import { makeWallet, SOLANA } from '../signing/keys.ts'
import { shapeFaults } from './shape.ts'

const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'
const TOKEN_PROGRAM = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

let node: TestSolanaNode
let service: TestService
let from: PublicKey
beforeAll(async () => {
  node = await startSolanaNode()
  node.makeToken(MINT, 6)
  service = await startTestService({ chains: { [DEVNET]: { url: node.url, pollMs: 30 } } })
  from = new PublicKey((await makeWallet(service.root, SOLANA)).accounts[0]!.address)
  node.fund(from.toBase58(), 100)
})
afterAll(async () => {
  await service.close()
  await node.close()
})

async function send(instructions: readonly TransactionInstruction[], signedBy?: Keypair): Promise<string> {
  const draft = draftOf(instructions, { payer: from, ...(signedBy && { signedBy, blockhash: node.blockhash() }) })
  const { sendTransactionStatusId } = await complete(service.root, 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION', {
    unsignedTransaction: draft.toString('hex'),
    signWith: from.toBase58(),
    caip2: DEVNET,
  })
  return (await untilEnded(service.root, sendTransactionStatusId)).solana!.signature!
}
const history = () =>
  service.root.query('list_sol_transaction_history', { address: from.toBase58(), caip2: 'solana:devnet' })
const latest = async () => (await history()).transactions[0]!
const sol = { caip19: `${DEVNET}/slip44:501`, symbol: 'SOL', name: 'Solana', decimals: 9 }
const moved = (direction: 'IN' | 'OUT', counterparty: PublicKey, amount: string, crypto: string) => ({
  direction,
  counterparty: counterparty.toBase58(),
  amount,
  asset: sol,
  display: { crypto },
})

describe('list_sol_transaction_history', () => {
  test('what was sent is told with its block, its fee, what it moved and the activity that asked for it', async () => {
    const [first, second] = [receiver(), receiver()]
    const signature = await send([transferOf(from, first, 1_500_000_000), transferOf(from, second, 2_000_000)])
    const answer = await history()
    expect(shapeFaults('list_sol_transaction_history', answer)).toEqual([])
    const { activities } = await service.root.query('list_activities')
    expect(answer.transactions).toEqual([
      {
        signature,
        block: {
          number: expect.stringMatching(/^\d{4}$/),
          hash: expect.stringMatching(/^\w{43,44}$/),
          timestamp: expect.stringMatching(/^2023-11-14T22:\d\d:\d\dZ$/),
        },
        status: expect.stringMatching(/^(CONFIRMED|FINALIZED)$/),
        origin: 'TURNKEY',
        feePayer: from.toBase58(),
        signers: [{ address: from.toBase58(), writable: true }],
        fee: { amount: '5000', caip19: sol.caip19 },
        transfers: [moved('OUT', first, '1500000000', '1.5'), moved('OUT', second, '2000000', '0.002')],
        turnkey: {
          sponsored: false,
          activityFingerprint: activities[0]!.fingerprint,
          submittedAt: expect.stringMatching(/^20\d\d-/),
        },
      },
    ])
    node.produce(3)
    expect((await latest()).status).toBe('FINALIZED')
  })

  test('what came in by it is told too, and two signers', async () => {
    const other = Keypair.generate()
    node.fund(other.publicKey.toBase58(), 10)
    await send([transferOf(other.publicKey, from, 3_000_000_000)], other)
    const { transfers, signers, fee } = await latest()
    expect(transfers).toEqual([moved('IN', other.publicKey, '3000000000', '3')])
    expect(signers.map(({ address }) => address)).toEqual([from.toBase58(), other.publicKey.toBase58()])
    expect(fee.amount).toBe('10000')
  })

  test('tokens move between their owners, whatever accounts they are in', async () => {
    const owner = receiver()
    const [source, target] = [
      node.giveToken(MINT, from.toBase58(), 5_000_000n),
      node.giveToken(MINT, owner.toBase58(), 0n),
    ].map((account) => ({ pubkey: new PublicKey(account), isSigner: false, isWritable: true }))
    const data = Buffer.alloc(9, 3)
    data.writeBigUInt64LE(1_250_000n, 1)
    const keys = [source!, target!, { pubkey: from, isSigner: true, isWritable: false }]
    await send([new TransactionInstruction({ programId: TOKEN_PROGRAM, keys, data })])
    expect((await latest()).transfers).toEqual([
      {
        ...moved('OUT', owner, '1250000', '1.25'),
        asset: { caip19: `${DEVNET}/token:${MINT}`, symbol: '', name: '', decimals: 6 },
      },
    ])
  })
})
