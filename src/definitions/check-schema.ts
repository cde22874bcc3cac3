import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { type Diagnostic, diagnostic, type Span, suggest, withoutKeys } from '../diagnostics/index.ts'
import { compileSchema } from './compiled.ts'
import { childOf, entryOf, type Tree, toPlain } from './tree.ts'

/** Made at its first use. */
let validate: ValidateFunction | undefined

/** Checks the shape of one file. */
export function checkSchema(tree: Tree): readonly Diagnostic[] {
  validate ??= compileSchema().validate
  if (validate(toPlain(tree))) return []
  return (validate.errors ?? []).flatMap((error) => {
    const found = describe(error, tree)
    return found ? [found] : []
  })
}

function describe(error: ErrorObject, root: Tree): Diagnostic | undefined {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const { tree, keySpan } = walk(root, path)
  if (tree?.kind === 'scalar' && tree.missing) return undefined
  const schema = (error.parentSchema ?? {}) as Readonly<Record<string, unknown>>
  const got = show(error.data)
  const at = tree?.span ?? root.span
  const wrongValue = (message: string, help?: string) => diagnostic('definitions/wrong-value', message, at, { help })
  switch (error.keyword) {
    case 'additionalProperties':
      return unknownKey(error, tree, path)
    case 'required': {
      const key = String(error.params['missingProperty'])
      return diagnostic('definitions/missing-key', `\`${key}\` of \`${placeName(path)}\` is missing`, keySpan ?? at, {
        help: describeKey(schema, key),
      })
    }
    case 'type': {
      const expected = schema['title'] ?? listTypes(error.params['type'])
      const help = helpForType(error, schema, { key: path.at(-1) ?? '', written: tree && textOf(tree.span) })
      return diagnostic('definitions/wrong-type', `expected ${expected}, got ${kindOf(error.data)}`, at, { help })
    }
    case 'enum': {
      const allowed = error.params['allowedValues'] as readonly unknown[]
      const many = allowed.length > 8
      const expected = many ? schema['title'] : `one of ${allowed.map((one) => `\`${String(one)}\``).join(', ')}`
      const near = typeof error.data === 'string' ? nearest(error.data, allowed.map(String)) : []
      return wrongValue(
        `expected ${expected}, got ${got}`,
        didYouMean(near) ??
          (many
            ? `one of ${allowed.join(', ')}`
            : error.data === null
              ? `write one of them after \`${placeName(path)}:\``
              : undefined),
      )
    }
    case 'const':
      return wrongValue(`expected \`${String(error.params['allowedValue'])}\`, got ${got}`)
    case 'pattern':
      return wrongValue(`expected ${String(schema['title'])}, got ${got}`)
    case 'minimum':
      return wrongValue(`expected at least ${error.params['limit']}, got ${got}`)
    case 'maximum':
      return wrongValue(`expected at most ${error.params['limit']}, got ${got}`)
    case 'minLength':
      return wrongValue('expected a text, got an empty one')
    case 'maxLength':
      return wrongValue(`expected at most ${error.params['limit']} characters, got ${String(error.data).length}`)
    case 'minItems':
      return wrongValue(`expected at least ${error.params['limit']} element, got none`)
    case 'if':
      // Says only that one of its branches failed; the branch has its own.
      return undefined
    default:
      return wrongValue(`the value ${error.message ?? 'is not valid'}`)
  }
}

function unknownKey(error: ErrorObject, tree: Tree | undefined, path: readonly string[]): Diagnostic {
  const key = String(error.params['additionalProperty'])
  const span = entryOf(tree, key)?.keySpan ?? tree!.span
  const known = Object.keys((error.parentSchema as { properties?: object }).properties ?? {})
  const help = didYouMean(suggest(key, known)) ?? `known here: ${known.join(', ')}`
  const where = path.length === 0 ? 'at the top of a definition' : `of \`${placeName(path)}\``
  return diagnostic('definitions/unknown-key', `unknown key \`${key}\` ${where}`, span, { help })
}

