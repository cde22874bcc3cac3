/** Transactions of unusual forms, and such as nodes refuse before they try them. */
import { setTimeout as pause } from 'node:timers/promises'
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { complete, refusalOf } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { makeWallet, SOLANA } from '../signing/keys.ts'
import { draftOf, receiver, transferOf } from './solana-drafts.ts'
import { startSolanaNode, type TestSolanaNode } from './solana-node.ts'
import { untilEnded } from './status.ts'

const DEVNET = 'solana:devnet'
const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
const NO_BLOCKHASH = '1'.repeat(32)

let node: TestSolanaNode
let service: TestService
let from: PublicKey
let privateKey: PublicKey
let relayer: PublicKey
beforeAll(async () => {
  node = await startSolanaNode()
  service = await startTestService({ chains: { [DEVNET]: { url: node.url, pollMs: 30, usdPrice: '100' } } })
  relayer = new PublicKey(service.service.bootstrap.relayers.solana)
  from = new PublicKey((await makeWallet(service.root, SOLANA)).accounts[0]!.address)
  const key = { privateKeyName: 'k', curve: 'CURVE_ED25519', privateKeyTags: [] }
  const made = await complete(service.root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', {
    privateKeys: [{ ...key, addressFormats: ['ADDRESS_FORMAT_SOLANA'] }],
  })
  privateKey = new PublicKey(made.privateKeys[0]!.addresses![0]!.address!)
  for (const each of [from, privateKey]) node.fund(each.toBase58(), 10)
  await complete(service.root, 'ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG', {
    orgWindowLimitUsd: '100',
    subOrgWindowLimitUsd: '100',
    windowDurationMinutes: '60',
  })
})
afterAll(async () => {
  await service.close()
  await node.close()
})

const submit = (transaction: Uint8Array, rest: object = {}) =>
  service.root.submit('ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2', {
    unsignedTransaction: Buffer.from(transaction).toString('hex'),
    signWiths: [from.toBase58()],
    caip2: DEVNET,
    ...rest,
  })
async function accept(transaction: Uint8Array, rest: object = {}): Promise<string> {
  const { result } = await submit(transaction, rest)
  return result!.solSendTransactionResultV2!.sendTransactionStatusId
}
const send = async (transaction: Uint8Array, rest: object = {}) =>
  untilEnded(service.root, await accept(transaction, rest))
const draft = (...instructions: TransactionInstruction[]) => draftOf(instructions, { payer: from })
const pay = (to = receiver(), payer = from) => transferOf(payer, to, 1_000_000)
const included = { txStatus: 'INCLUDED', solana: { signature: expect.any(String) } }

const SPONSOR = { sponsor: true }

function version0(table: PublicKey, addresses: readonly PublicKey[], ...instructions: TransactionInstruction[]) {
  const state = { deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0 }
  const tables = [new AddressLookupTableAccount({ key: table, state: { ...state, addresses: [...addresses] } })]
  const content = { payerKey: from, recentBlockhash: NO_BLOCKHASH, instructions }
  return new VersionedTransaction(new TransactionMessage(content).compileToV0Message(tables)).serialize()
}

/** A transaction of so many bytes with its signature. */
function ofLength(length: number): Uint8Array {
  const build = (size: number) => {
    const memo = new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.alloc(size, 97) })
    const transaction = new Transaction({ recentBlockhash: NO_BLOCKHASH, feePayer: from }).add(pay(from), memo)
    return Buffer.concat([Buffer.from([1]), Buffer.alloc(64), transaction.compileMessage().serialize()])
  }
  return build(900 + length - build(900).length)
}

describe('the runtime’s word is explained', () => {
  const poor = Keypair.generate().publicKey
  test.each<[string, () => Uint8Array, string]>([
    [
      'for a program that is not there',
      () => draft(new TransactionInstruction({ programId: poor, keys: [] })),
      'InvalidProgramForExecution: a program that it calls is not there',
    ],
    [
      'for less on an account than it must have',
      () => draft(transferOf(from, poor, 1)),
      `InsufficientFundsForRent: ${poor.toBase58()} would be left with less than an account must have`,
    ],
    [
      'for a nonce that is none',
      () =>
        draftOf([SystemProgram.nonceAdvance({ noncePubkey: poor, authorizedPubkey: from }), pay()], {
          payer: from,
          blockhash: poor.toBase58(),
        }),
      `BlockhashNotFound: ${poor.toBase58()} is not the nonce of ${poor.toBase58()}`,
    ],
  ])('%s', async (_, build, words) => {
    expect(await send(build())).toMatchObject({ txStatus: 'FAILED', txError: `transaction failed with ${words}` })
  })

  test('for a payer without funds', async () => {
    const { address } = (await makeWallet(service.root, SOLANA)).accounts[0]!
    const transaction = draftOf([pay(receiver(), new PublicKey(address))], { payer: new PublicKey(address) })
    const { txError } = await send(transaction, { signWiths: [address] })
    expect(txError).toBe(`transaction failed with AccountNotFound: its payer ${address} has nothing`)
  })

  test('for a relayer without funds', async () => {
    const { txError } = await send(draft(pay()), SPONSOR)
    const payer = `its payer ${relayer.toBase58()}, which pays for sponsored sends,`
    expect(txError).toBe(`transaction failed with AccountNotFound: ${payer} has nothing`)
  })

  test('a price that the transaction sets is kept, and one that it sets twice is refused by the runtime', async () => {
    const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 7 })
    const { solana } = await send(draft(price, pay()))
    const [, , ...added] = Transaction.from(node.landed.get(solana!.signature!)!.bytes).instructions
    // The limit alone.
    expect(added.map(({ data }) => data[0])).toEqual([2])
    expect(await send(draft(price, price, pay()))).toMatchObject({ txStatus: 'FAILED' })
  })
})

