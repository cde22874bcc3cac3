import { createDiskReader } from '../definitions/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import { importDefinitions } from '../import/index.ts'
import { hasChanges } from '../plan/index.ts'
import type { Resource } from '../resources/index.ts'
import { type GivenValues, loadFolder } from './load-folder.ts'
import type { Planned } from './plan-folder.ts'

/**
 * The text of each file as it would have to be for definitions to ask for these things in place of those that live; what no
 * definition speaks of is left out. Writes nothing. Throws `cli/usage` where the definitions are not what lives.
 */
export async function textsFor(
  things: readonly Resource[],
  { planned, folder, given }: { readonly planned: Planned; readonly folder: string; readonly given: GivenValues },
): Promise<ReadonlyMap<string, string>> {
  const { plan, desired, actual } = planned
  if (hasChanges(plan))
    throw new QuorateError(
      'cli/usage',
      `${folder} asks for changes of what lives, so that nothing can be proposed for it`,
      {
        facts: { changes: plan.changes.length, submitted: 'nothing' },
        next: 'see them with `quorate plan`; apply them, or import what lives',
      },
    )
  const lock = planned.lock()
  const rows = lock[desired.organizationId] ?? {}
  const ids = new Set(Object.values(rows).map(({ id }) => id))
  const addresses = new Set(desired.resources.map(({ address }) => address))
  const declared = things.filter(({ id, address }) => (id !== undefined && ids.has(id)) || addresses.has(address))
  const loaded = await loadFolder(folder, given)
  const { files, diagnostics } = await importDefinitions({
    reader: createDiskReader(folder),
    ...given,
    baseUrl: plan.organization.baseUrl,
    folder,
    loaded: { ...loaded, desired: loaded.desired! },
    actual: { ...actual, resources: declared },
    lock,
    now: plan.createdAt,
  })
  const [fault] = diagnostics
  if (fault)
    throw new QuorateError('cli/usage', `no text can be proposed for ${folder}: ${fault.message}`, {
      next: 'change the policies by hand',
    })
  return files
}
