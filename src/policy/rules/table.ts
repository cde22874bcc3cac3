/**
 * The rules of `quorate policy lint`, one file each. They look at trees and types, and know nothing of files; places and
 * severities are the caller's.
 */
import { allowsAnybody } from './allow-anybody.ts'
import { allowsAnything } from './allow-anything.ts'
import { allowsEverything } from './allow-everything.ts'
import { duplicate } from './duplicate.ts'
import { emptyAll } from './empty-all.ts'
import { errorHidesClause } from './error-hides-clause.ts'
import { freeIndex } from './free-index.ts'
import { interfaceForEveryProgram } from './interface-for-every-program.ts'
import { listInTypedData } from './list-in-typed-data.ts'
import { malformedAddress } from './malformed-address.ts'
import { mixedCaseHex } from './mixed-case-hex.ts'
import { negatedFunctionName } from './negated-function-name.ts'
import { deadAllow, deadDeny } from './never-applies.ts'
import { pinnedActivityType } from './pinned-activity-type.ts'
import { quotedNumber } from './quoted-number.ts'
import { rawSigningBypass } from './raw-signing-bypass.ts'
import type { LintRule } from './rule.ts'
import { shadowed } from './shadowed.ts'
import { sliceLength } from './slice-length.ts'
import { unknownActivity } from './unknown-activity.ts'
import { unreachableThreshold } from './unreachable-threshold.ts'
import { unusedTag } from './unused-tag.ts'

/** Rules about loss come first, then rules about policies that do not work, then tidiness. */
export const rules: readonly LintRule[] = [
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
  malformedAddress,
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
