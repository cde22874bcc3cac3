/** A send for people and for programs; the text is made from the same values as the JSON. */
import type { SendOrder, SendProgress } from '../../../activities/index.ts'
import { chainName } from '../../chain/index.ts'
import { type ExitCode, printable } from '../../diagnostics/index.ts'
import { shortCode } from '../../plan/index.ts'
import {
  chainOf,
  type Finality,
  isFinality,
  nextOf,
  nextOfWaiting,
  printAmount,
  type ReplacedBy,
  SEND_STATES,
  type SendDescription,
  type SenderBalance,
  type SendMeaning,
  type SendState,
  type Simulation,
  senderOf,
  stateOf,
} from '../../sending/index.ts'
import type { Style } from '../io.ts'
import { view } from '../screen.ts'
import { ago } from './activity.ts'
import { forecastLine, outcomeWords } from './explanation.ts'
import { balanceRows } from './send-balances.ts'
import { renderCall } from './send-call.ts'
import { feeForSender, named } from './send-words.ts'

/** The colour of each state. A missing row does not compile. */
export const COLOURS = {
  ...{ 'not begun': 'dim', submitting: 'dim', unknown: 'warning', waiting: 'warning', broadcasting: 'dim' },
  ...{
    stuck: 'warning',
    included: 'good',
    final: 'good',
    reverted: 'error',
    replaced: 'warning',
    cancelled: 'warning',
  },
  ...{ failed: 'error', denied: 'error', rejected: 'error', 'given up': 'error', stopped: 'warning' },
  ...{ 'left out': 'warning', taken: 'error' },
} as const satisfies Record<SendState, keyof Style>

/** A send before it is submitted, with its forecast. */
export const renderOrder = view(
  (
    order: SendOrder,
    {
      description,
      explanation,
      factors,
      earlier,
      simulation,
    }: SendMeaning & {
      /** What it would leave its parties with; absent where it was asked for before. */
      readonly simulation?: Simulation | undefined
      /** The earlier order under this reference, which is this very send. */
      readonly earlier?:
        | ({
            readonly order: SendOrder
            readonly progress?: SendProgress
            /** Where nobody could be asked how it stands: when the ledger was told last. */
            readonly recordedAt?: string
          } & Known)
        | undefined
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
        : [['account', `${tokenAccount}, opened where there is none, for a rent of some 0.002 SOL`]]),
      ...(call === undefined ? [] : [['call', renderCall(call, style)]]),
      ['chain', chainName(chainOf(order))],
      ['fee', feeForSender(description.fee)],
      ...(simulation === undefined ? [] : balanceRows(simulation, { style })),
      earlier === undefined
        ? ['forecast', forecastLine({ explanation, factors })]
        : [
            'already',
            `${earlier.progress === undefined ? 'submitting' : stateOf(earlier)}, since it was asked for at ${earlier.order.orderedAt}${recordedText(earlier)}`,
          ],
    ]
    return rows.map(([name, text]) => `  ${style.dim(name!.padEnd(10))} ${text}\n`).join('')
  },
)

function recordedText({ recordedAt }: { readonly recordedAt?: string }): string {
  return recordedAt === undefined ? '' : `; as last recorded at ${recordedAt}`
}

/** What is known of a send besides its progress. */
interface Known {
  readonly replacedBy?: ReplacedBy
  readonly finality?: Finality
  readonly nonce?: string
  readonly recordedAt?: string
}

/** One state in one line. */
export const renderSend = view((progress: SendProgress, style: Style, now: number, known: Known = {}): string => {
  const { fingerprint, approved = [], lapsed = [], since, transactionHash, error } = progress
  const { replacedBy: by, finality } = known
  const state = stateOf({ progress, ...known })
  const shown = by === undefined ? state.padEnd(12) : `${state} by ${printable(by.reference)}`
  const waiting =
    state === 'waiting'
      ? [
          style.strong(fingerprint === undefined ? '' : shortCode(fingerprint)),
          style.dim(
            `approved by ${approved.map(printable).join(', ') || 'nobody'}${since === undefined ? '' : `; requested ${ago(now - Date.parse(since))}`}`,
          ),
          ...(lapsed.length > 0 ? [style.warning(`please vote again: ${lapsed.map(printable).join(', ')}`)] : []),
        ]
      : []
  const settled = state === 'included' || state === 'final' ? finalityText(finality) : []
  const where = style.dim([...whereText(progress, known), ...settled].join(', '))
  const recorded = known.recordedAt === undefined ? '' : style.dim(`as last recorded at ${known.recordedAt}`)
  const parts = [style[COLOURS[state]](shown), ...waiting, transactionHash ?? '', where, recorded]
  const said = finality?.node
  if (said === 'in no block' || said === 'behind' || said === 'reverted') parts.push(style.warning(NODE_SAYS[said]))
  // The words of the API, of a node, or of a contract.
  if (error) parts.push(style.error(printable(error.message)))
  return `${parts.filter(Boolean).join('  ')}\n`
})

