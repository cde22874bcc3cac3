/**
 * Policy: the expression language of policies: text → tree → type → value → decision. Pure: no clock, no I/O.
 * *Evaluate* turns one expression into a value; *authorize* turns many policies into a decision. Nothing is thrown for
 * what a person wrote: texts give problems, evaluations give faults. Every point on which the public documentation is
 * silent is decided in one place and listed in `readings.ts`.
 *
 * It is also the library `quorate/policy` (`parse`, `check`, `evaluate`, `authorize`), for Node.js and browsers: nothing
 * here may import more than tables and diagnostics.
 */
export { activityParams, exposedOnly, paramNames } from './activity-params.ts'
export { childrenOf, type Expression } from './ast.ts'
export {
  authorize,
  authorizeInSteps,
  type CompiledPolicy,
  compilePolicy,
  conditionHolds,
  createCompiler,
  mayVote,
} from './authorize.ts'
export { type Coalitions, type SetsOfPeople, writeByTeam, writeOut } from './coalitions.ts'
export { type PolicyCode, policyCodes } from './codes.ts'
export { type Completion, type Completions, completeAt, type Hover, hoverAt } from './complete.ts'
export { compileCounted, type FieldCount, type PolicyCount } from './coverage.ts'
export { type Evaluated, evaluate } from './evaluate-text.ts'
export { type ExplainOptions, type Explanation, explain, type FieldTrace, type PolicyTrace } from './explain.ts'
export { checkExpression, checkText, checkText as check } from './expression.ts'
export { findPolicyKeys, indexPolicies, type PolicyIndex, type PolicyKeys } from './fast/index-of-policies.ts'
export { type FormatOptions, formatExpression } from './format.ts'
export { type Budget, createBudget, isUsedUp } from './frame.ts'
export { languageTables } from './language-tables.ts'
export { type Advice, lint, lintCodes, readForLint, type Severities } from './lint.ts'
export type {
  Approver,
  CredentialFacts,
  Decision,
  Outcome,
  PolicyContext,
  PolicyField,
  PolicyOutcome,
  PolicyText,
} from './model.ts'
export { type Parsed, parse } from './parser.ts'
export { print } from './print.ts'
export type { PolicyProblem } from './problem.ts'
export { type Reads, readsOf, type Use } from './reads.ts'
export { writeRefusal } from './refusal.ts'
export type {
  AddressChain,
  AddressFault,
  Finding,
  LintExpression,
  LintInput,
  LintRule,
  LintSeverity,
} from './rules/rule.ts'
export { rules } from './rules/table.ts'
export { absentIn, allWorlds, type PossibleRequest, truth } from './rules/worlds.ts'
export { elementType, memberNames, memberType, rootType } from './shape.ts'
export { takingPart } from './taking-part.ts'
export type { Clause, ShownValue } from './trace.ts'
export { showType, type Type } from './types.ts'
export { type Needs, type Voter, whoCan, whoElse, whoVotes } from './who-else.ts'
