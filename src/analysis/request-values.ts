/**
 * Values of a part of a request that clauses can tell apart: the literals that it is compared with and their neighbours, another one,
 * and none at all where a request may leave it out. Clauses that compare with literals alone are the same for any other value as for
 * one of these.
 */
import { memberType, type Type } from '../policy/index.ts'
import type { Compared, RequestPart } from './request-parts.ts'

/** Stands for a part that the request does not have. */
export const MISSING = Symbol('missing')

export interface PartValues {
  readonly values: readonly unknown[]
  /** Whether no other value is told apart from all of these. */
  readonly isComplete: boolean
}

/** A wallet that is known by name. */
export interface KnownWallet {
  readonly id: string
  readonly label: string
}

/** So many values of one part are tried. */
const MOST_VALUES = 3000
/** Of so many values of an element lists are made. */
const MOST_ELEMENTS = 40

/** Values of a part, those of a request that is likely first. */
export function valuesOfPart(
  { path, type }: RequestPart,
  compared: Compared,
  wallets: readonly KnownWallet[],
): PartValues {
  const made = path[0] === 'wallet' ? walletsLike(compared, wallets) : valuesOf(type, compared, path.at(-1)!)
  return mayBeMissing(path) ? { ...made, values: [...made.values, MISSING] } : made
}

/** What a request may leave out although its root is there (docs/protocol/policies.md#fields). */
function mayBeMissing([root, field, name]: readonly string[]): boolean {
  if (root === 'eth' && field === 'tx') return name?.startsWith('max_') === true || name === 'contract_call_args'
  return (root === 'eth' && field === 'eip_712' && name !== 'primary_type') || root === 'secret'
}

/** Texts that may have any length: no address, key or hash. */
const OPEN_TEXTS = new Set(['data', 'label', 'memo', 'version', 'name'])

function valuesOf(type: Type, compared: Compared, name: string): PartValues {
  switch (type.kind) {
    case 'bool':
      return { values: [true, false], isComplete: true }
    case 'int':
    case 'uint':
    case 'number':
      return numbers(compared, 0n)
    case 'string':
      return texts(compared, type.letters === 'hex' || type.letters === 'address', name)
    case 'list':
      return lists(type.element, compared)
    case 'struct':
      return structs(type, compared)
    case 'dynamic':
      return decoded(compared)
    default:
      return { values: [{}], isComplete: false }
  }
}

function numbers({ ints, texts: written }: Compared, least: bigint | undefined): PartValues {
  const all = [...ints, ...[...written].filter((text) => /^-?[0-9]{1,80}$/.test(text)).map(BigInt)]
  const near = all.flatMap((one) => [one, one + 1n, one - 1n])
  const values = [...new Set([...near, 1n])].filter((one) => least === undefined || one >= least)
  return cut(values.sort(byOrder), true)
}

