import { isDeepStrictEqual } from 'node:util'
import { stringify } from 'yaml'
import type { CredentialAdded } from '../../analysis/index.ts'
import { type MissingFactors, missingMethods, votesOn } from '../../authority/index.ts'
import type { ReviewedActivity } from '../../operations/index.ts'
import {
  editedText,
  factorsText,
  loneReference,
  renderApprovers,
  renderDifference,
  renderEffects,
  renderPower,
  shortCode,
  timedText,
} from '../../plan/index.ts'
import { fromTimestamp, isWaiting, type Json, type Wire } from '../../protocol/index.ts'
import { type Actual, type Address, formatAddress, KINDS, kinds, nameValue, type Value } from '../../resources/index.ts'
import type { SendNames } from '../../sending/index.ts'
import type { Style } from '../io.ts'
import { view } from '../screen.ts'
import { type AskedPayments, describePayments, NO_NAMES } from './asked-payments.ts'
import { heldPowerTexts } from './held-powers.ts'
import { type LookAlikeView, lookAlikesOf } from './look-alikes.ts'
import { sendRows } from './send-call.ts'
import { solanaRows } from './solana-send.ts'
import { withoutSecrets } from './without-secrets.ts'

/** The shown data of an activity, for people and programs; the text below is made from it. */
export interface ActivityView extends AskedPayments {
  readonly id: string
  readonly code: string
  readonly type: string
  readonly status: string
  readonly fingerprint: string
  readonly requestedBy: string
  /** ISO 8601. */
  readonly requestedAt: string
  /** Whose approvals count now. */
  readonly approvedBy: readonly string[]
  /** Whose approvals do not count yet, and what is missing to each. */
  readonly missingFactors?: readonly MissingFactors[]
  /** Whose approvals count no more: their 24 hours are over, or the credential is gone. */
  readonly lapsedApprovals: readonly string[]
  readonly rejectedBy: readonly string[]
  /** When the approvals that count lapse, while it waits for more. */
  readonly approvalsLapseAt?: string
  /** The activity's own parameters, with names for ids. */
  readonly parameters: unknown
  /** The reference of a send, where the ledger of this data folder has it. */
  readonly reference?: string
  /** While it waits: the batch that this send is a row of, where that ledger has it. */
  readonly batch?: BatchOfSend
  readonly failure?: string
  /** What the API adds to the failure; of a denial, why, and the outcome of each policy (docs/protocol/errors.md#denials). */
  readonly failureDetails?: readonly Wire.Any[]
  /** Names in it, and of those who asked and voted, that look like others that live. */
  readonly lookAlikes?: readonly LookAlikeView[]
  /** What it would change, who would gain or lose which power, whose approval is missing, and which plan asks for it. */
  readonly review?: ReviewedActivity
  /** Why they voted so, where that is kept in this data folder. */
  readonly reasons?: readonly { readonly by: string; readonly vote: 'approve' | 'reject'; readonly reason: string }[]
}

/** The file that a send is a row of. */
export interface BatchOfSend {
  readonly batchId: string
  readonly file: string
  readonly line: number
  /** How many rows the file has. */
  readonly rows: number
}

/** The names of what is live, by id. */
function namesOf({ resources }: Actual): ReadonlyMap<string, Address> {
  return new Map(resources.flatMap(({ id, address }) => (id === undefined ? [] : [[id, address]])))
}

/**
 * Makes the view of an activity from its own intent, never from anyone's words about it; with what lives, ids have names, and
 * calls of contracts are decoded.
 * @param sendNames of the reader's own definitions, for payees and tokens. @default none
 * @param mfa what `get_mfa_status` tells of it (`readFactors`). @default no vote waits for a factor
 */
