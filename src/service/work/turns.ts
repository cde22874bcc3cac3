/**
 * The order of waiting jobs. Each organization that waits has its turn, one job at a time, and so has each tree of a
 * parent and its sub-organizations: a parent with many sub-organizations has no more turns for that.
 */

/** The organization that a job is done for. */
export interface JobOwner {
  /** The parent, which shares its turns with all its sub-organizations. */
  readonly treeId: string
  readonly organizationId: string
}

export interface JobTurns<Item> {
  /** False where the organization, or everybody together, has too many waiting: then it is not kept. */
  add(share: JobOwner, item: Item): boolean
  /** The next in turn, which waits no longer. */
  take(): Item | undefined
  /** All that wait, which wait no longer. */
  clear(): readonly Item[]
  size(): number
}

/** Most waiting jobs. A request waits for one job at a time, so these are requests. */
export const MOST_WAITING = { ofOrganization: 64, inAll: 1_024 } as const

/** Creates a queue in which everybody has turns. A `Map` keeps the order in which its keys came: the first key is next. */
export function createTurns<Item>(
  most: { readonly ofOrganization: number; readonly inAll: number } = MOST_WAITING,
): JobTurns<Item> {
  const trees = new Map<string, Map<string, Item[]>>()
  let size = 0
  return {
    add({ treeId, organizationId }, item) {
      const tree = trees.get(treeId) ?? new Map<string, Item[]>()
      const own = tree.get(organizationId) ?? []
      if (size >= most.inAll || own.length >= most.ofOrganization) return false
      own.push(item)
      tree.set(organizationId, own)
      trees.set(treeId, tree)
      size++
      return true
    },
    take() {
      const [treeId, tree] = trees.entries().next().value ?? []
      if (treeId === undefined || tree === undefined) return undefined
      const [organizationId, own] = tree.entries().next().value!
      const item = own.shift()!
      size--
      // Taken out and put in again: the one that had a turn is last.
      tree.delete(organizationId)
      if (own.length > 0) tree.set(organizationId, own)
      trees.delete(treeId)
      if (tree.size > 0) trees.set(treeId, tree)
      return item
    },
    clear() {
      const items = [...trees.values()].flatMap((tree) => [...tree.values()].flat())
      trees.clear()
      size = 0
      return items
    },
    size: () => size,
  }
}
