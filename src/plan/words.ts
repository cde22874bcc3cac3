/** The words for a plan's parts, for every rendering of it. */
import { printable } from '../diagnostics/index.ts'
import type { KindName } from '../resources/index.ts'
import { circumstanceText } from './circumstance.ts'
import type { Access, AccessLimit, Change, FieldCause, Forecast, Plan, Ways } from './document.ts'
import { peopleTexts } from './gains.ts'
import { listed } from './listed.ts'

/** One line about a plan: `9 changes in 4 activities, 2 need another approver`; and about what is inside. */
export function summarize(plan: Plan): string {
  const inside = (plan.subOrganizations ?? []).filter(({ changes }) => changes.length > 0)
  if (inside.length === 0) return plan.changes.length === 0 ? 'No changes.' : summarizeOwn(plan)
  const sum = (of: (plan: Plan) => number) => inside.reduce((total, one) => total + of(one), 0)
  const changed = count(
    sum(({ changes }) => changes.length),
    'change',
    'changes',
  )
  const refused = sum((one) => (one.comparedOnly ? 0 : one.guards.filter(({ allowed }) => !allowed).length))
  const own = plan.changes.length === 0 ? 'no changes of its own' : summarizeOwn(plan)
  const guards = refused > 0 ? `, refused by ${count(refused, 'guard', 'guards')}` : ''
  return `${own}; ${changed} inside ${count(inside.length, 'sub-organization', 'sub-organizations')}${guards}`
}

function summarizeOwn(plan: Plan): string {
  const { changes, batches, comparedOnly } = plan
  if (comparedOnly) {
    const { couldApply } = comparedOnly
    const who = couldApply.length === 0 ? 'a root user of it' : listed(couldApply.map(printable), { word: 'or' })
    return `${count(changes.length, 'change', 'changes')}, compared only: to apply ${changes.length === 1 ? 'it' : 'them'} takes a key of ${who}`
  }
  const outcomes = (outcome: Forecast['outcome']) =>
    batches.filter(({ forecast }) => forecast?.outcome === outcome).length
  const [denied, rejected] = [outcomes('denied'), outcomes('rejected')]
  const waits = batches.flatMap(({ forecast }) => (forecast?.outcome === 'waits' ? [forecast] : []))
  const waiting = waits.filter(({ needed }) => needed.length > 0).length
  const factors = waits.filter((one) => one.factors).length
  const parts = [`${count(changes.length, 'change', 'changes')} in ${count(batches.length, 'activity', 'activities')}`]
  if (waiting > 0) parts.push(`${waiting} ${waiting === 1 ? 'needs' : 'need'} another approver`)
  if (factors > 0)
    parts.push(`${factors} ${factors === 1 ? 'needs' : 'need'} another factor of ${printable(plan.actor.userName)}`)
  if (denied > 0) parts.push(`${denied} would be denied`)
  if (rejected > 0) parts.push(`${rejected} ${rejected === 1 ? 'was' : 'were'} rejected before`)
  const refused = plan.guards.filter(({ allowed }) => !allowed).length
  if (refused > 0) parts.push(`refused by ${count(refused, 'guard', 'guards')}`)
  return parts.join(', ')
}

/** How many activities wait for people one after another, at the longest. */
export function approvalRounds({ batches }: Pick<Plan, 'batches'>): number {
  const rounds: number[] = []
  for (const { after, forecast } of batches) {
    const before = Math.max(0, ...after.map((one) => rounds[one]!))
    rounds.push(before + Number(forecast?.outcome === 'waits'))
  }
  return Math.max(0, ...rounds)
}

/** The forecast of an activity, in words. */
export function renderForecast(forecast: Forecast): string {
  return `${outcomeText(forecast)}${timedText(forecast.timedBy)}`
}

/** `; may differ at another time: policy night-watch`; nothing where no policy makes it so. */
export function timedText(timedBy: Forecast['timedBy'] = []): string {
  if (timedBy.length === 0) return ''
  return `; may differ at another time: ${timedBy.length === 1 ? 'policy' : 'policies'} ${timedBy.map((name) => printable(name)).join(', ')}`
}

