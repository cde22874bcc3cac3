import { type Diagnostic, diagnostic, type Related, type Span, sortDiagnostics, spanAt } from '../diagnostics/index.ts'
import {
  type Advice,
  type Finding,
  type LintExpression,
  type LintInput,
  lint,
  type PolicyField,
  readForLint,
  type Severities,
} from '../policy/index.ts'
import { formatAddress, isReference, type Resource } from '../resources/index.ts'
import { addressFault } from './address-fault.ts'
import { type ComparedFinding, explainsUse, isCompared, lintRules, type RuleText } from './compared-rules.ts'
import type { FilledExpression, WrittenExpression } from './expressions.ts'
import type { LoadedDefinitions } from './load.ts'
import { type Subject, suppressionsOf } from './suppressions.ts'

export interface Linted {
  readonly diagnostics: readonly Diagnostic[]
  /** Changes of files that keep what they say, in no order; none overlaps another. */
  readonly fixes: readonly Fix[]
}

export interface Fix {
  readonly span: Span
  readonly text: string
  /** The diagnostic that it solves. */
  readonly solves: Diagnostic
}

/**
 * Lints the policies of loaded definitions. References are read as they are written, so names tell ids apart. `compare` finds what only
 * comparing policies can find; without it that is not looked for.
 */
export function lintDefinitions(
  { desired, expressions, sources }: LoadedDefinitions,
  severities: Severities = {},
  compare?: () => readonly ComparedFinding[],
): Linted {
  if (desired === undefined) return { diagnostics: [], fixes: [] }
  const resources = desired.resources.filter(({ tombstone }) => tombstone !== true)
  const places = new Places(resources, expressions)
  const read = lint(inputOf(resources, places), severities)
  const explained = new Set(
    read.flatMap(({ at, rule }) => ('policy' in at && explainsUse(rule.name) ? [at.policy] : [])),
  )
  const compared = (compare?.() ?? []).filter(({ at }) => !explained.has(at.policy))
  const advice = [...read.map(toldOnce), ...compared.flatMap((one) => withSeverity(one, severities))]
  const written = sources.flatMap((source) => suppressionsOf(source, places.subjects))
  const used = new Set<object>()
  const found: { readonly diagnostic: Diagnostic; readonly fix: Fix | undefined }[] = []
  for (const one of advice) {
    const subject = subjectOf(one)
    const hit = written.find((each) => each.subject === subject && each.suppression.rule === one.rule.name)
    if (hit === undefined) found.push(places.report(one))
    else used.add(hit.suppression)
  }
  const faults = written.flatMap(({ suppression }) => {
    const { rule, reason, span } = suppression
    if (!used.has(suppression) && isCompared(rule) && compare === undefined) return []
    if (!used.has(suppression))
      return [
        diagnostic('lint/unused-suppression', `\`${rule}\` finds nothing here`, span, {
          severity: 'warning',
          help: 'remove the comment, or correct the name of the rule',
        }),
      ]
    return reason === ''
      ? [
          diagnostic('lint/unexplained-suppression', `\`${rule}\` is suppressed without a reason`, span, {
            help: `write \`# quorate-lint-disable ${rule}: reason\``,
          }),
        ]
      : []
  })
  return {
    diagnostics: sortDiagnostics([...found.map((one) => one.diagnostic), ...faults]),
    fixes: apart(found.flatMap(({ fix }) => fix ?? [])),
  }
}

/** What is reported, by whichever rule. */
interface Told extends Omit<Finding, 'related'> {
  readonly rule: Pick<RuleText, 'name'>
  readonly severity: Advice['severity']
  readonly related?: ComparedFinding['related']
}

function toldOnce({ related, ...advice }: Advice): Told {
  return { ...advice, ...(related && { related: [related] }) }
}

function withSeverity({ rule: name, ...finding }: ComparedFinding, severities: Severities): readonly Told[] {
  const rule = lintRules.find((one) => one.name === name)!
  const severity = Object.hasOwn(severities, name) ? severities[name]! : rule.severity
  return severity === 'off' ? [] : [{ ...finding, rule, severity }]
}

function subjectOf({ at }: Told): string {
  return 'tag' in at ? formatAddress('tag', at.tag) : formatAddress('policy', at.policy)
}

