/** The published accounts for viem against this service: nothing is changed but the base URL. */
import { ApiKeyStamper } from '@turnkey/api-key-stamper'
import { TurnkeyClient } from '@turnkey/http'
import { Turnkey } from '@turnkey/sdk-server'
import { createAccount } from '@turnkey/viem'
import {
  createWalletClient,
  custom,
  type LocalAccount,
  parseTransaction,
  recoverTransactionAddress,
  verifyMessage,
  verifyTypedData,
} from 'viem'
import { Transaction as Tempo } from 'viem/tempo'
import { recoverAuthorizationAddress } from 'viem/utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { complete, fresh } from '../service/handlers/steps.ts'
import { createTestUser, startTestService, type TestClient, type TestService } from '../service/harness.ts'
import { ETHEREUM, makeWallet } from '../service/signing/keys.ts'
import { recordOperations } from './operations.ts'

type AccountOptions = Parameters<typeof createAccount>[0]

let service: TestService
let address: `0x${string}`
beforeAll(async () => {
  service = await startTestService()
  address = (await makeWallet(service.root, ETHEREUM)).accounts[0]!.address as `0x${string}`
})
afterAll(() => service.close())

const clients = {
  'the plain HTTP client': (key: TestClient) =>
    new TurnkeyClient(
      { baseUrl: service.url },
      new ApiKeyStamper({ apiPublicKey: key.publicKey, apiPrivateKey: key.privateKey }),
    ),
  'the server SDK': (key: TestClient) =>
    new Turnkey({
      apiBaseUrl: service.url,
      apiPublicKey: key.publicKey,
      apiPrivateKey: key.privateKey,
      defaultOrganizationId: service.organizationId,
      activityPoller: { intervalMs: 1, numRetries: 1 },
    }).apiClient(),
} as const

function accountBy(
  client: keyof typeof clients,
  key = service.root,
  signWith: string = address,
): Promise<LocalAccount> {
  const options = { client: clients[client](key), organizationId: service.organizationId, signWith }
  return createAccount(options as unknown as AccountOptions)
}

const fees = { gas: 21_000n, maxFeePerGas: 9n, maxPriorityFeePerGas: 1n }

describe.each(Object.keys(clients) as (keyof typeof clients)[])('viem: by %s', (client) => {
  test('viem: messages and typed data verify', async () => {
    const account = await accountBy(client)
    expect(account.address).toBe(address)
    const signature = await account.signMessage({ message: 'hello' })
    expect(await verifyMessage({ address, message: 'hello', signature })).toBe(true)
    const typed = {
      domain: { name: 'Mail', chainId: 1 },
      types: { Mail: [{ name: 'to', type: 'string' }] },
      primaryType: 'Mail',
      message: { to: 'Bob' },
    } as const
    // The account alone sends no type of the domain, and so an empty domain; viem's wallet client adds it.
    const walletClient = createWalletClient({ account, transport: custom({ request: async () => '0x1' }) })
    expect(await verifyTypedData({ address, ...typed, signature: await walletClient.signTypedData(typed) })).toBe(true)
  })

  test.each([
    ['legacy', { type: 'legacy', gas: 21_000n, gasPrice: 1n }],
    ['EIP-2930', { type: 'eip2930', gas: 21_000n, gasPrice: 1n, accessList: [] }],
    ['EIP-1559', { type: 'eip1559', ...fees }],
  ] as const)('viem: a transaction of %s recovers to the account', async (_name, given) => {
    const account = await accountBy(client)
    const serializedTransaction = await account.signTransaction({
      ...given,
      chainId: 1,
      to: address,
      nonce: 1,
    } as never)
    expect(await recoverTransactionAddress({ serializedTransaction: serializedTransaction as never })).toBe(address)
  })

  test('viem: an authorization, and the transaction that carries it', async () => {
    const account = await accountBy(client)
    const authorization = await account.signAuthorization!({ address: `0x${'4a'.repeat(20)}`, chainId: 1, nonce: 2 })
    expect(await recoverAuthorizationAddress({ authorization })).toBe(address)
    const signed = await account.signTransaction({
      type: 'eip7702',
      chainId: 1,
      to: address,
      nonce: 1,
      authorizationList: [authorization],
      ...fees,
    })
    expect(await recoverTransactionAddress({ serializedTransaction: signed as never })).toBe(address)
    expect(parseTransaction(signed).authorizationList).toHaveLength(1)
  })
})

test('viem: a Tempo transaction, by the serializer of its chain', async () => {
  const account = await accountBy('the plain HTTP client')
  const transaction = { type: 'tempo', chainId: 42_431, nonce: 1, calls: [{ to: address }], ...fees } as const
  const signed = await account.signTransaction(transaction as never, { serializer: Tempo.serialize as never })
  expect(signed.startsWith('0x76')).toBe(true)
})

test('viem: a request that waits for others is the error that its users know', async () => {
  const [one, two] = [await createTestUser(service, fresh('a')), await createTestUser(service, fresh('b'))]
  const consensus = `approvers.filter(user, user.id in ['${one.userId}', '${two.userId}']).count() == 2`
  const policy = { policyName: fresh('p'), effect: 'EFFECT_ALLOW', consensus, condition: 'true', notes: '' }
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', policy)
  const account = await accountBy('the plain HTTP client', one.client)
  const error = await account.signMessage({ message: 'wait' }).catch((caught: unknown) => caught)
  expect(error).toMatchObject({
    name: 'TurnkeyConsensusNeededError',
    activityStatus: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
  })
})

recordOperations('viem-account')
