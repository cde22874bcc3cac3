import { type Diagnostic, diagnostic, suggest } from '../diagnostics/index.ts'
import { parse, readsOf } from '../policy/index.ts'
import { type Actual, type Desired, type KindName, nameValue, type Resource, type Value } from '../resources/index.ts'
import { didYouMean } from './check-schema.ts'

/** What policies name by an id or a name: of which kind it is. */
const NAMED: Readonly<Record<string, { readonly kind: KindName; readonly what: string; readonly by: 'id' | 'name' }>> =
  {
    'wallet.id': { kind: 'wallet', what: 'wallet', by: 'id' },
    'wallet.label': { kind: 'wallet', what: 'wallet', by: 'name' },
    'private_key.id': { kind: 'privateKey', what: 'private key', by: 'id' },
    'private_key.label': { kind: 'privateKey', what: 'private key', by: 'name' },
    'private_key.tags': { kind: 'privateKeyTag', what: 'tag of private keys', by: 'id' },
    'approvers.id': { kind: 'user', what: 'user', by: 'id' },
    'approvers.tags': { kind: 'tag', what: 'tag', by: 'id' },
  }

/** References are written as they are in definitions. */
const NO_NAMES = new Map<string, string>()

/** As long as an id is written. */
const ID_LENGTH = 36

/**
 * Warns of ids and names in policies that nothing has: neither what lives nor, of names, what is defined. An ALLOW with one lets
 * nobody do anything, a DENY denies nothing, and the API takes both. Nothing is said of kinds that were not read.
 */
export function checkUnknownIds({ resources }: Pick<Desired, 'resources'>, actual: Actual): readonly Diagnostic[] {
  const unread = new Set(actual.unread)
  const known = new Map<string, ReadonlySet<string>>()
  const knownOf = (kind: KindName, by: 'id' | 'name'): ReadonlySet<string> => {
    const key = `${kind} ${by}`
    const all = by === 'id' ? actual.resources : [...actual.resources, ...resources]
    const found = known.get(key) ?? new Set(all.flatMap((one) => (one.kind === kind ? (one[by] ?? []) : [])))
    known.set(key, found)
    return found
  }
  return resources.flatMap((policy) =>
    policy.kind !== 'policy'
      ? []
      : FIELDS.flatMap((field) =>
          namedIn(policy.fields[field]).flatMap(([chain, text]) => {
            const { kind, what, by } = NAMED[chain]!
            const names = knownOf(kind, by)
            if (unread.has(kind) || names.has(text)) return []
            return [warning(policy, { field, what, by, text, names })]
          }),
        ),
  )
}

const FIELDS = ['consensus', 'condition'] as const

function warning(
  policy: Resource,
  of: {
    readonly field: string
    readonly what: string
    readonly by: 'id' | 'name'
    readonly text: string
    readonly names: ReadonlySet<string>
  },
): Diagnostic {
  const { field, what, by, text, names } = of
  const near = by === 'name' ? didYouMean(suggest(text, names)) : undefined
  const help = near ?? 'correct it, or name what is defined here by a reference, such as `${wallet.NAME}`'
  const span = policy.fieldSpans?.[field] ?? policy.span!
  return diagnostic('definitions/unknown-id', `no ${what} has the ${by} \`${text}\``, span, {
    severity: 'warning',
    help,
  })
}

/** The ids and names in an expression, with what they are compared with. References are none: what they name is there. */
function namedIn(value: Value | undefined): readonly (readonly [string, string])[] {
  const text = nameValue(value ?? '', NO_NAMES)
  if (typeof text !== 'string') return []
  // To parse what holds neither takes as long as all else.
  if (
    !text.includes('.label') &&
    !text
      .replaceAll('"', "'")
      .split("'")
      .some(({ length }) => length === ID_LENGTH)
  )
    return []
  const { chains } = readsOf(parse(text).tree)
  return Object.entries(NAMED).flatMap(([chain, { by }]) => {
    const use = chains.get(chain)
    const texts = use === undefined || use === 'otherwise' ? [] : [...use]
    return texts
      .filter((one) => !one.includes('${') && (by === 'name' || one.length === ID_LENGTH))
      .map((one) => [chain, one] as const)
  })
}
