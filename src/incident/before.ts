/** What a suspect changed or deleted, as it was before, from the activities on record. It decides nothing about what is planned. */
import { effectOf, keyOf, thingsAt } from '../analysis/index.ts'
import { findActivity, fromTimestamp, type Wire } from '../protocol/index.ts'
import { type Actual, type KindName, kinds, listOf, mentionsOf, type Resource, sameValue } from '../resources/index.ts'

/** What a plan does not take back. */
export interface LeftToPeople {
  /** An address, or an activity. */
  readonly what: string
  readonly why: string
}

export interface Before {
  /** What lives and is other than it was. */
  readonly changed: readonly { readonly live: Resource; readonly was: Resource }[]
  /** What lives no more and can be made again, with its former ids. */
  readonly deleted: readonly Resource[]
  readonly leaves: readonly LeftToPeople[]
}

/** What can be made again from its record: nothing in it is known to its owner alone. */
const MADE_AGAIN: readonly KindName[] = ['tag', 'user', 'apiKey', 'policy']
/** Of anything else a suspect's activity makes, the list of what it made tells. */
const TAKING = /^(UPDATE|DELETE|SET|REMOVE|ENABLE|DISABLE|RECOVER)_/

/** A tag that is made gives itself to users. */
const JOINING = /^CREATE_USER_TAG$/

/** A thing that the suspect touched. */
interface Touch {
  /** When it was as it is to be again. */
  readonly atMs: number
  /** What somebody else did to it afterwards. */
  readonly since?: string
}

/**
 * Finds what completed activities of a suspect changed or deleted and is still so. What somebody else changed afterwards is left to
 * people, since setting it back would undo that as well; so is what records do not tell.
 */
export function beforeOf(
  actual: Actual,
  {
    activities,
    nowMs,
    isSuspects,
    isOwn,
    isMade,
  }: {
    /** All on record, in any order. */
    readonly activities: readonly Wire.Activity[]
    readonly nowMs: number
    readonly isSuspects: (activity: Wire.Activity) => boolean
    /** Whether it is the suspect's own: nothing lets a suspect in again. */
    readonly isOwn: (thing: Resource) => boolean
    /** Whether the suspect made it: it was not there before. */
    readonly isMade: (thing: Resource) => boolean
  },
): Before {
  const done = activities
    .filter(({ status }) => status === 'ACTIVITY_STATUS_COMPLETED')
    .map((activity) => ({ activity, family: familyOf(activity), ms: fromTimestamp(activity.updatedAt) }))
    .filter(({ family }) => TAKING.test(family) || JOINING.test(family))
    .sort((a, b) => a.ms - b.ms)
  const start = done.findIndex(({ activity }) => isSuspects(activity))
  if (start === -1) return { changed: [], deleted: [], leaves: [] }
  const worlds = new Map<number, ReturnType<typeof thingsAt>>()
  const worldAt = (atMs: number) => {
    const known = worlds.get(atMs) ?? thingsAt(actual, { activities, atMs })
    worlds.set(atMs, known)
    return known
  }
  const startMs = done[start]!.ms - 1
  const atStart = new Set(worldAt(startMs).things.map(keyOf))
  const leaves: LeftToPeople[] = []
  const touched = new Map<string, Touch>()
  const changedByOthers = new Set<string>()
  for (const { activity, family, ms } of done.slice(start)) {
    const isTheirs = isSuspects(activity)
    const named = `${family} ${activity.id}`
    const readFrom = (former: readonly Resource[]) =>
      effectOf(activity, { resources: joined(actual.resources, former) })
    const first = readFrom(worldAt(startMs).things)
    // Made by somebody since the start, and deleted since.
    const isLater = isTheirs && (first?.missing.length ?? 0) > 0
    const former = worldAt(isLater ? ms - 1 : startMs).things
    const effect = isLater ? readFrom(former) : first
    if (isTheirs && TAKING.test(family) && (!effect || effect.missing.length > 0))
      leaves.push({ what: named, why: 'records do not tell what was there before it' })
    for (const { actual: thing, desired } of effect?.pairs ?? []) {
      if (!thing) continue
      const held = desired ? [] : former.filter(({ parentId }) => parentId === thing.id)
      for (const key of [thing, ...held].map(keyOf)) {
        const touch = touched.get(key)
        const isAsAtStart = atStart.has(key) && !changedByOthers.has(key)
        if (isTheirs && !touch) touched.set(key, { atMs: isAsAtStart ? startMs : ms - 1 })
        if (isTheirs) continue
        changedByOthers.add(key)
        const by = activity.votes[0]?.user.userName ?? 'somebody'
        if (touch) touched.set(key, { ...touch, since: `${by} changed it afterwards by ${named}` })
      }
    }
  }
  const lives = new Map(actual.resources.map((one) => [keyOf(one), one]))
  const changed: { live: Resource; was: Resource }[] = []
  const deleted: Resource[] = []
  for (const [key, { atMs, since }] of touched) {
    const { things, unknown } = worldAt(atMs)
    const was = things.find((one) => keyOf(one) === key)
    const live = lives.get(key)
    if (!was || isMade(live ?? was) || isOwn(was)) continue
    const { address } = live ?? was
    const leave = (why: string) => leaves.push({ what: address, why })
    if (live && isSame(live, was)) {
      if (unknown.some((fault) => fault.includes(`what ${address} was before`)))
        leave('records do not tell what it was before')
    } else if (since !== undefined) leave(since)
    else if (live) changed.push({ live, was })
    else if (!MADE_AGAIN.includes(was.kind)) leave(whyGone(was.kind))
    else if ((was.known?.expiresAt ?? Number.POSITIVE_INFINITY) <= nowMs) leave('it has expired')
    else if (actual.resources.some((one) => one.address === address)) leave('another one has its name by now')
    else deleted.push(was)
  }
  const found = { changed: withRejoined(changed, { deleted, actual, formerly: worldAt }, touched), deleted }
  return { ...withoutDead(found, { actual, leaves }), leaves }
}

