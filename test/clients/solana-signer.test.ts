/** The published signer for web3.js against this service: nothing is changed but the base URL. */
import { ed25519 } from '@noble/curves/ed25519.js'
import {
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { ApiKeyStamper } from '@turnkey/api-key-stamper'
import { TurnkeyClient } from '@turnkey/http'
import { TurnkeySigner } from '@turnkey/solana'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../service/harness.ts'
import { makeWallet, SOLANA } from '../service/signing/keys.ts'
import { recordOperations } from './operations.ts'

let service: TestService
let signer: TurnkeySigner
let from: PublicKey
beforeAll(async () => {
  service = await startTestService()
  from = new PublicKey((await makeWallet(service.root, SOLANA)).accounts[0]!.address)
  const { publicKey: apiPublicKey, privateKey: apiPrivateKey } = service.root
  const client = new TurnkeyClient({ baseUrl: service.url }, new ApiKeyStamper({ apiPublicKey, apiPrivateKey }))
  const { organizationId } = service
  signer = new TurnkeySigner({ organizationId, client } as unknown as ConstructorParameters<typeof TurnkeySigner>[0])
})
afterAll(() => service.close())

const blockhash = new PublicKey(new Uint8Array(32).fill(7)).toBase58()
const transfer = (payer: PublicKey) =>
  SystemProgram.transfer({ fromPubkey: payer, toPubkey: Keypair.generate().publicKey, lamports: 5 })
const legacy = (feePayer: PublicKey) => new Transaction({ recentBlockhash: blockhash, feePayer }).add(transfer(from))
const versioned = () =>
  new VersionedTransaction(
    new TransactionMessage({
      payerKey: from,
      recentBlockhash: blockhash,
      instructions: [transfer(from)],
    }).compileToV0Message(),
  )
const isSigned = (transaction: VersionedTransaction) =>
  ed25519.verify(transaction.signatures[0]!, transaction.message.serialize(), from.toBytes())

describe('web3.js', () => {
  test('web3.js: a signature is added to a legacy transaction, beside that of a fee payer', async () => {
    const payer = Keypair.generate()
    const transaction = legacy(payer.publicKey)
    transaction.partialSign(payer)
    await signer.addSignature(transaction, from.toBase58())
    expect(transaction.verifySignatures()).toBe(true)
  })

  test('web3.js: transactions of both kinds are signed as a whole, one and several', async () => {
    const one = (await signer.signTransaction(legacy(from), from.toBase58())) as Transaction
    expect(one.verifySignatures()).toBe(true)
    const two = (await signer.signTransaction(versioned(), from.toBase58())) as VersionedTransaction
    expect(isSigned(two)).toBe(true)
    const all = await signer.signAllTransactions([versioned(), versioned()], from.toBase58())
    expect((all as VersionedTransaction[]).map(isSigned)).toEqual([true, true])
  })

  test('web3.js: a message', async () => {
    const message = new TextEncoder().encode('gm')
    const signature = await signer.signMessage(message, from.toBase58())
    expect(ed25519.verify(signature, message, from.toBytes())).toBe(true)
  })
})

recordOperations('solana-signer')
