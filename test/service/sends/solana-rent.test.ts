import { setTimeout as pause } from 'node:timers/promises'
import { PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addTenant, complete } from '../handlers/steps.ts'
import { startTestService, type TestClient, type TestService } from '../harness.ts'
import { accountsOf, makeWallet, SOLANA } from '../signing/keys.ts'
import { draftOf, receiver, tokenAccountOf, transferOf } from './solana-drafts.ts'
import { startSolanaNode, type TestSolanaNode } from './solana-node.ts'
import type { Ended } from './status.ts'

const DEVNET = 'solana:devnet'
const FEATURE = 'FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED'
/** Of the 165 bytes of a token account: (128 + 165) bytes for two years at 3480 lamports a byte and year. */
const RENT = 2_039_280n
/** Of two signatures. */
const FEE = 10_000n
/** A lamport costs a ten-millionth of a dollar here. */
const usdOf = (lamports: bigint) => String(Number(lamports) / 1e7)

let node: TestSolanaNode
let service: TestService
let relayer: string
const mint = receiver()
beforeAll(async () => {
  node = await startSolanaNode({ blocks: 'on-request' })
  service = await startTestService({ chains: { [DEVNET]: { url: node.url, pollMs: 20, usdPrice: '100' } } })
  relayer = service.service.bootstrap.relayers.solana
  node.fund(relayer, 1)
  node.makeToken(mint.toBase58(), 6)
})
afterAll(async () => {
  await service.close()
  await node.close()
})

/** Has nothing. */
let from: PublicKey
beforeEach(async () => {
  from = await newAccount()
  await limits()
  await setFeature()
})

const limits = (parameters: object = {}) =>
  complete(service.root, 'ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG', {
    orgWindowLimitUsd: '100',
    subOrgWindowLimitUsd: '100',
    windowDurationMinutes: '60',
    solanaConfig: { rentPrefundEnabled: true },
    ...parameters,
  })
const setFeature = (value = '') =>
  complete(service.root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name: FEATURE, value })

const newAccount = async () => new PublicKey((await makeWallet(service.root, SOLANA)).accounts[0]!.address)

interface Who {
  readonly client: TestClient
  readonly organizationId: string
  readonly signers: readonly PublicKey[]
  readonly blockhash: string
}
const submit = async (instructions: readonly TransactionInstruction[], who: Partial<Who> = {}) => {
  const { client, organizationId, signers = [from], blockhash } = who
  const payer = signers[0]!
  const intent = {
    unsignedTransaction: draftOf(instructions, { payer, ...(blockhash && { blockhash }) }).toString('hex'),
    signWiths: signers.map((each) => each.toBase58()),
    caip2: DEVNET,
    sponsor: true,
  }
  const type = 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2'
  return (await complete(client ?? service.root, type, intent, organizationId)).sendTransactionStatusId
}

/** Makes blocks until a send is at its end. */
async function end(id: string, client = service.root, organizationId?: string): Promise<Ended> {
  const query = { sendTransactionStatusId: id, ...(organizationId && { organizationId }) }
  for (;;) {
    const status = await client.query('get_send_transaction_status', query)
    if (status.txStatus === 'INCLUDED' || status.txStatus === 'FAILED') return status
    if (node.waiting.size > 0) node.produce(2)
    await pause(20)
  }
}
const send = async (...instructions: TransactionInstruction[]) => end(await submit(instructions))
const usageUsd = async () => Number((await service.root.query('get_gas_usage', {})).usageUsd)

/** What the relayer has paid meanwhile, and what was counted. */
async function spentBy(work: () => Promise<unknown>) {
  const before = [node.balance(relayer), await usageUsd()] as const
  await work()
  const counted = Math.round(((await usageUsd()) - before[1]) * 1e7)
  return { paid: before[0] - node.balance(relayer), counted: BigInt(counted) }
}