function outcomeText(forecast: Forecast): string {
  switch (forecast.outcome) {
    case 'completes':
      return 'completes at once'
    case 'waits':
      return `waits for ${renderApprovers(forecast)}`
    case 'denied':
      return `denied: ${[forecast.reason, ...(forecast.next === undefined ? [] : [forecast.next])].map(printable).join('; ')}`
    case 'depends':
      return `depends: ${printable(forecast.reason)}`
    case 'rejected':
      return `${rejectionText(forecast)}; not asked again`
    default:
      return forecast satisfies never
  }
}

/** What is said behind a commit about changes since: nothing where there are none. */
export function editedText(uncommitted: Plan['uncommitted']): string {
  if (uncommitted === 'not known') return '; whether with uncommitted changes is not known'
  return uncommitted ? ' with uncommitted changes' : ''
}

/** What a person does where an activity was rejected: no machine asks the same again by itself. */
export const AFTER_REJECTION =
  'ask them why and change the definitions, or give --ask-again to ask once more as a new activity'

/** `rejected by carol on 2026-11-22T10:00:00.000Z`. */
export function rejectionText({ by, at }: Extract<Forecast, { readonly outcome: 'rejected' }>): string {
  return `rejected by ${by.map((name) => printable(name)).join(' and ')} on ${at}`
}

/** The missing approvals and factors of an activity: the smallest sets of people, as one where they are `any 1 of bob, carol`. */
export function renderApprovers({ needed, any, factors }: Extract<Forecast, { readonly outcome: 'waits' }>): string {
  const approvers = needed.length === 0 ? [] : [setsText({ sets: needed, ...(any ? { any } : {}) })]
  return [...(factors ? [factorsText(factors)] : []), ...approvers].join(', and for ')
}

/** `another factor of alice (passkey, and email-otp or session)`. */
export function factorsText({
  of,
  steps,
}: NonNullable<Extract<Forecast, { readonly outcome: 'waits' }>['factors']>): string {
  const methods = steps.map((step) => step.map(printable).join(' or '))
  return `another factor of ${printable(of)} (${methods.join(', and ')})`
}

/** Who left something as it is, in words; undefined where nobody looked. */
export function authorText({ author }: Pick<Change, 'author'>): string | undefined {
  if (author === undefined) return undefined
  if (author === null) return 'by whom is not told: none of the newest activities names it'
  const { userName, credential, publicKey, at, activityId, approvedBy } = author
  const key = credential ?? (publicKey === '' ? 'without an API key' : `${publicKey.slice(0, 12)}…`)
  const others = [...new Set(approvedBy.map((one) => one.userName))]
  const approved = others.length === 0 ? '' : `, approved by ${others.join(', ')}`
  return `by ${userName} (key ${key}) at ${at}, activity ${activityId}${approved}`
}

/** Why a change is there; undefined where its sign says it: what is new, and what is adopted. */
export function causeText({ cause, action, fields }: Pick<Change, 'cause' | 'action' | 'fields'>): string | undefined {
  const gone = action === 'create'
  if (action === 'undecided') {
    const what = fields.map(({ field }) => `\`${field}\` `).join('and ')
    return `${what}taken out of the definitions, and still live`
  }
  if (action === 'forget') return 'handed back: it stays live and is managed no longer'
  switch (cause) {
    case 'live changed':
      return gone ? 'drift: somebody deleted it' : 'drift: somebody changed it'
    case 'both changed':
      return `drift: somebody ${gone ? 'deleted' : 'changed'} it, and its definition changed too`
    case 'live only':
      return 'drift: not in the definitions'
    case 'definition changed':
      return action === 'delete' ? 'taken out of the definitions' : 'its definition changed'
    case 'differs':
      return 'differs'
    case 'declared only':
    case 'adopted':
      return undefined
    default:
      return cause satisfies never
  }
}

/** Why something is not as defined, where nothing else says that it is drift. */
export function driftText({ cause, action }: Pick<Change, 'cause' | 'action'>): string {
  const text = causeText({ cause, action, fields: [] })
  return text?.replace(/^drift: /, '') ?? (cause === 'adopted' ? 'it is live already' : 'its definition is new')
}

/** Why one field of a change is there, where not all are there for the same reason. */
export function fieldCauseText(cause: FieldCause): string {
  return cause === 'live changed' ? 'drift' : 'definition'
}