function byOrder(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function texts({ texts: written, slices }: Compared, isHex: boolean, name: string): PartValues {
  const fold = (text: string) => (isHex ? text.toLowerCase() : text)
  const taken = new Set([...written, ...[...slices.values()].flatMap((some) => [...some])].map(fold))
  const another = fresh(
    taken,
    isHex ? (n) => `0x${`${n}`.padStart(name === 'function_signature' ? 8 : 40, 'e')}` : (n) => `another${n || ''}`,
  )
  if (slices.size === 0) return cut([...written, another], true)
  const sliced = stretched([...slices], isHex, taken)
  const values = [...written, ...sliced.values, another, ...(OPEN_TEXTS.has(name) ? [isHex ? '0x' : ''] : [])]
  return cut([...new Set(values)], sliced.isComplete)
}

/** Texts with every choice of what stands in each stretch; complete where no two stretches overlap. */
function stretched(
  slices: readonly (readonly [string, ReadonlySet<string>])[],
  isHex: boolean,
  taken: ReadonlySet<string>,
): PartValues {
  const parts = slices
    .map(([range, literals]) => {
      const [from = 0, to = 0] = range.split(' ').map(Number)
      const fits = [...literals].filter((text) => text.length === to - from)
      return { from, to, choices: [...fits, other(to - from, taken)] }
    })
    .filter(({ from, to }) => from >= 0 && to > from && to < 4096)
    .sort((a, b) => a.from - b.from)
  const overlap = parts.some(({ from }, index) => index > 0 && from < parts[index - 1]!.to)
  const length = Math.max(...parts.map(({ to }) => to), 0)
  const blank =
    isHex && parts[0] && parts[0].from >= 2 ? `0x${'0'.repeat(Math.max(0, length - 2))}` : '0'.repeat(length)
  let values: readonly string[] = [blank]
  for (const { from, to, choices } of parts) {
    const next = values.flatMap((text) => choices.map((choice) => text.slice(0, from) + choice + text.slice(to)))
    if (next.length > MOST_VALUES) return { values, isComplete: false }
    values = next
  }
  return { values, isComplete: !overlap && parts.length === slices.length }
}

function other(length: number, taken: ReadonlySet<string>): string {
  return (
    ['e', 'd', 'c', 'b', 'a'].map((digit) => digit.repeat(length)).find((text) => !taken.has(text)) ??
    'f'.repeat(length)
  )
}

function fresh(taken: ReadonlySet<string>, make: (number: number) => string): string {
  let number = 0
  while (taken.has(make(number))) number++
  return make(number)
}

/** Lists without elements, with one and with two of those that are told apart, and as long as is asked for. */
function lists(of: Type, { element, lengths, predicates }: Compared): PartValues {
  const elements = element ? valuesOf(of, element, '') : { values: [filler(of)], isComplete: true }
  const some = elements.values.slice(0, MOST_ELEMENTS)
  const values: unknown[] = [[], ...some.map((one) => [one])]
  for (const [index, one] of some.entries()) for (const two of some.slice(index + 1)) values.push([one, two])
  if (some.length > 2) values.push([...some])
  for (const length of lengths)
    if (length > 0 && length < 300) for (const one of some) values.push(Array.from({ length }, () => one))
  const isTold = predicates <= 2 && lengths.size === 0
  const isComplete = (isTold || element === undefined) && elements.isComplete && some.length === elements.values.length
  return cut(values, isComplete)
}

/** Structs with every choice of the fields that are read. */
function structs(type: Type & { readonly kind: 'struct' }, { fields }: Compared): PartValues {
  let values: readonly Readonly<Record<string, unknown>>[] = [{}]
  let isComplete = true
  for (const [name, compared] of fields) {
    const field = memberType(type, name)
    const choices = field ? valuesOf(field, compared, name) : { values: [], isComplete: false }
    isComplete &&= choices.isComplete
    const next = values.flatMap((one) => choices.values.map((value) => ({ ...one, [name]: value })))
    if (next.length > MOST_VALUES) return { values, isComplete: false }
    values = next
  }
  return { values, isComplete }
}

/** A value of unknown type: of the type of what it is compared with. */
function decoded(compared: Compared): PartValues {
  const { ints, texts: written, slices, isBool, element } = compared
  const values = [
    ...(ints.size > 0 ? numbers(compared, undefined).values : []),
    ...(written.size > 0 || slices.size > 0 ? texts(compared, false, 'name').values : []),
    ...(isBool ? [true, false] : []),
    ...(element ? lists({ kind: 'dynamic', origin: 'abi' }, compared).values : []),
  ]
  return cut([...values, MISSING], element === undefined && slices.size === 0)
}

/** A wallet that is known, one that has an id or label that policies name, and another one. */
function walletsLike({ fields }: Compared, known: readonly KnownWallet[]): PartValues {
  const [ids, labels] = ['id', 'label'].map((name) => [...(fields.get(name)?.texts ?? [])])
  const others = [
    ...ids!.filter((id) => known.every((one) => one.id !== id)).map((id) => ({ id, label: 'another' })),
    ...labels!.filter((label) => known.every((one) => one.label !== label)).map((label) => ({ id: 'another', label })),
    { id: 'another', label: 'another' },
  ]
  const flags = ['imported', 'exported'].filter((name) => fields.has(name))
  const base = [...known, ...others].map((one) => ({ ...one, imported: false, exported: false }))
  const values = flags.reduce<readonly object[]>(
    (some, flag) => some.flatMap((one) => [one, { ...one, [flag]: true }]),
    base,
  )
  const isSliced = [...fields.values()].some(({ slices }) => slices.size > 0)
  return cut(values, !isSliced)
}

function filler(type: Type): unknown {
  if (type.kind === 'string') return 'another'
  return type.kind === 'int' || type.kind === 'uint' || type.kind === 'number' ? 1n : {}
}

function cut(values: readonly unknown[], isComplete: boolean): PartValues {
  return values.length > MOST_VALUES
    ? { values: values.slice(0, MOST_VALUES), isComplete: false }
    : { values, isComplete }
}