export function viewActivity(
  activity: Wire.Activity,
  nowMs: number,
  actual?: Actual,
  mfa: readonly Wire.MfaStatus[] = [],
  review?: ReviewedActivity,
  sendNames: SendNames = NO_NAMES,
): ActivityView {
  const created = fromTimestamp(activity.createdAt)
  const { approvals, held, lapsed, rejections, lapseAtMs } = votesOn(activity, nowMs, mfa)
  const names = (votes: readonly Wire.Vote[]) => [...new Set(votes.map(nameOf))]
  const missing = held.flatMap((vote) => {
    const { requiredMethods = [], satisfiedMethods = [] } = mfa.find(({ userId }) => userId === vote.userId) ?? {}
    const steps = requiredMethods.map(({ any }) => any)
    // Where nothing is open by what is told, the vote before has lapsed with its credential: every step is asked for.
    return missingMethods(nameOf(vote), steps, satisfiedMethods) ?? missingMethods(nameOf(vote), steps, []) ?? []
  })
  const alike = actual ? lookAlikesOf(activity, actual) : []
  return {
    id: activity.id,
    code: shortCode(activity.fingerprint),
    type: activity.type,
    status: activity.status,
    fingerprint: activity.fingerprint,
    requestedBy: activity.votes[0]?.user.userName ?? 'unknown',
    requestedAt: new Date(created).toISOString(),
    approvedBy: names(approvals),
    lapsedApprovals: names(lapsed),
    rejectedBy: names(rejections),
    ...(missing.length > 0 ? { missingFactors: missing } : {}),
    ...(isWaiting(activity.status) && approvals.length > 0
      ? { approvalsLapseAt: new Date(lapseAtMs).toISOString() }
      : {}),
    parameters: withoutSecrets(
      nameValue((Object.values(activity.intent)[0] ?? {}) as Value, actual ? namesOf(actual) : new Map()),
    ),
    ...(actual ? describePayments(activity, actual, sendNames) : {}),
    ...(activity.failure ? { failure: activity.failure.message ?? '' } : {}),
    ...(activity.failure?.details?.length ? { failureDetails: activity.failure.details } : {}),
    ...(alike.length > 0 ? { lookAlikes: alike } : {}),
    ...(review ? { review: withoutSecretsIn(withNames(review, actual)) } : {}),
  }
}

/**
 * An activity that has ended is not held against what lives: that has moved since, by this very activity perhaps. What was rejected or
 * has failed would change the same today, so that its changes stay, and its power goes.
 */
export function asEnded(view: ActivityView): ActivityView {
  const { review, status } = view
  if (!review || isWaiting(status)) return view
  const { explained, changes, isWhole, missing } = review
  const isDone = statusWord(status) === 'COMPLETED'
  return {
    ...view,
    review: { explained, ...(isDone ? { changes: [], isWhole: false, missing: [] } : { changes, isWhole, missing }) },
  }
}

/** Where it is not as planned, with the names of what lives; ids stay where names alone would not tell the two apart. */
function withNames(review: ReviewedActivity, actual: Actual | undefined): ReviewedActivity {
  const { explained } = review
  if (explained.kind !== 'mismatch' || actual === undefined) return review
  const names = namesOf(actual)
  const named = (value: Json | undefined) =>
    value === undefined ? undefined : (nameValue(value as Value, names) as Json)
  const deviations = explained.deviations.map((one) => {
    const [planned, asked] = [named(one.planned), named(one.asked)]
    if (isDeepStrictEqual(planned, asked)) return one
    return { ...one, ...(planned === undefined ? {} : { planned }), ...(asked === undefined ? {} : { asked }) }
  })
  return { ...review, explained: { ...explained, deviations } }
}

/** The same of where it is not as planned: what is asked may hold a whole provider, or its token alone. */
function withoutSecretsIn(review: ReviewedActivity): ReviewedActivity {
  const { explained } = review
  if (explained.kind !== 'mismatch') return review
  const deviations = explained.deviations.map((one) => {
    const name = one.parameter.split('.').at(-1)!
    const told = (value: Json | undefined) =>
      value === undefined ? undefined : (withoutSecrets({ [name]: value as Value }) as Record<string, Json>)[name]
    const [planned, asked] = [told(one.planned), told(one.asked)]
    return { ...one, ...(planned === undefined ? {} : { planned }), ...(asked === undefined ? {} : { asked }) }
  })
  return { ...review, explained: { ...explained, deviations } }
}

