import { renderCliReference } from './cli.ts'
import { renderDefinitionReference } from './definitions.ts'
import { renderErrorReference } from './errors.ts'
import { lintRulePages } from './lint-rules.ts'
import { renderOperations } from './operations.ts'
import { renderPolicyLanguage } from './policy-language.ts'

/** The reference pages under `docs/`, each with what renders it. */
export const pages: Readonly<Record<string, () => string>> = {
  'cli.md': renderCliReference,
  'definitions.md': renderDefinitionReference,
  'errors.md': renderErrorReference,
  'policy-language.md': renderPolicyLanguage,
  'protocol/operations.md': renderOperations,
  ...lintRulePages,
}
