import { type QueryClient, spacingOf } from '../../client/index.ts'
import { EXIT, messageOf, QuorateError } from '../../diagnostics/index.ts'
import {
  type Cut,
  contain,
  containUser,
  type GoneKey,
  inEach,
  type KeyInside,
  type LocatedKey,
  type LocatedUser,
  listInside,
  locateInside,
  lockOut,
  lockOutUser,
  madeBy,
} from '../../incident/index.ts'
import { keyInside, markCompromised, type Place, shareMarks, submitter } from '../../operations/index.ts'
import { holdReconciler } from '../background/hold-reconciler.ts'
import type { CommandInput } from '../command.ts'
import { keepOrder } from '../command-orders.ts'
import { assertConfirmed } from '../io.ts'
import { counted, line } from '../screen.ts'
import { shellWord } from '../shell-word.ts'
import { renderContainment, renderCut, type TimeInside } from '../views/incident.ts'

/** The key that leaked, or the user. */
export interface Suspected {
  readonly place: Place
  readonly client: QueryClient
  readonly publicKey?: string | undefined
  readonly user?: LocatedUser['user'] | undefined
  /** Where it is in the organization of the client; of a user, one. */
  readonly own: readonly LocatedUser[]
  /** Those that are looked for in the organizations inside. */
  readonly publicKeys: readonly string[]
  /** Those that other machines have marked of a user, which are looked for as well. @default none */
  readonly markedElsewhere?: Promise<readonly string[]>
  /** From when on what was done is told, in milliseconds since the epoch. @default all of it */
  readonly since: number | undefined
  /** Of a key: organizations inside are looked through in which it is registered no more. @default only where it is registered */
  readonly everywhere?: boolean
}

/** Where the suspect was found, and what came of cutting it off there. */
export interface Containment {
  readonly exposures: readonly LocatedUser[]
  /** By id of the organization. */
  readonly cuts: ReadonlyMap<string, readonly Cut[]>
  /** What is of no organization alone: the reconciler, and what could not be looked through. */
  readonly beside: readonly Cut[]
  /** Absent where there are none inside. */
  readonly inside?: TimeInside
}

export const isOfKey = (one: LocatedUser): one is LocatedKey => one.key !== undefined
export const isGone = (one: LocatedUser): one is GoneKey => one.gone !== undefined

/**
 * Asks, then cuts: the mark first, which takes nobody's answer; then the organization of the client, before those inside are looked
 * for, since that takes long where there are many; then each of them as it is found. Where a person is asked, those inside are found
 * first and shown, and the person is asked once more: nothing is cut that was not shown.
 */
