/**
 * The form of `policy-cases.yaml`: cases of the policy language, each with policies, a context, what is expected, and
 * variants of it. What each field means is said at the head of that file. Fields that are not known are left alone.
 */
import { type Diagnostic, diagnostic, type Source, type Span } from '../../diagnostics/index.ts'
import { exposedOnly, type PolicyContext, type PolicyText, rootType } from '../../policy/index.ts'
import { contextValue } from '../context-value.ts'
import { readYaml } from '../read-yaml.ts'
import { parseTime } from '../time.ts'
import {
  childOf,
  entriesOf,
  itemsOf,
  type ScenarioMap,
  type ScenarioScalar,
  type ScenarioTree,
  withPath,
  wordOf,
} from '../tree.ts'
import type { CaseExpectation, PolicyCase } from './model.ts'

const DEFAULT_NOW = '2026-01-01T00:00:00Z'

/** Reads all cases, each followed by its variants. What cannot be read as a case is a diagnostic, and none is made of it. */
export function readCases(source: Source): {
  readonly cases: readonly PolicyCase[]
  readonly diagnostics: readonly Diagnostic[]
} {
  const { tree, diagnostics: faults } = readYaml(source)
  const diagnostics = [...faults]
  if (!tree) return { cases: [], diagnostics }
  // A list alone is one of cases too.
  const list = tree.kind === 'list' ? tree : childOf(tree, 'cases')
  if (list?.kind !== 'list') {
    diagnostics.push(wrong('expected a list of cases under `cases`', list?.span ?? tree.span))
    return { cases: [], diagnostics }
  }
  const cases = list.items.flatMap((item, index) => {
    if (item.kind === 'map') return casesOf(item, index, diagnostics)
    diagnostics.push(wrong('expected a case with `name`, `policies`, `context` and `expect`', item.span))
    return []
  })
  return { cases, diagnostics }
}

function wrong(message: string, span: Span): Diagnostic {
  return diagnostic('scenarios/wrong-type', message, span)
}

function casesOf(tree: ScenarioMap, index: number, diagnostics: Diagnostic[]): readonly PolicyCase[] {
  const name = wordOf(childOf(tree, 'name')) ?? `case ${index + 1}`
  const base = caseOf(name, tree, diagnostics)
  const variants = itemsOf(childOf(tree, 'variants')).map((variant, at) =>
    caseOf(`${name}, variant ${at + 1}`, changed(tree, variant), diagnostics),
  )
  return [base, ...variants].filter(({ policies }) => policies.length > 0)
}

/** A variant is the same case with other values in its context, other fields of its first policy, and what it says itself. */
function changed(base: ScenarioMap, variant: ScenarioTree): ScenarioMap {
  let tree: ScenarioTree = base
  for (const { key, value } of entriesOf(childOf(variant, 'set')))
    tree = withPath(tree, ['context', ...pathIn(childOf(base, 'context'), key)], value)
  for (const { key, value } of entriesOf(childOf(variant, 'policy')))
    tree = withPath(tree, ['policies', '0', key], value)
  for (const { key, value } of entriesOf(variant))
    if (key !== 'set' && key !== 'policy') tree = withPath(tree, [key], value)
  return tree as ScenarioMap
}

/** The keys of a dotted path; a key that is there and has a dot in it is one. */
function pathIn(tree: ScenarioTree | undefined, path: string): readonly string[] {
  const parts = path.split('.')
  const keys: string[] = []
  let at = tree
  while (parts.length > 0) {
    let length = parts.length
    while (length > 1 && !entriesOf(at).some(({ key }) => key === parts.slice(0, length).join('.'))) length--
    const key = parts.splice(0, length).join('.')
    keys.push(key)
    at = at?.kind === 'list' ? at.items[Number(key)] : childOf(at, key)
  }
  return keys
}

