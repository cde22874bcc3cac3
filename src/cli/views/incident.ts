/** An incident for people; programs get the same as JSON. */
import { markdownCode, markdownText } from '../../diagnostics/index.ts'
import type { Act, Cut, KeyMade, LeftBehind, LeftToPeople, LocatedUser, Traced } from '../../incident/index.ts'
import { type Forecast, renderForecast, shortCode } from '../../plan/index.ts'
import { saysLastCredential } from '../../protocol/index.ts'
import type { Style } from '../io.ts'
import { counted, view } from '../screen.ts'
import { statusWord } from './activity.ts'
import { heldPowerTexts } from './held-powers.ts'

/** Which key leaked, or whose credentials did. */
interface Suspect {
  readonly publicKey?: string
  readonly user?: { readonly id: string; readonly name: string }
}

const nameOf = ({ publicKey, user }: Suspect) => (user ? `user ${user.name} (${user.id})` : `API key ${publicKey}`)

/** A protective step, with whose approval it waits for. */
type ShownCut = Cut & { readonly needed?: Forecast }

/** What the organizations inside take to be gone through, at most. */
export interface TimeInside {
  readonly organizations: number
  /** About so many. */
  readonly requests: number
  /** At the rate that is set, or at each that is published. */
  readonly takes: readonly { readonly requestsPerSecond: number; readonly seconds: number }[]
}

/** What is known of a key or a user, and its JSON. */
export interface IncidentView extends Suspect {
  /** ISO 8601. */
  readonly at: string
  readonly since?: string
  /** After containment, where the suspect is in organizations inside. */
  readonly inside?: TimeInside
  readonly organizations: readonly (Traced & {
    readonly organization: { readonly id: string; readonly name: string }
    /** Where the key was registered when this began. */
    readonly exposure?: LocatedUser
    readonly cuts?: readonly ShownCut[]
    /**
     * After containment. `refused`: a request with the key was; `not registered`: it is in no list; `denied`: a policy denies
     * whatever the user approves, whose last credential the API keeps; else it works still.
     */
    readonly proof?: 'refused' | 'not registered' | 'denied' | 'registered' | 'accepted'
  })[]
}

/** Most activities that are shown; the timeline has them all. */
const MOST = 20

/** Before anything is cut. */
export const renderContainment = view(
  ({ exposures, ...suspect }: Suspect & { readonly exposures: readonly LocatedUser[] }, style: Style) => {
    const rows = exposures.slice(0, MOST).map(({ organization, user, key, gone, others }) => {
      if (gone) {
        const where = `${style.strong(organization.name)}: the key of ${user.name} is no longer registered`
        return `  ${where}; credentials that it made are deleted, and waiting activities of it rejected\n`
      }
      if (!key) {
        const all = others.map(({ kind, name }) => `${kind} ${name}`).join(', ') || 'none'
        return `  ${style.strong(organization.name)}: every credential of ${user.name}: ${all}\n`
      }
      const more =
        others.length === 0
          ? `, the only credential of ${user.name}: the API keeps it, and all that ${user.name} approves is denied by a policy; --delete-user deletes the user instead`
          : `; ${user.name} has ${counted(others.length, 'other credential', 'other credentials')}, and those that the key made are deleted too`
      return `  ${style.strong(organization.name)}: API key ${key.name} of ${user.name}${more}\n`
    })
    if (exposures.length > MOST) rows.push(`  and in ${exposures.length - MOST} more organizations\n`)
    const none = exposures.length === 0 ? '  it is not registered in the organization itself\n' : ''
    return `To be cut off: ${nameOf(suspect)}\n${rows.join('')}${none}`
  },
)

const SIGNS = { done: 'good', waits: 'warning', refused: 'error', unknown: 'error' } as const

/** One protective step. */
export const renderCut = view(({ what, outcome, fingerprint, why }: Cut, style: Style): string => {
  const code = outcome === 'waits' && fingerprint !== undefined ? `, as ${shortCode(fingerprint)}` : ''
  return `  ${style[SIGNS[outcome]](outcome.padEnd(8))} ${what}${code}${why === undefined ? '' : `: ${why}`}\n`
})

/** A paragraph an organization. */
export const renderIncident = view((report: IncidentView, style: Style): string => {
  const since = report.since === undefined ? '' : `, since ${report.since}`
  const head = `${style.strong(nameOf(report))}\n`
  return head + report.organizations.map((one) => paragraph(one, { style, since })).join('')
})