type Sign = '+' | '-' | '~' | '?' | ' '

/** A line about power; of a power that changes also its parts, and who gains or loses what. */
export interface AccessLine {
  readonly sign: Sign
  readonly text: string
  readonly whose?: string
  readonly before?: string
  readonly after?: string
  readonly people?: readonly string[]
}

/** Changes of power to be told. */
export interface ToldAccess extends Pick<Plan, 'access' | 'accessLimits' | 'actor'> {
  /** The powers that were asked for, as plans call them: nothing is said of others. @default all */
  readonly compared?: readonly string[] | undefined
}

/**
 * Lines about power: gained (`+`), lost (`-`), changed (`~`), not known (`?`), and one that says of which no change was found.
 * What is alike shares a line.
 */
export function accessLines({ access = [], accessLimits = [], actor, compared }: ToldAccess): readonly AccessLine[] {
  const rows = access.map(({ power, requests, wallet, before, after }) => ({
    power,
    requests,
    wallet,
    people: peopleTexts(before, after),
    ...differenceText(before, after),
  }))
  const perWallet = Map.groupBy(rows, ({ wallet, sign, said }) => JSON.stringify([wallet ?? null, sign, said]))
  const alike = Map.groupBy(perWallet.values(), (some) =>
    JSON.stringify([
      some.map(({ power, requests }) => requests ?? power),
      some[0]!.sign,
      some[0]!.said,
      some[0]!.wallet === undefined,
    ]),
  )
  const lines = [...alike.values()].map((groups) => {
    const { sign, said, had, then, people, wallet } = groups[0]![0]!
    // A whole power is never among those that are only counted.
    const whole = groups[0]!.flatMap(({ power, requests }) => (requests === undefined ? [power] : []))
    const powers = listed([...whole, ...groups[0]!.flatMap(({ requests = [] }) => requests)], {
      most: Math.max(5, whole.length),
    })
    const of = wallet === undefined ? '' : ` of ${listed(groups.map(([first]) => printable(first!.wallet!)))}`
    const whose = `${powers}${of}`
    return {
      sign,
      text: `${whose}: ${said}`,
      ...(had === undefined ? {} : { whose, before: had, after: then }),
      ...(people.length === 0 ? {} : { people }),
    }
  })
  const limits = accessLimits.map((limit) => ({
    sign: '?' as const,
    text: limitText(limit, printable(actor.userName)),
  }))
  return [...lines, ...limits, { sign: ' ', text: unchangedText(rows.length > 0, accessLimits, compared) }]
}

function differenceText(
  before: Access,
  after: Access,
): { readonly sign: Sign; readonly said: string; readonly had?: string; readonly then?: string } {
  const [had, has] = [accessText(before), accessText(after)]
  if (before.unknown !== undefined || after.unknown !== undefined)
    return { sign: '?', said: `not known whether anybody gains or loses it: ${had === has ? has : `${had} → ${has}`}` }
  const nobody = accessText({ ways: [] })
  if (had === nobody) return { sign: '+', said: has }
  // Compared before they are cut, two lists may differ in what is not shown.
  const then = had === has ? 'other people, or others whom a policy denies it, beyond what is shown' : has
  const said = `${had} → ${then}`
  return has === nobody ? { sign: '-', said } : { sign: '~', said, had, then }
}

function limitText(limit: AccessLimit, actor: string): string {
  switch (limit) {
    case 'not-carried-out':
      return `${actor} cannot apply all of this plan: power is shown as it would be after all of it`
    case 'wallets-unread':
      return 'wallets were not read: who can sign with one or export one is not compared'
    case 'private-keys-unread':
      return 'private keys were not read: who can sign with one or export one is not compared'
    default:
      return limit satisfies never
  }
}

/** What is said of powers that do not change. */
function unchangedText(isSome: boolean, limits: readonly AccessLimit[], compared?: readonly string[]): string {
  if (compared !== undefined)
    return isSome ? 'no change in any other power that was asked for' : `no change in who can ${compared.join(', or ')}`
  const isWhole = !limits.some((limit) => limit.endsWith('-unread'))
  if (isSome) return `no change in any other power${isWhole ? '' : ' that is compared'}`
  const over = isWhole ? 'sign, send, export or import' : 'import'
  return `no change in who can ${over}, or change wallets, policies, the root quorum, users, credentials, features or organizations`
}

