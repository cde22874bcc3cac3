/**
 * Which live thing each address means. By the id in the lock first, then by the former name, then by what tells it from
 * others of its parent. What is found without the lock, or in one that nobody vouches for, is *adopted*: somebody may have
 * put it there to be found, so its creator is looked at (else a user who may create users could create `carol` first and be
 * voted into the quorum).
 */
import { createSource, type Diagnostic, diagnostic, type Span, spanAt } from '../diagnostics/index.ts'
import {
  type Actual,
  type Address,
  type Desired,
  formatAddress,
  KINDS,
  kinds,
  parseAddress,
  type Resource,
} from '../resources/index.ts'
import { isActor } from './authority.ts'
import { compareText, type Lock, type LockRow, type LockRows, sortMembers } from './lock.ts'
import { hasOwnId, isForgotten, type Removed, removals } from './removal.ts'

/** Who submitted the activity that created a live thing, by live id; absent for what has no known creator. */
export type Creators = ReadonlyMap<string, CreatedBy> | Readonly<Record<string, CreatedBy>>
export interface CreatedBy {
  readonly userId: string
  readonly userName: string
  /** Whether its user was made by the same activity, and it with that. */
  readonly cameWithUser?: true
}

export interface IdentifyInput {
  readonly desired: Desired
  readonly actual: Actual
  readonly lock: Lock
  /** @default true */
  readonly isLockVouchedFor?: boolean
  /** The acting user: resources that this user created are adopted without asking. */
  readonly actingUserId: string
  readonly creators: Creators
}

export interface Identified {
  /** The live thing of each declared address that has one. */
  readonly matches: ReadonlyMap<Address, Resource>
  /** Live ids by address: declared ones, and undeclared ones where no other has that address. */
  readonly ids: Readonly<Record<Address, string>>
  /** Adoptions that need somebody's leave. */
  readonly adoptions: readonly { readonly resource: Resource; readonly live: Resource; readonly creator?: CreatedBy }[]
  /** Live resources that were managed here and have no definition any more. */
  readonly removed: readonly Removed[]
  /** Addresses of the lock that no definition has and nothing answers to any more. */
  readonly gone: readonly Address[]
  /** Works out the lock after these matches are accepted. */
  readonly lock: () => Lock
  readonly diagnostics: readonly Diagnostic[]
}

/** Finds the live thing of each declared address. */
export function identify(input: IdentifyInput): Identified {
  const { desired, actual } = input
  const search = new Search(input)
  // Parents stand before their children in KINDS, so a child is looked for in the parent that was found.
  const byKind = Map.groupBy(desired.resources, ({ kind }) => kind)
  for (const kind of KINDS) {
    const declared = byAddress(byKind.get(kind) ?? [])
    for (const one of declared) search.byLock(one, one.address)
    for (const one of declared) search.byFormerName(one)
    for (const one of declared) search.byIdentity(one)
  }
  const rows = input.lock[actual.organizationId] ?? {}
  const { removed, gone } = removals(rows, { desired, actual, matches: search.matches })
  return {
    matches: search.matches,
    ids: idsOf(search.matches, actual),
    adoptions: search.adoptions,
    removed,
    gone,
    lock: () => nextLock(input, search.matches, gone),
    diagnostics: search.diagnostics,
  }
}

/** The state of one search: what is matched, and which live things are taken. */
class Search {
  readonly matches = new Map<Address, Resource>()
  readonly adoptions: { resource: Resource; live: Resource; creator?: CreatedBy }[] = []
  readonly diagnostics: Diagnostic[] = []
  readonly #input: IdentifyInput
  readonly #locked: LockRows
  readonly #declared: ReadonlySet<Address>
  readonly #taken = new Set<Resource>()
  readonly #byId: ReadonlyMap<string, Resource>
  readonly #byKind: ReadonlyMap<string, readonly Resource[]>
  /** Live ids whose origin is known to be ours; a child that came with its parent is trusted with it. */
  readonly #trusted = new Set<string>()

  constructor(input: IdentifyInput) {
    this.#input = input
    const { resources } = input.actual
    this.#byId = new Map(resources.map((one) => [`${one.kind} ${one.id}`, one]))
    this.#byKind = Map.groupBy(resources, ({ kind }) => kind)
    this.#locked = input.lock[input.actual.organizationId] ?? {}
    this.#declared = new Set(input.desired.resources.map(({ address }) => address))
  }

