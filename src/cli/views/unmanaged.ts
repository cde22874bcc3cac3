import { allPlans, likesOf, type Plan } from '../../plan/index.ts'
import type { Address, KindName } from '../../resources/index.ts'
import type { Style } from '../io.ts'
import { view } from '../screen.ts'

/** Something that is live and in no definition; in a sub-organization its address stands behind the name of that. */
export interface UnmanagedRow {
  readonly address: string
  readonly kind: KindName
  readonly id: string
  /** Another thing, defined or live, whose name looks like its own. */
  readonly looksLike?: Address
}

/** Live resources that no definition mentions, in the organization and in its sub-organizations. */
export function unmanagedRows(plan: Plan): readonly UnmanagedRow[] {
  return allPlans(plan).flatMap((one) => {
    const likes = likesOf(one)
    return one.unmanaged.map(({ address, ...row }): UnmanagedRow => {
      const like = likes.get(address)
      return {
        address: one === plan ? address : `${one.organization.name}/${address}`,
        ...row,
        ...(like === undefined ? {} : { looksLike: like }),
      }
    })
  })
}

/** A line for each: address, id, and what it may be taken for. */
export const renderUnmanaged = view((rows: readonly UnmanagedRow[], style: Style): string => {
  const width = Math.max(...rows.map(({ address }) => address.length))
  const alike = (like: string | undefined) => (like === undefined ? '' : `  ${style.warning(`looks like ${like}`)}`)
  return rows
    .map(({ address, id, looksLike }) => `${address.padEnd(width)}  ${style.dim(id)}${alike(looksLike)}\n`)
    .join('')
})