/** In which block it is, by a node where one says so, and its fee. */
function whereText({ receipt, transactionHash }: SendProgress, { finality, nonce }: Known): readonly string[] {
  const block = finality?.block ?? receipt?.block
  const fee = receipt?.fee.amount ?? finality?.fee
  const namespace = transactionHash?.startsWith('0x') === false ? 'solana' : 'eip155'
  return [
    ...(block === undefined ? [] : [`in ${namespace === 'solana' ? 'slot' : 'block'} ${block}`]),
    ...(nonce === undefined ? [] : [`nonce ${nonce}`]),
    ...(fee === undefined ? [] : [`for a fee of ${printAmount(BigInt(fee), namespace)}`]),
  ]
}

/** Who says that it is in a block, where that is the API or one node alone: either may lie; and how far it is from final. */
function finalityText(finality: Finality | undefined): readonly string[] {
  if (finality?.reportedBy !== 'node') return ['as reported by the API']
  const depth = isFinality(finality) ? [] : [`${finality.confirmations} of ${finality.of} confirmations`]
  return finality.nodes === 1 ? [...depth, 'as reported by one node'] : depth
}

const NODE_SAYS = {
  behind: 'the node of QUORATE_CHAINS has not come to that block yet',
  'in no block': 'the node of QUORATE_CHAINS has it in no block',
  reverted: 'the node of QUORATE_CHAINS says that it reverted',
} as const

/** The next step for a send that has not been paid: its own words where it has some; nothing where none is needed. */
export const renderNext = view((progress: SendProgress, style: Style, by?: ReplacedBy): string => {
  const next = nextOfSend(progress, by)
  return next === undefined ? '' : `  ${style.dim('next'.padEnd(10))} ${printable(next)}\n`
})

function nextOfSend(progress: SendProgress, replacedBy: ReplacedBy | undefined): string | undefined {
  const { state, fingerprint } = progress
  if (state === 'waiting' && fingerprint !== undefined)
    return `approve it with \`quorate approve ${shortCode(fingerprint)}\`; the same command goes on then`
  return nextOf({ progress, replacedBy })
}

/** What is to be done about several sends, once for all of which it is the same; on what waits is voted by one command. */
export const renderNextOfMany = view((sends: readonly NextOfOne[], style: Style): string =>
  [...Map.groupBy(sends, ({ next, waitsFor }) => (waitsFor === undefined ? next : WAITS)).values()]
    .flatMap((all) => {
      const shown = all.slice(-MOST_NAMED)
      const codes = shown.flatMap(({ waitsFor }) => waitsFor ?? [])
      const isCut = all.length > MOST_NAMED
      const next = codes.length === 0 ? shown[0]!.next : nextOfWaiting(codes)
      if (next === undefined) return []
      const names = `${shown.map(({ name }) => printable(name)).join(', ')}${isCut ? ` and ${all.length - MOST_NAMED} more` : ''}`
      const others = isCut && codes.length > 0 ? '; `quorate approvals` shows the codes of the others' : ''
      return [`  ${style.dim('next'.padEnd(10))} ${names}: ${printable(next)}${others}\n`]
    })
    .join(''),
)

const WAITS = Symbol('it waits for approval')

interface NextOfOne {
  readonly name: string
  readonly next: string | undefined
  /** The fingerprint by which people vote on it, while it waits for them. */
  readonly waitsFor?: string | undefined
}

/** What is to be done about a send of a list. */
export function nextStep({
  order,
  ...known
}: Parameters<typeof stateOf>[0] & { readonly order: Pick<SendOrder, 'reference'> }): NextOfOne {
  const waitsFor = stateOf(known) === 'waiting' ? known.progress?.fingerprint : undefined
  return { name: order.reference, next: nextOf(known), ...(waitsFor === undefined ? {} : { waitsFor }) }
}

const MOST_NAMED = 5

