/**
 * Values of a part of a request that clauses can tell apart: the literals that it is compared with and their neighbours, another one,
 * and none at all where a request may leave it out. Clauses that compare with literals alone are the same for any other value as for
 * one of these.
 */
import { memberType, type Type } from '../policy/index.ts'
import { type Compared, mergeCompared, type RequestPart } from './request-parts.ts'

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

/** Values of a part in a kind of activity, those of a request that is likely first. */
export function valuesOfPart(
  { path, type }: RequestPart,
  compared: Compared,
  { wallets, kind }: { readonly wallets: readonly KnownWallet[]; readonly kind: string | undefined },
): PartValues {
  const made = path[0] === 'wallet' ? walletsLike(compared, wallets) : valuesOf(type, compared, path.at(-1)!)
  const erring = mayBeMissing(path, kind) ? [MISSING] : mayBeTooLarge(path) ? [TOO_LARGE] : []
  return { ...made, values: [...made.values, ...erring] }
}

/** The least number that no `int` holds: reading it is an error (U-overflow). */
const TOO_LARGE = 2n ** 127n

/** Numbers of a transaction that may be larger than the type that policies read them as. */
function mayBeTooLarge([root, tx, name = '']: readonly string[]): boolean {
  if (tx !== 'tx') return false
  return root === 'eth' ? name === 'value' || name === 'gas_price' : root === 'tempo' && name.startsWith('max_')
}

/** What no request lacks that has a transaction of Ethereum; a send has what its caller gives. */
const ALWAYS_SIGNED = new Set([
  'to',
  'data',
  'value',
  'gas',
  'gas_price',
  'nonce',
  'type',
  'function_name',
  'function_signature',
])
const ALWAYS_SENT = new Set(['from', 'to', 'data', 'value', 'chain_id', 'function_name', 'function_signature'])

/** What a request may leave out although its root is there (docs/protocol/policies.md#fields). */
function mayBeMissing([root, field, name = '']: readonly string[], kind: string | undefined): boolean {
  if (root === 'tempo') return name === 'from'
  if (root !== 'eth') return root === 'secret'
  if (field === 'tx') return !(kind === 'SIGN_TRANSACTION' ? ALWAYS_SIGNED : ALWAYS_SENT).has(name)
  return field === 'eip_712' && name !== 'primary_type'
}

/** Texts that may have any length: no address, key or hash. */
const OPEN_TEXTS = new Set(['data', 'input', 'instruction_data_hex', 'label', 'memo', 'version', 'name'])

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
  const stretches = [...slices].flatMap(([range, literals]): readonly Stretch[] => {
    const [from = 0, to = 0] = range.split(' ').map(Number)
    // Before the beginning, or backwards, is an error whatever stands there.
    return from < 0 || to < from ? [] : [{ from, to, literals: [...literals].map(fold) }]
  })
  const whole = [...written].map((text) => ({ from: 0, to: text.length, literals: [fold(text)] }))
  const made = composed([...whole, ...stretches], { isHex, isOpen: OPEN_TEXTS.has(name) })
  return cut([...new Set([...written, ...made.values, another])], made.isComplete)
}

/** What stands from one position to another is compared with these. */
interface Stretch {
  readonly from: number
  readonly to: number
  readonly literals: readonly string[]
}

/** A stretch further on in a text than this is not written out. */
const MOST_LENGTH = 4096
/** Letters of which one is in no literal at its position. */
const [HEX_LETTERS, LETTERS] = ['edcba9876543210f', 'edcbaxyz0123456789']
/** Stands where nothing is chosen. */
const HOLE = '\0'
const ADDRESS_LENGTH = 42

/**
 * Texts for every choice of the literals that stand in them at once. Elsewhere they have what no literal has there, so that nothing stands
 * in them that was not chosen; those that may have any length end before, at and behind every end of a stretch.
 */
