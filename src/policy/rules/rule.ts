import type { Expression } from '../ast.ts'
import type { PolicyField } from '../model.ts'
import type { Unit } from '../unit.ts'

/** The input of a rule: all policies of an organization, its users and its tags. */
export interface LintInput {
  readonly policies: readonly LintPolicy[]
  /** Ids of tags, as policies write them. */
  readonly tags: readonly LintTag[]
  readonly users: readonly LintUser[]
  /** Says what is wrong with an address beyond its shape, such as its checksum. @default nothing: the room knows no chain */
  readonly addressFault?: (chain: AddressChain, text: string) => AddressFault | undefined
}

export type AddressChain = 'ethereum' | 'solana' | 'tron'

export interface AddressFault {
  readonly message: string
  readonly help: string
}

export interface LintPolicy {
  readonly name: string
  readonly effect: 'allow' | 'deny'
  /** Fields that are absent hold; one that does not parse is reported elsewhere and makes the policy no one's business here. */
  readonly fields: Partial<Readonly<Record<PolicyField, LintExpression>>>
}

export interface LintExpression extends Unit {
  readonly tree: Expression
}

export interface LintTag {
  readonly name: string
  readonly id: string
}

export interface LintUser {
  readonly id: string
  readonly tags: readonly string[]
  readonly email: string
}

/** A finding of a rule, with its place: in a policy, at a stretch of one of its fields, or at a tag. */
export interface Finding {
  readonly at:
    | { readonly policy: string; readonly field?: PolicyField; readonly start?: number; readonly end?: number }
    | { readonly tag: string }
  readonly message: string
  readonly help?: string
  /** Another policy that explains it. */
  readonly related?: { readonly policy: string; readonly message: string }
  /** A change of the text of the field that keeps what the policy says. */
  readonly fix?: { readonly start: number; readonly end: number; readonly text: string }
}

export type LintSeverity = 'off' | 'info' | 'warning' | 'error'

export interface LintRule {
  /** How it is called in configuration, suppressions and reports. */
  readonly name: string
  readonly severity: Exclude<LintSeverity, 'off'>
  /** What it finds, in one sentence. */
  readonly summary: string
  /** Why that matters, for the rule's page. */
  readonly why: string
  /** How to solve it, in one sentence. */
  readonly solve: string
  /** The section of `policies` that it finds something in, and one that it does not. */
  readonly bad: string
  readonly good: string
  /** Whether `--fix` knows what to write. @default false */
  readonly fixable?: boolean
  readonly check: (input: LintInput) => readonly Finding[]
}
