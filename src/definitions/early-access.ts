import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import type { Draft } from './build.ts'
import { childOf, type Tree, textOf } from './tree.ts'

/**
 * What organizations have only once the API's operator has opened it to them. No query says whether they have, so
 * definitions say it (facts: policy-language §1).
 */
export const EARLY_ACCESS = {
  policyTime: 'Policies may say when they apply (`time`).',
} as const

/** Checks that what needs early access is used only where definitions say that the organization has it. */
export function checkEarlyAccess(drafts: readonly Draft[], files: readonly Tree[]): readonly Diagnostic[] {
  const opened = new Set(
    files.flatMap((file) => {
      const list = childOf(file, 'earlyAccess')
      return list?.kind === 'list' ? list.items.map(textOf) : []
    }),
  )
  if (opened.has('policyTime')) return []
  return drafts.flatMap(({ resource: { fields }, expressions: { time } }) => {
    if (!time || fields['time'] === null) return []
    const message = 'the API refuses a policy with `time` unless the organization has early access to it'
    const help = 'once it has, say so with `earlyAccess: [policyTime]`'
    return [diagnostic('definitions/early-access', message, time.span, { help })]
  })
}
