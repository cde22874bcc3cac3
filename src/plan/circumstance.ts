/** On what of a request a power depends, in words. */
import { printable } from '../diagnostics/index.ts'
import { amountNote } from './amounts.ts'
import type { Access } from './document.ts'

type Circumstance = Pick<NonNullable<Access['under']>[number], 'condition' | 'unless' | 'deniedBy'>

/** ``under condition `eth.tx.value < 5`, unless no-burning denies `eth.tx.to == '0x00'` ``. */
export function circumstanceText({ condition, unless = [], deniedBy }: Circumstance): string {
  const [held, denied] = [condition === undefined ? [] : [condition], unless].map((some) =>
    some.map((one) => `\`${printable(one)}\`${amountNote(one)}`).join(' or '),
  )
  return [
    ...(held === '' ? [] : [`under condition ${held}`]),
    ...(denied === '' ? [] : [`unless ${deniersText(deniedBy)} denies ${denied}`]),
  ].join(', ')
}

/** `no-burning or no-raw`: which policies deny; `a policy` in plans that do not name them. */
export function deniersText(deniedBy: readonly string[] = []): string {
  return deniedBy.length === 0 ? 'a policy' : deniedBy.map((name) => printable(name)).join(' or ')
}