function nameOf({ user, userId }: Wire.Vote): string {
  return user?.userName || userId
}

/** Renders what an approver reads before voting. */
export const renderActivity = view(
  (view: ActivityView, style: Style, now: number): string => {
    const rows = [
      ['activity', view.id],
      ['code', style.strong(view.code)],
      ['type', view.type.replace('ACTIVITY_TYPE_', '')],
      ['status', renderStatus(view.status, style)],
      ['requested', `by ${view.requestedBy}, ${ago(now - Date.parse(view.requestedAt))}`],
      ...planRows(view, style),
      ['approved', view.approvedBy.join(', ') || 'by nobody'],
      ...neededRows(view, style),
      ...(view.missingFactors ?? []).map((factors) => ['needs', style.warning(factorsLine(factors))]),
      ...lapsedRows(view),
      ...(view.rejectedBy.length > 0 ? [['rejected', view.rejectedBy.join(', ')]] : []),
      ...(view.reasons ?? []).map(({ by, reason }) => ['because', `${by}: ${reason} (kept on this machine)`]),
      ...validRows(view, now),
      ...(view.failure ? [['failure', view.failure]] : []),
      ...reasonsOf(view).map((reason) => ['reason', reason]),
      ...effectRows(view, style),
      ...(view.lookAlikes ?? []).map((one) => ['beware', style.warning(lookAlikeText(one))]),
      ...(view.review?.missing ?? []).map((id) => ['beware', style.warning(`nothing lives as ${id} any more`)]),
    ]
    const table = rows.map(([name, value]) => `  ${style.dim(name!.padEnd(9))}  ${value}\n`).join('')
    return `${table}${renderDeviations(view, style)}${renderDoes(view, style)}`
  },
  { lines: ['parameters', 'before', 'after'] },
)

/** Whose approvals count no more. */
function lapsedRows({ lapsedApprovals }: ActivityView): readonly (readonly string[])[] {
  return lapsedApprovals.length > 0 ? [['lapsed', lapsedText(lapsedApprovals)]] : []
}

/** How long those that count still do. */
function validRows({ approvalsLapseAt: at }: ActivityView, now: number): readonly (readonly string[])[] {
  return at ? [['votes', `lapse in ${age(Date.parse(at) - now)} unless the activity completes first`]] : []
}

const NO_PLANS = 'unknown: no plan is known here; give the one that you have approved with --plan FILE'

/** Which plan asks for it. */
function planRows({ review }: ActivityView, style: Style): readonly (readonly string[])[] {
  if (!review) return []
  const { explained } = review
  if (explained.kind === 'unknown') return [['plan', style.warning(NO_PLANS)]]
  if (explained.kind === 'made outside') {
    const looked = `no plan that is known here asks for it (${explained.plansLookedAt} looked at)`
    return [['plan', style.warning(`made outside: ${looked}`)]]
  }
  if (explained.kind === 'rotation') return [['order', rotationText(explained)]]
  if (explained.kind === 'send') return [['order', 'a payment that `quorate send` of this data folder asks for']]
  if (explained.kind === 'command')
    return [['order', `\`quorate ${explained.command}\` of this data folder: ${explained.what}`]]
  const { digest, createdAt, commit, uncommitted } = explained.plan
  const plan = `${digest.slice(0, 12)} of ${createdAt}${commit === undefined ? '' : `, commit ${commit.slice(0, 12)}${editedText(uncommitted)}`}`
  if (explained.kind === 'planned') return [['plan', `${plan}, activity ${explained.batch + 1}`]]
  return [['plan', style.error(`it is NOT what plan ${plan} says in activity ${explained.batch + 1}`)]]
}

