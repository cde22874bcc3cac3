import { EXIT, QuorateError } from '../diagnostics/index.ts'
import { canonicalJson } from '../encoding/index.ts'
import {
  type Actual,
  type Address,
  type Desired,
  KINDS,
  type KindName,
  kinds,
  parseAddress,
  type Resource,
} from '../resources/index.ts'
import { DECISIVE_FIELDS, isCredential, QUORUM, quorumOf } from './authority.ts'
import { comparable, comparedFields, normal } from './comparable.ts'
import { digestLive } from './digest.ts'
import type { LivePart, LiveThing, Plan } from './document.ts'
import { identify } from './identify.ts'
import { compareText, type Lock } from './lock.ts'
import { isDeletedByRemoval, isForgotten, type Removed } from './removal.ts'

/**
 * The part of the live state that a plan of these definitions leans on. `matches` says what each address means, and
 * `removed` what goes because no definition has it any more: it is deleted as it was looked at.
 */
export function livePart(
  desired: Desired,
  actual: Actual,
  { matches, removed }: { readonly matches: ReadonlyMap<Address, Resource>; readonly removed: readonly Removed[] },
): LivePart {
  const declaredAt = new Map(desired.resources.map((one) => [one.address, one]))
  const going = removed.filter(({ address, live }) => isDeletedByRemoval(live) && !isForgotten(desired, address))
  const wanted = new Map([
    ...[...matches].map(
      ([address, live]) => [live, { address, fields: comparedFields(declaredAt.get(address)!) }] as const,
    ),
    ...going.map(({ address, live }) => [live, { address, fields: comparedFields(live) }] as const),
  ])
  const quorum = actual.resources.filter(({ kind }) => kind === QUORUM.kind)
  const members = new Set(quorum.flatMap((one) => quorumOf(one, String).members))
  const things: LiveThing[] = []
  for (const live of actual.resources) {
    const declared = wanted.get(live)
    const fields = new Set([...(DECISIVE_FIELDS[live.kind] ?? []), ...(declared?.fields ?? [])])
    const memberCredential = isCredential(live) && members.has(live.parentId!)
    if (memberCredential) fields.add(kinds[live.kind].credential!.field)
    const covered = declared || memberCredential || DECISIVE_FIELDS[live.kind] || desired.manageAll.has(live.kind)
    if (!covered) continue
    const { kind } = live
    things.push({ address: declared?.address ?? live.address, kind, id: live.id!, fields: comparable(live, fields) })
  }
  const taken = new Set(actual.resources.map(({ address }) => address))
  for (const { address, kind, tombstone } of desired.resources) {
    // A new key may bear the name of the one that it replaces.
    if (!matches.has(address) && !tombstone && !taken.has(address)) things.push({ address, kind, id: null, fields: {} })
  }
  things.sort((a, b) => compareText(a.address, b.address) || compareText(a.id ?? '', b.id ?? ''))
  return { every: everyOf(desired, members), things }
}

/** The digest of what a plan of these definitions would lean on, as it is live now. */
export function liveDigest(desired: Desired, actual: Actual, lock: Lock = {}): string {
  const identified = identify({ desired, actual, lock, actingUserId: actual.actor.userId, creators: {} })
  return digestLive(livePart(desired, actual, identified))
}

/**
 * Checks that what the plan leans on has not moved. Throws `plan/stale` naming what moved (exit 5), or
 * `plan/other-organization`.
 */
export function checkFresh(plan: Plan, actual: Actual): void {
  if (plan.organization.id !== actual.organizationId) {
    throw new QuorateError('plan/other-organization', 'the plan was made for another organization', {
      facts: { plan: plan.organization.id, live: actual.organizationId },
      next: 'apply it where it was made, or make a plan for this organization',
    })
  }
  const moved = movedSince(plan, actual)
  if (moved.length === 0) return
  const shown = moved.slice(0, 5).join('; ')
  const more = moved.length > 5 ? `; and ${moved.length - 5} more` : ''
  throw new QuorateError('plan/stale', `the organization has moved since the plan was made: ${shown}${more}`, {
    facts: { 'made at': plan.createdAt, moved: moved.length },
    next: 'make the plan again and look at it',
    exit: EXIT.stale,
  })
}

/** The kinds that a plan leans on: what must be read to tell whether it is stale. */
export function kindsOf({ live: { every, things } }: Pick<Plan, 'live'>): ReadonlySet<KindName> {
  return new Set([...every, ...things].map(({ kind }) => kind))
}

/** What has moved, one short sentence each, in the order of addresses. */
export function movedSince({ live: { every, things } }: Pick<Plan, 'live'>, actual: Actual): readonly string[] {
  const key = (kind: string, id: string) => `${kind} ${id}`
  const now = new Map(actual.resources.map((live) => [key(live.kind, live.id!), live]))
  const known = new Set(things.flatMap(({ kind, id }) => (id === null ? [] : [key(kind, id)])))
  const moved: [Address, string][] = []
  for (const { address, kind, id, fields } of things) {
    if (id === null) {
      const other = actual.resources.find((live) => live.kind === kind && live.address === address)
      if (other) moved.push([address, `\`${address}\` is live now`])
      continue
    }
    const live = now.get(key(kind, id))
    if (!live) {
      moved.push([address, `\`${address}\` is gone`])
      continue
    }
    const other = comparable(live, Object.keys(fields))
    const differ = Object.keys(fields).filter((field) => canonicalJson(other[field]) !== canonicalJson(fields[field]))
    if (differ.length > 0)
      moved.push([address, `\`${address}\` has another ${differ.map((field) => `\`${field}\``).join(', ')}`])
  }
  const planned = new Set(things.filter(({ id }) => id === null).map(({ address }) => address))
  for (const { kind, parentIds } of every) {
    for (const live of actual.resources) {
      if (live.kind !== kind || known.has(key(kind, live.id!)) || planned.has(live.address)) continue
      if (parentIds === undefined || parentIds.includes(live.parentId!))
        moved.push([live.address, `\`${live.address}\` is new`])
    }
  }
  return moved.sort(([a], [b]) => compareText(a, b)).map(([, text]) => text)
}

function everyOf(desired: Desired, members: ReadonlySet<string>): LivePart['every'] {
  return KINDS.flatMap((kind) => {
    if (DECISIVE_FIELDS[kind] || desired.manageAll.has(kind)) return [{ kind }]
    return isCredential({ kind }) ? [{ kind, parentIds: [...members].sort(compareText) }] : []
  })
}

/** The same live part after ids in it were replaced. */
export function inNormalForm({ every, things }: LivePart): LivePart {
  return {
    every: every.map((one) => (one.parentIds ? { ...one, parentIds: one.parentIds.toSorted(compareText) } : one)),
    things: things
      .map((thing) => {
        const rows = kinds[thing.kind].fields
        const fields = Object.entries(thing.fields).map(([field, value]) => [
          field,
          normal(value, rows[field]?.compare ?? 'exact'),
        ])
        return { ...thing, fields: Object.fromEntries(fields) as LiveThing['fields'] }
      })
      .toSorted((a, b) => compareText(a.address, b.address) || compareText(a.id ?? '', b.id ?? '')),
  }
}

/** The sub-organizations that a plan leans on, or makes: what must be looked for to tell whether it is stale. */
export function subOrganizationsOf({ live: { things } }: Pick<Plan, 'live'>): readonly { name: string; id?: string }[] {
  return things
    .filter(({ kind }) => kind === 'subOrganization')
    .map(({ address, id }) => ({ name: parseAddress(address)!.names[0]!, ...(id === null ? {} : { id }) }))
}
