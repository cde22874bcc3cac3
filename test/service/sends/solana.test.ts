import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { complete, refusalOf } from '../handlers/steps.ts'
import { createTestUser, startTestService, type TestService } from '../harness.ts'
import { makeWallet, SOLANA } from '../signing/keys.ts'
import { type Draft, draftOf, receiver, tokenAccountOf, transferOf } from './solana-drafts.ts'
import { DEVNET_GENESIS, startSolanaNode, type TestSolanaNode } from './solana-node.ts'
import { type Ended, untilEnded } from './status.ts'

const DEVNET = 'solana:devnet'
const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'
const TOKEN = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')

let node: TestSolanaNode
let service: TestService
let from: PublicKey
let other: PublicKey
beforeAll(async () => {
  node = await startSolanaNode()
  const chains = {
    [DEVNET]: { url: node.url, pollMs: 30 },
    [`solana:${MAINNET_GENESIS}`]: { url: node.url, pollMs: 30 },
  }
  service = await startTestService({ chains })
  const second = ['CURVE_ED25519', 'ADDRESS_FORMAT_SOLANA', "m/44'/501'/1'/0'"] as const
  const { accounts } = await makeWallet(service.root, SOLANA, second)
  ;[from, other] = accounts.map(({ address }) => new PublicKey(address)) as [PublicKey, PublicKey]
  for (const each of [from, other]) node.fund(each.toBase58(), 100)
})
afterAll(async () => {
  await service.close()
  await node.close()
})

const draft = (instructions: readonly TransactionInstruction[], options: Partial<Draft> = {}) =>
  draftOf(instructions, { payer: from, ...options })
const transfer = (lamports: number, to: PublicKey, payer = from) => transferOf(payer, to, lamports)

const intentOf = (transaction: Buffer, rest: object = {}) => ({
  unsignedTransaction: transaction.toString('hex'),
  signWith: from.toBase58(),
  caip2: DEVNET,
  ...rest,
})
async function send(transaction: Buffer, rest: object = {}): Promise<Ended> {
  const intent = intentOf(transaction, rest)
  const result = await complete(service.root, 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION', intent)
  return untilEnded(service.root, result.sendTransactionStatusId)
}
const included = { txStatus: 'INCLUDED', solana: { signature: expect.stringMatching(/^\w{80,88}$/) } }

describe('sol_send_transaction', () => {
  test('a send is completed, signed and included, and the chain has what was asked for', async () => {
    const to = receiver()
    expect(await send(draft([transfer(1_500_000_000, to)]))).toEqual(included)
    expect(node.balance(to.toBase58())).toBe(1_500_000_000n)
  })

  test.each(['base64', 'base64url'] as const)('a transaction in %s, to a chain by its long id', async (encoding) => {
    const to = receiver()
    const unsignedTransaction = draft([transfer(1_000_000, to)]).toString(encoding)
    expect(await send(Buffer.alloc(0), { unsignedTransaction, caip2: `solana:${DEVNET_GENESIS}` })).toEqual(included)
    expect(node.balance(to.toBase58())).toBe(1_000_000n)
  })

  test('version 2 signs with several keys in their order, and with one beside a signature that is there', async () => {
    const to = receiver()
    const both = draft([transfer(1_000_000, to, other), transfer(1_000_000, to)])
    const result = await complete(service.root, 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2', {
      unsignedTransaction: both.toString('hex'),
      signWiths: [from.toBase58(), other.toBase58()],
      caip2: DEVNET,
    })
    expect(await untilEnded(service.root, result.sendTransactionStatusId)).toEqual(included)
    const stranger = Keypair.generate()
    node.fund(stranger.publicKey.toBase58(), 1)
    const blockhash = node.blockhash()
    const signedBy = stranger
    const given = draft([transfer(2_000_000, to, stranger.publicKey)], { blockhash, signedBy })
    expect(await send(given)).toEqual(included)
    expect(node.balance(to.toBase58())).toBe(4_000_000n)
  })

  test('many of the same content at once are included once each', async () => {
    const to = receiver()
    const ends = await Promise.all(Array.from({ length: 12 }, () => send(draft([transfer(1_000_000, to)]))))
    expect(ends).toEqual(Array(12).fill(included))
    expect(new Set(ends.map(({ solana }) => solana!.signature)).size).toBe(12)
    expect(node.balance(to.toBase58())).toBe(12_000_000n)
  })
})