function composed(
  stretches: readonly Stretch[],
  { isHex, isOpen }: { readonly isHex: boolean; readonly isOpen: boolean },
): PartValues {
  const pieces = stretches.flatMap(({ from, literals }) => literals.map((text) => ({ from, text })))
  const ends = [
    ...new Set([
      ...stretches.flatMap(({ from, to }) => [from, to]),
      ...pieces.map(({ from, text }) => from + text.length),
    ]),
  ]
  const length = Math.max(...ends, 0) + 1
  const isPlain = pieces.every(({ text }) => [...text].length === text.length)
  if (length > MOST_LENGTH || !isPlain) return { values: [], isComplete: false }
  const used = Array.from({ length }, (_, at) => new Set(pieces.flatMap(({ from, text }) => text[at - from] ?? [])))
  const isPrefixed = isHex && [...used[0]!].every((letter) => letter === '0')
  const blank = used.map((some, at) =>
    isPrefixed && at < 2 ? '0x'[at]! : [...(isHex ? HEX_LETTERS : LETTERS)].find((letter) => !some.has(letter)),
  )
  let chosen: ReadonlySet<string> = new Set([''])
  for (const { from, text } of pieces) {
    const more = [...chosen].flatMap((one) => withLiteral(one, from, text) ?? [])
    chosen = new Set([...chosen, ...more])
    if (chosen.size > MOST_VALUES) return { values: [], isComplete: false }
  }
  const most = isHex && !isOpen ? Math.max(length, ADDRESS_LENGTH) : length
  const lengths = isOpen ? [...new Set(ends.flatMap((end) => [end + 1, end]))].sort((a, b) => b - a) : [most]
  const values = [...chosen].flatMap((one) => {
    const letters = Array.from({ length: most }, (_, at) => {
      const letter = one[at] ?? HOLE
      return letter === HOLE ? (blank[at] ?? '0') : letter
    }).join('')
    return lengths.map((end) => letters.slice(0, end))
  })
  return { values: [...new Set(values)], isComplete: !blank.includes(undefined) }
}

/** A text with a literal in it as well; undefined where another letter stands there. */
function withLiteral(text: string, from: number, literal: string): string | undefined {
  const letters = [...text.padEnd(from + literal.length, HOLE)]
  for (const [index, letter] of [...literal].entries()) {
    if (letters[from + index] !== HOLE && letters[from + index] !== letter) return undefined
    letters[from + index] = letter
  }
  return letters.join('')
}

function fresh(taken: ReadonlySet<string>, make: (number: number) => string): string {
  let number = 0
  while (taken.has(make(number))) number++
  return make(number)
}