function paragraph(
  one: IncidentView['organizations'][number],
  { style, since }: { readonly style: Style; readonly since: string },
): string {
  const { organization, exposure, cuts, proof, acts, left, beyond, keysMade, reach } = one
  const rows: [string, readonly string[]][] = [
    ['user', [exposure ? userText(exposure) : 'it is not registered here']],
    ['also has', (exposure?.others ?? []).map(({ kind, name, createdAt }) => `${kind} ${name}, made ${createdAt}`)],
    ['could', heldPowerTexts(reach)],
    [
      'did',
      acts.length === 0
        ? [`nothing that is recorded${since}`]
        : [`${counted(acts.length, 'activity', 'activities')}${since}`, ...acts.slice(-MOST).map(actText)],
    ],
    ['made key', keysMade.map(keyMadeText)],
    ['left', left.map((each) => `${each.at}  ${each.did.padEnd(9)}  ${each.address}  ${each.activityId}`)],
    [
      'beyond',
      beyond.length === 0
        ? []
        : [
            `${beyond.length} sent, signed or exported, which cannot be taken back`,
            ...beyond.slice(-MOST).map(actText),
          ],
    ],
    ['cut', (cuts ?? []).map(({ what, outcome, why }) => `${outcome}: ${what}${why === undefined ? '' : `: ${why}`}`)],
    ['proof', proof === undefined ? [] : [PROOFS[proof]]],
    ['next', nextSteps(one)],
  ]
  const shown = rows.filter(([, texts]) => texts.length > 0)
  const text = shown.map(([name, texts]) =>
    texts.map((each, index) => `  ${style.dim((index === 0 ? name : '').padEnd(9))} ${each}\n`).join(''),
  )
  return `\n${style.strong(organization.name)} ${style.dim(organization.id)}\n${text.join('')}`
}

/** What a key did that the suspect made is not told with what the suspect did. */
function keyMadeText({ publicKey, activities }: KeyMade): string {
  return `${publicKey}: ${counted(activities, 'activity', 'activities')} of its own, told by \`quorate incident key ${publicKey}\``
}

function userText({ user, key, gone }: LocatedUser): string {
  if (gone) return `${user.name}, whose key it was: it is no longer registered`
  return key ? `${user.name}, key ${key.name}, registered ${key.createdAt}` : user.name
}

const PROOFS = {
  refused: 'the API refused a request with the key',
  'not registered': 'the key is no longer registered; with --leaked-key-file a request with it is tried',
  denied:
    'a policy denies whatever the user approves; the API keeps the last credential of a user, which may still read: --delete-user ends that too',
  registered: 'the API still has the key or credential registered: it WORKS',
  accepted: 'the API took a request with the key: it WORKS',
} as const

function actText({ at, part, type, status, id }: Act): string {
  return `${at}  ${part.padEnd(9)}  ${type.replace('ACTIVITY_TYPE_', '')}  ${statusWord(status)}  ${id}`
}

/** What is left to people. */
function nextSteps({ cuts = [], proof, left }: IncidentView['organizations'][number]): readonly string[] {
  const waiting = cuts.filter(({ outcome }) => outcome === 'waits')
  const failed = cuts.filter(({ outcome }) => outcome === 'unknown' || outcome === 'refused')
  const isLast = ({ why = '' }: Cut) => saysLastCredential(why)
  return [
    ...waiting.map(({ fingerprint, needed }) => {
      const code = shortCode(fingerprint!)
      return `${code} ${needed ? renderForecast(needed) : 'waits for others'}: \`quorate approve ${code}\``
    }),
    ...(failed.some(isLast)
      ? ['the API keeps the last credential of a user: give the user a new one, or delete the user too (--delete-user)']
      : []),
    ...(failed.every(isLast) ? [] : ['run it again, with a key that may do what was refused']),
    ...(left.length > 0
      ? ['look at each thing under `left`; `quorate plan FOLDER` shows what would put the definitions back']
      : []),
    ...(cuts.length === 0 && (proof === undefined || proof === 'registered') ? ['cut it off with --contain'] : []),
  ]
}