const ROTATES: Readonly<Record<Rotates['part'], string>> = {
  drop: 'deletes another key, to make room',
  create: 'registers the new key',
  delete: 'deletes the old key',
  undo: 'takes the new key away again',
}

type Rotates = Extract<ReviewedActivity['explained'], { readonly kind: 'rotation' }>

function rotationText({ key, user, part, orderedAt }: Rotates): string {
  return `rotation of API key ${key} of ${user}, ordered ${orderedAt}: ${ROTATES[part]}`
}

/** Whose approval is missing, and whether the reader's counts. */
function neededRows({ review, status }: ActivityView, style: Style): readonly (readonly string[])[] {
  if (!review || !isWaiting(status)) return []
  const { standing } = review
  if (!standing) return [['needs', 'not known here: policies decide by what is not known of it, such as a transaction']]
  const { needed, mine } = standing
  const when = timedText(needed.timedBy)
  const your = {
    counts: 'your approval counts',
    given: 'you have approved',
    'does not count': 'your approval does not count',
  }
  if (needed.outcome === 'waits') return [['needs', `${style.strong(renderApprovers(needed))}${when}; ${your[mine]}`]]
  return 'reason' in needed ? [['needs', `${needed.reason}${when}; ${your[mine]}`]] : []
}

/** Parameters that are shown of those in which an activity is not what its plan says. */
const MOST_DEVIATIONS = 8

/** Where it is not what its plan says. */
function renderDeviations({ review }: ActivityView, style: Style): string {
  if (review?.explained.kind !== 'mismatch') return ''
  const { deviations } = review.explained
  const rows = deviations.slice(0, MOST_DEVIATIONS).flatMap(({ parameter, planned, asked }) => {
    const [before, after] = renderDifference(planned, asked)
    return [
      `    ${parameter}\n`,
      ...before.map((text, index) => `      ${index === 0 ? 'planned' : '       '}  ${text}\n`),
      ...after.map((text, index) => `      ${index === 0 ? style.error('asked') : '     '}    ${text}\n`),
    ]
  })
  const left = deviations.length - MOST_DEVIATIONS
  const rest = left > 0 ? `    and ${left} more (\`--json\` lists all)\n` : ''
  return `  ${style.error('not as planned')}\n${rows.join('')}${rest}`
}

/** What it would change, before and after, and who gains and loses; the intent itself where that does not say all of it. */
function renderDoes({ review, parameters, status }: ActivityView, style: Style): string {
  const paint = { ...style, bold: style.strong }
  const indented = (text: string) => text.replace(/^(?=.)/gm, '  ')
  const changes = review?.changes ?? []
  const power = review?.power && changes.length > 0 ? `${indented(renderPower(review.power, paint))}\n` : ''
  const credentials = (review?.credentials ?? []).map((one) => renderCredential(one, style)).join('')
  const verb = isWaiting(status) ? 'it changes' : 'it would have changed'
  const effects =
    changes.length > 0 ? `  ${style.dim(verb)}\n${indented(indented(renderEffects(changes, paint)))}\n` : ''
  if (review?.isWhole && changes.length > 0) return effects + power + credentials
  const asks = `  ${style.dim(isWaiting(status) ? 'it asks for' : 'it asked for')}\n${stringify(parameters, { lineWidth: 110 }).replace(/^(?=.)/gm, '    ')}`
  return effects + power + credentials + asks
}

/** What no change between people tells: the holder of a credential has the power of its user. */
function renderCredential({ kind, name, user, powers }: CredentialAdded, style: Style): string {
  const texts = powers.length === 0 ? ['none of these powers, alone or with others'] : heldPowerTexts(powers)
  const said = style.warning(`the holder of ${kinds[kind].one} ${name} acts as ${user}`)
  return `  ${said}\n${texts.map((text) => `    ${text}\n`).join('')}`
}

