import { canonicalJson } from '../src/encoding/index.ts'
import { type Batch, makeBody, outline, type Plan } from '../src/plan/index.ts'
import type { Json } from '../src/protocol/index.ts'
import type { Address, Value } from '../src/resources/index.ts'
import type { Outline } from './model.ts'

/** The request in a body, without its time. */
export interface RequestedBody {
  readonly type: string
  readonly organizationId: string
  readonly parameters: Json
}

/** Whether a stored body asks for just this: what lies in a store is not believed because it lies there. */
export function asksFor(body: string, { type, organizationId, parameters }: RequestedBody): boolean {
  const { timestampMs, ...asked } = JSON.parse(body) as { readonly timestampMs: string }
  return canonicalJson(asked as Json) === canonicalJson({ type, organizationId, parameters })
}

/** Makes the body of an approval: the time comes from the workflow's history, so that a retry sends the same bytes. */
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
  return { ...small, batches: small.batches.map((one, at) => ({ ...one, needs: needsOf(plan, plan.batches[at]!) })) }
}

/** Addresses whose ids a batch's body needs and that other batches of its plan bring. */
export function needsOf({ ids }: Plan, { parameters }: Batch): readonly Address[] {
  return [...new Set(referencesIn(parameters))].filter((address) => !Object.hasOwn(ids, address))
}

function referencesIn(value: Value): readonly Address[] {
  if (value === null || typeof value !== 'object') return []
  if ('$ref' in value && typeof value.$ref === 'string') return [value.$ref]
  return Object.values(value as Readonly<Record<string, Value>>).flatMap(referencesIn)
}