/** Lists without elements, with one and with two of those that are told apart, and as long as is asked for. */
function lists(of: Type, { element, lengths, predicates }: Compared): PartValues {
  const made = element ? valuesOf(of, element, '') : { values: [filler(of)], isComplete: true }
  // Something stands in each place of a list, though it may be of another type.
  const elements = { ...made, values: made.values.map((one) => (one === MISSING ? ILL_TYPED : one)) }
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

/** What every contract of a Tron transaction has; the rest is of some types alone. */
const OF_EVERY_CONTRACT = new Set(['type', 'permission_id', 'owner_address'])

/** What a struct in a list may lack. */
function mayLack(struct: string, field: string): boolean {
  if (struct === 'TronContract') return !OF_EVERY_CONTRACT.has(field)
  return struct === 'Instruction' && field === 'parsed_instruction_data'
}

/** Structs with every choice of the fields that are read. */
function structs(type: Type & { readonly kind: 'struct' }, { fields }: Compared): PartValues {
  let values: readonly Readonly<Record<string, unknown>>[] = [{}]
  let isComplete = true
  for (const [name, compared] of fields) {
    const field = memberType(type, name)
    const choices = field ? valuesOf(field, compared, name) : { values: [], isComplete: false }
    isComplete &&= choices.isComplete
    const all = mayLack(type.name, name) ? [...choices.values, MISSING] : choices.values
    const next = values.flatMap((one) => all.map((value) => (value === MISSING ? one : { ...one, [name]: value })))
    if (next.length > MOST_VALUES) return { values, isComplete: false }
    values = next
  }
  return { values, isComplete }
}

/** Of no type that anything is compared with: reading more of it is an error, and its place is there. */
const ILL_TYPED = {}
const DECODED: Type = { kind: 'dynamic', origin: 'abi' }

/** A value of unknown type: of the types of what it is compared with. */
function decoded(compared: Compared): PartValues {
  const { ints, texts: written, slices, isBool, element, lengths, fields, places } = compared
  const isText = written.size > 0 || slices.size > 0
  const made = [
    ...(ints.size > 0 ? [numbers(compared, undefined)] : []),
    ...(isText ? [texts(compared, false, 'name')] : []),
    ...(isBool ? [{ values: [true, false], isComplete: true }] : []),
    ...(fields.size > 0 ? [maps(fields)] : []),
    ...(places.size > 0 ? [tuples(compared)] : []),
    ...(places.size === 0 && (element || lengths.size > 0) ? [lists(DECODED, compared)] : []),
  ]
  // What is an integer may be written as a text as well, and what is read in two forms has one of them.
  const isComplete = made.every((one) => one.isComplete) && !(ints.size > 0 && isText)
  return cut([...made.flatMap(({ values }) => values), MISSING], isComplete)
}

/** Decoded maps with every choice of what is read of them. */
function maps(fields: Compared['fields']): PartValues {
  let values: readonly object[] = [{}]
  let isComplete = true
  for (const [name, compared] of fields) {
    const choices = decoded(compared)
    isComplete &&= choices.isComplete
    values = values.flatMap((one) =>
      choices.values.map((value) => (value === MISSING ? one : { ...one, [name]: value })),
    )
    if (values.length > MOST_VALUES) return { values: [], isComplete: false }
  }
  return { values, isComplete }
}

/** Decoded lists with every choice of what is read of them by its place, and shorter ones; elements are of all types that any has. */
function tuples({ places, element, lengths }: Compared): PartValues {
  const length = Math.max(...places.keys()) + 1
  if (length > MOST_PLACES) return { values: [], isComplete: false }
  let isComplete = element === undefined && lengths.size === 0
  let values: readonly (readonly unknown[])[] = [[]]
  const all: (readonly unknown[])[] = [[]]
  for (let at = 0; at < length; at++) {
    const read = [places.get(at), element].filter((one) => one !== undefined)
    const choices = read.length === 0 ? { values: [ILL_TYPED], isComplete: true } : decoded(mergeCompared(read))
    isComplete &&= choices.isComplete
    const some = choices.values.map((value) => (value === MISSING ? ILL_TYPED : value))
    values = values.flatMap((one) => some.map((value) => [...one, value]))
    if (all.length + values.length > MOST_VALUES) return { values: all, isComplete: false }
    all.push(...values)
  }
  return { values: all.toReversed(), isComplete }
}

/** More places than these are not filled. */
const MOST_PLACES = 8

/** A wallet that is known, and others, with each id and label that no known one has. */
function walletsLike({ fields }: Compared, known: readonly KnownWallet[]): PartValues {
  const [ids, labels] = (['id', 'label'] as const).map((name) => {
    const compared = fields.get(name)
    if (compared === undefined) return { values: ['another'], isComplete: true }
    const made = texts(compared, false, name)
    const isTaken = (text: unknown) => known.some((one) => one[name] === text)
    // One that begins as a known one does, where its own text is taken.
    const values = made.values.map((text) => (isTaken(text) ? `${text}-2` : text))
    return { ...made, values: [...new Set(values)].filter((text) => !isTaken(text)) }
  })
  const others = ids!.values.flatMap((id) => labels!.values.map((label) => ({ id, label })))
  const flags = ['imported', 'exported'].filter((name) => fields.has(name))
  const base = [...known, ...others].map((one) => ({ ...one, imported: false, exported: false }))
  const values = flags.reduce<readonly object[]>(
    (some, flag) => some.flatMap((one) => [one, { ...one, [flag]: true }]),
    base,
  )
  return cut(values, ids!.isComplete && labels!.isComplete)
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
