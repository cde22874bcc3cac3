import { printable } from '../../diagnostics/index.ts'
import { printDecimal } from '../../encoding/index.ts'
import type { SeenLanes, SeenNonce } from '../../service/operator/index.ts'
import { view } from '../screen.ts'

/** What each nonce was used by. A missing row does not compile. */
const WORDS: Readonly<Record<SeenNonce['is'], (one: SeenNonce) => string>> = {
  waits: () => 'not in a block yet: look again later',
  unsettled: () => 'in a block that is not settled yet: look again later',
  untold: () => 'the node does not tell by what: serve the chain with a node that keeps old states',
  send: ({ sendId = '', activityId = '' }) => `is send ${sendId} of activity ${activityId}`,
  authorization: () => 'an authorization of the address, which pays nobody (EIP-7702)',
  foreign: () => 'sent from elsewhere: no send here asks for it',
  other: () => 'another payment, as you say',
}

/** The nonces of each lane that holds still, each with its transaction. */
export const renderLanes = view(
  (seen: SeenLanes, { isWritten = false }: { readonly isWritten?: boolean } = {}): string => {
    const unread = seen.unread.map(
      ({ caip2, address, reason }) =>
        `${printable(address)} on ${caip2} could not be looked at: ${printable(reason)}\n`,
    )
    if (seen.lanes.length === 0) return `${unread.join('')}No address has used nonces that are not in the records.\n`
    const lanes = seen.lanes.map(({ caip2, address, nonces, isHeld }) => {
      const held = isWritten && isHeld ? '; it holds still: not all of it is identified' : ''
      const rows = nonces.map((one) => `  nonce ${one.nonce}  ${transaction(one)}${WORDS[one.is](one)}\n`)
      return `${printable(address)} on ${caip2}${held}\n${rows.join('')}`
    })
    return `${unread.join('')}${lanes.join('')}${isWritten ? 'Written. Sends that waited for this go on.\n' : ''}`
  },
)

function transaction({ hash, block, receiver, value = '0', data = '0x' }: SeenNonce): string {
  if (hash === undefined) return ''
  const pays = receiver ? `${printDecimal(BigInt(value), 18)} eth to ${printable(receiver)}` : 'creates a contract'
  const call = data === '0x' ? '' : `, calling ${printable(data.slice(0, 10))}`
  return `${printable(hash)} in block ${block}: ${pays}${call}; `
}
