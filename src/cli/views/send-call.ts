/** A contract call in one line: shown before it is sent, and before it is approved. */
import { printable } from '../../diagnostics/index.ts'
import type { Json } from '../../protocol/index.ts'
import type { SendDescription } from '../../sending/index.ts'
import type { Style } from '../io.ts'
import { view } from '../screen.ts'
import { feeForApprover, named, paidText } from './send-words.ts'

/** The effect of a send, shown to an approver beside its parameters. */
export function sendRows({ receiver, amount, token, call, fee }: SendDescription, style: Style): readonly string[][] {
  const pays = call === undefined || amount.atomic !== '0'
  return [
    ...(pays ? [['pays', `${paidText(amount)} to ${named(receiver)}`]] : []),
    ...(token === undefined ? [] : [['token', named(token)]]),
    ...(call === undefined ? [] : [['calls', `${renderCall(call, style)} of ${named(receiver)}`]]),
    ['fee', feeForApprover(fee)],
  ]
}

/** The caller of the contract chose the arguments: they are shown so that none can forge a line. */
export const renderCall = view((call: NonNullable<SendDescription['call']>, style: Style): string => {
  if (call.kind === 'decoded') {
    const given = Object.entries(call.arguments).map(([name, value]) => `${name}: ${textOf(value)}`)
    return `${call.function}(${given.join(', ')})`
  }
  const what = `${call.selector} and ${call.bytes - Math.min(4, call.bytes)} bytes`
  return `${what}  ${style.warning('no interface of the contract tells what this does: know it before you send it')}`
})

function textOf(value: Json): string {
  return printable(typeof value === 'string' && /^[\w.:-]+$/.test(value) ? value : JSON.stringify(value))
}