export async function cutOff(input: CommandInput, suspected: Suspected): Promise<Containment> {
  const { io, json, options, settings } = input
  const { place, client, publicKey, user, own, since } = suspected
  const inUse = place.key.publicKey.toLowerCase()
  if (inUse === publicKey) throw ownKey(own)
  if (user && own[0]!.others.some((one) => one.publicKey === inUse)) throw ownKey([], user.name)
  for (const one of own) await assertNoLockOut(one, suspected)
  const suspect = user ? { user } : { publicKey: publicKey! }
  const say = (text: string) => (json ? undefined : io.say(text))
  say(renderContainment({ ...suspect, exposures: own }, io.style))
  const othersSince = readOthersSince(options, since)
  if (othersSince !== undefined) {
    const from = new Date(othersSince).toISOString()
    say(line`Credentials that were made for other users since ${from} are deleted as well.\n`)
  }
  if (!options['yes'])
    say('Organizations inside it are looked for after that, and you are asked about them separately.\n')
  await assertConfirmed(input, { question: 'Cut it off?', otherwise: 'nothing was submitted' })
  for (const key of keysOf(suspected)) markCompromised(settings.dataDir, key, place.now(), user?.id)
  // What Temporal or a plan store may have to be waited for holds no submit up.
  const marked = markElsewhere(settings.dataDir)
  const held = holdReconciler(input, place, because(suspected))

  const cuts = new Map<string, Cut[]>()
  const beside: Cut[] = []
  const command = user ? `incident user ${user.name}` : `incident key ${publicKey!.slice(0, 12)}…`
  const tell = (cut: Cut) => {
    const { outcome, activityId, what } = cut
    if (outcome === 'waits' && activityId !== undefined) keepOrder(settings.dataDir, { activityId, command, what })
    say(renderCut(cut, io.style))
  }
  const cutOne = async (exposure: LocatedUser): Promise<void> => {
    const { id, name } = exposure.organization
    const isOwn = id === place.organizationId
    const told = (cut: Cut) => tell(isOwn ? cut : { ...cut, what: `${name}: ${cut.what}` })
    const take = (these: readonly Cut[]) => cuts.set(id, [...(cuts.get(id) ?? []), ...these])
    try {
      if (!isOwn) await assertNoLockOut(exposure, suspected)
      // One rate for all of them: the API counts the requests of one address together (docs/protocol/limits.md#requests-a-second).
      const key = (isOwn ? undefined : await keyInside(place, name)) ?? place.key
      const door = {
        client: submitter({ ...place, organizationId: id, key }),
        now: place.now,
        tell: told,
        deleteUser: options['deleteUser'] === true,
        othersSince,
      }
      take(await (isOfKey(exposure) || isGone(exposure) ? contain(exposure, door) : containUser(exposure, door)))
    } catch (error) {
      // A bad key file of one organization leaves no other uncut.
      const isLockOut = error instanceof QuorateError && error.code === 'cli/lock-out'
      const why = isLockOut ? `${error.message}; ${error.next}` : messageOf(error)
      const cut = { what: 'cut it off here', outcome: isLockOut ? 'refused' : 'unknown', why } as const
      told(cut)
      take([cut])
    }
  }
  const untold = (cut: Cut) => {
    beside.push(cut)
    tell(cut)
  }
  const missed = (what: string, error: unknown) => {
    untold({ what, outcome: 'unknown', why: messageOf(error) })
    return []
  }
  const find = (one: KeyInside) =>
    locateInside(client, one).catch((error: unknown) =>
      missed(line`find the key in organization ${one.organizationId}`, error),
    )

  for (const one of own) await cutOne(one)
  const listed = await listSuspects(suspected, untold).catch((error: unknown) =>
    missed('find the organizations inside', error),
  )
  const inside = listed.length > 0 ? timeNeeded(listed, settings.requestsPerSecond) : undefined
  if (inside) say(timeText(inside))
  const found = await inEach(listed, async (one) => {
    const these = await find(one)
    if (options['yes']) for (const each of these) await cutOne(each)
    return these
  })
  const within = found.flat()
  if (!options['yes'] && within.length > 0) {
    say(renderContainment({ ...suspect, exposures: within }, io.style))
    if (await io.ask('Cut it off there too?')) await inEach(within, cutOne)
  }
  for (const cut of [await marked, await held]) {
    if (!cut) continue
    beside.push(cut)
    tell(cut)
  }
  return { exposures: [...own, ...within], cuts, beside, ...(inside ? { inside } : {}) }
}

/**
 * Lists the organizations inside in which any key of the suspect is registered. Where it cannot be read which keys other machines have
 * marked, `missed` is told, and the others are looked for.
 */
export async function listSuspects(
  { client, markedElsewhere, ...suspect }: Suspected,
  missed: (cut: Cut) => void,
): Promise<readonly KeyInside[]> {
  const marked = await Promise.resolve(markedElsewhere ?? []).catch((error: unknown) => {
    const what = 'find the keys that other machines have marked as this user’s'
    missed({ what, outcome: 'unknown', why: `the plan store: ${messageOf(error)}` })
    return []
  })
  return listInside(client, { ...suspect, publicKeys: [...suspect.publicKeys, ...marked] })
}

/** Marks it for every machine that shares the plan store; undefined where none does. Never throws. */
async function markElsewhere(dataDir: string): Promise<Cut | undefined> {
  const what = 'mark it in the plan store'
  try {
    return (await shareMarks(dataDir)) ? { what, outcome: 'done' } : undefined
  } catch (error) {
    return { what, outcome: 'unknown', why: `${messageOf(error)}; other machines may put it back until then` }
  }
}

/** Requests for an organization inside until it is cut off there: users, name and quorum; what is open, the deletion, what waits, what was made. */
const REQUESTS_EACH = 7
/** For one in which the key is registered no more, where it left nothing: what is open, what was made. */
const REQUESTS_GONE = 2
/** Requests a second by plan (docs/protocol/limits.md#requests-a-second). */
const PLANS = [1, 3, 60]

