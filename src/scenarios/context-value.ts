import { elementType, memberType, type Type } from '../policy/index.ts'
import { isNull, type ScenarioTree } from './tree.ts'

/**
 * A value of the context as it is written, by its declared type: a text stays the text that was written, also where YAML
 * would take it for a number (`0x00ff`, `1e5`), and a whole number is exact at any size. Decoded values, which have no
 * declared type, are what YAML says. What does not fit its type is left as it is: the policy that reads it errs.
 */
export function contextValue(tree: ScenarioTree, type: Type | undefined): unknown {
  switch (tree.kind) {
    case 'map':
      return Object.fromEntries(
        tree.entries
          .filter(({ value }) => !isNull(value))
          .map(({ key, value }) => [key, contextValue(value, memberType(type, key))]),
      )
    case 'list':
      return tree.items.map((item) => contextValue(item, elementType(type)))
    case 'scalar':
      if (type?.kind === 'string') return tree.value === null ? undefined : tree.source
      if (type !== undefined && isWholeType(type) && typeof tree.value === 'number')
        return exact(tree.source) ?? tree.value
      return tree.value ?? undefined
    default:
      return tree satisfies never
  }
}

function isWholeType({ kind }: Type): boolean {
  return kind === 'int' || kind === 'uint' || kind === 'number'
}

const MOST_DIGITS = 100

/** The whole number that a text such as `1.5e18` or `3.0` stands for. */
export function exact(text: string): bigint | undefined {
  const match = /^(-?)([0-9]+)(?:\.([0-9]*))?(?:[eE]\+?([0-9]{1,3}))?$/.exec(text)
  if (!match) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const shift = Number(exponent) - fraction.length
  const digits = whole + fraction
  if (digits.length + Math.max(0, shift) > MOST_DIGITS) return undefined
  if (shift < 0 && !/^0*$/.test(digits.slice(shift))) return undefined
  const kept = shift < 0 ? digits.slice(0, shift) || '0' : digits + '0'.repeat(shift)
  return BigInt(sign + kept)
}
