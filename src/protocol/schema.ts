import { schemaTexts } from './generated/schemas.gen.ts'

/** The part of JSON Schema that the generated schemas use. */
export interface MessageSchema {
  readonly $ref?: string
  readonly type?: 'object' | 'array' | 'string' | 'boolean' | 'integer' | 'null'
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, MessageSchema>>
  readonly required?: readonly string[]
  readonly items?: MessageSchema
  /** A value or null, in answers alone. */
  readonly anyOf?: readonly MessageSchema[]
  readonly additionalProperties?: MessageSchema
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  /** What an absent member counts as. */
  readonly default?: string | boolean | readonly never[]
  /** Tags of the published field checks; see `checks.ts`. */
  readonly 'x-checks'?: string
  /** The refusals that a fault here has of its own; see `refusals.ts`. */
  readonly 'x-refused'?: { readonly invalid?: string; readonly missing?: string }
}

/** Every message name that has a schema. */
export function schemaNames(): readonly string[] {
  return Object.keys(schemaTexts)
}

/** Parses the schema of a message. Throws for a name that has none, which is a fault of the caller. */
export function parseSchema(name: string): MessageSchema {
  const text = Object.hasOwn(schemaTexts, name) ? schemaTexts[name] : undefined
  if (text === undefined) throw new Error(`no schema is named ${name}`)
  return JSON.parse(text) as MessageSchema
}

/** The name that a `$ref` points to. */
export function refName(ref: string): string {
  return ref.slice('#/$defs/'.length)
}

/** Collects the schemas that messages are made of, themselves included, by name. */
export function closureOf(...names: readonly string[]): Readonly<Record<string, MessageSchema>> {
  const found: Record<string, MessageSchema> = {}
  const walk = (schema: MessageSchema): void => {
    if (schema.$ref !== undefined) visit(refName(schema.$ref))
    if (schema.items) walk(schema.items)
    for (const one of schema.anyOf ?? []) walk(one)
    for (const property of Object.values(schema.properties ?? {})) walk(property)
  }
  const visit = (message: string): void => {
    if (message in found) return
    const schema = parseSchema(message)
    found[message] = schema
    walk(schema)
  }
  for (const name of names) visit(name)
  return found
}

/** Whether a message may hold a member of one of these names, at any depth; a map or a message without members may hold any. */
export function mayHold(message: string, names: ReadonlySet<string>): boolean {
  const known = holders.get(names) ?? new Map<string, boolean>()
  holders.set(names, known)
  let may = known.get(message)
  if (may === undefined) {
    may = Object.values(closureOf(message)).some((schema) => isOrHas(schema, names))
    known.set(message, may)
  }
  return may
}
const holders = new WeakMap<ReadonlySet<string>, Map<string, boolean>>()

function isOrHas(schema: MessageSchema, names: ReadonlySet<string>): boolean {
  if (schema.type === 'object' && !schema.properties) return true
  const inside = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.anyOf ?? []),
    ...(schema.items ? [schema.items] : []),
  ]
  return (
    Object.keys(schema.properties ?? {}).some((name) => names.has(name)) || inside.some((one) => isOrHas(one, names))
  )
}
