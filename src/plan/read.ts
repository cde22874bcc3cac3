import type { ValidateFunction } from 'ajv/dist/2020.js'
import { printableJson, QuorateError } from '../diagnostics/index.ts'
import { compileSchema } from './compiled.ts'
import { digestJson, digestLive, digestOf } from './digest.ts'
import type { Plan } from './document.ts'
import { digestInside } from './inside.ts'

/** Made at its first use: most commands read no plan. */
let check: ValidateFunction | undefined

/** A plan in a file: `seal` covers all other members, the time included. */
type SealedPlan = Plan & { readonly seal?: string }

/** Writes a plan as a file. */
export function writePlan(plan: Plan): string {
  return `${printableJson(JSON.stringify({ ...plan, seal: digestJson(plan) }, null, 2))}\n`
}

/**
 * Reads a plan. Throws `plan/foreign-format` for what is not a plan of this version, and `plan/edited` for one that was
 * changed by as much as a space: it must be spelled the way a plan is written, say what its digests say, and keep its seal.
 */
export function readPlan(text: string): Plan {
  const parsed = parse(text)
  const format = (parsed as { readonly format?: unknown } | null)?.format
  if (format !== 'quorate.plan/1')
    throw foreign(`expected \`format\` to be \`quorate.plan/1\`, got \`${shorten(format)}\``)
  check ??= compileSchema().validate
  if (!check(parsed)) {
    const [fault] = check.errors ?? []
    throw edited(`${fault?.instancePath || 'the document'} ${fault?.message ?? 'has another shape'}`)
  }
  const { seal, ...plan } = parsed as unknown as SealedPlan
  const inside = plan.subOrganizations ?? []
  for (const one of [plan, ...inside]) {
    if (digestOf(one) !== one.digest) throw edited('its contents do not have its digest')
    if (digestLive(one.live) !== one.liveDigest) throw edited('its live part does not have its digest')
  }
  if (plan.insideDigest !== (inside.length > 0 ? digestInside(inside) : undefined))
    throw edited('what is inside does not have its digest')
  if (seal !== undefined && digestJson(plan) !== seal) throw edited('its seal is broken')
  const body = text.endsWith('\n') ? text.slice(0, -1) : text
  if (body !== JSON.stringify(parsed, null, 2) && body !== JSON.stringify(parsed))
    throw edited('it is spelled otherwise')
  return plan
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw foreign('it is not JSON', cause)
  }
}

function shorten(value: unknown): string {
  const text = typeof value === 'string' ? value : String(JSON.stringify(value))
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

function foreign(why: string, cause?: unknown): QuorateError {
  return new QuorateError('plan/foreign-format', `the file is not a plan that this version reads: ${why}`, {
    facts: { submitted: 'nothing' },
    next: 'name a plan that `quorate plan --out` has written; one of another version is made again',
    cause,
  })
}

function edited(why: string): QuorateError {
  return new QuorateError('plan/edited', `the plan was changed after it was made: ${why}`, {
    facts: { submitted: 'nothing' },
    next: 'make the plan again; a plan is not edited by hand',
  })
}