describe('forms of Solana transactions', () => {
  beforeAll(() => node.fund(relayer.toBase58(), 1))

  test('accounts of a lookup table, with and without a sponsor', async () => {
    const [table, to] = [receiver(), receiver()]
    node.makeTable(table.toBase58(), [to.toBase58()])
    expect(await send(version0(table, [to], pay(to)))).toEqual(included)
    expect(await send(version0(table, [to], pay(to)), SPONSOR)).toEqual(included)
    expect(node.balance(to.toBase58())).toBe(2_000_000n)
  })

  test('a lookup table that names the relayer gives nobody its funds', async () => {
    const table = receiver()
    node.makeTable(table.toBase58(), [relayer.toBase58()])
    const before = node.balance(relayer.toBase58())
    expect(await send(version0(table, [relayer], pay(relayer)), SPONSOR)).toMatchObject({
      txStatus: 'FAILED',
      txError: 'transaction failed with AccountLoadedTwice',
    })
    expect(node.balance(relayer.toBase58())).toBe(before)
  })

  test.each<[string, object]>([
    ['', {}],
    [' that are sponsored', SPONSOR],
  ])('an account of a wallet and a private key sign in the order of the transaction%s', async (_, rest) => {
    const transaction = draft(pay(), pay(receiver(), privateKey))
    const names = [from, privateKey].map((key) => key.toBase58())
    expect(await send(transaction, { ...rest, signWiths: names })).toEqual(included)
    const refused = async (signWiths: readonly string[]) =>
      (await refusalOf(submit(transaction, { ...rest, signWiths })))[2]
    expect(await refused(names.toReversed())).toContain(`its signers stand in another order: ${names.join(', ')}`)
    expect(await refused([names[0]!, names[0]!])).toContain(`${names[0]} signs it once, and is named twice`)
  })

  test('one of the most bytes that the network takes, and of one more', async () => {
    expect(await send(ofLength(1_232))).toEqual(included)
    expect((await refusalOf(submit(ofLength(1_233))))[2]).toContain('it would have 1233 bytes, more than the 1232')
    // A payer is 32 bytes, and its signature 64.
    expect(await send(ofLength(1_136), SPONSOR)).toEqual(included)
    expect((await refusalOf(submit(ofLength(1_137), SPONSOR)))[2]).toContain('it would have 1233 bytes')
  })

  test('an outside payer that has not signed, or without a blockhash', async () => {
    const outside = Keypair.generate()
    node.fund(outside.publicKey.toBase58(), 1)
    const of = (rest: object) => draftOf([pay()], { payer: outside.publicKey, ...rest })
    const refused = async (transaction: Uint8Array, rest: object = {}) =>
      (await refusalOf(submit(transaction, rest)))[2]
    const dated = { blockhash: node.blockhash() }
    const name = outside.publicKey.toBase58()
    expect(await refused(of(dated))).toContain(`${name} must sign it too`)
    expect(await refused(of({ signedBy: outside }))).toContain(`${name} has signed it without a blockhash`)
    expect(await refused(of({ ...dated, signedBy: outside }), SPONSOR)).toContain('its payer will be another')
    expect(await send(of({ ...dated, signedBy: outside }))).toEqual(included)
  })
})

describe('what a node does not take', () => {
  beforeAll(() => node.fund(relayer.toBase58(), 1))

  test.each<[string, object]>([
    ['', {}],
    [' that is sponsored', SPONSOR],
  ])('a lookup table that is not there ends a send%s, and nothing waits behind it', async (_, rest) => {
    const to = receiver()
    const ids = [await accept(version0(receiver(), [to], pay(to)), rest), await accept(draft(pay()), rest)]
    const [one, two] = await Promise.all(ids.map((id) => untilEnded(service.root, id)))
    const message = "invalid transaction: Transaction loads an address table account that doesn't exist"
    expect(one).toMatchObject({
      txStatus: 'FAILED',
      txError: message,
      error: { solana: { source: 'simulation', rpcCode: -32_602, rpcMessage: message } },
    })
    expect(two).toEqual(included)
  })

  test('what a node refuses for now goes when it no longer does, and nothing waits behind it', async () => {
    const [to, ready] = [receiver(), receiver()]
    const isOurs = (bytes: Uint8Array) => Buffer.from(bytes).includes(to.toBuffer())
    node.refuses = (bytes) => (isOurs(bytes) ? -32_005 : undefined)
    const first = await accept(draft(pay(to)))
    expect(await send(draft(pay(ready)))).toEqual(included)
    // It is completed, and then refused when it is handed over.
    let handedOver = 0
    node.refuses = (bytes) => {
      const isSigned = bytes.subarray(1, 65).some((byte) => byte !== 0)
      if (!isOurs(bytes) || !isSigned) return undefined
      handedOver++
      return -32_005
    }
    while (handedOver === 0) await pause(10)
    expect(await send(draft(pay(ready)))).toEqual(included)
    node.refuses = () => undefined
    expect(await untilEnded(service.root, first)).toEqual(included)
    expect(node.balance(to.toBase58())).toBe(1_000_000n)
  })
})
