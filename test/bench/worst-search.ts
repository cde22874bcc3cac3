/**
 * Bodies for the search: a message of the catalogue that passes the published checks, and changes of it: a text, a member that
 * may be absent, another word of a list of words, a list made longer. Nothing here knows what is dear.
 */
import {
  type ActivityType,
  activities,
  type Json,
  type JsonObject,
  MAX_BODY_BYTES,
  type QueryName,
  queries,
} from '../../src/protocol/index.ts'
import { closureOf, type MessageSchema, refName } from '../../src/protocol/schema.ts'
import { sampleOf } from '../service/handlers/sample.ts'
import type { Caller } from './worst-stage.ts'
import { ATOMS, type Atom } from './worst-texts.ts'

/** What is asked, by whom. */
export interface Candidate {
  readonly caller: Caller
  readonly asks: { readonly activity: ActivityType } | { readonly query: QueryName }
  readonly parameters: JsonObject
}

/** Room for what stands around the parameters. */
const MOST_BYTES = MAX_BODY_BYTES - 1_024
const MOST_ELEMENTS = 1_000

/** A generator of its own, so that a seed gives the same search. */
export function createDice(seed: number) {
  let state = seed >>> 0
  const next = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return { next, pick: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]! }
}
export type Dice = ReturnType<typeof createDice>

export function messageOf({ asks }: Pick<Candidate, 'asks'>): string {
  return 'activity' in asks ? activities[asks.activity].intent : queries[asks.query].request
}

/** The least that may be asked. */
export function begin(caller: Caller, asks: Candidate['asks'], dice: Dice): Candidate {
  const plain = { caller, asks, parameters: sampleOf(messageOf({ asks })) }
  // What is there is named at once: most requests about nothing are refused for that alone.
  for (const { parent, key, name } of places(plain).filter(({ kind }) => kind === 'text')) {
    const known = caller.known[name]
    if (known) parent[key] = dice.pick(known)
  }
  return plain
}

/** One to three changes of it that leave it small enough; what it was, where there are none. */
export function mutate(candidate: Candidate, dice: Dice): Candidate {
  const changed = { ...candidate, parameters: structuredClone(candidate.parameters) }
  for (let left = 1 + Math.floor(dice.next() * 3); left > 0; left--) {
    const found = places(changed)
    if (found.length > 0) change(dice.pick(found), changed, dice)
  }
  return sizeOf(changed.parameters) <= MOST_BYTES ? changed : candidate
}

/** The parameters as they are sent: each `#` is a number of its own, so that what must differ does. */
export function writeParameters({ parameters }: Candidate): string {
  let at = 0
  return JSON.stringify(parameters).replaceAll('#', () => String(at++))
}

export const sizeOf = (value: Json) => Buffer.byteLength(JSON.stringify(value))

interface Place {
  readonly kind: 'text' | 'words' | 'list' | 'absent'
  /** The object or list that it stands in. */
  readonly parent: Record<string, Json>
  readonly key: string
  /** The member's name, also of a list's elements. */
  readonly name: string
  readonly schema: MessageSchema
}

function places(candidate: Candidate): readonly Place[] {
  const defs = closureOf(messageOf(candidate))
  const found: Place[] = []
  const walk = (given: MessageSchema, value: Json, parent: Record<string, Json>, key: string, name: string): void => {
    const schema = given.$ref === undefined ? given : defs[refName(given.$ref)]!
    if (schema.enum) found.push({ kind: 'words', parent, key, name, schema })
    else if (schema.type === 'string') found.push({ kind: 'text', parent, key, name, schema })
    else if (Array.isArray(value)) {
      found.push({ kind: 'list', parent, key, name, schema })
      // One element stands for all: the others are copies of it.
      if (value.length > 0) walk(schema.items!, value[0]!, value as never, '0', name)
    } else if (typeof value === 'object' && value !== null) {
      for (const [member, property] of Object.entries(schema.properties ?? {})) {
        const inner = value as Record<string, Json>
        if (Object.hasOwn(value, member)) walk(property, inner[member]!, inner, member, member)
        else found.push({ kind: 'absent', parent: inner, key: member, name: member, schema: property })
      }
    }
  }
  const root = { message: candidate.parameters }
  walk({ $ref: `#/$defs/${messageOf(candidate)}` }, candidate.parameters, root, 'message', 'message')
  return found.filter(({ key, parent }) => parent !== root && key !== 'organizationId')
}

function change({ kind, parent, key, name, schema }: Place, candidate: Candidate, dice: Dice): void {
  const { caller } = candidate
  const room = MOST_BYTES - sizeOf(candidate.parameters)
  switch (kind) {
    case 'words':
      parent[key] = dice.pick(schema.enum!)
      return
    case 'absent':
      if (schema.$ref === undefined && schema.type === 'string') parent[key] = text(name, caller, room, dice)
      else if (schema.type === 'array') parent[key] = []
      else if (schema.$ref !== undefined) {
        const made = sampleOr(refName(schema.$ref))
        if (made !== undefined) parent[key] = made
      }
      return
    case 'text':
      parent[key] = text(name, caller, room, dice)
      return
    case 'list': {
      const list = parent[key] as Json[]
      const first = list[0] ?? element(schema, name, caller, dice)
      if (first === undefined) return
      const most = Math.floor((room + sizeOf(list)) / (sizeOf(first) + 1))
      const wanted = dice.pick([1, 10, 100, MOST_ELEMENTS, 100_000])
      parent[key] = Array.from({ length: Math.max(1, Math.min(wanted, most)) }, () => structuredClone(first))
    }
  }
}

function element({ items }: MessageSchema, name: string, caller: Caller, dice: Dice): Json | undefined {
  if (items?.$ref !== undefined) return sampleOr(refName(items.$ref))
  return items?.enum ? dice.pick(items.enum) : text(name, caller, 1_000, dice)
}

function sampleOr(name: string): Json | undefined {
  const schema = closureOf(name)[name]
  return schema?.enum ? schema.enum[0] : sampleOf(name)
}

/** Something that is there, or a text that may stand in such a member; now and then any text at all. */
function text(name: string, { known }: Caller, room: number, dice: Dice): string {
  const names = known[name]
  if (names && dice.next() < 0.6) return dice.pick(names)
  const fitting = Object.values(ATOMS).filter(({ members }) => members.source !== '.' && members.test(name))
  const general = Object.values(ATOMS).filter(({ members }) => members.source === '.')
  const atom: Atom = dice.pick(
    fitting.length > 0 && dice.next() < 0.8 ? fitting : dice.next() < 0.9 ? general : Object.values(ATOMS),
  )
  const bytes = Math.floor(room * dice.pick([0.0001, 0.001, 0.01, 0.015, 0.1, 0.4, 0.9]))
  return cached(atom, bytes)
}

/** Large texts take a while to make: few sizes are enough. */
const made = new Map<Atom, Map<number, string>>()

function cached(atom: Atom, bytes: number): string {
  const size = Math.round(bytes / 2 ** Math.floor(Math.log2(bytes + 1) - 2)) * 2 ** Math.floor(Math.log2(bytes + 1) - 2)
  let sizes = made.get(atom)
  if (!sizes) {
    sizes = new Map()
    made.set(atom, sizes)
  }
  let text = sizes.get(size)
  if (text === undefined) {
    text = atom.make(size)
    if (Buffer.byteLength(JSON.stringify(text)) > MOST_BYTES) text = atom.make(size / 4)
    sizes.set(size, text)
  }
  return text
}