export function didYouMean(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : `did you mean ${names.map((name) => `\`${name}\``).join(', ')}?`
}

/** A word that differs in its letters' case alone is the one that was meant. */
function nearest(word: string, allowed: readonly string[]): readonly string[] {
  const same = allowed.filter((one) => one.toLowerCase() === word.toLowerCase())
  return same.length > 0 ? same : suggest(word, allowed)
}

function describeKey(schema: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const properties = schema['properties'] as Readonly<Record<string, { description?: string }>> | undefined
  const description = properties && Object.hasOwn(properties, key) ? properties[key]!.description : undefined
  return description === undefined ? `add \`${key}:\`` : `add \`${key}:\`. ${description}`
}

/** What a path ends in, for people: `alice`, `accounts[0]`. */
function placeName(path: readonly string[]): string {
  const last = path.at(-1) ?? ''
  return /^\d+$/.test(last) && path.length > 1 ? `${path.at(-2)}[${last}]` : last
}

/** The tree under a path of keys and indices, and the key under which it stands. */
function walk(
  root: Tree,
  path: readonly string[],
): { readonly tree: Tree | undefined; readonly keySpan: Span | undefined } {
  let tree: Tree | undefined = root
  let keySpan: Span | undefined
  for (const part of path) {
    if (tree?.kind === 'map') {
      keySpan = entryOf(tree, part)?.keySpan
      tree = childOf(tree, part)
    } else if (tree?.kind === 'list') {
      tree = tree.items[Number(part)]
      keySpan = tree?.span
    }
  }
  return { tree, keySpan }
}

const TYPES: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'a text',
  integer: 'a whole number',
  boolean: '`true` or `false`',
}

function listTypes(types: unknown): string {
  const names = (Array.isArray(types) ? types : [types]).filter((type) => type !== 'null')
  return names.map((type) => TYPES[String(type)] ?? String(type)).join(' or ')
}

/** What to write in place of a value of another type; undefined where the message says it all. */
function helpForType(
  { data, params }: ErrorObject,
  { properties, additionalProperties, required, title, pattern }: Readonly<Record<string, unknown>>,
  { key, written }: { readonly key: string; readonly written: string | undefined },
): string | undefined {
  const types = [params['type'] as string | readonly string[]].flat()
  const isText = typeof data === 'string'
  if (types.includes('object')) {
    const names = (required as readonly string[] | undefined) ?? Object.keys((properties as object | undefined) ?? {})
    const keys = names.slice(0, 3).map((name) => `\`${name}:\``)
    const where = /^\d+$/.test(key) ? 'after the dash and below it' : `on indented lines below \`${key}:\``
    if (keys.length > 0) return `write its keys ${where}, such as ${keys.join(', ')}`
    if (additionalProperties)
      return `write a name on an indented line below \`${key}:\`, without a dash, as in \`NAME:\``
  }
  if (types.includes('array'))
    return isText
      ? `put it in brackets: \`${key}: [${withoutKeys(data)}]\``
      : `write \`${key}: []\` for none, or an element a line below it, each after a dash`
  if (types.includes('string') && written && (typeof data === 'boolean' || typeof data === 'number'))
    return (pattern ? new RegExp(String(pattern)).test(written) : !title)
      ? `put it in quotes: \`'${written}'\``
      : undefined
  if (types.includes('integer')) return 'write digits alone, without quotes'
  if (types.includes('boolean')) return 'write `true` or `false`, without quotes'
  return undefined
}

function textOf({ source, start, end }: Span): string {
  return source.text.slice(start, end)
}

function kindOf(value: unknown): string {
  if (value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  if (typeof value === 'string') return 'a text'
  return `\`${String(value)}\``
}

function show(value: unknown): string {
  return typeof value === 'object' ? kindOf(value) : `\`${String(value)}\``
}
