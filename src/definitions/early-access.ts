import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import { formatAddress, POLICY_TIME } from '../resources/index.ts'
import type { Draft } from './build.ts'
import { childOf, type Tree, textOf } from './tree.ts'

/**
 * What organizations have only once the API's operator has opened it to them (docs/protocol/policies.md#a-policy). Where no
 * feature stands for it, no query says whether they have, so definitions say it.
 */
export const EARLY_ACCESS = {
  policyTime: 'Policies may say when they apply (`time`).',
} as const

const TIME_FEATURE = formatAddress('feature', POLICY_TIME)

/** Checks that what needs early access is used only where definitions say that the organization has it. */
export function checkEarlyAccess(drafts: readonly Draft[], files: readonly Tree[]): readonly Diagnostic[] {
  const opened = new Set(
    files.flatMap((file) => {
      const list = childOf(file, 'earlyAccess')
      return list?.kind === 'list' ? list.items.map(textOf) : []
    }),
  )
  const isSet = drafts.some(({ resource }) => resource.address === TIME_FEATURE && !resource.tombstone)
  if (opened.has('policyTime') || isSet) return []
  return drafts.flatMap(({ resource: { fields }, expressions: { time } }) => {
    if (!time || fields['time'] === null) return []
    const message = 'the API refuses a policy with `time` unless the organization has early access to it'
    const help =
      'set `features: { POLICY_TIME: true }` where the service has that, or say `earlyAccess: [policyTime]` once it is opened'
    return [diagnostic('definitions/early-access', message, time.span, { help })]
  })
}
