/**
 * An organization as it was at a time, from what lives and from the activities on record. What no activity has touched since is as it
 * lives. What one has made since was not there. What one has changed or deleted since is rebuilt from the activities before: from its
 * creation on, or, of what no activity has made, where they say all that was changed since. Anything else is named as not known.
 */
import { findActivity, fromTimestamp, type Wire } from '../protocol/index.ts'
import { type Actual, type Address, idsOf, kinds, listOf, type Resource, resolveValue } from '../resources/index.ts'
import { effectOf } from './effect.ts'
import { POWERS } from './power-table.ts'

export interface Former {
  readonly things: readonly Resource[]
  /** What is not known of them, in words. */
  readonly unknown: readonly string[]
}

/** Powers whose activities change what answers are made of. */
const CHANGING = [POWERS.policies, POWERS.quorum, POWERS.users, POWERS.credentials, POWERS.features, POWERS.wallets]
const MAKING = /^(CREATE|ENABLE)_/
const TAKING = /^(UPDATE|DELETE|SET|REMOVE|DISABLE)_/
const QUORUM = 'rootQuorum'

/**
 * When an organization began, in milliseconds: when those of its users were made whom no activity has made. Undefined where none of them
 * lives, or something on record is older. `activities` are all on record, `users` all that live.
 */
export function beginningOf(
  activities: readonly Wire.Activity[],
  users: readonly { readonly id: string; readonly createdMs: number }[],
): number | undefined {
  // An organization is made with its first users.
  const others = activities.filter(({ type }) => !/^ACTIVITY_TYPE_CREATE_(SUB_)?ORGANIZATION/.test(type))
  const made = new Set(others.flatMap(madeIds))
  const founders = users.filter(({ id }) => !made.has(id)).map(({ createdMs }) => createdMs)
  if (founders.length === 0) return undefined
  const began = Math.min(...founders)
  const oldest = [...users.map(({ createdMs }) => createdMs), ...others.map((one) => fromTimestamp(one.createdAt))]
  return oldest.some((ms) => ms < began) ? undefined : began
}

/** An activity that was executed. */
interface Done {
  readonly activity: Wire.Activity
  readonly family: string
  readonly ms: number
}

