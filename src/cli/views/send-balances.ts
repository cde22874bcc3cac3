/** What sends would leave their parties with, in lines: the same of one send and of a batch. */
import { chainName } from '../../chain/index.ts'
import { printable } from '../../diagnostics/index.ts'
import type { PartyBalance, Simulation } from '../../sending/index.ts'
import type { Style } from '../io.ts'
import { named } from './send-words.ts'

/** There may be hundreds of payees: the JSON has all of them. */
const MOST_SHOWN = 20

/** Of one send its parties have been named; of a batch each is. */
export function balanceRows(
  { balances, warnings, by, block, unknown, chain }: Simulation,
  { style, isBatch = false }: { readonly style: Style; readonly isBatch?: boolean },
): readonly (readonly [string, string])[] {
  const told = balances.filter(({ before, after }) => before !== undefined || after !== undefined)
  const shown = told.slice(0, MOST_SHOWN).map((one) => [one.of, balanceText(one, { by, style, isBatch })] as const)
  const left = told.length - shown.length
  const isUnknown = block === undefined || unknown !== undefined
  const where = ` on ${chainName(chain)}`
  const how = isUnknown
    ? `nothing${isBatch && by !== 'the API' ? where : ''}${unknown === undefined ? '' : `: ${by === 'the API' ? '' : `${by}: `}${printable(unknown)}`}`
    : `by ${by}${isBatch ? where : ''}, at ${chain.startsWith('solana:') ? 'slot' : 'block'} ${block}`
  return [
    ...shown,
    ...(left > 0 ? [['payee', `${left} more, with --json`] as const] : []),
    ['simulated', how],
    ...warnings.map((text) => ['beware', style.warning(printable(text))] as const),
  ]
}

function balanceText(
  { name, address, before, after, feeAtMost, short }: PartyBalance,
  { by, style, isBatch }: { readonly by: string; readonly style: Style; readonly isBatch: boolean },
): string {
  const who = isBatch ? `${named({ ...(name === undefined ? {} : { name }), address })}: ` : ''
  const least = feeAtMost === undefined ? '' : 'at least '
  const fee = feeAtMost === undefined ? '' : `, ${printable(feeAtMost.text)} for the fee taken off`
  const now =
    before === undefined ? [] : [`${printable(before.text)} now${by === 'the API' ? ', as reported by the API' : ''}`]
  const then = after === undefined ? [] : [`${least}${printable(after.text)} after${fee}`]
  return `${who}${[...now, ...then].join(', ')}${short === undefined ? '' : `  ${style.warning(shortText(short))}`}`
}

function shortText({ needs, saidBy, deniedBy }: NonNullable<PartyBalance['short']>): string {
  const others = deniedBy.length === 0 ? '' : `, which ${deniedBy.join(' and ')} denies`
  return `too little by ${saidBy.join(' and ')}${others}: it takes at least ${printable(needs.text)}`
}
