/** References that a reader takes for one another: two people who pay the same invoice write its number in two ways. */
import type { PlanStore, SendOrder } from '../../activities/index.ts'
import { EXIT, QuorateError } from '../diagnostics/index.ts'
import { indexLookAlikes, looksOf } from '../look-alikes/index.ts'
import { paymentOf } from './elsewhere.ts'

/** An order, and one under a reference that looks like its own. */
export interface AlikeReference {
  readonly order: SendOrder
  readonly like: SendOrder
  /** Both pay the same to the same. */
  readonly isEqual: boolean
  /** Of two rows of one file: its line, and that of the other. */
  readonly lines?: readonly [number, number]
}

/**
 * Finds orders whose references look like one of the ledger's, or of an order before them: case, spaces, dashes and characters
 * that look the same make no difference. What replaces a send is named after it, and is not looked for.
 */
export function findAlikeReferences(
  orders: readonly SendOrder[],
  { entered }: { readonly entered: readonly SendOrder[] },
): readonly AlikeReference[] {
  const byName = new Map<string, SendOrder[]>()
  const index = indexLookAlikes<SendOrder>([])
  const add = (of: SendOrder) => {
    const name = bareOf(of.reference)
    byName.set(name, [...(byName.get(name) ?? []), of])
    index.add({ scope: '', name, of })
  }
  for (const one of entered) if (one.replaces === undefined) add(one)
  const found: AlikeReference[] = []
  for (const order of orders) {
    if (order.replaces !== undefined) continue
    const name = bareOf(order.reference)
    const look = index.find({ scope: '', name })
    const names = look === undefined ? [name] : [name, look.name]
    const others = names.flatMap((one) => byName.get(one) ?? []).filter((one) => one.reference !== order.reference)
    const equal = others.find((one) => paymentOf(one) === paymentOf(order))
    const like = equal ?? others[0]
    if (like !== undefined) found.push({ order, like, isEqual: equal !== undefined })
    add(order)
  }
  return found
}

/** Finds rows of one file whose references look alike. */
export function findAlikeRows(
  rows: readonly { readonly order: SendOrder; readonly row: { readonly line: number } }[],
): readonly AlikeReference[] {
  const lineOf = new Map(rows.map(({ order, row }) => [order, row.line]))
  const orders = rows.map(({ order }) => order)
  return findAlikeReferences(orders, { entered: [] }).map((one) => ({
    ...one,
    lines: [lineOf.get(one.order)!, lineOf.get(one.like)!],
  }))
}

/** Says in words what a reference may be taken for. */
export function alikeWords({ order, like, lines }: Pick<AlikeReference, 'order' | 'like' | 'lines'>): string {
  const { reference, amount, to, orderedAt } = like
  if (lines !== undefined)
    return `line ${lines[0]}: reference ${order.reference} looks like ${reference} of line ${lines[1]}, which is ${amount} to ${to}`
  return `reference ${order.reference} looks like ${reference}, which is ${amount} to ${to}, ordered at ${orderedAt}`
}

/**
 * Refuses what pays the same to the same under a reference that looks like one that was used, unless `not` names that one.
 * Throws `cli/reference-alike`.
 */
export function assertNotAlike(found: readonly AlikeReference[], not: readonly string[]): void {
  const equal = found.filter(({ like, isEqual }) => isEqual && !not.includes(like.reference))
  const [first] = equal
  if (first === undefined) return
  const rest = equal.length === 1 ? '' : `, and ${equal.length - 1} more like it`
  const names = [...new Set(equal.map(({ like }) => like.reference))].join(',')
  throw new QuorateError('cli/reference-alike', `${alikeWords(first)}, as this one is${rest}`, {
    exit: EXIT.refused,
    facts: { reference: first.order.reference, 'looks like': first.like.reference, submitted: 'nothing' },
    next: `if this is another payment, say so with --not '${names}'`,
  })
}

/**
 * Refuses what begins the same payment as another, under a reference that looks like that one's, at the same moment: of several
 * in one ledger the first may go on. Called right before an order is entered. Throws `cli/reference-alike`.
 */
export async function assertFirstAlike(
  ledger: Pick<PlanStore['sends'], 'claimLook'>,
  order: SendOrder,
  not: readonly string[],
): Promise<void> {
  if (order.replaces !== undefined) return
  const payment = paymentOf(order)
  // In one order, so that of two at least one is the first of all that both have.
  for (const look of [...looksOf(bareOf(order.reference))].sort()) {
    const first = await ledger.claimLook(JSON.stringify([look, payment]), order)
    if (first === order.reference || not.includes(first)) continue
    const { reference, amount, to } = order
    const message = `reference ${reference} looks like ${first}, under which ${amount} to ${to} is begun too`
    throw new QuorateError('cli/reference-alike', message, {
      exit: EXIT.refused,
      facts: { reference, 'looks like': first, submitted: 'nothing' },
      next: `look at it with \`quorate sends\`; if this is another payment, say so with --not '${first}'`,
    })
  }
}

function bareOf(reference: string): string {
  return reference.replace(/[\p{Pd}\u2212_]/gu, '')
}
