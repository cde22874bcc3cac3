/**
 * What goes and what is made beside it may be one thing under a new name. Nothing is renamed for that: it is said, with what its
 * definition would have to say (`renamedFrom`), because a rename keeps ids, keys and votes, and a new thing has none of them.
 */
import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import {
  type Actual,
  type Address,
  type Desired,
  type KindName,
  kinds,
  parseAddress,
  type Resource,
  resolveValue,
  sameValue,
} from '../resources/index.ts'
import { changedFields, type Difference } from './diff.ts'
import type { Plan } from './document.ts'
import { type Identified, spanOf } from './identify.ts'
import { compareText } from './lock.ts'
import type { Removed } from './removal.ts'

/** Two that may be one. */
export interface LikelyRename {
  /** The definition of the one that would be made. */
  readonly made: Resource
  /** The address of the one that goes or is defined no more. */
  readonly former: Address
  /** Whether its definition says `delete: true`. */
  readonly isMarked: boolean
  /** What the definition of the new one would say, as YAML. */
  readonly text: string
  /** What both have, as a clause without its subject. */
  readonly same: string
}

interface Found {
  readonly desired: Desired
  readonly actual: Actual
  readonly identified: Pick<Identified, 'ids'>
  readonly differences: readonly Difference[]
  readonly undecided: readonly Removed[]
}

/** Each pair that fits, where neither fits another: a choice between several is not proposed. */
export function likelyRenames(found: Found): readonly LikelyRename[] {
  const { identified, differences, undecided } = found
  const going = [
    ...differences.flatMap(({ action, address, input: { actual, desired } }) =>
      action === 'delete' && actual ? [{ address, live: actual, isMarked: desired?.tombstone === true }] : [],
    ),
    ...undecided.map((one) => ({ ...one, isMarked: false })),
  ].filter(({ live }) => kinds[live.kind].form.renamable)
  if (going.length === 0) return []
  const made = differences.flatMap(({ action, input: { desired, actual } }) =>
    action === 'create' && desired && !actual && desired.renamedFrom === undefined ? [desired] : [],
  )
  const pairs = going.flatMap(({ address, live, isMarked }) =>
    made.flatMap((one): readonly LikelyRename[] => {
      const parentId = one.parent === undefined ? undefined : identified.ids[one.parent]
      const same = one.kind === live.kind && parentId === live.parentId ? sameIn(one, live, found) : undefined
      if (same === undefined) return []
      return [{ made: one, former: address, isMarked, same, text: `renamedFrom: ${inYaml(nameIn(address, live))}` }]
    }),
  )
  const isAlone = (pair: LikelyRename) =>
    pairs.every((other) => other === pair || (other.made !== pair.made && other.former !== pair.former))
  return pairs.filter(isAlone).sort((a, b) => compareText(a.made.address, b.made.address))
}

/** The same as a plan has it. */
export function perhapsRenamed(renames: readonly LikelyRename[]): Pick<Plan, 'perhapsRenamed'> {
  if (renames.length === 0) return {}
  return {
    perhapsRenamed: renames.map(({ made, former, same, text, isMarked }) => ({
      made: made.address,
      former,
      same,
      write: text,
      isMarked,
    })),
  }
}

/** What is to be said of each, at the definition of the new one. */
export function renameDiagnostics(renames: readonly LikelyRename[]): readonly Diagnostic[] {
  return renames.map(({ made, former, isMarked, text, same }) => {
    const ends = isMarked ? 'is deleted' : 'is defined no more'
    const message = `\`${made.address}\` would be made anew, and \`${former}\`, which ${same}, ${ends}`
    const also = isMarked ? `, and take the definition with \`delete: true\` out` : ''
    const help = `if it is the same under a new name, write \`${text}\` into its definition here${also}; that keeps the one that lives`
    return diagnostic('plan/perhaps-renamed', message, spanOf(made), { severity: 'warning', help })
  })
}

/** What tells that both are one; undefined where nothing does. */
function sameIn(made: Resource, live: Resource, { desired, actual, identified }: Found): string | undefined {
  const { alike, fields } = kinds[made.kind]
  const { ids } = identified
  if (alike === undefined) {
    const changed = changedFields(made, live, ids)
    if (!changed.every((field) => field === 'name' || field === 'notes')) return undefined
    return `differs in nothing but its name${changed.includes('notes') ? ' and notes' : ''}`
  }
  const field = alike.fields?.find((name) => {
    const [wanted, lives] = [made.fields[name] ?? null, live.fields[name] ?? null]
    return wanted !== null && lives !== null && sameValue(resolveValue(wanted, ids), lives, fields[name]!.compare)
  })
  if (field !== undefined) return `has the same \`${field}\``
  const { anyOf = [], allOf = [] } = alike
  const held = (resources: readonly Resource[], isOf: (one: Resource) => boolean) =>
    new Map(
      resources
        .filter((one) => (anyOf.includes(one.kind) || allOf.includes(one.kind)) && isOf(one))
        .map((one) => [`${one.kind} ${kinds[one.kind].identity(one)}`, one.kind]),
    )
  const wanted = held(desired.resources, ({ parent, tombstone }) => parent === made.address && !tombstone)
  const lives = held(actual.resources, ({ parentId }) => parentId === live.id)
  const common = [...wanted].filter(([identity]) => lives.has(identity))
  const isWhole = common.length === wanted.size && common.length === lives.size
  const counts = common.filter(([, kind]) => anyOf.includes(kind) || isWhole)
  return counts.length === 0 ? undefined : `has the same ${heldInWords(counts)}`
}

function heldInWords(common: readonly (readonly [string, KindName])[]): string {
  const [[, kind]] = common as [readonly [string, KindName]]
  const count = common.filter(([, other]) => other === kind).length
  return count === 1 ? kinds[kind].one : kinds[kind].many
}

/** The name that a definition would call the former one: as the lock has it. */
function nameIn(address: Address, { name }: Resource): string {
  return parseAddress(address)?.names.at(-1) ?? name
}

/** A name as a YAML scalar: in quotes where it could be read as something else (YAML 1.2, 7.3.1). */
function inYaml(name: string): string {
  const isPlain =
    /^[A-Za-z][\w.-]*( [A-Za-z][\w.-]*)*$/.test(name) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(name)
  return isPlain ? name : JSON.stringify(name)
}
