import type { SendOrder } from '../../activities/index.ts'
import { chainName, isSameAddress, type Namespace, namespaceOfAddress, namespaces } from '../chain/index.ts'
import type { QueryClient } from '../client/index.ts'
import { type Assets, addressFault, OWN_WALLET } from '../definitions/index.ts'
import { readWalletAccounts } from '../live/index.ts'
import { addressDifference, indexAddressLookAlikes } from '../look-alikes/index.ts'
import type { Wire } from '../protocol/index.ts'
import { takeOptionalText, takeText } from '../resources/index.ts'
import { readAddress } from './address.ts'
import { type CallRequest, makeCall, type Receiver } from './call.ts'
import { type FeeRequest, makeFees } from './fee-request.ts'
import { makeSolanaPayment } from './solana-payment.ts'
import { findTarget, type Target } from './target.ts'
import { inField, unknownName, usage } from './usage.ts'

/** One send as a person asks for it: names or addresses, and an amount with its unit. */
export interface SendRequest extends CallRequest, FeeRequest {
  readonly from: string
  readonly to: string
  readonly reference: string
}

/** Names of those who are paid, from the definitions. */
export type Payees = Readonly<Record<string, string>>

/**
 * The meaning of names: the address book for receivers, the assets for tokens, the organization's wallets for senders
 * and receivers.
 */
export interface Directory {
  readonly addressBook: Payees
  readonly assets: Assets
  readonly wallets: readonly WalletEntry[]
  /** Addresses of private keys, where an address may be meant. */
  readonly privateKeys: readonly string[]
  /** Addresses of all wallets, of whatever chain, which others may be taken for. */
  readonly ownAddresses?: readonly KnownAddress[]
  /** Receivers of earlier sends that those of this one may be taken for, whatever they are called. */
  readonly paid?: readonly KnownAddress[]
}

/** An address, and who has it, in words. */
export interface KnownAddress {
  readonly address: string
  readonly of: string
}

export interface WalletEntry {
  readonly wallet: Pick<Wire.Wallet, 'walletId' | 'walletName' | 'imported' | 'exported'>
  /** Those that can pay, where they were read: their addresses tell on which chains. */
  readonly accounts: readonly { readonly address: string; readonly name: string }[]
}

/**
 * Reads the wallets of the organization, and the accounts that can pay of those that may be meant: the ones of that name, or
 * each when one is an address.
 */
export async function readDirectory(
  client: QueryClient,
  { parties, ...names }: Pick<Directory, 'addressBook' | 'assets'> & { readonly parties: readonly string[] },
): Promise<Directory> {
  const { wallets } = await client.query('list_wallets', {})
  const entries: WalletEntry[] = []
  for (const wallet of wallets) {
    const mayBeMeant = parties.some(
      (one) => namespaceOfAddress(one) !== undefined || wallet.walletName === walletNameOf(one),
    )
    entries.push({ wallet, accounts: mayBeMeant ? await readPayers(client, wallet.walletId) : [] })
  }
  const privateKeys = parties.some((one) => namespaceOfAddress(one) !== undefined) ? await readKeyAddresses(client) : []
  return { ...names, wallets: entries, privateKeys }
}

async function readKeyAddresses(client: QueryClient): Promise<readonly string[]> {
  const { privateKeys } = await client.query('list_private_keys', {})
  return privateKeys.flatMap(({ addresses }) => addresses.flatMap(({ address }) => address ?? []))
}

/** The formats of addresses that can be paid from. */
const FORMATS: readonly string[] = Object.values(namespaces).map(({ format }) => format)

