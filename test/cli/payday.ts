import { startAnvil } from '../service/sends/anvil.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { placeToken } from '../service/sends/token.ts'
import { ETHEREUM, makeWallet } from '../service/signing/keys.ts'
import { quorateShared as quorate, writeFiles } from './harness.ts'
import { scene } from './scene.ts'

/** Whom the address book calls `payroll`. */
export const PAYROLL = '0x00000000000000000000000000000000000000b0'
/** The contract of the asset `usdc`. */
export const TOKEN = '0x00000000000000000000000000000000000000e2'

export type Payday = Awaited<ReturnType<typeof payday>>

/**
 * A service with a wallet of 100 ether and 20 tokens, a node, and definitions with an address book and an asset.
 * @param front what stands before the node, for the service
 */
export async function payday(
  atEnd: (close: () => Promise<void>) => void,
  front: (url: string) => Promise<string> = async (url) => url,
) {
  const anvil = await startAnvil()
  atEnd(() => anvil.kill())
  const node = { url: await front(anvil.url), pollMs: 50, tokens: [TOKEN] }
  const { service, folder, env } = await scene({ chains: { [SEPOLIA]: node }, atEnd })
  const { accounts, walletId } = await makeWallet(service.root, ETHEREUM)
  const { address } = accounts[0]!
  await anvil.fund(address, 100)
  const { wallet } = await service.root.query('get_wallet', { walletId })
  const token = await placeToken(anvil, TOKEN)
  await token.give(address, 20_000_000n)
  const definitions = `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
addressBook: { payroll: "${PAYROLL}" }
assets:
  usdc: { chain: "${SEPOLIA}", address: "${TOKEN}", decimals: 6, symbol: USDC }
`
  writeFiles(folder, { 'defs/acme.yaml': definitions })
  const send = (
    more: readonly string[] = [],
    given: Readonly<Record<string, string | undefined>> = {},
    {
      defs = 'defs',
      keyFile,
      environment = {},
    }: {
      readonly defs?: string
      readonly keyFile?: string
      readonly environment?: Readonly<Record<string, string>>
    } = {},
  ) => {
    const usual = { from: wallet.walletName, to: 'payroll', amount: '1.5eth', chain: SEPOLIA, ref: 'INV-42' }
    const flags = Object.entries({ ...usual, ...given }).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}`, value],
    )
    const whose = keyFile === undefined ? [] : ['--key-file', keyFile]
    return quorate(['send', defs, ...flags, ...whose, ...more], { env: { ...env, ...environment }, cwd: folder })
  }
  const paid = async () => BigInt(await anvil.rpc<string>('eth_getBalance', PAYROLL, 'latest'))
  return { anvil, token, service, folder, env, send, paid, walletName: wallet.walletName, address }
}