/** What waits for an approver: what it changes or pays, who asks, since when, by which plan, and what is missing. */
const renderApproval = view((view: ActivityView, style: Style, now: number): string => {
  const { code, type, requestedBy, requestedAt } = view
  const what = [type.replace('ACTIVITY_TYPE_', ''), ...touched(view)].join('  ')
  const rows = [
    ...effectRows(view, style, MOST_PAYMENTS),
    ...planRows(view, style),
    ...neededRows(view, style),
    ...lapsedRows(view),
    ...validRows(view, now),
  ]
  const width = Math.max(6, ...rows.map(([name]) => name!.length))
  const lines = rows.map(([name, text]) => `           ${style.dim(name!.padEnd(width))} ${text}\n`)
  const alike = (view.lookAlikes ?? []).map((one) => `           ${style.warning(lookAlikeText(one))}\n`)
  const asked = `by ${requestedBy}, ${ago(now - Date.parse(requestedAt))}`
  return `${style.strong(code)}  ${what}  ${asked}  ${style.dim(view.id)}\n${lines.join('')}${alike.join('')}`
})

/** Rows of a batch, and payments of one activity, that a list shows. */
const MOST_PAYMENTS = 3

/** What waits, each row of a batch beside the others of its file; of many rows the first, and how many there are. */
export const renderApprovals = view((views: readonly ActivityView[], style: Style, now: number): string => {
  const groups = Map.groupBy(views, ({ id, batch }) => batch?.batchId ?? id)
  return [...groups.values()].map((group) => renderGroup(group, { style, now, listed: views.length })).join('')
})

const renderGroup = view(
  (
    views: readonly ActivityView[],
    { style, now, listed }: { readonly style: Style; readonly now: number; readonly listed: number },
  ): string => {
    const { batch } = views[0]!
    const byLine = views.toSorted((one, other) => (one.batch?.line ?? 0) - (other.batch?.line ?? 0))
    const shown = byLine.slice(0, MOST_PAYMENTS).map((one) => renderApproval(one, style, now))
    if (batch === undefined) return shown.join('')
    const { batchId, file, rows } = batch
    const count = `${views.length} of ${rows} ${rows === 1 ? 'row' : 'rows'}`
    const head = `${style.strong('batch')}      ${batchId.slice(0, 12)} of ${file}: ${count}; \`quorate approve --batch FILE\` votes on those of a file\n`
    const left = views.length - shown.length
    const rest = `           ${style.dim('and'.padEnd(9))} ${left} more of this batch: \`quorate activities --waiting --limit ${listed}\` lists all\n`
    return `${head}${shown.join('')}${left === 0 ? '' : rest}`
  },
)

/** What it would change, by name; of many the first three. */
function touched(view: ActivityView): readonly string[] {
  const { review } = view
  if (!review) return []
  const changes = review.changes.map(({ address }) => address)
  const names = changes.length > 0 ? changes : namedIn(view)
  const shown = names.length > 3 ? [...names.slice(0, 3), `${names.length - 3} more`] : names
  return shown.length > 0 ? [shown.join(', ')] : []
}

/** What an activity of which no change is rebuilt makes, by the name that it gives it, and what lives of what it names. */
function namedIn({ type, parameters }: ActivityView): readonly string[] {
  const members = Object.entries((parameters ?? {}) as Readonly<Record<string, unknown>>)
  const kind = KINDS.find((one) => kinds[one].create?.type === type)
  const name = members.find(([member]) => /^name$|Name$/.test(member))?.[1]
  const made = kind && kinds[kind].parent === undefined && typeof name === 'string' ? [formatAddress(kind, name)] : []
  const lives = members
    .flatMap(([, value]) => value)
    .flatMap((text) => (typeof text === 'string' ? (loneReference(text) ?? []) : []))
  return [...new Set([...made, ...lives])]
}

