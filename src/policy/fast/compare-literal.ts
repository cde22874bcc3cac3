/**
 * Comparisons of a chain of fields with literals, without values in between. The results and faults are those that the
 * operators give for the loaded values; what is rare or wrong is left to them.
 */
import type { CompareSymbol, Expression } from '../ast.ts'
import { INT_MAX, INT_MIN, UINT_MAX } from '../limits.ts'
import { foldActivityName, foldHex, loaderOf } from '../load.ts'
import type { Letters } from '../types.ts'
import type { Evaluate, Scope, Unit } from '../unit.ts'
import { areEqual, type ExpressionValue, Fault } from '../values.ts'
import { type RawPath, readerOf } from './read-path.ts'

/** `x == 'a'` or `x < 5`, either way round; undefined for any other comparison. */
export function compileLiteralCompare(
  unit: Unit,
  node: Expression & { kind: 'compare' },
  scope: Scope | undefined,
): Evaluate | undefined {
  const { left, right, operator } = node
  if (operator === 'in') return undefined
  const turned = isLiteral(left)
  const literal = turned ? left : right
  if (!isLiteral(literal)) return undefined
  const path = readerOf(unit, turned ? right : left, scope)
  if (path === undefined) return undefined
  if (literal.kind === 'string' && path.type.kind === 'string' && (operator === '==' || operator === '!='))
    return compareText(path, path.type.letters, literal.value, operator === '==')
  if (literal.kind === 'int' && (path.type.kind === 'int' || path.type.kind === 'uint'))
    return compareNumber(path, literal.value, turned ? mirrored[operator] : operator)
  return undefined
}

type Literal = Expression & { kind: 'string' | 'int' }

function isLiteral(node: Expression): node is Literal {
  return node.kind === 'string' || node.kind === 'int'
}

function compareText(path: RawPath, letters: Letters, written: string, equal: boolean): Evaluate {
  const { read, quick, type, place } = path
  const literal = interned(written)
  const load = loaderOf(type)
  const isSame = textTests[letters](literal)
  const slow: Evaluate = (frame) => {
    const raw = read(frame)
    if (typeof raw === 'string') return isSame(raw) === equal
    return raw instanceof Fault ? raw : load(raw, place)
  }
  const isExact = letters === 'exact' || (letters === 'activity' && !foldActivityName(literal).includes('SPARK'))
  if (!isExact)
    return (frame) => {
      const raw = quick(frame)
      return typeof raw === 'string' ? isSame(raw) === equal : slow(frame)
    }
  if (equal)
    return (frame) => {
      const raw = quick(frame)
      return typeof raw === 'string' ? raw === literal : slow(frame)
    }
  return (frame) => {
    const raw = quick(frame)
    return typeof raw === 'string' ? raw !== literal : slow(frame)
  }
}

/**
 * The same text, as the engine keeps names of members: comparing two such texts compares where they are. A literal is cut
 * out of a longer text, and would be compared letter by letter with the words of the catalogue.
 */
export function interned(text: string): string {
  return Object.keys({ [text]: true })[0] ?? text
}

/** Whether a text of the context equals a literal, by which spellings are equal. */
export const textTests: Readonly<Record<Letters, (literal: string) => (raw: string) => boolean>> = {
  exact: (literal) => (raw) => raw === literal,
  hex: (literal) => {
    const folded = foldHex(literal)
    // Folding keeps the length, so most texts need none.
    return (raw) => raw === literal || (raw.length === folded.length && foldHex(raw) === folded)
  },
  address: (literal) => {
    const folded = foldHex(literal)
    return (raw) => raw === literal || (raw.length === folded.length && raw.startsWith('0x') && foldHex(raw) === folded)
  },
  activity: (literal) => {
    const folded = foldActivityName(literal)
    if (!folded.includes('SPARK')) return (raw) => raw === literal
    return (raw) => raw === literal || (raw.includes('SPARK') && foldActivityName(raw) === folded)
  },
}

const mirrored = { '==': '==', '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const

function compareNumber(path: RawPath, literal: bigint, operator: Exclude<CompareSymbol, 'in'>): Evaluate {
  const { read, quick, type, place } = path
  const load = loaderOf(type)
  const [least, most] = type.kind === 'uint' ? [0n, UINT_MAX] : [INT_MIN, INT_MAX]
  const slow: Evaluate = (frame) => {
    const raw = read(frame)
    if (raw instanceof Fault) return raw
    const value = load(raw, place)
    return value instanceof Fault ? value : test(value as bigint, operator, literal)
  }
  // A literal that no value of the type reaches says nothing about the range of the value.
  if (literal < least || literal > most) return slow
  // What is on one side of the literal has one end of the range to be held to, not two.
  switch (operator) {
    case '==':
    case '!=': {
      const same = operator === '=='
      return (frame) => {
        const raw = quick(frame)
        if (typeof raw !== 'bigint') return slow(frame)
        return raw === literal ? same : raw >= least && raw <= most ? !same : slow(frame)
      }
    }
    case '<=':
    case '>': {
      const below = operator === '<='
      return (frame) => {
        const raw = quick(frame)
        if (typeof raw !== 'bigint') return slow(frame)
        if (raw <= literal) return raw >= least ? below : slow(frame)
        return raw <= most ? !below : slow(frame)
      }
    }
    case '<':
    case '>=': {
      const below = operator === '<'
      return (frame) => {
        const raw = quick(frame)
        if (typeof raw !== 'bigint') return slow(frame)
        if (raw < literal) return raw >= least ? below : slow(frame)
        return raw <= most ? !below : slow(frame)
      }
    }
    default:
      return operator satisfies never
  }
}

function test(value: bigint, operator: Exclude<CompareSymbol, 'in'>, literal: bigint): boolean {
  switch (operator) {
    case '==':
      return value === literal
    case '!=':
      return value !== literal
    case '<':
      return value < literal
    case '<=':
      return value <= literal
    case '>':
      return value > literal
    case '>=':
      return value >= literal
    default:
      return operator satisfies never
  }
}

/** `x in ['a', 'b']`: true, false or a fault; undefined for any other list or type. */
export function compileLiteralMembership(
  unit: Unit,
  value: Expression,
  list: Expression,
  scope: Scope | undefined,
): Evaluate | undefined {
  if (list.kind !== 'list' || list.items.length === 0) return undefined
  const literals = list.items.flatMap((item) => (item.kind === 'string' ? [item.value] : []))
  if (literals.length !== list.items.length) return undefined
  const path = readerOf(unit, value, scope)
  if (path?.type.kind !== 'string') return undefined
  const { read, quick, place, type } = path
  const exact: ReadonlySet<string> = new Set(literals)
  const load = loaderOf(type)
  const others: (value: ExpressionValue) => boolean = (loaded) =>
    literals.some((literal) => areEqual(loaded, literal) === true)
  const isExact = type.letters === 'exact'
  // A text as long as none of the literals is not read: only activities are spelled in more than one length.
  const lengths = type.letters === 'activity' ? undefined : new Set(literals.map(({ length }) => length))
  return (frame) => {
    const found = quick(frame)
    if (typeof found === 'string') {
      if (lengths?.has(found.length) === false) return false
      if (exact.has(found)) return true
      if (isExact) return false
    }
    const raw = read(frame)
    if (raw instanceof Fault) return raw
    const loaded = load(raw, place)
    return loaded instanceof Fault ? loaded : typeof loaded === 'string' ? false : others(loaded)
  }
}
