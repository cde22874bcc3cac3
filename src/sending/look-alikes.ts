import type { SendOrder } from '../../activities/index.ts'
import { OWN_WALLET } from '../definitions/index.ts'
import { difference, indexLookAlikes } from '../diagnostics/index.ts'
import type { Directory } from './order.ts'

/** Says of an order which of its parties may be taken for another: a receiver for a wallet, or one name for its twin. */
export function createPartyCheck({
  addressBook,
  wallets,
}: Pick<Directory, 'addressBook' | 'wallets'>): (order: Pick<SendOrder, 'from' | 'to'>) => readonly string[] {
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
  return ({ from, to }) => {
    const wallet = to.startsWith(OWN_WALLET) ? walletName(to.slice(OWN_WALLET.length)) : undefined
    const inBook = wallet === undefined && Object.hasOwn(addressBook, to)
    return [
      ...(own.has(walletName(from)) ? alike(walletName(from), 'wallet') : []),
      ...(wallet === undefined ? [] : alike(wallet, 'wallet')),
      ...(inBook && own.has(to)
        ? [`receiver ${to} is another address than wallet ${to}, which is paid as ${OWN_WALLET}${to}`]
        : []),
      ...(inBook ? alike(to, 'receiver') : []),
    ]
  }
}

/** `treasury` of `treasury/hot`. */
function walletName(party: string): string {
  return party.split('/', 1)[0]!
}