describe('a send that cannot be', () => {
  test('one that the payer cannot pay for fails before it is sent, with what the runtime said', async () => {
    const before = node.offered.size
    const end = await send(draft([transfer(500_000_000_000, receiver())]))
    expect(end).toEqual({
      txStatus: 'FAILED',
      txError: expect.stringMatching(
        /^instruction 0 failed with custom error 0x1: Transfer: insufficient lamports \d+, need 500000000000$/,
      ),
      error: {
        message: end.txError,
        solana: {
          source: 'simulation',
          transactionErrorJson: '{"InstructionError":[0,{"Custom":1}]}',
          logs: expect.arrayContaining(['Program 11111111111111111111111111111111 invoke [1]']),
          unitsConsumed: expect.stringMatching(/^\d+$/),
          innerInstructionsJson: '[]',
        },
      },
    })
    expect(node.offered.size).toBe(before)
  })

  test('one that a program refuses says the program’s words', async () => {
    const call = new TransactionInstruction({ programId: TOKEN, keys: [], data: Buffer.from([0xfe]) })
    const { txStatus, txError, error } = await send(draft([transfer(1_000_000, receiver()), call]))
    expect({ txStatus, txError }).toEqual({
      txStatus: 'FAILED',
      txError: 'instruction 1 failed with custom error 0xc: Error: Invalid instruction',
    })
    expect(error!.solana!.logs!.length).toBeGreaterThan(2)
  })

  test('one that a program refuses says what its uploaded IDL calls that, of the program that refused', async () => {
    const upload = (program: PublicKey, code: number, msg?: string) =>
      complete(service.root, 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE', {
        smartContractAddress: program.toBase58(),
        type: 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA',
        smartContractInterface: JSON.stringify({
          instructions: [],
          types: [],
          errors: [
            { code: code + 1, name: 'Another' },
            { code, name: 'NotUnderstood', ...(msg && { msg }) },
          ],
        }),
        label: 'program',
      })
    await upload(TOKEN, 12, 'the first byte names no instruction')
    const call = new TransactionInstruction({ programId: TOKEN, keys: [], data: Buffer.from([0xfe]) })
    expect(await send(draft([transfer(1_000_000, receiver()), call]))).toMatchObject({
      txStatus: 'FAILED',
      txError: `instruction 1 failed with NotUnderstood (custom error 0xc of ${TOKEN.toBase58()}): the first byte names no instruction`,
    })
    // It has the System Program do it, whose error 1 this is, and which says no more of it than the log.
    const mint = receiver()
    node.makeToken(mint.toBase58(), 6)
    const { create } = tokenAccountOf(from, receiver(), mint)
    await upload(create.programId, 1, 'an error of its own')
    const poor = draft([transfer(Number(node.balance(from.toBase58())) - 1_000_000, receiver()), create])
    expect((await send(poor)).txError).toMatch(
      /^instruction 1 failed with custom error 0x1: Transfer: insufficient lamports \d+, need 2039280$/,
    )
    await upload(SystemProgram.programId, 1)
    expect((await send(poor)).txError).toMatch(
      /^instruction 1 failed with NotUnderstood \(custom error 0x1 of 1{32}\): Transfer: insufficient lamports /,
    )
  })

  test('one to a chain that the node does not serve fails with both', async () => {
    const { txStatus, txError } = await send(draft([transfer(1, receiver())]), { caip2: 'solana:mainnet' })
    expect({ txStatus, txError }).toEqual({
      txStatus: 'FAILED',
      txError: `the node that is set for solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp serves the chain with genesis hash ${DEVNET_GENESIS}`,
    })
  })

  test('one with a blockhash that has expired, or never was, fails at once', async () => {
    const blockhash = Keypair.generate().publicKey.toBase58()
    const given = draft([transfer(1_000_000, receiver())], { blockhash })
    const expected = {
      txStatus: 'FAILED',
      txError: `blockhash ${blockhash}, which the caller has set, has expired or never was`,
    }
    expect(await send(given)).toMatchObject(expected)
    const beside = intentOf(draft([transfer(1_000_000, receiver())]), { recentBlockhash: blockhash })
    expect(await send(Buffer.alloc(0), beside)).toMatchObject(expected)
  })

  test('one that no policy allows is refused, and nothing is sent', async () => {
    const { client } = await createTestUser(service, 'nobody')
    const sent = client.submit('ACTIVITY_TYPE_SOL_SEND_TRANSACTION', intentOf(draft([transfer(1, receiver())])))
    expect((await refusalOf(sent)).slice(0, 2)).toEqual([403, 7])
  })

  const unreadable = (reason: string) => [400, 3, expect.stringContaining(reason), 'INVALID_TRANSACTION']
  const stranger = Keypair.generate().publicKey
  test.each<[string, () => object, readonly unknown[]]>([
    [
      'the id of a key',
      () => intentOf(draft([transfer(1, stranger)]), { signWith: '11111111-1111-4111-8111-111111111111' }),
      [400, 3, '`11111111-1111-4111-8111-111111111111` is no Solana address to sign with', 'REQUEST_INVALID'],
    ],
    [
      'what is no transaction',
      () => intentOf(Buffer.from('c0ffee', 'hex')),
      unreadable('the number of signatures is no compact number'),
    ],
    [
      'a transaction that another must sign too',
      () => intentOf(draft([transfer(1, stranger, stranger)])),
      unreadable(`${stranger.toBase58()} must sign it too`),
    ],
    [
      'a key that has no part in it',
      () => intentOf(draft([transfer(1, stranger)]), { signWith: other.toBase58() }),
      unreadable('is none of the accounts that must sign'),
    ],
    [
      'an address of nobody here',
      () => intentOf(draft([transfer(1, stranger)]), { signWith: stranger.toBase58() }),
      [404, 5, 'Could not find any resource to sign with.', ''],
    ],
  ])('%s is refused', async (_, parameters, refusal) => {
    const sent = service.root.submit('ACTIVITY_TYPE_SOL_SEND_TRANSACTION', parameters())
    expect(await refusalOf(sent)).toEqual(refusal)
  })
})

test('policies see the transaction, and each key by itself', async () => {
  const { client, userId } = await createTestUser(service, 'payer')
  const to = receiver()
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
    policyName: 'small transfers of the first key',
    effect: 'EFFECT_ALLOW',
    consensus: `approvers.any(user, user.id == '${userId}')`,
    condition: `solana.tx.transfers.all(t, t.amount < 2000000) && wallet_account.address == '${from.toBase58()}'`,
  })
  const submit = (lamports: number) =>
    client.submit('ACTIVITY_TYPE_SOL_SEND_TRANSACTION', intentOf(draft([transfer(lamports, to)])))
  expect((await submit(1_000_000)).status).toBe('ACTIVITY_STATUS_COMPLETED')
  expect((await refusalOf(submit(2_000_000))).slice(0, 2)).toEqual([403, 7])
  const both = client.submit('ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2', {
    unsignedTransaction: draft([transfer(1, to), transfer(1, to, other)]).toString('hex'),
    signWiths: [from.toBase58(), other.toBase58()],
    caip2: DEVNET,
  })
  expect((await refusalOf(both)).slice(0, 2)).toEqual([403, 7])
})
