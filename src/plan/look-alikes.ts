import { difference, findLookAlikes } from '../look-alikes/index.ts'
import { type Address, kinds, type Resource, scopedNames } from '../resources/index.ts'
import type { Pair } from './diff.ts'
import type { LookAlikeNames, Plan } from './document.ts'
import { compareText } from './lock.ts'

/**
 * Names that look alike among what there will be: what is desired, and what lives and stays. A name beside one of its own
 * former names is none: the pair of a renamed thing has the new name alone. What is managed stands first, so that what lives
 * unmanaged is shown beside the definition that it looks like.
 */
export function lookAlikes(pairs: readonly Pair[], unmanaged: readonly Resource[]): Pick<Plan, 'lookAlikes'> {
  const stray = new Set(unmanaged)
  const staying = pairs.flatMap(({ address, desired }) =>
    desired && !desired.tombstone
      ? [{ address, kind: desired.kind, name: desired.name, fields: desired.fields, isStray: stray.has(desired) }]
      : [],
  )
  const sorted = staying.sort((a, b) => Number(a.isStray) - Number(b.isStray) || compareText(a.address, b.address))
  const found = findLookAlikes(scopedNames(sorted)).map(({ one: named, like: likeNamed }): LookAlikeNames => {
    const [one, like] = [named.of, likeNamed.of]
    const strays = [one, like].filter(({ isStray }) => isStray).map(({ address }) => address)
    return {
      address: one.address,
      like: like.address,
      difference:
        kinds[one.kind].form.labelledBy === undefined
          ? difference(named.name, likeNamed.name)
          : `they are named \`${named.name}\` and \`${likeNamed.name}\`, ${difference(named.name, likeNamed.name)}`,
      ...(strays.length === 0 ? {} : { unmanaged: strays }),
    }
  })
  return found.length === 0 ? {} : { lookAlikes: found }
}

/** `policy.ops2 looks like policy.ops (live, in no definition): …`. */
export function lookAlikeText({ address, like, difference: differs, unmanaged = [] }: LookAlikeNames): string {
  const note = (one: Address) => (unmanaged.includes(one) ? `${one} (live, in no definition)` : one)
  return `${note(address)} looks like ${note(like)}: ${differs}`
}

/** Addresses that look alike, in both directions. */
export function likesOf({ lookAlikes: all = [] }: Pick<Plan, 'lookAlikes'>): ReadonlyMap<Address, string> {
  const likes = new Map<Address, string>()
  for (const { address, like } of all) {
    likes.set(address, like)
    if (!likes.has(like)) likes.set(like, address)
  }
  return likes
}
