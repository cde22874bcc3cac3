import type { SendRequest } from './order.ts'
import { parseReference } from './reference.ts'
import { inField, usage } from './usage.ts'

/** Required and optional members of a send, by the names of its options; a file of sends has columns of these names. */
export const REQUIRED = ['ref', 'from', 'to'] as const
export const OPTIONAL = ['amount', 'asset', 'chain', 'data', 'max-fee', 'gas'] as const
export type SendField = (typeof REQUIRED)[number] | (typeof OPTIONAL)[number]

/** Makes a request of what was given for each name; what is empty was not given. Throws `cli/usage`. */
export function makeRequest(find: (name: SendField) => unknown): SendRequest {
  const given = (name: SendField) => {
    const text = find(name)
    return typeof text === 'string' && text !== '' ? text : undefined
  }
  const [reference, from, to] = REQUIRED.map((name) => {
    const text = given(name)
    if (text === undefined) throw usage(`expected --${name}`, 'see `quorate send --help`', name)
    return text
  })
  const optional = Object.fromEntries(
    OPTIONAL.flatMap((name) => {
      const text = given(name)
      return text === undefined ? [] : [[memberOf(name), text]]
    }),
  )
  return { from: from!, to: to!, reference: inField('ref', () => parseReference(reference!)), ...optional }
}

/** Throws `cli/usage` for options that would be without effect: the user who gave one counts on it. */
export function assertNone(
  options: Readonly<Record<string, unknown>>,
  { names, unless }: { readonly names: readonly string[]; readonly unless: string },
): void {
  const given = names.find((name) => options[memberOf(name)] !== undefined)
  if (given !== undefined) throw usage(`--${given} has no meaning here`, unless, given)
}

/** `maxFee` for `max-fee`: as options are called in what a command is given. */
export function memberOf(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
