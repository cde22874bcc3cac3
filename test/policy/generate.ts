import fc from 'fast-check'
import type { Expression } from '../../src/policy/ast.ts'
import { isRootName, type RootName, roots, rootsOf, structRow } from '../../src/policy/environment.ts'
import { checkText, type PolicyContext, type PolicyField } from '../../src/policy/index.ts'
import * as t from '../../src/policy/types.ts'

/** Choices drawn from a list of numbers, so that what is generated shrinks with it; a used-up tape draws zeros. */
export class Tape {
  readonly #numbers: readonly number[]
  #at = 0

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers
  }

  below(count: number): number {
    return (this.#numbers[this.#at++] ?? 0) % count
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!
  }
}

const here = { start: 0, end: 0 }
const identifier = (text: string) => ({ text, ...here })
const names = ['a', 'u', 'wallet', 'count', 'time', '_x1', 'inner', 'all']
const texts = ['', 'a', '0xAB', '5', 'true', ' ', '\\', '"', '🐿', '&&']
const numbers = [0n, 1n, -1n, 10n, 2n ** 127n, -(2n ** 127n)]

/** Any tree that the grammar can write, whatever its types. */
export function anyTree(tape: Tape, depth: number): Expression {
  const inner = () => anyTree(tape, depth - 1)
  const several = (least: number) => Array.from({ length: least + tape.below(3) }, inner)
  const leaf = depth <= 0
  switch (tape.below(leaf ? 4 : 15)) {
    case 0:
      return { kind: 'bool', value: tape.below(2) === 1, ...here }
    case 1:
      return { kind: 'int', value: tape.pick(numbers), ...here }
    case 2:
      return { kind: 'string', value: tape.pick(texts), ...here }
    case 3:
      return { kind: 'name', name: tape.pick(names), ...here }
    case 4:
      return { kind: 'list', items: several(0), ...here }
    case 5:
      return {
        kind: 'struct',
        fields: several(1).map((value) => ({ name: identifier(tape.pick(names)), value })),
        ...here,
      }
    case 6:
      return { kind: 'call', name: identifier(tape.pick(['Timestamp', 'CronSpan', 'f'])), args: several(0), ...here }
    case 7:
      return { kind: 'member', target: inner(), name: identifier(tape.pick(names)), ...here }
    case 8:
      return {
        kind: 'method',
        target: inner(),
        name: identifier(tape.pick(['count', 'contains', 'f'])),
        args: several(0),
        ...here,
      }
    case 9:
      return {
        kind: 'quantifier',
        target: inner(),
        method: tape.pick(['all', 'any', 'filter']),
        variable: identifier(tape.pick(names)),
        predicate: inner(),
        ...here,
      }
    case 10:
      return { kind: 'index', target: inner(), index: inner(), ...here }
    case 11:
      return { kind: 'slice', target: inner(), from: inner(), to: inner(), ...here }
    case 12:
      return { kind: 'not', operand: inner(), ...here }
    case 13:
      return {
        kind: 'compare',
        operator: tape.pick(['==', '!=', '<', '<=', '>', '>=', 'in']),
        left: inner(),
        right: inner(),
        ...here,
      }
    default:
      return { kind: 'logic', operator: tape.pick(['&&', '||']), operands: several(2), ...here }
  }
}

/** The text of a bool expression over the roots of `condition` that mostly has the right types. */
export function typedCondition(tape: Tape): string {
  return typedText(tape, { field: 'condition' })
}

/** The text of a bool expression over the roots of a field that mostly has the right types; `texts` are what it compares with. */
export function typedText(
  tape: Tape,
  { field, texts = ['', 'a', '0xAB', '5'], given, depth = 4 }: Partial<Scene> & { field: PolicyField; depth?: number },
): string {
  return typed(tape, t.bool, depth, { field, texts, given, variables: [] })
}

