import { type Batch, fillParameters, makeBody, outline, type Plan } from '../src/plan/index.ts'
import type { Json } from '../src/protocol/index.ts'
import type { Address, Value } from '../src/resources/index.ts'
import type { Ids, Outline } from './model.ts'

/**
 * Makes a batch's body: the same plan, ids and time give the same bytes, on any worker, at any later moment. The time
 * comes from the workflow's history, never from here.
 */
export function makeBatchBody(
  plan: Plan,
  batch: Batch,
  { ids, timestampMs }: { readonly ids: Ids; readonly timestampMs: number },
): { readonly body: string; readonly parameters: Json } {
  const parameters = fillParameters(batch.parameters, { ...plan.ids, ...ids })
  const organizationId = plan.organization.id
  return {
    parameters,
    body: makeBody({ type: batch.type, organizationId, parameters, timestampMs }),
  }
}

/** Makes the body of an approval, by the same rule. */
export function makeVoteBody(
  organizationId: string,
  { fingerprint, timestampMs }: { readonly fingerprint: string; readonly timestampMs: number },
): string {
  const type = 'ACTIVITY_TYPE_APPROVE_ACTIVITY'
  return makeBody({ type, organizationId, parameters: { fingerprint }, timestampMs })
}

/** Reduces a plan to its batches and what each needs from earlier ones. */
export function outlineOf(plan: Plan): Outline {
  const small = outline(plan)
  const needs = plan.batches.map(({ parameters }) =>
    [...new Set(referencesIn(parameters))].filter((address) => !Object.hasOwn(plan.ids, address)),
  )
  return { ...small, batches: small.batches.map((batch, at) => ({ ...batch, needs: needs[at]! })) }
}

function referencesIn(value: Value): readonly Address[] {
  if (value === null || typeof value !== 'object') return []
  if ('$ref' in value && typeof value.$ref === 'string') return [value.$ref]
  return Object.values(value as Readonly<Record<string, Value>>).flatMap(referencesIn)
}
