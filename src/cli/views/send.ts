/** A send for people and for programs; the text is made from the same values as the JSON. */
import { isSendOver, type SendOrder, type SendProgress, type TransactionReceipt } from '../../../activities/index.ts'
import { chainName, namespaceOf } from '../../chain/index.ts'
import { EXIT, type ExitCode, printable } from '../../diagnostics/index.ts'
import { printDecimal } from '../../encoding/index.ts'
import { shortCode } from '../../plan/index.ts'
import {
  chainOf,
  type LamportFee,
  printAmount,
  type SendDescription,
  type SendMeaning,
  senderOf,
} from '../../sending/index.ts'
import type { Style } from '../io.ts'
import { view } from '../screen.ts'
import { age } from './activity.ts'
import { forecastLine, outcomeWords } from './explanation.ts'
import { renderCall } from './send-call.ts'

/** Word and colour of each state a send can be in. A missing row does not compile. */
const states = {
  submitting: { word: 'submitting', colour: 'dim' },
  waiting: { word: 'waiting', colour: 'warning' },
  broadcasting: { word: 'broadcasting', colour: 'dim' },
  included: { word: 'included', colour: 'good' },
  failed: { word: 'failed', colour: 'error' },
  rejected: { word: 'rejected', colour: 'error' },
  'given up': { word: 'given up', colour: 'error' },
  stopped: { word: 'stopped', colour: 'warning' },
} as const satisfies Record<SendProgress['state'], { readonly word: string; readonly colour: keyof Style }>

const REPLACED = { word: 'replaced', colour: 'warning' } as const

/** A send before it is submitted, with its forecast. */
export const renderOrder = view(
  (
    order: SendOrder,
    {
      description,
      explanation,
      factors,
      earlier,
    }: SendMeaning & {
      /** The earlier order under this reference, which is this very send. */
      readonly earlier?: { readonly order: SendOrder; readonly progress?: SendProgress } | undefined
    },
    style: Style,
  ): string => {
    const { nonce } = order.parameters as Record<string, string>
    const { receiver, amount, token, tokenAccount, keyless, call, lookAlikes = [] } = description
    const rows = [
      ['reference', printable(order.reference)],
      ...(order.replaces === undefined ? [] : [['replaces', `${printable(order.replaces)}, by its nonce ${nonce}`]]),
      ['from', named({ name: order.from, address: senderOf(order) })],
      [
        'to',
        `${named(receiver)}${keyless ? `  ${style.warning('a program’s address: nobody has a key for it')}` : ''}`,
      ],
      ...lookAlikes.map((text) => ['beware', style.warning(text)]),
      ['amount', `${printable(amount.text)}, ${amount.atomic} ${amount.atomicUnit}`],
      ...(token === undefined ? [] : [['token', named(token)]]),
      ...(tokenAccount === undefined
        ? []
        : [['account', `${tokenAccount}, opened where there is none, for a rent of some 0.002 sol`]]),
      ...(call === undefined ? [] : [['call', renderCall(call, style)]]),
      ['chain', chainName(chainOf(order))],
      ['fee', renderFee(description.fee)],
      earlier === undefined
        ? ['forecast', forecastLine({ explanation, factors })]
        : [
            'already',
            `${earlier.progress?.state ?? 'submitting'}, since it was asked for at ${earlier.order.orderedAt}`,
          ],
    ]
    return rows.map(([name, text]) => `  ${style.dim(name!.padEnd(10))} ${text}\n`).join('')
  },
)

function renderFee(fee: SendDescription['fee']): string {
  if ('signatureLamports' in fee) return renderLamports(fee)
  const { maxFeePerGas, gasLimit, atMostWei } = fee
  const price = maxFeePerGas === undefined ? undefined : `${printDecimal(BigInt(maxFeePerGas), 9)} gwei a unit of gas`
  if (atMostWei !== undefined) return `at most ${printDecimal(BigInt(atMostWei), 18)} eth: ${price}, ${gasLimit} units`
  if (price !== undefined) return `at most ${price}; the service chooses how many units, --gas bounds them`
  if (gasLimit !== undefined)
    return `at most ${gasLimit} units of gas; the service chooses the price, --max-fee bounds it`
  return 'the service chooses; --max-fee and --gas bound it'
}

/** What is offered to be preferred is paid in any case: it is no mere bound. */
function renderLamports({ signatureLamports, atMostLamports }: LamportFee): string {
  if (atMostLamports === undefined) return 'the service chooses; --max-fee bounds it'
  const [own, most] = [BigInt(signatureLamports), BigInt(atMostLamports)]
  if (most === own) return `${printAmount(own, 'solana')} for the signature`
  const parts = `${printAmount(own, 'solana')} for the signature, ${printAmount(most - own, 'solana')} to be preferred`
  return `${printAmount(most, 'solana')}, all of which is paid: ${parts}`
}

/** The send that has taken the nonce of another, and whether to cancel it. */
export interface ReplacedBy {
  readonly reference: string
  readonly cancels: boolean
}

