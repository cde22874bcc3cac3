/** Which user a command line means. */
import { QuorateError } from '../diagnostics/index.ts'
import type { Actual, Resource } from '../resources/index.ts'

/** The live user of a name, an address or an id; undefined for none. Throws `cli/unknown-user` where several have it, and names their ids. */
export function userCalled({ resources }: Pick<Actual, 'resources'>, called: string): Resource | undefined {
  const users = resources.filter(({ kind }) => kind === 'user')
  const found = users.filter(({ id, name, address }) => id === called || name === called || address === called)
  if (found.length < 2) return found[0]
  const ids = found.map(({ id }) => String(id)).sort()
  throw new QuorateError('cli/unknown-user', `there are several users \`${called}\`: ${ids.join(', ')}`, {
    facts: { submitted: 'nothing' },
    next: 'give the id of the one that is meant',
  })
}
