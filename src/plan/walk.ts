/**
 * The part of a plan's application that decides nothing: what is ready, parameters with their ids filled in, ids out of
 * results, the text of a request. Workflows run this file, so it must reach nothing but pure code.
 */
import { QuorateError } from '../diagnostics/index.ts'
import type { Json } from '../encoding/index.ts'
import type { Address, Value } from '../resources/index.ts'
import type { Batch, Plan } from './document.ts'

/** The part of a plan that a walk needs: small, whatever the plan's size. */
export interface PlanOutline {
  readonly digest: string
  readonly organizationId: string
  readonly batches: readonly BatchOutline[]
}

export interface BatchOutline {
  readonly index: number
  readonly type: string
  readonly summary: string
  readonly after: readonly number[]
  /** How many changes it carries. */
  readonly changes: number
}

/** The state of one batch. `skipped`: a batch that it needs has failed or was skipped itself. */
export type BatchState = 'not-started' | 'submitting' | 'waiting' | 'done' | 'failed' | 'skipped'

/** Reduces a plan to what a walk needs. */
export function outline(plan: Plan): PlanOutline {
  return {
    digest: plan.digest,
    organizationId: plan.organization.id,
    batches: plan.batches.map(({ index, type, summary, after, changes }) => ({
      index,
      type,
      summary,
      after,
      changes: changes.length,
    })),
  }
}

/** Batches that can be submitted now: not started, and everything before them done. States are by index. */
export function readyBatches({ batches }: PlanOutline, states: readonly BatchState[]): readonly number[] {
  return batches
    .filter(
      ({ index, after }) => stateOf(states, index) === 'not-started' && after.every((one) => states[one] === 'done'),
    )
    .map(({ index }) => index)
}

/** Batches not started that never will be, with the batch that stands in their way. */
export function blockedBatches(
  { batches }: PlanOutline,
  states: readonly BatchState[],
): readonly { readonly index: number; readonly because: number }[] {
  const dead = new Set(states.flatMap((state, index) => (state === 'failed' || state === 'skipped' ? [index] : [])))
  const blocked: { index: number; because: number }[] = []
  for (const { index, after } of batches) {
    const because = after.find((one) => dead.has(one))
    if (because === undefined || stateOf(states, index) !== 'not-started') continue
    dead.add(index)
    blocked.push({ index, because })
  }
  return blocked
}

/** Puts ids in place of all references. Throws `plan/unknown-id` for one that is not known. */
export function fillParameters(value: Value, ids: Readonly<Record<Address, string>>): Json {
  if (value === null || typeof value !== 'object') return value
  if (isList(value)) return value.map((element) => fillParameters(element, ids))
  if ('$ref' in value && typeof value.$ref === 'string') return idOf(value.$ref, ids)
  if ('$text' in value && isList(value.$text as Value)) {
    const pieces = value.$text as readonly (string | { readonly $ref: Address })[]
    return pieces.map((piece) => (typeof piece === 'string' ? piece : idOf(piece.$ref, ids))).join('')
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fillParameters(member as Value, ids)]))
}

/** The ids that a completed activity brought; `result` is the record's `result`. Throws `plan/no-result` for a missing one. */
export function collectIds(batch: Pick<Batch, 'index' | 'produces'>, result: unknown): Record<Address, string> {
  const ids: Record<Address, string> = {}
  for (const { address, at } of batch.produces) {
    let value = result
    for (const step of at) value = (value as Readonly<Record<string | number, unknown>> | null | undefined)?.[step]
    if (typeof value !== 'string' || value === '') {
      throw new QuorateError('plan/no-result', `the result of batch ${batch.index + 1} has no id for \`${address}\``, {
        facts: { expected: `result.${at.join('.')}` },
        next: 'check that the base URL is that of the API',
      })
    }
    ids[address] = value
  }
  return ids
}

/**
 * The text of a request, made once and then sent as it is: the API tells requests apart by the hash of this text
 * (docs/protocol/activities.md#fingerprint). Members stand in the API's order.
 */
export function makeBody({
  type,
  organizationId,
  parameters,
  timestampMs,
}: {
  readonly type: string
  readonly organizationId: string
  readonly parameters: Json
  /** Milliseconds since the epoch; decimal text on the wire. */
  readonly timestampMs: number | string
}): string {
  return JSON.stringify({ type, timestampMs: String(timestampMs), organizationId, parameters })
}

function idOf(address: Address, ids: Readonly<Record<Address, string>>): string {
  if (Object.hasOwn(ids, address)) return ids[address]!
  throw new QuorateError('plan/unknown-id', `the id of \`${address}\` is not known`, {
    next: 'make the plan again; if this comes back, report it with the plan',
  })
}

function stateOf(states: readonly BatchState[], index: number): BatchState {
  return states[index] ?? 'not-started'
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value)
}