function caseOf(name: string, tree: ScenarioTree, diagnostics: Diagnostic[]): PolicyCase {
  const policies = itemsOf(childOf(tree, 'policies'))
  if (policies.length === 0) diagnostics.push(wrong(`\`${name}\` has no policies`, tree.span))
  return {
    name,
    restsOn: itemsOf(childOf(tree, 'rests_on')).flatMap((label) => wordOf(label) ?? []),
    policies: policies.map(policyOf),
    context: contextOf(childOf(tree, 'context'), diagnostics),
    expected: expectationOf(childOf(tree, 'expect')),
  }
}

function policyOf(tree: ScenarioTree, index: number): PolicyText {
  const text = (key: string) => {
    const written = childOf(tree, key)
    return written === undefined ? {} : { [key]: wordOf(written) ?? '' }
  }
  const name = wordOf(childOf(tree, 'name')) ?? `policy ${index + 1}`
  const effect = wordOf(childOf(tree, 'effect')) ?? ''
  return {
    id: name,
    name,
    effect: /deny$/i.test(effect) ? 'EFFECT_DENY' : 'EFFECT_ALLOW',
    ...text('consensus'),
    ...text('condition'),
    ...text('time'),
  }
}

function contextOf(tree: ScenarioTree | undefined, diagnostics: Diagnostic[]): PolicyContext {
  const { batch, ...shared } = partOf(tree, diagnostics)
  const now = childOf(tree, 'now')
  const time = parseTime(wordOf(now) ?? DEFAULT_NOW)
  if (time === undefined) diagnostics.push(wrong('expected a time of RFC 3339', now!.span))
  return {
    activity: { type: '' },
    approvers: [],
    ...shared,
    now: time ?? parseTime(DEFAULT_NOW)!,
    ...(batch === undefined ? {} : { batch }),
  }
}

/** What a context, or an item of its batch, says. */
function partOf(tree: ScenarioTree | undefined, diagnostics: Diagnostic[]): Partial<PolicyContext> {
  const part: Record<string, unknown> = {}
  for (const { key, value } of entriesOf(tree)) {
    if (childOf(tree, key) === undefined || key === 'now') continue
    if (key === 'activity') part['activity'] = activityOf(value)
    else if (key === 'root_quorum') part['rootQuorum'] = quorumOf(value, diagnostics)
    else if (key === 'target_user_id') part['targetUserId'] = wordOf(value)
    else if (key === 'batch') part['batch'] = itemsOf(value).map((item) => partOf(item, diagnostics))
    else if (rootType(key) !== undefined) part[key] = contextValue(value, rootType(key))
  }
  return part as Partial<PolicyContext>
}

function activityOf(tree: ScenarioTree): PolicyContext['activity'] {
  const params = childOf(tree, 'params')
  const type = wordOf(childOf(tree, 'type')) ?? ''
  const given = params === undefined ? {} : contextValue(params, rootType('params'))
  return { type, params: exposedOnly(type, given as Readonly<Record<string, unknown>>) }
}

function quorumOf(tree: ScenarioTree, diagnostics: Diagnostic[]): PolicyContext['rootQuorum'] {
  const threshold = childOf(tree, 'threshold')
  if (threshold !== undefined && !isWhole(threshold))
    diagnostics.push(wrong('expected a threshold that is a number', threshold.span))
  return {
    userIds: itemsOf(childOf(tree, 'user_ids')).flatMap((id) => wordOf(id) ?? []),
    threshold: threshold !== undefined && isWhole(threshold) ? Number(threshold.value) : 0,
  }
}

function isWhole(tree: ScenarioTree): tree is ScenarioScalar {
  return tree.kind === 'scalar' && /^[0-9]+$/.test(tree.source)
}

function expectationOf(tree: ScenarioTree | undefined): CaseExpectation {
  // `expect: allow` says the outcome alone.
  if (tree?.kind === 'scalar') return { outcome: wordOf(tree)! }
  const word = (key: string) => {
    const text = wordOf(childOf(tree, key))
    return text === undefined ? {} : { [key]: text }
  }
  const policies = childOf(tree, 'policies')
  return {
    ...word('outcome'),
    ...word('stage'),
    ...word('final'),
    ...(policies === undefined
      ? {}
      : { policies: Object.fromEntries(entriesOf(policies).map(({ key, value }) => [key, wordOf(value) ?? ''])) }),
  }
}