/** Who, what, when, activity ids: all of it, for those who come later. */
export const renderTimeline = view((report: IncidentView): string => {
  const { publicKey, user, at, since, organizations } = report
  const what = user
    ? `user ${markdownText(user.name)} ${markdownCode(user.id)}`
    : `API key ${markdownCode(publicKey ?? '')}`
  const head = `# Incident: ${what}\n\nWritten ${at}${since === undefined ? '' : `, about what was done since ${since}`}.\n`
  return head + organizations.map(section).join('')
})

function section({
  organization,
  exposure,
  cuts = [],
  proof,
  acts,
  left,
  beyond,
  keysMade,
}: IncidentView['organizations'][number]): string {
  const whose = exposure ? `${whoseKey(exposure)} of ${markdownText(exposure.user.name)}.` : 'Not registered here.'
  const rows = acts.map(
    ({ at, part, type, status, id, requestedBy }) =>
      `| ${at} | ${part} | ${markdownCode(type.replace('ACTIVITY_TYPE_', ''))} | ${statusWord(status)} | ${markdownText(requestedBy)} | ${markdownCode(id)} |\n`,
  )
  const table =
    rows.length === 0
      ? 'No activity of it is recorded.\n'
      : `| at | the key | activity | status | requested by | id |\n|---|---|---|---|---|---|\n${rows.join('')}`
  const lives = left.map(
    (each: LeftBehind) =>
      `- ${each.did} ${markdownCode(each.address)} (${markdownCode(each.activityId)}, ${each.at})\n`,
  )
  const steps = cuts.map(
    ({ what, outcome, activityId, why, needed }) =>
      `- ${outcome}: ${markdownText(what)}${activityId === undefined ? '' : ` (${markdownCode(activityId)})`}${why === undefined ? '' : `: ${markdownText(why)}`}${needed ? `; ${markdownText(renderForecast(needed))}` : ''}\n`,
  )
  const gone = beyond.map(
    ({ at, type, status, id }) =>
      `- ${markdownCode(type.replace('ACTIVITY_TYPE_', ''))}, ${statusWord(status)} (${markdownCode(id)}, ${at})\n`,
  )
  return [
    `\n## ${markdownText(organization.name)} ${markdownCode(organization.id)}\n\n${whose}\n\n### What it did\n\n${table}`,
    keysMade.length === 0
      ? ''
      : `\n### Keys that it made\n\n${keysMade.map((made) => `- ${markdownText(keyMadeText(made))}\n`).join('')}`,
    lives.length === 0 ? '' : `\n### What lives of it\n\n${lives.join('')}`,
    gone.length === 0 ? '' : `\n### What cannot be taken back\n\n${gone.join('')}`,
    steps.length === 0 ? '' : `\n### What was cut\n\n${steps.join('')}`,
    proof === undefined ? '' : `\nProof: ${PROOFS[proof]}.\n`,
  ].join('')
}

function whoseKey({ key, gone }: LocatedUser): string {
  if (gone) return 'API key, no longer registered,'
  return key ? `API key ${markdownText(key.name)}` : 'Every credential'
}

/** What `--revert` wrote, and its JSON. */
export interface RevertView {
  /** Absent where nothing was written. */
  readonly plan?: string
  readonly deletes: readonly string[]
  readonly restores: readonly string[]
  /** Guards that stop its apply. */
  readonly guards: readonly { readonly message: string; readonly bypass: string }[]
  readonly leaves: readonly LeftToPeople[]
}

/** What the plan takes back, how it is applied, and what is left to people. */
export const renderRevert = view(({ plan, deletes, restores, guards, leaves }: RevertView): string => {
  const does = [
    ...(deletes.length > 0 ? [`deletes ${deletes.join(', ')}`] : []),
    ...(restores.length > 0 ? [`restores ${restores.join(', ')}`] : []),
  ].join(' and ')
  const what = plan
    ? `A plan that ${does} is in ${plan}: \`quorate show ${plan}\`, then \`quorate apply ${plan}\`.`
    : 'There is nothing that a plan could take back.'
  const stops = guards.map(
    ({ message, bypass }) => `Its apply is stopped: ${message}. If that is right, add ${bypass}.`,
  )
  const left = leaves.map((one) => `  ${one.what}: ${one.why}`)
  return `${[what, ...stops, ...(left.length > 0 ? ['Left to you:', ...left] : [])].join('\n')}\n`
})