/** Rebuilds an organization; `activities` are all on record, in any order. */
export function thingsAt(
  { resources }: Pick<Actual, 'resources'>,
  { activities, atMs }: { readonly activities: readonly Wire.Activity[]; readonly atMs: number },
): Former {
  const done = activities.flatMap(executed).sort((a, b) => a.ms - b.ms)
  const since = done.filter(({ ms }) => ms > atMs)
  if (since.length === 0) return { things: resources, unknown: [] }
  const until = done.filter(({ ms }) => ms <= atMs)
  const [madeUntil, madeSince] = [until, since].map(
    (some) => new Set(some.filter(isMaking).flatMap(({ activity }) => madeIds(activity))),
  )
  const isMade = ({ id, parentId }: Resource, made: ReadonlySet<string>) => made.has(id!) || made.has(parentId ?? '')
  const seeds = resources.filter((one) => !isMade(one, madeUntil!) && !isMade(one, madeSince!))
  const world = replay(seeds, until, resources)
  const unknown = new Set<string>()
  // Blank, so that what an effect sets can be told from what was there.
  const everything = [...new Map([...world.things, ...resources].map((one) => [keyOf(one), one])).values()]
  const blank = everything.map((one) => ({ ...one, fields: {} }))
  const touched = new Map<string, { readonly fields: Set<string>; readonly by: Done }>()
  for (const one of since) {
    const effect = effectOf(one.activity, { resources: blank })
    if (!effect) {
      // What was created is told by its ids; what else it brought is not.
      if (!one.family.startsWith('CREATE_')) unknown.add(untold(one))
      continue
    }
    const gone = effect.missing.filter((id) => !madeSince!.has(id))
    if (gone.length > 0 && ridersOf(one, gone.length, world.things) === undefined) unknown.add(untold(one))
    for (const { actual, desired } of effect.pairs) {
      if (!actual || isMade(actual, madeSince!)) continue
      const { fields } = touched.get(keyOf(actual)) ?? { fields: new Set() }
      for (const field of desired ? Object.keys(desired.fields) : []) fields.add(field)
      touched.set(keyOf(actual), { fields, by: one })
    }
  }
  const lives = new Set(resources.map(keyOf))
  const former = new Map(world.things.map((one) => [keyOf(one), one]))
  const isKnown = (one: Resource) => {
    if (isMade(one, madeUntil!)) return true
    const said = world.said.get(keyOf(one))
    return [...(touched.get(keyOf(one))?.fields ?? [])].every((field) => said?.has(field))
  }
  const kept = resources.flatMap((one): readonly Resource[] => {
    if (isMade(one, madeSince!)) return []
    const change = touched.get(keyOf(one))
    if (!change) return [one]
    const was = former.get(keyOf(one))
    if (was && isKnown(one)) {
      // What its record does not say was not there before it was set.
      const unsaid = [...change.fields].filter((field) => was.fields[field] === undefined)
      const absent = unsaid.map((field) => [field, kinds[one.kind].fields[field]?.absent ?? null])
      return [{ ...one, name: was.name, fields: { ...one.fields, ...Object.fromEntries(absent), ...was.fields } }]
    }
    const first =
      one.kind === QUORUM
        ? founderOf(resources, { done, madeEver: new Set([...madeUntil!, ...madeSince!]) })
        : undefined
    if (first) return [{ ...one, fields: { ...one.fields, threshold: 1, users: [first] } }]
    unknown.add(`${untold(change.by)}: what ${one.address} was before is not on record`)
    return [one]
  })
  const deleted = world.things.filter((one) => !lives.has(keyOf(one)))
  // Who lost a tag because the tag is gone had it still.
  const tags = new Set(deleted.filter(({ kind }) => kind === 'tag').map(({ id }) => id!))
  const tagged = kept.map((one): Resource => {
    const had = listOf(former.get(keyOf(one))?.fields['tags']).filter((tag) => tags.has(String(tag)))
    const has = listOf(one.fields['tags'])
    const lost = had.filter((tag) => !has.includes(tag))
    return one.kind === 'user' && lost.length > 0 ? { ...one, fields: { ...one.fields, tags: [...has, ...lost] } } : one
  })
  const without = new Set(deleted.flatMap(({ kind, id }) => (kind === 'user' ? [id!] : [])))
  for (const { activity, family } of until) {
    // Passkeys and logins by a provider are made in a way that is not read here.
    const isRead = !family.startsWith('CREATE_') || effectOf(activity, world.whole)?.isWhole
    const named = isRead ? [] : idsOf([activity.intent, activity.result])
    if (named.some((id) => without.has(id)))
      unknown.add(`what ${family} ${activity.id} gave to a user who is deleted since is not rebuilt`)
  }
  for (const fault of world.unknown) if (deleted.length > 0 || touched.size > 0) unknown.add(fault)
  return { things: [...tagged, ...deleted], unknown: [...unknown].sort() }
}

function executed(activity: Wire.Activity): readonly Done[] {
  const row = findActivity(activity.type)?.row
  if (activity.status !== 'ACTIVITY_STATUS_COMPLETED' || !row || !CHANGING.some((isOf) => isOf(row))) return []
  const family = row.type.replace('ACTIVITY_TYPE_', '')
  if (!MAKING.test(family) && !TAKING.test(family)) return []
  return [{ activity, family, ms: fromTimestamp(activity.updatedAt) }]
}

function isMaking({ family }: Done): boolean {
  return MAKING.test(family)
}

/** The ids that an activity has made, in their order: those of its result that it was not given. */
function madeIds({ result, intent }: Wire.Activity): readonly string[] {
  const given = new Set(idsOf(intent))
  return idsOf(result).filter((id) => !given.has(id))
}

function untold({ family, activity }: Done): string {
  return `${family} ${activity.id} of ${new Date(fromTimestamp(activity.updatedAt)).toISOString()} is not taken back`
}

