import { Keypair } from '@solana/web3.js'
import { normalizeCaip2, tokenAccountOf } from '../../src/chain/index.ts'
import { startAnvil } from '../service/sends/anvil.ts'
import { startSolanaNode } from '../service/sends/solana-node.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { ETHEREUM, makeWallet, SOLANA } from '../service/signing/keys.ts'
import { quorateShared as quorate, writeFiles } from './harness.ts'
import { PAYROLL } from './payday.ts'
import { scene } from './scene.ts'

export const DEVNET = normalizeCaip2('solana:devnet')
/** Whom the address book calls `crew`, on Solana; nobody has paid them yet. */
export const CREW = Keypair.fromSeed(new Uint8Array(32).fill(21)).publicKey.toBase58()
/** The mint of the asset `usdc`. */
export const MINT = Keypair.fromSeed(new Uint8Array(32).fill(22)).publicKey.toBase58()
const token = { mint: MINT, program: 'token' } as const
export const CREW_TOKENS = tokenAccountOf(CREW, token)

/** A service with a wallet of 10 SOL, 20 tokens and 10 ether, a node of each chain, and definitions that name receivers on both. */
export async function solanaPayday(atEnd: (close: () => Promise<void>) => void) {
  const [anvil, node] = await Promise.all([startAnvil(), startSolanaNode()])
  atEnd(() => anvil.kill())
  atEnd(() => node.close())
  node.makeToken(MINT, 6)
  const chains = {
    [SEPOLIA]: { url: anvil.url, pollMs: 50 },
    [DEVNET]: { url: node.url, pollMs: 50, tokens: [MINT] },
  }
  const { service, folder, env } = await scene({ chains, more: { QUORATE_REQUESTS_PER_SECOND: '100' }, atEnd })
  const { accounts, walletId } = await makeWallet(service.root, ETHEREUM, SOLANA)
  const [onEthereum, { address }] = accounts as [(typeof accounts)[number], (typeof accounts)[number]]
  await anvil.fund(onEthereum.address, 10)
  node.fund(address, 10)
  node.giveToken(MINT, address, 20_000_000n, tokenAccountOf(address, token))
  const { wallet } = await service.root.query('get_wallet', { walletId })
  writeFiles(folder, {
    'defs/acme.yaml': `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
addressBook: { payroll: "${PAYROLL}", crew: ${CREW}, account: ${CREW_TOKENS} }
assets:
  usdc: { chain: "solana:devnet", address: ${MINT}, decimals: 6, symbol: USDC }
`,
  })
  const send = (
    more: readonly string[] = [],
    given: Readonly<Record<string, string | undefined>> = {},
    {
      keyFile,
      environment = {},
    }: { readonly keyFile?: string; readonly environment?: Readonly<Record<string, string>> } = {},
  ) => {
    const usual = { from: wallet.walletName, to: 'crew', amount: '1.5sol', chain: 'solana:devnet', ref: 'INV-42' }
    const flags = Object.entries({ ...usual, ...given }).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}`, value],
    )
    const whose = keyFile === undefined ? [] : ['--key-file', keyFile]
    return quorate(['send', 'defs', ...flags, ...whose, ...more], { env: { ...env, ...environment }, cwd: folder })
  }
  const tokens = (of: string) => {
    const data = Buffer.from(node.data(tokenAccountOf(of, token)))
    return data.length === 0 ? undefined : data.readBigUInt64LE(64)
  }
  return { anvil, node, service, folder, env, send, tokens, walletName: wallet.walletName, address }
}