  byLock(resource: Resource, address: Address): void {
    const id = Object.hasOwn(this.#locked, address) ? this.#locked[address]!.id : undefined
    if (id === undefined || this.matches.has(resource.address)) return
    const live = this.#byId.get(`${resource.kind} ${id}`)
    if (!live || !this.#isFree(resource, live)) return
    // Anybody who proposes definitions can write a row.
    if (this.#input.isLockVouchedFor === false) this.#adopt(resource, live)
    this.#match(resource, live)
  }

  byFormerName(resource: Resource): void {
    const { renamedFrom } = resource
    const names = parseAddress(resource.address)?.names
    if (renamedFrom === undefined || !names || this.matches.has(resource.address)) return
    const former = formatAddress(resource.kind, ...names.slice(0, -1), renamedFrom)
    if (this.#declared.has(former)) return
    this.byLock(resource, former)
    this.byIdentity({ ...resource, name: renamedFrom })
  }

  byIdentity(resource: Resource): void {
    if (this.matches.has(resource.address)) return
    const { identity, one } = kinds[resource.kind]
    const same = this.#free(resource).filter((live) => identity(live) === identity(resource))
    if (same.length > 1) {
      const found = same.map((live) => `\`${live.id}\``).sort(compareText)
      const message = `${same.length} live things are the ${one} \`${resource.name}\`: ${found.join(' and ')}`
      const help = `rename or delete one, or write \`${resource.address}: <id>\` into the lock file`
      this.diagnostics.push(diagnostic('plan/ambiguous', message, spanOf(resource), { help }))
      return
    }
    const [live] = same
    if (!live) return
    this.#adopt(resource, live)
    this.#match(resource, live)
  }

  /** Live things of the kind and parent that no address has yet. */
  #free(resource: Resource): readonly Resource[] {
    return (this.#byKind.get(resource.kind) ?? []).filter((one) => this.#isFree(resource, one))
  }

  #isFree({ parent }: Resource, live: Resource): boolean {
    const parentId = parent === undefined ? undefined : this.matches.get(parent)?.id
    if (parent !== undefined && parentId === undefined) return false
    return live.parentId === parentId && !this.#taken.has(live)
  }

  #match(resource: Resource, live: Resource): void {
    this.matches.set(resource.address, live)
    this.#taken.add(live)
    if (!this.adoptions.some((one) => one.live === live)) this.#trusted.add(live.id!)
  }

  #adopt(resource: Resource, live: Resource): void {
    // Deleting is no reason to trust, and what nobody can create nobody can have planted.
    if (resource.tombstone || !hasOwnId(live)) return
    if (isActor(live, this.#input.actual.actor)) return
    const creator = creatorOf(this.#input.creators, live.id!)
    if (creator?.userId === this.#input.actingUserId) return
    const cameAlong = !creator || creator.cameWithUser === true
    const rode = kinds[live.kind].rides && cameAlong && live.parentId !== undefined
    if (rode && this.#trusted.has(live.parentId!)) return
    this.adoptions.push({ resource, live, ...(creator ? { creator } : {}) })
  }
}

function creatorOf(creators: Creators, id: string): CreatedBy | undefined {
  if (creators instanceof Map) return creators.get(id) as CreatedBy | undefined
  const record = creators as Readonly<Record<string, CreatedBy>>
  return Object.hasOwn(record, id) ? record[id] : undefined
}

function idsOf(matches: ReadonlyMap<Address, Resource>, actual: Actual): Readonly<Record<Address, string>> {
  const ids: Record<Address, string> = {}
  const declared = new Set(matches.values())
  const twice = new Set<Address>()
  for (const live of actual.resources) {
    if (declared.has(live) || matches.has(live.address)) continue
    if (Object.hasOwn(ids, live.address)) twice.add(live.address)
    ids[live.address] = live.id!
  }
  for (const address of twice) delete ids[address]
  for (const [address, live] of matches) ids[address] = live.id!
  return ids
}

/**
 * Declared things by their ids now, and what no definition has any more as long as it lives and is not handed back: only
 * by its row is it known to be ours.
 */
function nextLock(
  { desired, actual, lock }: IdentifyInput,
  matches: ReadonlyMap<Address, Resource>,
  gone: readonly Address[],
): Lock {
  const { organizationId } = actual
  const rows = Object.entries(lock[organizationId] ?? {})
  const known = new Map(rows.map(([address, row]) => [row.id ?? address, row]))
  const next: Record<Address, LockRow> = {}
  for (const { address, tombstone } of desired.resources) {
    const live = matches.get(address)
    if (!live) continue
    const row = known.get(hasOwnId(live) ? live.id! : address)
    if (row) next[address] = row
    else if (hasOwnId(live) && !tombstone) next[address] = { id: live.id! }
  }
  const claimed = new Set([...matches.values()].map(({ id }) => id))
  const dropped = new Set<Address>([...desired.resources.map(({ address }) => address), ...gone])
  for (const [address, row] of rows) {
    if (!dropped.has(address) && !claimed.has(row.id ?? address) && !isForgotten(desired, address)) next[address] = row
  }
  return sortMembers({ ...lock, [organizationId]: sortMembers(next) })
}

/** Where a resource is defined; the start of nothing for one that has no place. */
export function spanOf(resource: Resource, field?: string): Span {
  const span = (field === undefined ? undefined : resource.fieldSpans?.[field]) ?? resource.span
  return span ?? spanAt(createSource(resource.address, ''), 0)
}

function byAddress(resources: readonly Resource[]): readonly Resource[] {
  return [...resources].sort((a, b) => compareText(a.address, b.address))
}
