import { Transaction as Psbt, p2wpkh } from '@scure/btc-signer'
import { Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js'
import {
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseTransaction,
  recoverTransactionAddress,
  serializeTransaction,
} from 'viem'
import { Transaction as Tempo } from 'viem/tempo'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decodeHex, encodeHex } from '../../../src/encoding/index.ts'
import { readVectors } from '../../vectors/read-vectors.ts'
import { complete, fresh, invalid, missing, newPrivateKey, type Refusal, refusalOf } from '../handlers/steps.ts'
import { allowAlone, createTestUser, startTestService, type TestService } from '../harness.ts'
import { ETHEREUM, makeWallet, SOLANA } from './keys.ts'

let service: TestService
let wallet: Awaited<ReturnType<typeof makeWallet>>
beforeAll(async () => {
  service = await startTestService()
  wallet = await makeWallet(
    service.root,
    ETHEREUM,
    SOLANA,
    ['CURVE_SECP256K1', 'ADDRESS_FORMAT_TRON', "m/44'/195'/0'/0/0"],
    ['CURVE_SECP256K1', 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH', "m/84'/1'/0'/0/0"],
  )
})
afterAll(() => service.close())

const accountOf = (format: string) =>
  wallet.accounts.find(({ addressFormat }) => addressFormat === `ADDRESS_FORMAT_${format}`)!
const parametersOf = (signWith: string, type: string, unsignedTransaction: string) => ({
  signWith,
  type: `TRANSACTION_TYPE_${type}`,
  unsignedTransaction,
})
const sign = async (...given: Parameters<typeof parametersOf>) =>
  (await complete(service.root, 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2', parametersOf(...given))).signedTransaction
const unparsed = (reason: string): Refusal => [400, 3, `failed to parse transaction: ${reason}`, 'INVALID_TRANSACTION']

const token = `0x${'55'.repeat(20)}` as const
const fields = {
  type: 'eip1559',
  chainId: 1,
  nonce: 1,
  gas: 21_000n,
  maxFeePerGas: 9n,
  maxPriorityFeePerGas: 1n,
} as const
const ethereum = (more: object = {}) => serializeTransaction({ ...fields, to: token, value: 5n, ...more })

function transferOf(from: string): Transaction {
  const payer = new PublicKey(from)
  const transaction = new Transaction({ recentBlockhash: PublicKey.unique().toBase58(), feePayer: payer })
  return transaction.add(
    SystemProgram.transfer({ fromPubkey: payer, toPubkey: Keypair.generate().publicKey, lamports: 7 }),
  )
}
const hexOf = (transaction: Transaction) =>
  transaction.serialize({ requireAllSignatures: false, verifySignatures: false }).toString('hex')

function psbtFor(publicKey: string, extra: (psbt: Psbt) => void = () => {}): string {
  const { script } = p2wpkh(decodeHex(publicKey))
  const psbt = new Psbt({ allowUnknownOutputs: true })
  psbt.addInput({ txid: 'aa'.repeat(32), index: 0, witnessUtxo: { script, amount: 1_000n } })
  psbt.addOutput({ script, amount: 900n })
  extra(psbt)
  return encodeHex(psbt.toPSBT(0))
}

describe('sign_transaction: every type', () => {
  test('sign_transaction: Ethereum, with 0x or without, answers without', async () => {
    const { address } = accountOf('ETHEREUM')
    const signed = await sign(address, 'ETHEREUM', ethereum())
    expect(signed).toMatch(/^02f8/)
    expect(await recoverTransactionAddress({ serializedTransaction: `0x${signed}` as never })).toBe(address)
    expect(parseTransaction(`0x${signed}`)).toMatchObject({ to: token, value: 5n })
    expect(await sign(address, 'ETHEREUM', ethereum().slice(2))).toBe(signed)
  })

  test('sign_transaction: Tempo', async () => {
    const { address } = accountOf('ETHEREUM')
    const unsigned = await Tempo.serialize({ ...fields, type: 'tempo', chainId: 42_431, calls: [{ to: token }] })
    const signed = await sign(address, 'TEMPO', unsigned)
    const read = Tempo.deserialize(`0x${signed}` as never) as unknown as { from: Hex }
    expect(read.from.toLowerCase()).toBe(address.toLowerCase())
  })

  test('sign_transaction: Solana', async () => {
    const { address } = accountOf('SOLANA')
    const signed = Transaction.from(Buffer.from(await sign(address, 'SOLANA', hexOf(transferOf(address))), 'hex'))
    expect(signed.verifySignatures()).toBe(true)
  })

  test('sign_transaction: Tron', async () => {
    const [{ bytes } = { bytes: '' }] = readVectors<{ readonly bytes: string }>('tron-transactions/raw-data.jsonl')
    expect(await sign(accountOf('TRON').address, 'TRON', bytes)).toMatch(/1241[0-9a-f]{128}1[bc]$/)
  })

  test('sign_transaction: Bitcoin, and what comes out is not finalized', async () => {
    const { address, publicKey } = accountOf('BITCOIN_TESTNET_P2WPKH')
    const signed = Psbt.fromPSBT(decodeHex(await sign(address, 'BITCOIN', psbtFor(publicKey))))
    expect(signed.isFinal).toBe(false)
    signed.finalize()
    expect(signed.hasWitnesses).toBe(true)
  })

  test('sign_transaction: a private key by its id, in the first version too', async () => {
    const privateKeys = [newPrivateKey({ addressFormats: ['ADDRESS_FORMAT_ETHEREUM'] })]
    const made = await complete(service.root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys })
    const { privateKeyId = '', addresses = [] } = made.privateKeys[0]!
    const signed = await sign(privateKeyId, 'ETHEREUM', ethereum())
    const sender = await recoverTransactionAddress({ serializedTransaction: `0x${signed}` as never })
    expect(sender).toBe(addresses[0]!.address)
    const { signWith: _, ...parameters } = parametersOf('', 'ETHEREUM', ethereum())
    const first = { ...parameters, privateKeyId }
    expect(await complete(service.root, 'ACTIVITY_TYPE_SIGN_TRANSACTION', first)).toEqual({ signedTransaction: signed })
  })
})

describe('sign_transaction: refusals', () => {
  const eth = () => accountOf('ETHEREUM').address

  test.each<[string, () => readonly [string, string, string], () => Refusal]>([
    [
      'nobody signs',
      () => ['0x00', 'ETHEREUM', ethereum()],
      () => missing('Could not find any resource to sign with.'),
    ],
    ['no hex', () => [eth(), 'ETHEREUM', 'xyz'], () => unparsed('it is no hex of whole bytes')],
    ['cut short', () => [eth(), 'ETHEREUM', ethereum().slice(0, -2)], () => unparsed('the RLP ends early')],
    ['no transaction', () => [eth(), 'TEMPO', ethereum()], () => unparsed('a Tempo transaction begins with byte 0x76')],
    ['another curve', () => [accountOf('SOLANA').address, 'ETHEREUM', ethereum()], () => invalid('invalid curve')],
    [
      'another curve of Solana',
      () => [eth(), 'SOLANA', hexOf(transferOf(accountOf('SOLANA').address))],
      () => invalid('invalid curve'),
    ],
    [
      'a Bitcoin output without an address',
      () => {
        const { address, publicKey } = accountOf('BITCOIN_TESTNET_P2WPKH')
        const returned = decodeHex('6a0400000000')
        return [address, 'BITCOIN', psbtFor(publicKey, (psbt) => psbt.addOutput({ script: returned, amount: 0n }))]
      },
      () => [
        400,
        3,
        'failed to extract bitcoin address from script with error: UnrecognizedScript',
        'UNSUPPORTED_TRANSACTION_TYPE',
      ],
    ],
  ])('sign_transaction: %s', async (_name, given, refusal) => {
    expect(await refusalOf(sign(...given()))).toEqual(refusal())
  })

  test('sign_transaction: a transaction that is signed already', async () => {
    const signed = await sign(eth(), 'ETHEREUM', ethereum())
    expect(await refusalOf(sign(eth(), 'ETHEREUM', signed))).toEqual(unparsed('the transaction is signed already'))
  })

  test('sign_transaction: what the key has no part in is refused before anybody votes, and leaves no activity', async () => {
    const before = (await service.root.query('list_activities')).activities.length
    const transaction = hexOf(transferOf(Keypair.generate().publicKey.toBase58()))
    const { address } = accountOf('SOLANA')
    const refusal = unparsed(`${address} is none of the accounts that must sign`)
    expect(await refusalOf(sign(address, 'SOLANA', transaction))).toEqual(refusal)
    expect((await service.root.query('list_activities')).activities).toHaveLength(before)
  })
})

describe('sign_transaction: policies', () => {
  const abi = parseAbi(['function transfer(address to, uint256 amount)'])
  const transfer = (amount: bigint) =>
    ethereum({ value: 0n, data: encodeFunctionData({ abi, args: [`0x${'66'.repeat(20)}`, amount] }) })

  const signerWith = async (condition: string) => {
    const { userId, client } = await createTestUser(service, fresh('signer'))
    await allowAlone(service, { userId }, condition)
    return (...given: Parameters<typeof parametersOf>) =>
      client.submit('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', parametersOf(...given))
  }
  const isDenied = async (sent: Promise<unknown>) => expect((await refusalOf(sent)).slice(0, 2)).toEqual([403, 7])

  test('sign_transaction: the fields of a transaction, and who sends it, decide', async () => {
    const { address, publicKey } = accountOf('ETHEREUM')
    const condition = `eth.tx.from == '${address.toLowerCase()}' && eth.tx.value <= 5 && eth.tx.chain_id == 1`
    const submit = await signerWith(condition)
    expect((await submit(address, 'ETHEREUM', ethereum())).status).toBe('ACTIVITY_STATUS_COMPLETED')
    // Named by its public key, the key sends from the same address.
    expect((await submit(publicKey, 'ETHEREUM', ethereum())).status).toBe('ACTIVITY_STATUS_COMPLETED')
    await isDenied(submit(address, 'ETHEREUM', ethereum({ value: 6n })))
  })

  test('sign_transaction: an uploaded interface lets policies read the call', async () => {
    const { address } = accountOf('ETHEREUM')
    const submit = await signerWith(
      `eth.tx.function_name == 'transfer' && eth.tx.contract_call_args['amount'] < 100 && activity.params.type == 'TRANSACTION_TYPE_ETHEREUM'`,
    )
    await isDenied(submit(address, 'ETHEREUM', transfer(99n)))
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE', {
      smartContractAddress: token,
      smartContractInterface: JSON.stringify(abi),
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      label: 'token',
    })
    expect((await submit(address, 'ETHEREUM', transfer(99n))).status).toBe('ACTIVITY_STATUS_COMPLETED')
    await isDenied(submit(address, 'ETHEREUM', transfer(100n)))
  })

  test('sign_transaction: what a Solana transaction moves decides', async () => {
    const { address } = accountOf('SOLANA')
    const submit = await signerWith(`solana.tx.transfers.all(transfer, transfer.amount < 8)`)
    expect((await submit(address, 'SOLANA', hexOf(transferOf(address)))).status).toBe('ACTIVITY_STATUS_COMPLETED')
  })

  test('sign_transaction: the uploaded interface of a Solana program lets policies read its instructions', async () => {
    const { address } = accountOf('SOLANA')
    const [programId, payer] = [Keypair.generate().publicKey, new PublicKey(address)]
    const submit = await signerWith(
      `solana.tx.instructions.all(i, i.parsed_instruction_data.instruction_name == 'withdraw')`,
    )
    // The first eight bytes of SHA-256 of \`global:withdraw\`, as published for Anchor.
    const data = Buffer.from('b712469c946da122', 'hex')
    const transaction = new Transaction({ recentBlockhash: PublicKey.unique().toBase58(), feePayer: payer })
    const unsigned = hexOf(transaction.add({ programId, keys: [], data }))
    await isDenied(submit(address, 'SOLANA', unsigned))
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE', {
      smartContractAddress: programId.toBase58(),
      smartContractInterface: JSON.stringify({
        instructions: [{ name: 'withdraw', accounts: [], args: [] }],
        types: [],
      }),
      type: 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA',
      label: 'program',
    })
    expect((await submit(address, 'SOLANA', `${unsigned}`)).status).toBe('ACTIVITY_STATUS_COMPLETED')
  })

  test('sign_transaction: an activity that waits for approval signs when it is approved', async () => {
    const { address } = accountOf('ETHEREUM')
    const [one, two] = [await createTestUser(service, fresh('a')), await createTestUser(service, fresh('b'))]
    const consensus = `approvers.filter(user, user.id in ['${one.userId}', '${two.userId}']).count() == 2`
    const condition = `activity.kind == 'SIGN_TRANSACTION' && eth.tx.value == 77`
    const policy = { policyName: fresh('policy'), effect: 'EFFECT_ALLOW', consensus, condition, notes: '' }
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', policy)
    const parameters = parametersOf(address, 'ETHEREUM', ethereum({ value: 77n }))
    const activity = await one.client.submit('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', parameters)
    expect(activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    const done = await two.client.approve(activity.fingerprint)
    expect(done.status).toBe('ACTIVITY_STATUS_COMPLETED')
    const { signedTransaction } = done.result.signTransactionResult!
    expect(parseTransaction(`0x${signedTransaction}`)).toMatchObject({ value: 77n })
  })
})
