/** What the published server SDK asks about chains, answered by this service with a node. */
import { Turnkey } from '@turnkey/sdk-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { complete } from '../service/handlers/steps.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { type Anvil, startAnvil } from '../service/sends/anvil.ts'
import { SEPOLIA, untilEnded } from '../service/sends/status.ts'
import { ETHEREUM, makeWallet } from '../service/signing/keys.ts'
import { recordOperations } from './operations.ts'

let anvil: Anvil
let service: TestService
beforeAll(async () => {
  anvil = await startAnvil()
  service = await startTestService({ chains: { [SEPOLIA]: { url: anvil.url, pollMs: 50, usdPrice: '2000' } } })
})
afterAll(async () => {
  await service.close()
  await anvil.kill()
})

describe('server SDK and chains', () => {
  test('server SDK and chains: balances, assets, sends, their history and what sponsorship has used', async () => {
    const { publicKey, privateKey } = service.root
    const sdk = new Turnkey({
      apiBaseUrl: service.url,
      apiPublicKey: publicKey,
      apiPrivateKey: privateKey,
      defaultOrganizationId: service.organizationId,
    }).apiClient()
    const { address } = (await makeWallet(service.root, ETHEREUM)).accounts[0]!
    await anvil.fund(address, 3)
    const caip2 = SEPOLIA
    const ether = { caip19: `${SEPOLIA}/slip44:60`, symbol: 'ETH', decimals: 18, name: 'Ether' }
    expect((await sdk.listSupportedAssets({ caip2 })).assets).toEqual([ether])
    expect((await sdk.getWalletAddressBalances({ address, caip2 })).balances).toEqual([
      { ...ether, balance: '3000000000000000000', display: { crypto: '3', usd: '6000' } },
    ])
    const sent = await sdk.ethSendTransaction({ from: address, caip2, calls: [{ to: address, value: '1' }] })
    const { eth } = await untilEnded(service.root, sent.sendTransactionStatusId)
    const { transactions } = await sdk.listEthTransactionHistory({ address, caip2, paginationOptions: { limit: '5' } })
    expect(transactions.map(({ transactionHash }) => transactionHash)).toEqual([eth!.txHash])
    await complete(service.root, 'ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG', {
      orgWindowLimitUsd: '100',
      subOrgWindowLimitUsd: '10',
      windowDurationMinutes: '1440',
    })
    expect(await sdk.getGasUsage({})).toEqual({ windowDurationMinutes: 1440, windowLimitUsd: '100', usageUsd: '0' })
  })
})

recordOperations('chains')