/** How long many organizations take at most, at the rate that is set, or at each published one. */
function timeNeeded(listed: readonly KeyInside[], requestsPerSecond: number | undefined): TimeInside {
  const requests = listed.reduce((sum, { isGone }) => sum + (isGone ? REQUESTS_GONE : REQUESTS_EACH), 0)
  const rates = requestsPerSecond === undefined ? PLANS : [requestsPerSecond]
  const at = (rate: number) => ({ requestsPerSecond: rate, seconds: Math.ceil((requests * spacingOf(rate)) / 1000) })
  return { organizations: listed.length, requests, takes: rates.map(at) }
}

function timeText({ organizations, requests, takes }: TimeInside): string {
  const each = takes.map(({ requestsPerSecond, seconds }) => `${upTo(seconds)} at ${requestsPerSecond} a second`)
  return line`${counted(organizations, 'organization')} inside, about ${requests} requests: ${each.join(', ')}.\n`
}

/** A time to come, rounded up: `age` drops what is less than a unit. */
function upTo(seconds: number): string {
  return seconds < 120 ? counted(seconds, 'second') : counted(Math.ceil(seconds / 60), 'minute')
}

const because = ({ publicKey, user }: Suspected) => (user ? `incident: user ${user.id}` : `incident: key ${publicKey}`)

/** Public keys that no definition may name any more. */
function keysOf({ publicKey, own }: Suspected): readonly string[] {
  if (publicKey !== undefined) return [publicKey]
  return own[0]!.others.flatMap((one) => (one.kind === 'apiKey' && one.publicKey ? [one.publicKey] : []))
}

/** Throws `cli/lock-out` where nobody could change the organization afterwards. */
async function assertNoLockOut(exposure: LocatedUser, { client }: Suspected): Promise<void> {
  // Of what a key made that is gone, the API keeps the last credential.
  if (isGone(exposure)) return
  if (!isOfKey(exposure)) {
    const why = lockOutUser(exposure)
    if (why === undefined) return
    throw new QuorateError('cli/lock-out', line`\`${exposure.user.name}\` cannot be cut off first: ${why}`, {
      exit: EXIT.refused,
      facts: { organization: exposure.organization.name, submitted: 'nothing' },
      next: 'take somebody else into the root quorum, or lower its threshold; then cut the user off',
    })
  }
  const isOwn = exposure.organization.id === client.organizationId
  // What the key made is read where it could matter alone: that is many requests where much was ever made.
  const mayMatter = isOwn && lockOut(exposure, exposure.others) !== undefined
  const why = lockOut(exposure, mayMatter ? (await madeBy(exposure, client)).credentials : [])
  if (why === undefined) return
  const { user, key } = exposure
  throw new QuorateError('cli/lock-out', line`\`${key.name}\` cannot be cut off first: ${why}`, {
    exit: EXIT.refused,
    facts: { organization: exposure.organization.name, submitted: 'nothing' },
    next: `give ${user.name} a new key at once with \`${rotationOf(user.name, key.name)}\`, which deletes this one`,
  })
}

function ownKey(exposures: readonly LocatedUser[], userName?: string): QuorateError {
  const one = exposures.find(isOfKey)
  const rotate = one ? rotationOf(one.user.name, one.key.name) : 'quorate login'
  const what = userName === undefined ? 'the key to cut off is' : line`one of the credentials of \`${userName}\` is`
  return new QuorateError('cli/lock-out', `${what} the key that this command works with`, {
    exit: EXIT.refused,
    facts: { submitted: 'nothing' },
    next:
      userName === undefined
        ? `work with the key of somebody else, or replace it first: \`${rotate}\``
        : 'work with the key of somebody else',
  })
}

const rotationOf = (user: string, key: string) =>
  `quorate rotate key --user ${shellWord(user)} --name ${shellWord(key)} --overlap 0`

/** Since when the credentials of others are not trusted either; undefined: they are left. Throws `cli/usage` without a time. */
function readOthersSince(options: CommandInput['options'], since: number | undefined): number | undefined {
  if (options['madeForOthers'] !== true) return undefined
  if (since !== undefined) return since
  throw new QuorateError('cli/usage', '--made-for-others needs to know since when', {
    facts: { submitted: 'nothing' },
    next: 'give --since with the time from which on nothing that was made is trusted',
  })
}
