import type { SendOrder } from '../../../activities/index.ts'
import { isEthereumAddress } from '../../chain/index.ts'
import type { QueryClient } from '../../client/index.ts'
import type { Assets } from '../../definitions/index.ts'
import { readWalletAccounts } from '../../live/index.ts'
import type { Wire } from '../../protocol/index.ts'
import { takeOptionalText, takeText } from '../../resources/index.ts'
import { isAddress } from './address.ts'
import { type CallRequest, makeCall } from './call.ts'
import { type FeeRequest, makeFees } from './fees.ts'
import { unknownName, usage } from './usage.ts'

/** One send as a person asks for it: names or addresses, and an amount with its unit. */
export interface SendRequest extends CallRequest, FeeRequest {
  readonly from: string
  readonly to: string
  readonly reference: string
}

/** Names of those who are paid, from the definitions. */
export type AddressBook = Readonly<Record<string, string>>

/** What names mean: the address book for receivers, the assets for tokens, the organization's wallets for senders and receivers. */
export interface Directory {
  readonly addressBook: AddressBook
  readonly assets: Assets
  readonly wallets: readonly WalletEntry[]
}

export interface WalletEntry {
  readonly wallet: Pick<Wire.Wallet, 'walletId' | 'walletName' | 'imported' | 'exported'>
  /** Those with an Ethereum address, where they were read. */
  readonly accounts: readonly { readonly address: string; readonly name: string }[]
}

/**
 * Reads the wallets of the organization, and the Ethereum accounts of those that may be meant: the ones of that name, or each
 * when one is an address.
 */
export async function readDirectory(
  client: QueryClient,
  { parties, ...names }: Pick<Directory, 'addressBook' | 'assets'> & { readonly parties: readonly string[] },
): Promise<Directory> {
  const { wallets } = await client.query('list_wallets', {})
  const entries: WalletEntry[] = []
  for (const wallet of wallets) {
    const mayBeMeant = parties.some((one) => isEthereumAddress(one) || wallet.walletName === walletNameOf(one))
    entries.push({ wallet, accounts: mayBeMeant ? await readEthereumAccounts(client, wallet.walletId) : [] })
  }
  return { ...names, wallets: entries }
}

async function readEthereumAccounts(client: QueryClient, walletId: string): Promise<WalletEntry['accounts']> {
  const accounts: WalletEntry['accounts'][number][] = []
  for await (const page of readWalletAccounts(client, walletId)) {
    const ethereum = page.filter(({ addressFormat }) => addressFormat === 'ADDRESS_FORMAT_ETHEREUM')
    accounts.push(
      ...ethereum.map((record) => ({
        address: takeText(record, 'address', 'wallet account'),
        name: takeOptionalText(record, 'name', 'wallet account') ?? '',
      })),
    )
  }
  return accounts
}

/** Those of a send whose accounts must be known: who pays, and who is paid where that is a wallet of the organization. */
export function partiesOf({ from, to }: Pick<SendRequest, 'from' | 'to'>): readonly string[] {
  return to.startsWith(OWN_WALLET) ? [from, to.slice(OWN_WALLET.length)] : [from]
}

/** As definitions have it in `${wallet.treasury}`: no name of the address book is taken for a wallet. */
export const OWN_WALLET = 'wallet.'

/** `treasury` of `treasury/hot`. */
function walletNameOf(from: string): string {
  return from.split('/', 1)[0]!
}

/** Turns names into addresses and amounts into the smallest unit. Throws `cli/usage` or `cli/unknown-name`; nothing is sent by it. */
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
  const from = findAccount(request.from, directory)
  const to = findReceiver(request.to, directory)
  const { amount, ...call } = makeCall(request, { receiver: to, assets: directory.assets })
  return {
    reference: request.reference,
    organization,
    type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
    parameters: { from: from.address, ...call, ...makeFees(request) },
    from: from.name,
    to: to.name,
    amount,
    orderedAt: new Date(now).toISOString(),
  }
}

/** `treasury`, or `treasury/hot` where the wallet has several accounts, or an address. */
function findAccount(written: string, { wallets }: Directory): { readonly name: string; readonly address: string } {
  if (isAddress(written)) return { name: written, address: written }
  const walletName = walletNameOf(written)
  const [, accountName] = written.split('/', 2)
  const found = wallets.filter(({ wallet }) => wallet.walletName === walletName)
  const names = wallets.map(({ wallet }) => wallet.walletName)
  if (found.length === 0) throw unknownName('wallet', walletName, names)
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
  if (isAddress(written)) return { name: written, address: written }
  const address = directory.addressBook[written]
  if (Object.hasOwn(directory.addressBook, written) && address !== undefined) return { name: written, address }
  if (written.startsWith(OWN_WALLET)) {
    return { name: written, address: findAccount(written.slice(OWN_WALLET.length), directory).address }
  }
  throw unknownName('receiver', written, Object.keys(directory.addressBook))
}
