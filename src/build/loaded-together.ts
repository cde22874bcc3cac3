import type { CodeSplittingGroup } from 'rolldown'

/** Holds what the bundler itself puts before modules; everything else imports it. */
const RUNTIME = 'rolldown/runtime'

/**
 * What a command loads is one file instead of many small ones, each of which Node.js takes longer to find and link than to run: all
 * that the first of some modules imports, then what the second imports beside that, and so on. What none of them imports is split as
 * the bundler does it.
 */
export function loadedTogether(first: readonly string[]): CodeSplittingGroup {
  let files: ReadonlyMap<string, string> | undefined
  return {
    debugName: 'loaded together',
    name: (module, graph) => {
      if (module.includes(RUNTIME)) return 'runtime'
      files ??= group(first, (id) => graph.getModuleInfo(id)?.importedIds ?? [])
      return files.get(module) ?? null
    },
  }
}

/** For each module that one of the first imports, directly or not, the name of its file. */
function group(
  first: readonly string[],
  importsOf: (module: string) => readonly string[],
): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const [index, start] of first.entries()) {
    const left = [start]
    for (let module = left.pop(); module !== undefined; module = left.pop()) {
      if (files.has(module)) continue
      files.set(module, `together${index}`)
      left.push(...importsOf(module))
    }
  }
  return files
}