/** With those who lost a deleted tag, and the policies that name what gets another id. */
function withRejoined(
  changed: readonly { readonly live: Resource; readonly was: Resource }[],
  {
    deleted,
    actual,
    formerly,
  }: {
    readonly deleted: readonly Resource[]
    readonly actual: Actual
    readonly formerly: (atMs: number) => ReturnType<typeof thingsAt>
  },
  touched: ReadonlyMap<string, Touch>,
): Before['changed'] {
  const found = new Map(changed.map((one) => [keyOf(one.live), one]))
  const wasOf = (live: Resource) => found.get(keyOf(live))?.was ?? live
  for (const tag of deleted.filter(({ kind }) => kind === 'tag')) {
    const former = new Map(formerly(touched.get(keyOf(tag))!.atMs).things.map((one) => [keyOf(one), one]))
    for (const live of actual.resources.filter(({ kind }) => kind === 'user')) {
      if (!listOf(former.get(keyOf(live))?.fields['tags']).includes(tag.id!)) continue
      const was = wasOf(live)
      const tags = [...new Set([...listOf(was.fields['tags']), tag.id!])]
      found.set(keyOf(live), { live, was: { ...was, fields: { ...was.fields, tags } } })
    }
  }
  for (const live of actual.resources.filter(({ kind }) => kind === 'policy')) {
    const was = wasOf(live)
    const named = mentionsOf(was)
    if (deleted.some(({ id }) => named.has(id!))) found.set(keyOf(live), { live, was })
  }
  return [...found.values()]
}

/** Without what had somebody or something in it that lives no more. */
function withoutDead(
  { changed, deleted }: Pick<Before, 'changed' | 'deleted'>,
  { actual, leaves }: { readonly actual: Actual; readonly leaves: LeftToPeople[] },
): Pick<Before, 'changed' | 'deleted'> {
  const known = new Set([...actual.resources, ...deleted].map(({ id }) => id!))
  const isWhole = (was: Resource, address = was.address) => {
    const members = [...listOf(was.fields['users']), ...listOf(was.fields['tags']), was.parentId]
    const dead = members.filter((id) => typeof id === 'string' && !known.has(id))
    if (dead.length > 0) leaves.push({ what: address, why: `it named ${dead.join(', ')}, which lives no more` })
    return dead.length === 0
  }
  return {
    changed: changed.filter(({ live, was }) => isWhole(was, live.address)),
    deleted: deleted.filter((was) => isWhole(was)),
  }
}

function isSame(live: Resource, was: Resource): boolean {
  return (
    live.name === was.name &&
    Object.entries(kinds[live.kind].fields).every(([field, { compare }]) =>
      sameValue(was.fields[field], live.fields[field], compare),
    )
  )
}

function whyGone(kind: KindName): string {
  const { irreplaceable } = kinds[kind]
  return irreplaceable === undefined
    ? 'it was deleted, and only its owner can make it again'
    : `it was deleted: ${irreplaceable}`
}

function joined(live: readonly Resource[], former: readonly Resource[]): readonly Resource[] {
  return [...new Map([...former, ...live].map((one) => [keyOf(one), one])).values()]
}

function familyOf({ type }: Wire.Activity): string {
  return (findActivity(type)?.row.type ?? type).replace('ACTIVITY_TYPE_', '')
}