/** One line of a list of activities. */
export const renderActivityLine = view((view: ActivityView, style: Style, now: number): string => {
  const type = view.type.replace('ACTIVITY_TYPE_', '').padEnd(26)
  const failure = view.failure ? `    ${style.error(reasonsOf(view).join('; ') || view.failure)}\n` : ''
  const alike = (view.lookAlikes ?? []).map((one) => `    ${style.warning(lookAlikeText(one))}\n`)
  const factors = (view.missingFactors ?? []).map((one) => `    ${style.warning(`needs ${factorsLine(one)}`)}\n`)
  const effects = effectRows(view, style, MOST_PAYMENTS).map(([name, value]) => `    ${style.dim(name!)} ${value}\n`)
  return `${style.strong(view.code)}  ${[type, ...touched(view), renderStatus(view.status, style)].join('  ')}  by ${view.requestedBy}, ${ago(now - Date.parse(view.requestedAt))}  ${style.dim(view.id)}\n${effects.join('')}${factors.join('')}${failure}${alike.join('')}`
})

/** What it pays to whom, and under which reference. */
function effectRows(
  { id, reference, sends = [], solana, undecoded }: ActivityView,
  style: Style,
  most = Number.POSITIVE_INFINITY,
): readonly (readonly string[])[] {
  const cut = sends.length > most
  return [
    ...(reference === undefined ? [] : [['reference', reference]]),
    ...sends.slice(0, most).flatMap((send) => sendRows(send, style)),
    ...(cut ? [['and', `${sends.length - most} more calls: \`quorate review ${id}\` shows each`]] : []),
    ...(solana ? solanaRows(solana, style) : []),
    ...(undecoded === undefined ? [] : [['unknown', style.warning(undecoded)]]),
  ]
}

/** Of a denial which policies denied it, which the failure, the same of all, does not say. */
function reasonsOf({ failureDetails = [] }: ActivityView): readonly string[] {
  return failureDetails.flatMap(({ message }) => (typeof message === 'string' ? [message] : []))
}

function lookAlikeText({ kind, name, like, difference }: LookAlikeView): string {
  if (kind === 'address') return `address ${difference}`
  return `${kinds[kind].one} ${name} looks like ${like}: ${difference}`
}

/** `another factor of bob (passkey): bob approves it once more, by that`. */
export function factorsLine(factors: MissingFactors): string {
  return `${factorsText(factors)}: ${factors.of} approves it once more, by ${factors.steps.length === 1 ? 'that' : 'each of these'}`
}

/** `alice, bob: must approve again`. */
function lapsedText(names: readonly string[]): string {
  const whose = names.length === 1 ? 'this approval counts' : 'these approvals count'
  return `${names.join(', ')}: ${whose} no more, until they approve again`
}

/** A status without its prefix: `COMPLETED`. */
export const statusWord = (status: string): string => status.replace('ACTIVITY_STATUS_', '')

function renderStatus(status: string, style: Style): string {
  const word = statusWord(status)
  if (word === 'COMPLETED') return style.good(word)
  return word === 'FAILED' || word === 'REJECTED' ? style.error(word) : style.warning(word)
}

/** What a vote has made of an activity: whose approval it still needs, or how it has ended. */
export function afterVoteText({ status, failure, review }: ActivityView): string {
  if (!isWaiting(status)) return `now ${statusWord(status)}${failure ? `: ${failure}` : ''}`
  const needed = review?.standing?.needed
  if (needed?.outcome === 'waits') return `it still needs ${renderApprovers(needed)}${timedText(needed.timedBy)}`
  return status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED'
    ? 'it still needs an approval; whose is not worked out here'
    : 'it still waits'
}

/** How long ago something was: `3 minutes ago`, and in its first second `just now`. */
export function ago(ms: number): string {
  return Math.round(ms / 1000) < 1 ? 'just now' : `${age(ms)} ago`
}

/** A duration in its largest unit: `3 minutes`. */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const units: readonly [number, string][] = [
    [86_400, 'day'],
    [3_600, 'hour'],
    [60, 'minute'],
    [1, 'second'],
  ]
  for (const [size, name] of units) {
    const count = Math.floor(seconds / size)
    if (count > 0) return `${count} ${name}${count === 1 ? '' : 's'}`
  }
  return '0 seconds'
}
