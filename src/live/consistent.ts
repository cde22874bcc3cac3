import { type KindName, kinds, type Resource, type Value } from '../resources/index.ts'
import { LiveError } from './error.ts'

/** Fields of live things that hold ids of other live things, one or a list of them. */
const NAMING: readonly { readonly kind: KindName; readonly field: string; readonly of: KindName }[] = [
  { kind: 'rootQuorum', field: 'users', of: 'user' },
  { kind: 'user', field: 'tags', of: 'tag' },
  { kind: 'privateKey', field: 'tags', of: 'privateKeyTag' },
]

/**
 * Checks that what the lists say of each other is there: every member of the quorum is a user, every tag of a user a tag.
 * Lists are read one after another, and a change between two of them would otherwise look like a change to make.
 */
export function checkConsistent(resources: readonly Resource[], unread: readonly KindName[] = []): void {
  for (const { kind, field, of } of NAMING) {
    if (unread.includes(of)) continue
    const known = new Set(resources.filter((one) => one.kind === of).map(({ id }) => id))
    for (const one of resources) if (one.kind === kind) demand(one.address, of, known, one.fields[field])
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

function demand(address: string, of: KindName, known: ReadonlySet<string | undefined>, ids: Value | undefined): void {
  const missing = (ids as readonly string[]).find((id) => !known.has(id))
  if (missing === undefined) return
  const { one, many } = kinds[of]
  throw new LiveError('live/dangling-id', `\`${address}\` names a ${one} that the list of ${many} does not have`, {
    facts: { [`${of}Id`]: missing },
    next: 'run again: the organization changed while it was read',
  })
}
