/**
 * Fewest activities: each may need people. Differences that one activity can carry share a *fold* (kind, action, type
 * and, where the activity is about one parent, that parent). Batches are made one after another: of the folds that have
 * something ready, the most urgent is taken, and among those one that is complete, so that no fold is split that need
 * not be. The whole order is decided by the input's content alone.
 */
import { type Diagnostic, diagnostic, printable } from '../diagnostics/index.ts'
import { type Address, KINDS, type KindName, kinds, referencesOf } from '../resources/index.ts'
import type { Difference } from './diff.ts'
import type { Batch } from './document.ts'
import { spanOf } from './identify.ts'
import { compareText } from './lock.ts'
import type { Node } from './order.ts'
import { templateOf } from './template.ts'

const MOST = 100

/** Folds nodes into batches; a circle of nodes is a diagnostic and its batches are left out. */
export function batch(
  nodes: readonly Node[],
  differences: readonly Difference[],
  { kindsReversed = false }: { readonly kindsReversed?: boolean } = {},
): {
  readonly batches: readonly Batch[]
  /** The batch that carries each difference, what rides with its parent included. */
  readonly carriedBy: ReadonlyMap<Difference, number>
  readonly diagnostics: readonly Diagnostic[]
} {
  const folds = foldsOf(nodes)
  const urgency = urgencyOf(nodes, folds)
  const batchOf = new Map<number, number>()
  const batches: Batch[] = []
  const ridersOf = Map.groupBy(
    differences.filter(({ ridesWith }) => ridesWith !== undefined),
    ({ ridesWith }) => ridesWith!,
  )
  const carriedBy = new Map<Difference, number>()
  const place = placesOf(nodes)
  const foldOf = new Map([...folds.values()].flatMap((fold) => fold.map((index) => [index, fold] as const)))
  const waitersOf = waitersOfEach(nodes)
  const candidates = new Map<readonly number[], Candidate>()
  // Of a fold nothing changes but by what it carries and waits for.
  const moved = new Set(folds.values())
  const isBefore = (a: Candidate, b: Candidate) =>
    (a.rank - b.rank ||
      Number(a.split) - Number(b.split) ||
      (place[a.ready[0]!]! - place[b.ready[0]!]!) * (kindsReversed ? -1 : 1)) < 0
  while (batchOf.size < nodes.length) {
    for (const fold of moved) {
      const candidate = candidateOf(fold, nodes, { done: batchOf, urgency })
      if (candidate) candidates.set(fold, candidate)
      else candidates.delete(fold)
    }
    moved.clear()
    if (candidates.size === 0) return { batches, carriedBy, diagnostics: [circle(nodes, batchOf)] }
    let first: Candidate | undefined
    for (const one of candidates.values()) if (!first || isBefore(one, first)) first = one
    const chosen = cap(first!.ready, nodes, place)
    for (const index of chosen) for (const one of [index, ...(waitersOf.get(index) ?? [])]) moved.add(foldOf.get(one)!)
    const after = new Set(
      chosen.flatMap((index) => [...nodes[index]!.hard, ...nodes[index]!.soft]).map((one) => batchOf.get(one)),
    )
    after.delete(undefined)
    for (const index of chosen) batchOf.set(index, batches.length)
    const members = chosen.map((index) => nodes[index]!.difference)
    const riding = members.flatMap(({ address, action }) => (action === 'create' ? (ridersOf.get(address) ?? []) : []))
    for (const one of [...members, ...riding]) carriedBy.set(one, batches.length)
    batches.push(
      makeBatch(
        batches.length,
        members,
        riding,
        [...(after as Set<number>)].sort((a, b) => a - b),
      ),
    )
  }
  return { batches, carriedBy, diagnostics: [] }
}

/** What a fold could carry now. */
interface Candidate {
  readonly ready: readonly number[]
  readonly rank: number
  /** Not all of what is left of the fold is ready. */
  readonly split: boolean
}

function candidateOf(
  fold: readonly number[],
  nodes: readonly Node[],
  { done, urgency }: { readonly done: ReadonlyMap<number, number>; readonly urgency: readonly number[] },
): Candidate | undefined {
  const ready = readyOf(fold, nodes, done)
  if (ready.length === 0) return undefined
  const rank = ready.reduce((least, index) => Math.min(least, urgency[index]!), Number.POSITIVE_INFINITY)
  return { ready, rank, split: ready.length < fold.filter((index) => !done.has(index)).length }
}

/** The nodes that wait for each. */
function waitersOfEach(nodes: readonly Node[]): ReadonlyMap<number, readonly number[]> {
  const waiters = new Map<number, number[]>()
  nodes.forEach(({ hard, soft }, index) => {
    for (const one of [...hard, ...soft]) {
      const those = waiters.get(one)
      if (those) those.push(index)
      else waiters.set(one, [index])
    }
  })
  return waiters
}

/** Where each node stands in the order of `byNode`. */
function placesOf(nodes: readonly Node[]): readonly number[] {
  const place: number[] = []
  const sorted = nodes.map((_, index) => index).sort((a, b) => byNode(nodes, a, b))
  sorted.forEach((index, at) => {
    place[index] = at
  })
  return place
}

