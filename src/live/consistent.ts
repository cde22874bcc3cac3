import type { Resource, Value } from '../resources/index.ts'
import { LiveError } from './error.ts'

/**
 * Checks that what the lists say of each other is there: every member of the quorum is a user, every tag of a user a tag.
 * Lists are read one after another, and a change between two of them would otherwise look like a change to make.
 */
export function checkConsistent(resources: readonly Resource[]): void {
  const ids = (kind: string) => new Set(resources.filter((one) => one.kind === kind).map(({ id }) => id))
  const users = ids('user')
  const tags = ids('tag')
  for (const { address, kind, fields } of resources) {
    if (kind === 'rootQuorum') demand(address, 'user', users, fields['users'])
    if (kind === 'user') demand(address, 'tag', tags, fields['tags'])
  }
  const seen = new Map<string, string>()
  for (const { address, kind, id } of resources) {
    const key = `${kind} ${id}`
    if (seen.has(key)) {
      throw new LiveError('live/malformed-answer', `the id of \`${address}\` is also that of \`${seen.get(key)}\``, {
        facts: { id },
      })
    }
    seen.set(key, address)
  }
}

function demand(address: string, kind: string, known: ReadonlySet<string | undefined>, ids: Value | undefined): void {
  const missing = (ids as readonly string[]).find((id) => !known.has(id))
  if (missing === undefined) return
  throw new LiveError('live/dangling-id', `\`${address}\` names a ${kind} that the list of ${kind}s does not have`, {
    facts: { [`${kind}Id`]: missing },
    next: 'run again: the organization changed while it was read',
  })
}
