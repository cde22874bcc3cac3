import type { SendOrder } from '../../../activities/index.ts'
import type { QueryClient } from '../../client/index.ts'
import { QuorateError, suggest } from '../../diagnostics/index.ts'
import type { Wire } from '../../protocol/index.ts'
import { parseAmount } from './amount.ts'

/** One send as a person asks for it: names or addresses, and an amount with its unit. */
export interface SendRequest {
  readonly from: string
  readonly to: string
  readonly amount: string
  readonly chain: string
  readonly reference: string
}

/** Names of those who are paid, from the definitions. */
export type AddressBook = Readonly<Record<string, string>>

/** What names mean: the address book for receivers, the organization's wallets for senders. */
export interface Directory {
  readonly addressBook: AddressBook
  readonly wallets: readonly WalletEntry[]
}

export interface WalletEntry {
  readonly wallet: Pick<Wire.Wallet, 'walletId' | 'walletName' | 'imported' | 'exported'>
  /** Those with an Ethereum address. */
  readonly accounts: readonly { readonly address: string; readonly name: string }[]
}

/** Reads the wallets of the organization and their Ethereum accounts. */
export async function readDirectory(client: QueryClient, addressBook: AddressBook): Promise<Directory> {
  const { wallets } = await client.query('list_wallets', {})
  const entries = wallets.map(async (wallet) => {
    const accounts: Wire.WalletAccount[] = []
    for (;;) {
      const last = accounts.at(-1)
      const { accounts: page } = await client.query('list_wallet_accounts', {
        walletId: wallet.walletId,
        paginationOptions: { limit: '100', ...(last ? { after: last.walletAccountId } : {}) },
      })
      accounts.push(...page)
      if (page.length === 0) break
    }
    const ethereum = accounts.filter(({ addressFormat }) => addressFormat === 'ADDRESS_FORMAT_ETHEREUM')
    return { wallet, accounts: ethereum.map(({ address, name }) => ({ address, name: name ?? '' })) }
  })
  return { addressBook, wallets: await Promise.all(entries) }
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** Turns names into addresses and amounts into wei. Throws `cli/usage` or `cli/unknown-name`; nothing is sent by it. */
export function makeOrder(
  request: SendRequest,
  {
    directory,
    organization,
    now,
  }: {
    readonly directory: Directory
    readonly organization: SendOrder['organization']
    readonly now: number
  },
): SendOrder {
  const from = findSender(request.from, directory)
  const to = findReceiver(request.to, directory)
  const amount = parseAmount(request.amount)
  return {
    reference: request.reference,
    organization,
    type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
    parameters: { from: from.address, caip2: request.chain, to: to.address, value: amount.wei.toString() },
    from: from.name,
    to: to.name,
    amount: amount.text,
    orderedAt: new Date(now).toISOString(),
  }
}

/** `treasury`, or `treasury/hot` where the wallet has several accounts, or an address. */
function findSender(written: string, { wallets }: Directory): { readonly name: string; readonly address: string } {
  if (ADDRESS.test(written)) return { name: written, address: written }
  const [walletName, accountName] = written.split('/', 2)
  const found = wallets.filter(({ wallet }) => wallet.walletName === walletName)
  const names = wallets.map(({ wallet }) => wallet.walletName)
  if (found.length === 0) throw unknown('wallet', walletName!, names)
  if (found.length > 1) throw usage(`${found.length} wallets are called \`${walletName}\``, 'give the address')
  const { accounts } = found[0]!
  const chosen = accountName === undefined ? accounts : accounts.filter(({ name }) => name === accountName)
  if (chosen.length === 1) return { name: written, address: chosen[0]!.address }
  const held = accounts.map(({ name, address }) => (name === '' ? address : name)).join(', ')
  if (accounts.length === 0)
    throw usage(`wallet \`${walletName}\` has no Ethereum account`, 'add one to its definition')
  throw usage(
    `wallet \`${walletName}\` has ${accounts.length} Ethereum accounts: ${held}`,
    `name one, as \`${walletName}/NAME\`, or give its address`,
  )
}

function findReceiver(written: string, directory: Directory): { readonly name: string; readonly address: string } {
  if (ADDRESS.test(written)) return { name: written, address: written }
  const address = directory.addressBook[written]
  if (Object.hasOwn(directory.addressBook, written) && address !== undefined) return { name: written, address }
  throw unknown('receiver', written, Object.keys(directory.addressBook))
}

function unknown(what: string, name: string, known: readonly string[]): QuorateError {
  const [near] = suggest(name, known)
  const where = what === 'wallet' ? 'the organization has' : 'the address book has'
  const next =
    near !== undefined ? `did you mean \`${near}\`?` : `name one that ${where}: ${known.join(', ') || 'there is none'}`
  return new QuorateError('cli/unknown-name', `there is no ${what} \`${name}\``, {
    facts: { submitted: 'nothing' },
    next,
  })
}

function usage(message: string, next: string): QuorateError {
  return new QuorateError('cli/usage', message, { facts: { submitted: 'nothing' }, next })
}
