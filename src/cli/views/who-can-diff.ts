import { type AccessChange, renderPower } from '../../plan/index.ts'
import type { Style } from '../io.ts'
import { view } from '../screen.ts'
import { notYetText } from './who-can.ts'

/** One of the states that are compared. */
interface ComparedState {
  /** As it was asked for. */
  readonly name: string
  /** ISO 8601. */
  readonly at: string
  readonly stateDigest: string
  /** What is not known of it, in words. */
  readonly unknown: readonly string[]
  /** ISO 8601; present where the organization did not exist then: when it began. */
  readonly beganAt?: string
}

/** The answer of `quorate who-can --diff`, and its JSON. */
export interface WhoCanDiffView {
  readonly organization: { readonly id: string; readonly name: string }
  readonly before: ComparedState
  readonly after: ComparedState
  /** Kinds that the key in use may not read, so that they are not compared. */
  readonly unread: readonly string[]
  /** The powers that were asked for, as plans call them. @default all */
  readonly compared?: readonly string[]
  /** In the form of a plan's `access`. */
  readonly changes: readonly AccessChange[]
}

/** Who gains or loses which power, as a plan tells it. */
export const renderWhoCanDiff = view((report: WhoCanDiffView, style: Style): string => {
  const { organization, before, after, unread, compared, changes } = report
  const states = [before, after].map(({ name, at, stateDigest }) =>
    style.dim(`  ${name}: at ${at}, state ${stateDigest}\n`),
  )
  const notYet = [before, after].flatMap(({ at, beganAt }) =>
    beganAt === undefined ? [] : [`${notYetText({ at, beganAt })}\n`],
  )
  const unknown = [
    ...before.unknown,
    ...after.unknown,
    ...(unread.length > 0 ? [`not read: ${unread.join(', ')}`] : []),
  ]
  const missing = [...new Set(unknown)].map((one) => `${style.warning(`more may differ: ${one}`)}\n`)
  const actor = { userId: '', userName: '', publicKey: '' }
  const told = renderPower({ access: changes, actor, compared }, { ...style, bold: style.strong })
  return `${style.strong(organization.name)} ${style.dim(organization.id)}\n${states.join('')}${notYet.join('')}${missing.join('')}\n${told}\n`
})
