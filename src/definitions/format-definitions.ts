import { createSource, type Source } from '../diagnostics/index.ts'
import { canonicalJson } from '../encoding/index.ts'
import { arrange, commentsOf } from './arrange.ts'
import { type Formatted, formatPolicies } from './format.ts'
import { parseYaml } from './parse.ts'
import { toPlain } from './tree.ts'

/**
 * Formats one file of definitions: keys in the order of the schema, two columns a level, and policies' expressions. A file
 * with mistakes in its YAML is left as it is, with diagnostics. Formatting the result again changes nothing. It reads
 * its own output: throws when that would say anything else, or lack a comment.
 */
export function formatDefinitions(source: Source): Formatted {
  const { tree, diagnostics } = parseYaml(source)
  if (!tree || diagnostics.length > 0) return { text: source.text, diagnostics }
  const arranged = createSource(source.path, arrange(source.text))
  const after = parseYaml(arranged).tree
  const isSame =
    after !== undefined &&
    canonicalJson(toPlain(after)) === canonicalJson(toPlain(tree)) &&
    canonicalJson(commentsOf(arranged.text)) === canonicalJson(commentsOf(source.text))
  if (!isSame) throw new Error(`formatting changed what \`${source.path}\` says`)
  return formatPolicies(arranged)
}
