import type { ApiError } from '../../../protocol/index.ts'
import { type OrganizationPlace, type Rows, whenRead } from '../../store/index.ts'

/**
 * Finds a credential in the organization itself, then in its parent or its sub-organizations. The organization's own comes
 * first; of those below it only a single one can be meant (docs/protocol/stamps.md#from-stamp-to-caller).
 */
export function findInTree<Row>(
  target: OrganizationPlace,
  find: {
    readonly inside: (organizationId: string) => Rows<Row | undefined>
    readonly below: (parentId: string) => Rows<readonly Row[]>
    readonly conflict: () => ApiError
  },
): Rows<Row | undefined> {
  return whenRead(find.inside(target.id), (own) => {
    if (own) return own
    if (target.parentId !== undefined) return find.inside(target.parentId)
    return whenRead(find.below(target.id), (below) => {
      if (below.length > 1) throw find.conflict()
      return below[0]
    })
  })
}