describe('rent of a sponsored Solana send', () => {
  test('is paid in advance to a signer without funds, to the lamport, and counts towards the limits', async () => {
    const { address, create } = tokenAccountOf(from, receiver(), mint)
    const spent = await spentBy(async () => expect(await send(create)).toMatchObject({ txStatus: 'INCLUDED' }))
    expect(spent).toEqual({ paid: RENT + FEE, counted: RENT + FEE })
    expect([node.balance(address), node.balance(from.toBase58())]).toEqual([RENT, 0n])
  })

  test('is what an account lacks that somebody has sent lamports to before it was created', async () => {
    const { address, create } = tokenAccountOf(from, receiver(), mint)
    node.fund(address, 0.001)
    const spent = await spentBy(() => send(create))
    expect(spent.paid).toBe(RENT - 1_000_000n + FEE)
    expect([node.balance(address), node.balance(from.toBase58())]).toEqual([RENT, 0n])
  })

  test('is not paid for an account that is there already', async () => {
    const { create, createUnlessThere } = tokenAccountOf(from, receiver(), mint)
    await send(create)
    const spent = await spentBy(async () =>
      expect(await send(createUnlessThere)).toMatchObject({ txStatus: 'INCLUDED' }),
    )
    expect(spent).toEqual({ paid: FEE, counted: FEE })
  })

  test.each<[string, () => Promise<readonly PublicKey[]>, bigint]>([
    ['', async () => [from, from], 20_000n],
    [', each with another first signer', async () => [from, await newAccount()], 25_000n],
  ])('is paid once for two sends at a time that create one account%s', async (_, payers, fees) => {
    const { createUnlessThere } = tokenAccountOf(from, receiver(), mint)
    const spent = await spentBy(async () => {
      const ids: string[] = []
      for (const payer of await payers()) {
        // It signs for nothing, beside the one that creates the account.
        const calls = [transferOf(payer, payer, 0), createUnlessThere]
        ids.push(await submit(calls, { signers: [...new Set([payer, from])] }))
      }
      // Long enough for the service to have looked several times.
      await pause(150)
      for (const id of ids) expect(await end(id)).toMatchObject({ txStatus: 'INCLUDED' })
    })
    expect([spent.paid, node.balance(from.toBase58())]).toEqual([RENT + fees, 0n])
  })

  test.each<[string, number]>([
    ['when it is found', 1],
    ['when it is paid', 3],
  ])('is tried again where the relayer has paid for others meanwhile: %s', async (_, turn) => {
    const { address, create } = tokenAccountOf(from, receiver(), mint)
    const funds = node.balance(relayer)
    let tries = 0
    node.refuses = () => {
      if (++tries === turn) {
        node.setBalance(relayer, 1_000_000n)
        setImmediate(() => node.setBalance(relayer, funds))
      }
      return undefined
    }
    expect(await send(create)).toMatchObject({ txStatus: 'INCLUDED' })
    node.refuses = () => undefined
    expect([node.balance(address), funds - node.balance(relayer)]).toEqual([RENT, RENT + FEE])
  })

  test('is paid to each of several signers for what it creates', async () => {
    const other = await newAccount()
    const calls = [from, other, other].map((payer) => tokenAccountOf(payer, receiver(), mint).create)
    const spent = await spentBy(async () =>
      expect(await end(await submit(calls, { signers: [from, other] }))).toMatchObject({ txStatus: 'INCLUDED' }),
    )
    expect(spent).toEqual({ paid: 3n * RENT + 15_000n, counted: 3n * RENT + 15_000n })
    expect([from, other].map((each) => node.balance(each.toBase58()))).toEqual([0n, 0n])
  })

  test('is paid behind the advance of a durable nonce', async () => {
    const nonce = receiver()
    const hash = node.makeNonce(nonce.toBase58(), from.toBase58())
    const advance = SystemProgram.nonceAdvance({ noncePubkey: nonce, authorizedPubkey: from })
    const { address, create } = tokenAccountOf(from, receiver(), mint)
    const spent = await spentBy(async () =>
      expect(await end(await submit([advance, create], { blockhash: hash }))).toMatchObject({ txStatus: 'INCLUDED' }),
    )
    expect([spent.paid, node.balance(address)]).toEqual([RENT + FEE, RENT])
  })

  test('is not paid for what a transfer of the sender’s own makes', async () => {
    node.fund(from.toBase58(), 0.01)
    const spent = await spentBy(() => send(transferOf(from, receiver(), 5_000_000)))
    expect([spent.paid, node.balance(from.toBase58())]).toEqual([FEE, 5_000_000n])
  })

  test('stays where it was when the transaction fails in its block, and the fee alone is counted', async () => {
    const { create, createUnlessThere } = tokenAccountOf(from, receiver(), mint)
    const other = await newAccount()
    node.fund(other.toBase58(), 1)
    // Its own payer makes the account first, in the same block.
    const [, ata] = createUnlessThere.keys
    const bytes = draftOf([tokenAccountOf(other, createUnlessThere.keys[2]!.pubkey, mint).create], { payer: other })
    const own = await complete(service.root, 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION', {
      unsignedTransaction: bytes.toString('hex'),
      signWith: other.toBase58(),
      caip2: DEVNET,
    })
    while (node.waiting.size === 0) await pause(10)
    const spent = await spentBy(async () => {
      const id = await submit([create])
      while (node.waiting.size === 1) await pause(10)
      const ended = await end(id)
      expect(ended).toMatchObject({
        txStatus: 'INCLUDED',
        txError: expect.stringMatching(/^instruction 0 failed with /),
      })
    })
    expect((await end(own.sendTransactionStatusId)).txError).toBeUndefined()
    expect(spent).toEqual({ paid: FEE, counted: FEE })
    expect([node.balance(ata!.pubkey.toBase58()), node.balance(from.toBase58())]).toEqual([RENT, 0n])
  })

  test('counts before anything is signed', async () => {
    const usage = await usageUsd()
    await limits({ orgWindowLimitUsd: (usage + 0.1).toFixed(6) })
    const offered = node.offered.size
    const { create } = tokenAccountOf(from, receiver(), mint)
    const spent = await spentBy(async () =>
      expect(await send(create)).toMatchObject({ txStatus: 'FAILED', txError: 'gas sponsorship limit reached' }),
    )
    expect([node.offered.size, spent]).toEqual([offered, { paid: 0n, counted: 0n }])
  })
})