function inputOf(resources: readonly Resource[], places: Places): LintInput {
  const ofKind = (kind: Resource['kind']) => resources.filter((resource) => resource.kind === kind)
  return {
    policies: ofKind('policy').flatMap(({ name, address, fields }) => {
      const own = places.readable(address)
      const effect = fields['effect'] === 'deny' ? 'deny' : 'allow'
      return own === undefined ? [] : [{ name, effect, fields: own }]
    }),
    tags: ofKind('tag').map(({ name, address }) => ({ name, id: idOf(address) })),
    users: ofKind('user').map(({ address, fields }) => ({
      id: idOf(address),
      email: typeof fields['email'] === 'string' ? fields['email'] : '',
      tags: (Array.isArray(fields['tags']) ? fields['tags'] : []).flatMap((tag) =>
        isReference(tag) ? [idOf(tag.$ref)] : [],
      ),
    })),
    addressFault,
  }
}

function idOf(address: string): string {
  return `\${${address}}`
}

/** Where policies, their expressions and tags stand. */
class Places {
  readonly subjects: readonly Subject[]
  readonly #spans: ReadonlyMap<string, Span>
  /** Of policies, by name. */
  readonly #addresses: ReadonlyMap<string, string>
  readonly #filled = new Map<string, FilledExpression>()
  readonly #expressions: readonly WrittenExpression[]

  constructor(resources: readonly Resource[], expressions: readonly WrittenExpression[]) {
    const shown = resources.filter(({ kind, span }) => (kind === 'policy' || kind === 'tag') && span !== undefined)
    this.subjects = shown.map(({ address, span, fieldSpans = {} }) => ({
      name: address,
      span: span!,
      end: Math.max(span!.end, ...Object.values(fieldSpans).map(({ end }) => end)),
    }))
    this.#spans = new Map(shown.map(({ kind, name, span }) => [`${kind}.${name}`, span!]))
    this.#addresses = new Map(shown.filter(({ kind }) => kind === 'policy').map(({ name, address }) => [name, address]))
    this.#expressions = expressions
    for (const one of expressions) this.#filled.set(`${one.address} ${one.field}`, one.fill(idOf))
  }

  /** The expressions of a policy as rules read them; undefined when one of them has errors. */
  readable(address: string): Partial<Record<PolicyField, LintExpression>> | undefined {
    const fields: Partial<Record<PolicyField, LintExpression>> = {}
    for (const one of this.#expressions.filter((each) => each.address === address)) {
      const read = readForLint(one.field, this.#filled.get(`${address} ${one.field}`)!.text)
      if (read === undefined) return undefined
      fields[one.field] = read
    }
    return fields
  }

  report(advice: Told): { readonly diagnostic: Diagnostic; readonly fix: Fix | undefined } {
    const { rule, severity, message, help, related, fix } = advice
    const places = (related ?? []).map(
      ({ message: why, policy }): Related => ({ message: why, span: this.#spans.get(`policy.${policy}`)! }),
    )
    const found = diagnostic(`lint/${rule.name}`, message, this.#spanOf(advice), { severity, help, related: places })
    return { diagnostic: found, fix: fix && this.#fixOf(advice, fix, found) }
  }

  #spanOf({ at }: Told): Span {
    if ('tag' in at) return this.#spans.get(`tag.${at.tag}`)!
    const filled = at.field && this.#filledOf(at.policy, at.field)
    if (filled === undefined) return this.#spans.get(`policy.${at.policy}`)!
    const { start = 0, end = at.start === undefined ? filled.text.length : start } = at
    return filled.locate(start, end)
  }

  /** The fix in the file, if the file has the same text as the expression: a value of a variable cannot be fixed there. */
  #fixOf({ at }: Told, fix: NonNullable<Told['fix']>, solves: Diagnostic): Fix | undefined {
    if ('tag' in at || at.field === undefined) return undefined
    const filled = this.#filledOf(at.policy, at.field)!
    const span = filled.locate(fix.start, fix.end)
    const said = filled.text.slice(fix.start, fix.end)
    const { source, start } = span
    if (source.text.slice(start, span.end) === said) return { span, text: fix.text, solves }
    // In a single-quoted scalar every quote is doubled.
    const doubled = said.replaceAll("'", "''")
    if (!source.text.startsWith(doubled, start)) return undefined
    return { span: spanAt(source, start, start + doubled.length), text: fix.text.replaceAll("'", "''"), solves }
  }

  #filledOf(policy: string, field: PolicyField): FilledExpression | undefined {
    return this.#filled.get(`${this.#addresses.get(policy)} ${field}`)
  }
}

/** Of fixes that overlap, the first; the next run finds the other. */
function apart(fixes: readonly Fix[]): readonly Fix[] {
  const kept: Fix[] = []
  for (const fix of fixes) {
    const clashes = kept.some(
      ({ span }) => span.source.path === fix.span.source.path && span.start < fix.span.end && fix.span.start < span.end,
    )
    if (!clashes) kept.push(fix)
  }
  return kept
}
