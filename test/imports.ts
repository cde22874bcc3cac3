/** The imports of a source file, read from its text: every file is formatted, so each import statement starts a line. */
import { dirname, join, normalize } from 'node:path'

export interface Import {
  /** A path from the root for what is imported by one, a package's name for others. */
  readonly to: string
  readonly typeOnly: boolean
  /** It is a dynamic import. */
  readonly lazy: boolean
}

export function importsIn(file: string, text: string): readonly Import[] {
  const statements = text.matchAll(
    /^(?:import|export)\s+(type\s+)?(?:[\w*{][^'";]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)/gm,
  )
  return [...statements].map(([, type, still, lazy]) => {
    const specifier = still ?? lazy!
    return {
      to: specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : specifier,
      typeOnly: type !== undefined,
      lazy: lazy !== undefined,
    }
  })
}
