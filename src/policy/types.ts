/** The types of the language (docs/protocol/policies.md#types). */
export type Type =
  | { readonly kind: 'bool' }
  /** Signed 128 bit. */
  | { readonly kind: 'int' }
  /** Unsigned 256 bit. */
  | { readonly kind: 'uint' }
  /** Compares by value with numbers and by its decimal text with strings (U-number). */
  | { readonly kind: 'number' }
  | { readonly kind: 'timestamp' }
  | { readonly kind: 'string'; readonly letters: Letters }
  | { readonly kind: 'list'; readonly element: Type }
  | { readonly kind: 'map'; readonly value: Type }
  /** A row of the environment's table of structs. */
  | { readonly kind: 'struct'; readonly name: string }
  /** A struct literal (U-structlit). */
  | { readonly kind: 'record'; readonly fields: ReadonlyMap<string, Type> }
  /** Known only at run time (U-dynamic). */
  | { readonly kind: 'dynamic'; readonly origin: Origin }
  /** The element of `[]`, and of an expression whose fault is reported already: fits everything. */
  | { readonly kind: 'any' }

/**
 * Which spellings of a text are equal: `exact`, every one its own · `hex`, letter case does not count · `address`, as hex
 * when it starts with `0x` (U-hexcase) · `activity`, `SPARK` and `LAYER2` in the name of an activity are one word.
 */
export type Letters = 'exact' | 'hex' | 'address' | 'activity'

/** Where a value of unknown type was decoded from. */
export type Origin = 'abi' | 'idl' | 'eip-712' | 'unexposed'

export const bool: Type = { kind: 'bool' }
export const int: Type = { kind: 'int' }
export const uint: Type = { kind: 'uint' }
export const number: Type = { kind: 'number' }
export const timestamp: Type = { kind: 'timestamp' }
export const string: Type = { kind: 'string', letters: 'exact' }
export const hex: Type = { kind: 'string', letters: 'hex' }
export const address: Type = { kind: 'string', letters: 'address' }
export const activityName: Type = { kind: 'string', letters: 'activity' }
export const any: Type = { kind: 'any' }

export function list(element: Type): Type {
  return { kind: 'list', element }
}

export function map(value: Type): Type {
  return { kind: 'map', value }
}

export function struct(name: string): Type {
  return { kind: 'struct', name }
}

export function dynamic(origin: Origin): Type {
  return { kind: 'dynamic', origin }
}

/** Whether the type is settled only at run time. */
export function isOpen(type: Type): boolean {
  return type.kind === 'dynamic' || type.kind === 'any'
}

export function isNumeric(type: Type): boolean {
  return type.kind === 'int' || type.kind === 'uint' || type.kind === 'number'
}

/**
 * The type of a list with elements of both types; undefined when they may not be mixed (U-emptylist). Numbers mix, an
 * empty list takes any element, and a decoded value may turn out to be whatever stands beside it, except a struct.
 */
export function unify(a: Type, b: Type): Type | undefined {
  if (a.kind === 'any') return b
  if (b.kind === 'any') return a
  if (a.kind === 'dynamic' || b.kind === 'dynamic') {
    const other = a.kind === 'dynamic' ? b : a
    if (other.kind === 'struct' || other.kind === 'record') return undefined
    return a.kind === 'dynamic' ? a : b
  }
  if (isNumeric(a) && isNumeric(b)) return a.kind === b.kind ? a : int
  if (a.kind === 'list' && b.kind === 'list') {
    const element = unify(a.element, b.element)
    return element === undefined ? undefined : list(element)
  }
  if (a.kind === 'map' && b.kind === 'map') {
    const value = unify(a.value, b.value)
    return value === undefined ? undefined : map(value)
  }
  if (a.kind === 'struct' && b.kind === 'struct') return a.name === b.name ? a : undefined
  if (a.kind === 'record' && b.kind === 'record') {
    if (a.fields.size !== b.fields.size) return undefined
    const fields = new Map<string, Type>()
    for (const [name, type] of a.fields) {
      const other = b.fields.get(name)
      const both = other === undefined ? undefined : unify(type, other)
      if (both === undefined) return undefined
      fields.set(name, both)
    }
    return { kind: 'record', fields }
  }
  return a.kind === b.kind ? a : undefined
}

/** Whether `==` takes them: two numbers, two texts, a `number` and a text, two bools, two timestamps (U-eqtypes). */
export function areComparable(a: Type, b: Type): boolean {
  if (a.kind === 'any' || b.kind === 'any') return true
  if (isOpen(a)) return isOpen(b) || isComparable(b)
  if (isOpen(b)) return isComparable(a)
  if (isNumeric(a) && isNumeric(b)) return true
  if (a.kind === 'number') return b.kind === 'string'
  if (b.kind === 'number') return a.kind === 'string'
  return a.kind === b.kind && isComparable(a)
}

/** Lists, maps and structs are not comparable (U-eqtypes). */
export function isComparable(type: Type): boolean {
  return isNumeric(type) || type.kind === 'string' || type.kind === 'bool' || type.kind === 'timestamp'
}

/** Whether `<` takes them: two numbers or two timestamps, never texts (U-eqtypes). */
export function areOrdered(a: Type, b: Type): boolean {
  if (a.kind === 'any' || b.kind === 'any') return true
  const ordered = (type: Type) => isOpen(type) || isNumeric(type) || type.kind === 'timestamp'
  if (!ordered(a) || !ordered(b)) return false
  return isOpen(a) || isOpen(b) || (isNumeric(a) && isNumeric(b)) || a.kind === b.kind
}

/** How a type is called in messages and in the language reference. */
export function showType(type: Type): string {
  switch (type.kind) {
    case 'list':
      return type.element.kind === 'any' ? 'list' : `list<${showType(type.element)}>`
    case 'map':
      return `map<string, ${showType(type.value)}>`
    case 'struct':
      return type.name
    case 'record':
      return 'struct'
    case 'dynamic':
      return 'decoded value'
    case 'any':
      return 'anything'
    case 'bool':
    case 'int':
    case 'uint':
    case 'number':
    case 'timestamp':
    case 'string':
      return type.kind
    default:
      return type satisfies never
  }
}
