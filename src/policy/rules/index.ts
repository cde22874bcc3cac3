/**
 * The rules of `quorate policy lint`, one row each. They look at trees and types, and know nothing of files; places and
 * severities are the caller's.
 */
import { duplicate } from './duplicate.ts'
import { emptyAll } from './empty-all.ts'
import { errorHidesClause } from './error-hides-clause.ts'
import { freeIndex } from './free-index.ts'
import {
  interfaceForEveryProgram,
  listInTypedData,
  negatedFunctionName,
  quotedNumber,
  sliceLength,
  unknownActivity,
} from './language-traps.ts'
import { mixedCaseHex } from './mixed-case-hex.ts'
import { deadAllow, deadDeny } from './never-applies.ts'
import { pinnedActivityType } from './pinned-activity-type.ts'
import { rawSigningBypass } from './raw-signing-bypass.ts'
import type { Rule } from './rule.ts'
import { shadowed } from './shadowed.ts'
import { allowsAnybody, allowsAnything, allowsEverything } from './unbounded-allow.ts'
import { unreachableThreshold } from './unreachable-threshold.ts'
import { unusedTag } from './unused-tag.ts'

/** What can be lost comes first, then what does not work, then what should be tidied. */
export const rules: readonly Rule[] = [
  rawSigningBypass,
  allowsEverything,
  allowsAnybody,
  allowsAnything,
  emptyAll,
  freeIndex,
  negatedFunctionName,
  deadDeny,
  errorHidesClause,
  pinnedActivityType,
  unknownActivity,
  sliceLength,
  unreachableThreshold,
  deadAllow,
  shadowed,
  listInTypedData,
  interfaceForEveryProgram,
  quotedNumber,
  mixedCaseHex,
  duplicate,
  unusedTag,
]
