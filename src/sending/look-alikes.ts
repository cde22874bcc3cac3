import type { SendOrder } from '../../activities/index.ts'
import { OWN_WALLET } from '../definitions/index.ts'
import { addressDifference, difference, indexAddressLookAlikes, indexLookAlikes } from '../look-alikes/index.ts'
import { type Directory, knownAddresses } from './order.ts'

/** Says of an order which of its parties may be taken for another: a receiver for a wallet, or one name for its twin. */
export function createPartyCheck(directory: Directory): (order: Pick<SendOrder, 'from' | 'to'>) => readonly string[] {
  const { addressBook, wallets, paid = [] } = directory
  const addresses = indexAddressLookAlikes([...knownAddresses(directory), ...paid])
  const scope = 'party'
  const own = new Set(wallets.map(({ wallet }) => wallet.walletName))
  const index = indexLookAlikes([
    ...[...own].map((name) => ({ scope, name, of: `wallet ${name}` })),
    ...Object.keys(addressBook).map((name) => ({ scope, name, of: `receiver ${name}` })),
  ])
  const alike = (name: string, what: string) => {
    const like = index.find({ scope, name })
    return like ? [`${what} ${name} looks like ${like.of}: ${difference(name, like.name)}`] : []
  }
  const accounts = indexLookAlikes(
    wallets.flatMap(({ wallet, accounts }) =>
      accounts.flatMap(({ name }) => (name === '' ? [] : [{ scope: wallet.walletName, name, of: name }])),
    ),
  )
  const accountAlike = (party: string) => {
    const [wallet = '', name] = party.split('/', 2)
    const like = name === undefined ? undefined : accounts.find({ scope: wallet, name })
    return like ? [`account ${party} looks like ${wallet}/${like.name}: ${difference(name!, like.name)}`] : []
  }
  const addressAlike = (address: string, who: string) => {
    const like = addresses.find(address)
    // Rows of one batch are compared with each other, too.
    addresses.add({ address, of: who })
    return like ? [`${who}: ${addressDifference(address, like)}`] : []
  }
  return ({ from, to }) => {
    const wallet = to.startsWith(OWN_WALLET) ? walletName(to.slice(OWN_WALLET.length)) : undefined
    const inBook = wallet === undefined && Object.hasOwn(addressBook, to)
    return [
      ...(own.has(walletName(from)) ? [...alike(walletName(from), 'wallet'), ...accountAlike(from)] : []),
      ...(wallet === undefined ? [] : [...alike(wallet, 'wallet'), ...accountAlike(to.slice(OWN_WALLET.length))]),
      ...(inBook && own.has(to)
        ? [`receiver ${to} is another address than wallet ${to}, which is paid as ${OWN_WALLET}${to}`]
        : []),
      ...(inBook ? [...alike(to, 'receiver'), ...addressAlike(addressBook[to]!, `receiver ${to}`)] : []),
      ...(wallet === undefined && !inBook ? addressAlike(to, `receiver ${to}`) : []),
    ]
  }
}

/** `treasury` of `treasury/hot`. */
function walletName(party: string): string {
  return party.split('/', 1)[0]!
}