/** `any 2 of alice, bob, carol; under condition eth.tx.value < 5: alice`. */
function accessText({ ways, unknown, under = [] }: Access): string {
  const always = ways.length === 0 ? [] : [waysText(ways)]
  const open = under.map((one) => `${circumstanceText(one)}: ${one.ways.length === 0 ? 'nobody' : waysText(one.ways)}`)
  const parts = [...always, ...open, ...(unknown === undefined ? [] : [`unknown: ${printable(unknown)}`])]
  return parts.length === 0 ? 'nobody' : parts.join('; ')
}

/** `any 2 of alice, bob, carol, or dave`. */
export function waysText(ways: readonly Ways[]): string {
  return ways.map(setsText).join(', or ')
}

function setsText({ sets, any, more = 0 }: Ways): string {
  if (any)
    return any.of.length === any.count
      ? any.of.map(printable).join(' and ')
      : `any ${any.count} of ${any.of.map(printable).join(', ')}`
  const written = sets.map((set) => set.map(printable).join(' and ')).join(', or ')
  return more === 0 ? written : `${written}, or ${more} more ${more === 1 ? 'set' : 'sets'} of people`
}

/** A short code of an activity for people to compare: the first eight digits of its fingerprint, `7f3a-19c2`. */
export function shortCode(fingerprint: string): string {
  const digits = fingerprint.replace(/^sha256:/, '')
  return `${digits.slice(0, 4)}-${digits.slice(4, 8)}`
}

/** `1 change`, `2 changes`. */
export function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`
}

/** Most of what is live and in no definition that is named one by one. */
const MOST_UNMANAGED = 6
/** Kinds that let somebody act: which of them are live and in no definition, a reader is told by name. */
const ACTING = ['policy', 'user', 'apiKey', 'authenticator', 'oauthProvider'] as const satisfies readonly KindName[]

/** What is live and in no definition, by name where it lets somebody act; undefined when there is nothing that has no row already. */
export function unmanagedText({ unmanaged, changes }: Pick<Plan, 'unmanaged' | 'changes'>): string | undefined {
  const shown = new Set(changes.map(({ address }) => address))
  const left = unmanaged.filter(({ address }) => !shown.has(address))
  if (left.length === 0) return undefined
  const acting = ACTING.flatMap((kind) => left.filter((one) => one.kind === kind)).map(({ address }) => address)
  const named = acting.slice(0, MOST_UNMANAGED).join(', ')
  const more = acting.length > MOST_UNMANAGED ? ` and ${acting.length - MOST_UNMANAGED} more that let somebody act` : ''
  const which = acting.length === 0 ? '' : `${acting.length === left.length ? ':' : ', among them'} ${named}${more}`
  return `${count(left.length, 'live thing is', 'live things are')} not in the definitions and left alone${which}`
}

/** Most of what a targeted plan leaves out that is named one by one. */
const MOST_LEFT_OUT = 10

/** What a plan of a part is of, what is with it because that needs it, and what it leaves out; none for a plan of everything. */
export function targetLines({ target }: Pick<Plan, 'target'>): readonly string[] {
  if (!target) return []
  const { addresses, needed, leftOut, notLookedInto = [] } = target
  const named = leftOut.slice(0, MOST_LEFT_OUT).map(({ address, action }) => `${action} ${address}`)
  const more = leftOut.length > MOST_LEFT_OUT ? ` and ${leftOut.length - MOST_LEFT_OUT} more` : ''
  return [
    `only ${addresses.join(', ')}`,
    ...needed.map(({ address, by }) => `with ${address}, which ${by} needs`),
    leftOut.length === 0
      ? 'nothing else differs'
      : `left out: ${count(leftOut.length, 'other change', 'other changes')} (${named.join(', ')}${more})`,
    ...(notLookedInto.length === 0
      ? []
      : [
          `not looked into: what is inside ${count(notLookedInto.length, 'sub-organization', 'sub-organizations')} (${notLookedInto.join(', ')})`,
        ]),
  ]
}