/** One state in one line. */
export const renderSend = view((progress: SendProgress, style: Style, now: number, by?: ReplacedBy): string => {
  const { state, fingerprint, approved = [], since, transactionHash, receipt, error } = progress
  const { word, colour } = error?.code === 'apply/transaction-replaced' ? REPLACED : states[state]
  const shown = by === undefined ? word.padEnd(12) : `${by.cancels ? 'cancelled' : word} by ${printable(by.reference)}`
  const waiting =
    state === 'waiting'
      ? [
          style.strong(fingerprint === undefined ? '' : shortCode(fingerprint)),
          style.dim(
            `approved by ${approved.map(printable).join(', ') || 'nobody'}${since === undefined ? '' : `, for ${age(now - Date.parse(since))}`}`,
          ),
        ]
      : []
  const where = receipt === undefined ? '' : style.dim(renderReceipt(receipt))
  const parts = [style[colour](shown), ...waiting, transactionHash ?? '', where]
  // The words of the API, of a node, or of a contract.
  if (error) parts.push(style.error(printable(error.message)))
  return `${parts.filter(Boolean).join('  ')}\n`
})

function renderReceipt({ block, fee: { amount, caip19 } }: TransactionReceipt): string {
  const namespace = namespaceOf(caip19) ?? 'eip155'
  return `in ${namespace === 'solana' ? 'slot' : 'block'} ${block}, for a fee of ${printAmount(BigInt(amount), namespace)}`
}

/** The next command for a send that has not been paid; nothing where none is needed. */
export const renderNext = view(({ state, fingerprint, error }: SendProgress, style: Style): string => {
  const next =
    state === 'waiting' && fingerprint !== undefined
      ? `approve it with \`quorate approve ${shortCode(fingerprint)}\`; the same command goes on then`
      : isSendOver(state) && state !== 'included'
        ? error?.next
        : undefined
  return next === undefined ? '' : `  ${style.dim('next'.padEnd(10))} ${printable(next)}\n`
})

/** Of a send that somebody ended at Temporal. */
const LEFT = 'nobody carries it out now: run the same `quorate send` again, which pays it once'

/** Of a send whose bytes are made, and of which no answer is known. */
const UNANSWERED = 'unknown: it may have been submitted, and is asked about with the same bytes'

/** One send of a list: its reference, its order and its state. */
export const renderListedSend = view(
  (
    {
      order,
      progress,
      isAsked,
      isLeft,
      replacedBy,
    }: {
      readonly order: SendOrder
      readonly progress?: SendProgress
      readonly isAsked?: boolean
      readonly isLeft?: boolean
      readonly replacedBy?: ReplacedBy
    },
    style: Style,
    now: number,
  ): string => {
    const { reference, amount, from, to } = order
    const what = `${printable(reference)}  ${printable(`${amount} from ${from} to ${to}`)}`
    const left = isLeft ? `  ${style.warning(LEFT)}\n` : ''
    const untold = isAsked ? UNANSWERED : 'not begun'
    return `${what}  ${progress === undefined ? `${untold}\n` : renderSend(progress, style, now, replacedBy)}${left}`
  },
)

/** The JSON form of a send, or of one that is only looked at. */
export function toSendJson({
  order,
  description,
  explanation,
  factors,
  sendId,
  progress,
  isAsked,
  isLeft,
  replacedBy,
}: {
  readonly replacedBy?: ReplacedBy
  readonly isAsked?: boolean
  readonly isLeft?: boolean
  readonly order: SendOrder
  readonly description?: SendDescription
  readonly explanation?: SendMeaning['explanation']
  readonly factors?: SendMeaning['factors']
  readonly sendId?: string
  readonly progress?: SendProgress
}) {
  const { outcome = '', basis, decidedBy, needs } = explanation ?? {}
  return {
    ...(sendId === undefined ? {} : { sendId }),
    ...order,
    ...(description === undefined ? {} : { description }),
    ...(explanation === undefined
      ? {}
      : {
          forecast: {
            outcome: outcomeWords[outcome] ?? outcome,
            basis,
            decidedBy,
            ...(needs === undefined ? {} : { needs }),
            ...(factors === undefined ? {} : { factors }),
          },
        }),
    ...(progress === undefined ? {} : { progress }),
    ...(isAsked ? { isAsked } : {}),
    ...(isLeft ? { isLeft } : {}),
    ...(replacedBy === undefined ? {} : { replacedBy }),
  }
}

/** A send that waits is waited for by the next run of the same command. */
export function exitOfSend({ state }: SendProgress): ExitCode {
  if (state === 'included') return EXIT.done
  return isSendOver(state) ? EXIT.partial : EXIT.waiting
}

/** A name with its address, or the address alone. */
export function named({ name, address }: { readonly name?: string; readonly address: string }): string {
  if (name === undefined || name.toLowerCase() === address.toLowerCase()) return address
  return `${printable(name)} (${address})`
}