async function readPayers(client: QueryClient, walletId: string): Promise<WalletEntry['accounts']> {
  const accounts: WalletEntry['accounts'][number][] = []
  for await (const page of readWalletAccounts(client, walletId)) {
    const payers = page.filter(({ addressFormat }) => FORMATS.includes(String(addressFormat)))
    accounts.push(
      ...payers.map((record) => ({
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
  if (request.data !== undefined && request.asset !== undefined) {
    throw usage(
      '--asset and --data exclude each other',
      'a token is paid by --asset alone, another call is made by --data',
      'data',
    )
  }
  const target = inField(request.asset === undefined ? 'chain' : 'asset', () => findTarget(request, directory.assets))
  const from = inField('from', () => findAccount(request.from, { directory, target }))
  const receiver = inField('to', () => findReceiver(request.to, { directory, target }))
  return {
    reference: request.reference,
    organization,
    ...makePayment(request, { from: from.address, receiver, target }),
    from: from.name,
    to: receiver.name,
    orderedAt: new Date(now).toISOString(),
  }
}

interface Parties {
  readonly from: string
  readonly receiver: Receiver
  readonly target: Target
}

function makePayment(
  request: SendRequest,
  { from, ...rest }: Parties,
): Pick<SendOrder, 'type' | 'parameters' | 'amount'> {
  const { namespace } = rest.target
  switch (namespace) {
    case 'eip155': {
      const { amount, ...call } = makeCall(request, rest)
      return {
        type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
        parameters: { from, ...call, ...makeFees(request) },
        amount,
      }
    }
    case 'solana':
      return { type: 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2', ...makeSolanaPayment(request, { from, ...rest }) }
    default:
      return namespace satisfies never
  }
}

/** The address that a send is paid from, and that signs it. */
export function senderOf({ parameters }: Pick<SendOrder, 'parameters'>): string {
  const { from, signWiths } = parameters as { readonly from?: string; readonly signWiths?: readonly string[] }
  return from ?? signWiths![0]!
}

export function chainOf({ parameters }: Pick<SendOrder, 'parameters'>): string {
  return (parameters as { readonly caip2: string }).caip2
}

interface Place {
  readonly directory: Directory
  readonly target: Target
}

/** `treasury`, or `treasury/hot` where the wallet has several accounts of the chain's kind, or an address. */
function findAccount(written: string, place: Place): Receiver {
  const { wallets } = place.directory
  const { namespace } = place.target
  const itself = findAddress(written, place)
  if (itself !== undefined) return assertOwn(itself, place.directory)
  const walletName = walletNameOf(written)
  const [, accountName] = written.split('/', 2)
  const found = wallets.filter(({ wallet }) => wallet.walletName === walletName)
  const names = wallets.map(({ wallet }) => wallet.walletName)
  if (found.length === 0) throw unknownName('wallet', walletName, names)
  if (found.length > 1) throw usage(`${found.length} wallets are called \`${walletName}\``, 'give the address')
  const accounts = found[0]!.accounts.filter(({ address }) => namespaceOfAddress(address) === namespace)
  const chosen = accountName === undefined ? accounts : accounts.filter(({ name }) => name === accountName)
  if (chosen.length === 1) return { name: written, address: chosen[0]!.address }
  const held = accounts.map(({ name, address }) => (name === '' ? address : name)).join(', ')
  const kind = namespaces[namespace].name
  if (accounts.length === 0) throw usage(`wallet \`${walletName}\` has no ${kind} account`, 'add one to its definition')
  throw usage(
    accountName === undefined
      ? `wallet \`${walletName}\` has ${accounts.length} ${kind} accounts: ${held}`
      : `wallet \`${walletName}\` has no ${kind} account \`${accountName}\`; it has ${held}`,
    `name one, as \`${walletName}/NAME\`, or give its address`,
  )
}

/** Only with its own keys can the organization sign. */
function assertOwn(party: Receiver, { wallets, privateKeys }: Directory): Receiver {
  const own = [...wallets.flatMap(({ accounts }) => accounts.map(({ address }) => address)), ...privateKeys]
  // In hex, case is a matter of taste; in base58 nothing else is the same.
  const same = (address: string) =>
    address === party.address || (/^0x/.test(address) && address.toLowerCase() === party.address.toLowerCase())
  if (own.some(same)) return party
  throw usage(
    `no wallet or private key of the organization has address \`${party.address}\``,
    `name a wallet: ${wallets.map(({ wallet }) => wallet.walletName).join(', ') || 'there is none'}`,
  )
}

function findReceiver(written: string, place: Place): Receiver {
  const itself = findAddress(written, place)
  if (itself !== undefined) return assertNoTwin(itself, place.directory)
  // First of all: whatever the address book holds, no name in it is taken for a wallet of the organization.
  if (written.startsWith(OWN_WALLET)) {
    return { name: written, address: findAccount(written.slice(OWN_WALLET.length), place).address }
  }
  const { addressBook } = place.directory
  const address = addressBook[written]
  if (Object.hasOwn(addressBook, written) && address !== undefined) {
    return fitting({ name: written, address }, { namespace: namespaceOfAddress(address), ...place })
  }
  const fault = BASE58_TEXT.test(written) && addressFault('solana', written)
  if (fault && place.target.namespace === 'solana') throw usage(fault.message, fault.help)
  throw unknownName('receiver', written, Object.keys(addressBook))
}

/** What can only be meant as an address on Solana where no name is so: digits and letters of both cases, about as many as in one. */
const BASE58_TEXT = /^(?=.*[1-9])(?=.*[A-Z])(?=.*[a-z])[1-9A-HJ-NP-Za-km-z]{25,60}$/

/** All addresses that have names. */
export function knownAddresses({ addressBook, ownAddresses = [] }: Directory): readonly KnownAddress[] {
  const inBook = Object.entries(addressBook).map(([name, address]) => ({ address, of: `receiver ${name}` }))
  return [...inBook, ...ownAddresses]
}

/**
 * Refuses an address without a name that begins and ends like one that has a name, or that was paid before: it comes out of a
 * list of payments, into which anybody can send something from an address of their choice (address poisoning).
 */
function assertNoTwin(party: Receiver, directory: Directory): Receiver {
  const { paid = [] } = directory
  const { address } = party
  for (const [known, pay] of [
    [knownAddresses(directory), 'by that name'] as const,
    [paid, 'the whole address above'] as const,
  ]) {
    if (known.some((one) => isSameAddress(one.address, address))) return party
    const like = indexAddressLookAlikes(known).find(address)
    if (!like) continue
    const named = 'if this one is, give it a name of its own in `addressBook` of the definitions first'
    throw usage(addressDifference(address, like), `if ${like.of} is meant, pay ${pay}; ${named}`)
  }
  return party
}

/** An address that was written as it is. */
function findAddress(written: string, place: Place): Receiver | undefined {
  const namespace = readAddress(written)
  return namespace && fitting({ name: written, address: written }, { namespace, ...place })
}

/** Refuses an address of another kind of chain: a payment to it would be lost. */
function fitting(
  party: Receiver,
  { namespace, target }: { readonly namespace: Namespace | undefined; readonly target: Target },
): Receiver {
  if (namespace === undefined || namespace === target.namespace) return party
  throw usage(
    `\`${party.name}\` is an address on ${namespaces[namespace].name}, and the send is on ${chainName(target.caip2)}`,
    `name one on ${namespaces[target.namespace].name}, or another chain`,
  )
}
