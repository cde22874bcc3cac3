/** What the service of a data folder says of its beginning, in a file that its owner alone may read. */
import { join } from 'node:path'
import { readPrivate } from '../../local/index.ts'

export function bootstrapPath(dataDir: string): string {
  return join(dataDir, 'service', 'bootstrap.json')
}

/** The organization that a service began with; undefined where there is none. Throws `local/exposed`. */
export function bootstrapOrganization(dataDir: string): string | undefined {
  const text = readPrivate(bootstrapPath(dataDir))
  return text === undefined ? undefined : (JSON.parse(text) as { readonly organizationId?: string }).organizationId
}