/** A text of the field of any syntax that the checker takes; of the roots that it may read one of these sets. */
export function anySyntax(
  field: PolicyField,
  { texts, given = [undefined] }: Pick<Scene, 'texts'> & { readonly given?: readonly Scene['given'][] },
): fc.Arbitrary<string> {
  return fc
    .tuple(tapes(120), fc.integer({ min: 1, max: 3 }), fc.constantFrom(...given))
    .map(([tape, depth, some]) => typedText(tape, { field, texts, given: some, depth }))
    .filter((text) => text.length < 2_000 && checkText(field, text).every(({ severity }) => severity !== 'error'))
}

/** Choices to draw so many times from. */
export function tapes(length: number): fc.Arbitrary<Tape> {
  return fc.array(fc.nat(1_000_000), { minLength: length, maxLength: length }).map((drawn) => new Tape(drawn))
}

/** Expressions of these, joined and negated. */
export function joined(...leaves: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  return fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      ...leaves,
      fc.tuple(tie('node'), fc.constantFrom('&&', '||'), tie('node')).map(([a, op, b]) => `(${a}) ${op} (${b})`),
      tie('node').map((a) => `!(${a})`),
    ),
  })).node
}

interface Scene {
  readonly field: PolicyField
  readonly texts: readonly string[]
  /** The roots that are read. @default all of the field */
  readonly given?: readonly RootName[] | undefined
  readonly variables: readonly Variable[]
}

interface Variable {
  readonly name: string
  readonly type: t.Type
}

function typed(tape: Tape, wanted: t.Type, depth: number, scene: Scene): string {
  // Now and then the wrong type, so that the checker has something to refuse.
  const type = tape.below(25) === 24 ? tape.pick([t.bool, t.int, t.string, t.list(t.int)]) : wanted
  const inner = (of: t.Type) => typed(tape, of, depth - 1, scene)
  const found = pathsTo(type, scene)
  if (found.length > 0 && tape.below(3) > 0) return tape.pick(found)
  switch (type.kind) {
    case 'bool':
      if (depth <= 0) return tape.pick(['true', 'false'])
      return typedBool(tape, depth, scene, inner)
    case 'int':
    case 'uint':
    case 'number':
      if (depth > 0 && tape.below(4) === 0) return `${inner(t.list(tape.pick([t.int, t.string])))}.count()`
      return tape.pick(['0', '1', '-7', '5000', '340282366920938463463374607431768211456'])
    case 'string':
      if (depth > 0 && tape.below(4) === 0) return `${inner(t.string)}[${tape.below(3)}..${3 + tape.below(9)}]`
      if (depth > 0 && tape.below(8) === 0) return `{ it: ${inner(t.string)} }.it`
      return `'${tape.pick(scene.texts)}'`
    case 'list':
      if (depth > 0 && tape.below(4) === 0)
        return `${inner(type)}.filter(v${depth}, ${typed(tape, t.bool, depth - 1, within(scene, { name: `v${depth}`, type: type.element }))})`
      return type.element.kind === 'struct' ? '[]' : `[${inner(type.element)}, ${inner(type.element)}]`
    default:
      return found.length > 0 ? tape.pick(found) : 'true'
  }
}

function within(scene: Scene, variable: Variable): Scene {
  return { ...scene, variables: [...scene.variables, variable] }
}

/** Structs of which a field's roots have lists. */
const WALKED: Readonly<Record<PolicyField, readonly string[]>> = {
  condition: ['Transfer', 'Instruction', 'Wallet'],
  consensus: ['User', 'Credential', 'User'],
  time: [],
}