/** Things as executed activities leave them; `live` knows the ids of keys that came with their user. */
function replay(seeds: readonly Resource[], done: readonly Done[], live: readonly Resource[]) {
  const things = new Map(seeds.map((one) => [keyOf(one), one]))
  const said = new Map<string, Set<string>>()
  const unknown = new Set<string>()
  const keyIds = new Map(live.map(({ parentId, fields, id }) => [`${parentId} ${fields['publicKey']}`, id!]))
  for (const one of done) {
    const world = [...things.values()]
    const effect = effectOf(one.activity, { resources: world })
    if (!effect) continue
    const set = effectOf(one.activity, { resources: world.map((thing) => ({ ...thing, fields: {} })) })
    const riders = ridersOf(one, effect.missing.length, world)
    for (const rider of riders ?? []) things.delete(keyOf(rider))
    if (effect.missing.length > 0 && !riders)
      unknown.add(
        `${one.family} ${one.activity.id} names ${effect.missing.join(', ')}, which nothing on record has made`,
      )
    const ids = [...madeIds(one.activity)]
    const made = new Map<Address, string>()
    for (const [index, { actual, desired }] of effect.pairs.entries()) {
      if (actual && desired) {
        things.set(keyOf(actual), { ...desired, fields: resolved(desired, made) })
        // Lists that are added to say nothing of who else is in them.
        const fields = /_USER_TAG$/.test(one.family) ? [] : Object.keys(set?.pairs[index]?.desired?.fields ?? {})
        said.set(keyOf(actual), new Set([...(said.get(keyOf(actual)) ?? []), ...fields]))
      } else if (actual) {
        for (const thing of world) if (thing === actual || thing.parentId === actual.id) things.delete(keyOf(thing))
        for (const [key, thing] of things) {
          const tags = listOf(thing.fields['tags'])
          if (tags.includes(actual.id!))
            things.set(key, { ...thing, fields: { ...thing.fields, tags: tags.filter((tag) => tag !== actual.id) } })
        }
      } else if (desired) {
        const parentId = desired.parentId ?? (desired.parent === undefined ? undefined : made.get(desired.parent))
        const publicKey = `${parentId} ${desired.fields['publicKey']}`
        const rides = kinds[desired.kind].rides && desired.parentId === undefined
        const id = (rides ? undefined : ids.shift()) ?? keyIds.get(publicKey) ?? publicKey
        made.set(desired.address, id)
        const { expiresIn } = desired.fields
        const thing = {
          ...desired,
          id,
          fields: resolved(desired, made),
          ...(parentId === undefined ? {} : { parentId }),
          ...(typeof expiresIn === 'number' ? { known: { expiresAt: one.ms + expiresIn * 1000 } } : {}),
        }
        things.set(keyOf(thing), thing)
      }
    }
  }
  return { things: [...things.values()], whole: { resources: [...things.values(), ...live] }, said, unknown }
}

/** Keys that came with their user, whose ids nothing tells, where a deletion of keys must mean just these. */
function ridersOf(
  { family, activity }: Done,
  count: number,
  things: readonly Resource[],
): readonly Resource[] | undefined {
  if (!family.startsWith('DELETE_API_KEYS') || count === 0) return undefined
  const named = new Set(idsOf(activity.intent))
  const riders = things.filter(
    ({ kind, id, parentId, fields }) =>
      kind === 'apiKey' && named.has(parentId!) && id === `${parentId} ${fields['publicKey']}`,
  )
  return riders.length === count ? riders : undefined
}

function resolved({ fields }: Resource, ids: ReadonlyMap<Address, string>): Resource['fields'] {
  return resolveValue(fields, ids) as Resource['fields']
}

/** The one user whom no activity has made: before its first change, this one was the root quorum. */
function founderOf(
  resources: readonly Resource[],
  { done, madeEver }: { readonly done: readonly Done[]; readonly madeEver: ReadonlySet<string> },
): string | undefined {
  const users = new Set(resources.flatMap(({ kind, id }) => (kind === 'user' && !madeEver.has(id!) ? [id!] : [])))
  for (const { activity, family } of done) {
    for (const { userId } of activity.votes) if (!madeEver.has(userId)) users.add(userId)
    if (family === 'DELETE_USERS') for (const id of idsOf(activity.intent)) if (!madeEver.has(id)) users.add(id)
  }
  const [only] = users
  return users.size === 1 ? only : undefined
}

/** What tells a thing from all others of its organization, at any time. */
export function keyOf({ kind, id }: Resource): string {
  return kind === QUORUM ? QUORUM : `${kind} ${id}`
}