describe('rent of an account that is closed again at once', () => {
  test('is not paid to one who would keep it', async () => {
    const { address, create, close } = tokenAccountOf(from, from, mint)
    const ended = await send(create, close)
    expect(ended).toMatchObject({
      txStatus: 'FAILED',
      txError: expect.stringMatching(/^instruction 0 failed with custom error 0x1: Transfer: insufficient lamports 0/),
    })
    expect(ended.txError).toContain(`; rent is not paid in advance for what it closes again: ${address}`)
  })

  test('is its sender’s own, who gets it back, beside what is paid for another', async () => {
    node.fund(from.toBase58(), 0.01)
    const kept = tokenAccountOf(from, receiver(), mint)
    const { create, close } = tokenAccountOf(from, from, mint)
    const spent = await spentBy(async () =>
      expect(await send(create, kept.create, close)).toMatchObject({ txStatus: 'INCLUDED' }),
    )
    expect([spent.paid, node.balance(from.toBase58())]).toEqual([RENT + FEE, 10_000_000n])
  })
})

describe('rent is its sender’s to pay', () => {
  const failsForRent = (ended: Ended) =>
    expect(ended).toMatchObject({
      txStatus: 'FAILED',
      txError: expect.stringMatching(
        new RegExp(
          `; ${RENT} lamports of it are the rent of new accounts, which its sender pays: .* not set ${FEATURE}$`,
        ),
      ),
    })

  test.each<[string, () => Promise<unknown>]>([
    [
      'without the feature',
      () => complete(service.root, 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', { name: FEATURE }),
    ],
    ['where the feature says `false`', () => setFeature('false')],
    ['where the config of gas usage says no', () => limits({ solanaConfig: { rentPrefundEnabled: false } })],
  ])('%s, and a send that lacks it says so', async (_, turnOff) => {
    await turnOff()
    const { create } = tokenAccountOf(from, receiver(), mint)
    failsForRent(await send(create))
    node.fund(from.toBase58(), 0.01)
    const spent = await spentBy(() => send(create))
    expect([spent.paid, node.balance(from.toBase58())]).toEqual([FEE, 10_000_000n - RENT])
  })

  test('in a sub-organization unless its parent, who pays, has said otherwise', async () => {
    const { organizationId, client } = await addTenant(service, { parentId: service.organizationId })
    const wallet = { walletName: 'w', accounts: accountsOf(SOLANA) }
    const { addresses } = await complete(client, 'ACTIVITY_TYPE_CREATE_WALLET', wallet, organizationId)
    const who = { client, organizationId, signers: [new PublicKey(addresses[0]!)] }
    const sendAs = async () =>
      end(await submit([tokenAccountOf(who.signers[0]!, receiver(), mint).create], who), client, organizationId)
    await complete(service.root, 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', { name: FEATURE })
    const feature = { name: FEATURE, value: 'true' }
    await complete(client, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', feature, organizationId)
    failsForRent(await sendAs())
    await setFeature()
    expect(await sendAs()).toMatchObject({ txStatus: 'INCLUDED' })
    const { usageUsd } = await client.query('get_gas_usage', { organizationId })
    expect(usageUsd).toBe(usdOf(RENT + FEE))
  })
})