/** What has a send go on that somebody ended at Temporal. */
export const SEND_AGAIN = 'run the same `quorate send` again, which pays it once'

/** Of a send that is broadcast, and for whose nonce more is offered. */
const offeredText = (by: string) =>
  `\`${printable(by)}\` was offered in its place: one of the two is included, and never both`

/** Of a send whose bytes are made, and of which no answer is known. */
const unansweredText = (heldUp: string | undefined) =>
  `unknown: it may have been submitted, and ${heldUp === undefined ? 'is asked about with the same bytes' : 'nothing asks about it now'}`

/** One send of a list: its reference, its order and its state. */
export const renderListedSend = view(
  (
    {
      order,
      progress,
      isAsked,
      isLeft,
      heldUp,
      offered,
      ...known
    }: {
      readonly order: SendOrder
      readonly progress?: SendProgress
      readonly isAsked?: boolean
      readonly isLeft?: boolean
      readonly heldUp?: string | undefined
      readonly offered?: string
    } & Known,
    style: Style,
    now: number,
  ): string => {
    const { reference, amount, from, to } = order
    const what = `${printable(reference)}  ${printable(`${amount} from ${from} to ${to}`)}`
    const left = isLeft ? `  ${style.warning(`nobody carries it out now: ${SEND_AGAIN}`)}\n` : ''
    const other = offered === undefined ? '' : `  ${style.warning(offeredText(offered))}\n`
    const untold = stateOf({ isAsked }) === 'unknown' ? unansweredText(heldUp) : 'not begun'
    return `${what}  ${progress === undefined ? `${untold}\n` : renderSend(progress, style, now, known)}${left}${other}`
  },
)

/** What those who pay have now, one a line. */
export const renderSenders = view((senders: readonly SenderBalance[], style: Style): string =>
  senders
    .map(({ from, address, chain, balance, by }) => {
      const who = `${named({ name: from, address })} on ${chainName(chain)}`
      return `  ${style.dim('sender'.padEnd(10))} ${who} has ${printable(balance.text)}, as reported by ${by}\n`
    })
    .join(''),
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
  heldUp,
  replacedBy,
  finality,
  simulation,
  nonce,
  offered,
  recordedAt,
}: {
  readonly nonce?: string
  readonly offered?: string
  readonly recordedAt?: string | undefined
  readonly simulation?: Simulation | undefined
  readonly replacedBy?: ReplacedBy | undefined
  readonly finality?: Finality | undefined
  readonly isAsked?: boolean | undefined
  readonly isLeft?: boolean
  readonly heldUp?: string | undefined
  readonly order: SendOrder
  readonly description?: SendDescription
  readonly explanation?: SendMeaning['explanation']
  readonly factors?: SendMeaning['factors']
  readonly sendId?: string
  readonly progress?: SendProgress | undefined
}) {
  const { outcome = '', basis, decidedBy, needs, timedBy } = explanation ?? {}
  const isBegun = sendId !== undefined || progress !== undefined
  const known = { progress, isAsked, replacedBy, finality, heldUp }
  const next = isBegun ? nextOf(known) : undefined
  return {
    ...(sendId === undefined ? {} : { sendId }),
    ...order,
    // What is only looked at has none.
    ...(isBegun ? { state: stateOf(known), ...(next === undefined ? {} : { next }) } : {}),
    ...(description === undefined ? {} : { description }),
    ...(explanation === undefined
      ? {}
      : {
          forecast: {
            outcome: outcomeWords[outcome] ?? outcome,
            basis,
            decidedBy,
            ...(needs === undefined ? {} : { needs }),
            ...(timedBy === undefined ? {} : { timedBy }),
            ...(factors === undefined ? {} : { factors }),
          },
        }),
    ...(simulation === undefined ? {} : { simulation }),
    ...(progress === undefined ? {} : { progress }),
    ...(isAsked ? { isAsked } : {}),
    ...(isLeft ? { isLeft } : {}),
    ...(replacedBy === undefined ? {} : { replacedBy }),
    ...(nonce === undefined ? {} : { nonce }),
    ...(offered === undefined ? {} : { offered }),
    ...(finality === undefined ? {} : { finality }),
    ...(recordedAt === undefined ? {} : { recordedAt }),
  }
}

/** A send that waits is waited for by the next run of the same command. */
export function exitOfSend(progress: SendProgress): ExitCode {
  return SEND_STATES[stateOf({ progress })].exit
}