function foldsOf(nodes: readonly Node[]): ReadonlyMap<string, readonly number[]> {
  const folds = new Map<string, number[]>()
  nodes.forEach(({ difference }, index) => {
    const { type, carries } = templateOf(difference)
    const { kind, action, address, input } = difference
    const parent = input.desired?.parent ?? input.actual?.parentId ?? ''
    const share =
      typeof carries === 'object'
        ? carries.about
        : { all: '', parent, one: `${address} ${input.actual?.id ?? ''}` }[carries]
    const key = JSON.stringify([kind, action, type, share])
    const fold = folds.get(key)
    if (fold) fold.push(index)
    else folds.set(key, [index])
  })
  return folds
}

/** What a fold can carry now: hard edges kept by earlier batches, soft ones by earlier batches or by this one. */
function readyOf(
  fold: readonly number[],
  nodes: readonly Node[],
  done: ReadonlyMap<number, number>,
): readonly number[] {
  let ready = fold.filter((index) => !done.has(index) && [...nodes[index]!.hard].every((one) => done.has(one)))
  for (let size = -1; size !== ready.length; ) {
    size = ready.length
    const together = new Set(ready)
    ready = ready.filter((index) => [...nodes[index]!.soft].every((one) => done.has(one) || together.has(one)))
  }
  return ready
}

/**
 * 0: tightens or is needed for that; 1: neither; 2: loosens. What shares a fold with something urgent is as urgent, and
 * so is what it needs: otherwise an early half of the fold would cost an activity more.
 */
function urgencyOf(nodes: readonly Node[], folds: ReadonlyMap<string, readonly number[]>): readonly number[] {
  const urgent = new Set(nodes.flatMap((node, index) => (node.urgent ? [index] : [])))
  for (let size = -1; size !== urgent.size; ) {
    size = urgent.size
    for (const fold of folds.values()) {
      if (!fold.some((index) => urgent.has(index))) continue
      for (const index of fold) if (nodes[index]!.power !== 'loosens') urgent.add(index)
    }
    for (const index of [...urgent]) for (const earlier of nodes[index]!.hard) urgent.add(earlier)
  }
  return nodes.map(({ power }, index) => (urgent.has(index) ? 0 : power === 'loosens' ? 2 : 1))
}

/** At most what the activity carries. What waits for most comes last, so that no soft edge points into what is cut off. */
function cap(ready: readonly number[], nodes: readonly Node[], place: readonly number[]): readonly number[] {
  const most = templateOf(nodes[ready[0]!]!.difference).most ?? MOST
  const waits = (index: number) => nodes[index]!.soft.size
  const chosen = [...ready].sort((a, b) => waits(a) - waits(b) || place[a]! - place[b]!).slice(0, most)
  return chosen.sort((a, b) => place[a]! - place[b]!)
}

function makeBatch(
  index: number,
  members: readonly Difference[],
  riding: readonly Difference[],
  after: readonly number[],
): Batch {
  const template = templateOf(members[0]!)
  const inputs = members.map(({ input }) => input)
  return {
    index,
    type: template.type,
    summary: summaryOf(members, riding),
    parameters: template.parameters(inputs),
    changes: [...members, ...riding].map(({ address }) => address).sort(compareText),
    after,
    produces: template.produces?.(inputs) ?? [],
  }
}

function summaryOf(members: readonly Difference[], riding: readonly Difference[]): string {
  const [first] = members
  const with_ = counts(riding)
  const { one, many } = kinds[first!.kind]
  const name = printable((first!.input.desired ?? first!.input.actual)!.name)
  const what = members.length > 1 ? `${members.length} ${many}` : name === first!.kind ? one : `${one} ${name}`
  return `${first!.action} ${what}${with_ === '' ? '' : ` with ${with_}`}`
}

/** `2 API keys and 1 wallet account`. */
function counts(differences: readonly Difference[]): string {
  const count = new Map<KindName, number>()
  for (const { kind } of differences) count.set(kind, (count.get(kind) ?? 0) + 1)
  const parts = [...count].map(([kind, n]) => `${n} ${n === 1 ? kinds[kind].one : kinds[kind].many}`)
  return parts.join(' and ')
}

/** References of a batch's parameters that no batch before it makes. */
export function openReferences({ batches }: { readonly batches: readonly Batch[] }): ReadonlySet<Address> {
  const made = new Set<Address>()
  const open = new Set<Address>()
  for (const one of batches) {
    for (const address of referencesOf(one.parameters)) if (!made.has(address)) open.add(address)
    for (const { address } of one.produces) made.add(address)
  }
  return open
}

function circle(nodes: readonly Node[], done: ReadonlyMap<number, number>): Diagnostic {
  const left = nodes.filter((_, index) => !done.has(index)).map(({ difference }) => difference)
  const names = left.slice(0, 5).map(({ address }) => `\`${address}\``)
  const more = left.length > 5 ? ` and ${left.length - 5} more` : ''
  const { input } = left[0]!
  return diagnostic(
    'plan/cycle',
    `changes wait for one another: ${names.join(', ')}${more}`,
    spanOf((input.desired ?? input.actual)!),
    {
      help: 'make one of them in a plan of its own',
    },
  )
}

function byNode(nodes: readonly Node[], a: number, b: number): number {
  const [one, two] = [nodes[a]!.difference, nodes[b]!.difference]
  return (
    KINDS.indexOf(one.kind) - KINDS.indexOf(two.kind) ||
    compareText(one.address, two.address) ||
    compareText(one.input.actual?.id ?? '', two.input.actual?.id ?? '')
  )
}