function typedBool(tape: Tape, depth: number, scene: Scene, inner: (type: t.Type) => string): string {
  const of = tape.pick<t.Type>([t.int, t.string, t.bool])
  const listOf = tape.pick<t.Type>([t.int, t.string, ...WALKED[scene.field].map(t.struct)])
  const name = `v${depth}`
  switch (tape.below(7)) {
    case 0:
      return `(${inner(of)} ${tape.pick(['==', '!='])} ${inner(of)})`
    case 1:
      return `(${inner(t.int)} ${tape.pick(['<', '<=', '>', '>='])} ${inner(t.int)})`
    case 2:
      return `!(${inner(t.bool)})`
    case 3:
      return `(${inner(t.bool)} ${tape.pick(['&&', '||'])} ${inner(t.bool)})`
    case 4:
      return `(${inner(of)} in ${inner(t.list(of))})`
    case 5:
      return `${inner(t.list(of))}.contains(${inner(of)})`
    default: {
      const predicate = typed(tape, t.bool, depth - 1, within(scene, { name, type: listOf }))
      return `${inner(t.list(listOf))}.${tape.pick(['all', 'any'])}(${name}, ${predicate})`
    }
  }
}

/** Every path from a root of the field or a variable to a value of the type, through fields alone. */
function pathsTo(type: t.Type, { field, variables, given }: Scene): readonly string[] {
  const paths: string[] = []
  const walk = (path: string, at: t.Type, depth: number) => {
    if (t.unify(at, type) !== undefined && at.kind === type.kind) paths.push(path)
    if (at.kind === 'struct' && depth > 0)
      for (const field of structRow(at.name).fields) walk(`${path}.${field.name}`, field.type, depth - 1)
    if (at.kind === 'map') walk(`${path}['k']`, at.value, depth)
    if (at.kind === 'list' && at.element.kind === 'struct' && depth > 0)
      for (const place of [0, 1]) walk(`${path}[${place}]`, at.element, depth - 1)
  }
  for (const root of given ?? rootsOf(field)) walk(root, roots[root].type, 3)
  for (const { name, type: variableType } of variables) walk(name, variableType, 2)
  return paths.filter((path) => !path.includes("contract_call_args['k']") && !path.includes("message['k']"))
}

/** A context in which every root has a value of its declared type, or, now and then, none. */
export function typedContext(tape: Tape): PolicyContext {
  const given = Object.fromEntries(
    rootsOf('condition').flatMap((name) =>
      isRootName(name) && name !== 'activity' ? [[name, sampleOf(tape, roots[name].type, 5)]] : [],
    ),
  )
  const params = sampleOf(tape, t.struct('ActivityParams'), 5) as Record<string, unknown>
  return {
    now: BigInt(tape.below(2_000_000_000)) * 1_000_000_000n,
    activity: { type: tape.pick(['ACTIVITY_TYPE_SIGN_TRANSACTION_V2', 'ACTIVITY_TYPE_CREATE_WALLET']), params },
    approvers: [{ id: 'ana' }],
    ...given,
  }
}

/** A value of a type down to a depth; a whole one has every field. */
export function sampleOf(tape: Tape, type: t.Type, depth: number, isWhole = false): unknown {
  switch (type.kind) {
    case 'bool':
      return tape.below(2) === 1
    case 'int':
    case 'uint':
    case 'number':
      return tape.pick<unknown>([0n, 1, '5000', 2n ** 127n - 1n])
    case 'string':
      return tape.pick(['', 'a', '0xab', '0xABCDEF0123456789', '🐿5'])
    case 'list':
      return depth <= 0
        ? []
        : Array.from({ length: tape.below(3) }, () => sampleOf(tape, type.element, depth - 1, isWhole))
    case 'map':
      return { k: sampleOf(tape, type.value, depth - 1, isWhole) }
    case 'struct':
      return Object.fromEntries(
        structRow(type.name).fields.flatMap(({ name, type: fieldType }) =>
          depth <= 0 || (!isWhole && tape.below(12) === 11)
            ? []
            : [[name, sampleOf(tape, fieldType, depth - 1, isWhole)]],
        ),
      )
    default:
      return 'a'
  }
}

/** A tree without its places. */
export function shapeOf(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(shapeOf)
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node)
      .filter(([name]) => name !== 'start' && name !== 'end')
      .map(([name, value]) => [name, shapeOf(value)]),
  )
}
