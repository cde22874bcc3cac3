import { QuorateError, suggest, withoutKeys } from '../diagnostics/index.ts'
import { GUARDS, type GuardName } from './document.ts'

/** Bypasses given for this run: a guard's name, and for `deletes` how many deletions of a kind it lets pass. */
export type Allowed = ReadonlyMap<GuardName, number>

/**
 * Reads bypasses: `delete`, `deletes=4`, `adoption` … Throws `plan/unknown-bypass` for what names no guard, and for a
 * number that is missing or superfluous: a bypass that does nothing would look like one that works.
 */
export function parseAllow(texts: Iterable<string>): Allowed {
  const allowed = new Map<GuardName, number>()
  for (const text of texts) {
    const [, name = text, count] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? []
    const guard = GUARDS.find((known) => known === name)
    if (!guard) {
      const near = suggest(name, GUARDS).map((one) => `\`${one}\``)
      throw new QuorateError('plan/unknown-bypass', `no guard is called \`${withoutKeys(name)}\``, {
        next: near.length > 0 ? `did you mean ${near.join(' or ')}?` : `use one of ${GUARDS.join(', ')}`,
      })
    }
    const wantsCount = guard === 'deletes'
    if (wantsCount ? !/^[1-9][0-9]{0,5}$/.test(count ?? '') : count !== undefined) {
      const expected = wantsCount ? 'a number, as in `deletes=4`' : 'no value'
      throw new QuorateError(
        'plan/unknown-bypass',
        `expected \`${guard}\` to have ${expected}, got \`${withoutKeys(text)}\``,
        {
          next: 'use the bypass that the guard itself prints',
        },
      )
    }
    allowed.set(guard, Math.max(Number(count ?? 0), allowed.get(guard) ?? 0))
  }
  return allowed
}
