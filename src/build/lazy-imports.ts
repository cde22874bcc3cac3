import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import type { Plugin } from 'rolldown'
import { valuesOf } from './direct-imports.ts'

/**
 * What our files import by name from Node.js, and from the packages that are bundled, is loaded when one of the names is first
 * used: what stands for the module has a getter for each name, and a bundler reads the name anew at each use. A command that
 * hashes nothing then loads no `node:crypto`, and one that signs by no Ed25519 makes none of its curve.
 *
 * A module of Node.js is asked for as CommonJS would, also where it is imported as a whole: to import it as a module loads all
 * that it exports, for `node:crypto` a hundred files more.
 */
export function lazyImports(bundled: ReadonlySet<string>): Plugin {
  const asked = new Map<string, Asked>()
  return {
    name: 'lazy-imports',
    resolveId: {
      order: 'pre',
      filter: { id: /^[^./\0]/ },
      async handler(path, importer, { kind }) {
        if (importer === undefined || importer.includes('rolldown/runtime')) return undefined
        const builtin = isBuiltin(path)
        if (!(builtin || bundled.has(packageOf(path)))) return { id: path, external: true }
        // What is loaded only when it is needed is loaded as a module, with its exports by name.
        if (kind === 'dynamic-import') return builtin ? { id: path, external: true } : undefined
        const names = kind === 'import-statement' ? namesFrom(path, importer) : undefined
        if (names === undefined && !builtin) return undefined
        // Found as an import finds it: some packages have other files for those who require them.
        const name = builtin
          ? `node:${path.replace('node:', '')}`
          : (await this.resolve(path, importer, { skipSelf: true }))!.id
        const id = `\0${name} ${names?.join(',') ?? ''}`
        asked.set(id, { name, names, builtin })
        return { id }
      },
    },
    load: {
      filter: { id: /^\0/ },
      handler(id) {
        const module = asked.get(id)
        if (module === undefined) return undefined
        const { name, names, builtin } = module
        const load = builtin ? `process.getBuiltinModule('${name}')` : `require(${JSON.stringify(name)})`
        return {
          code: getters(builtin ? (names ?? keysOf(name)) : names, load) ?? `module.exports = ${load}`,
          moduleType: 'js',
        }
      },
    },
  }
}

interface Asked {
  /** Of a module of Node.js its name, of a package the file. */
  readonly name: string
  /** What is imported of it; undefined where that is the whole. */
  readonly names: readonly string[] | undefined
  readonly builtin: boolean
}

/** What a module of Node.js exports; undefined for one that is a function or a class. */
function keysOf(name: string): readonly string[] | undefined {
  const module: unknown = process.getBuiltinModule(name)
  return typeof module === 'object' && module !== null ? Object.keys(module) : undefined
}

function getters(names: readonly string[] | undefined, load: string): string | undefined {
  if (names === undefined) return undefined
  const properties = names.map((name) => `get ${name}() { return (loaded ??= ${load}).${name} }`)
  return `let loaded\nmodule.exports = { ${properties.join(', ')} }`
}

/** The names that a file of ours imports from a module, if it takes nothing but names from it. */
function namesFrom(module: string, importer: string): readonly string[] | undefined {
  if (importer.includes('node_modules') || !importer.endsWith('.ts')) return undefined
  const imports = [...readFileSync(importer, 'utf8').matchAll(/^(?:import|export) (.*?) from '([^']*)'$/gms)].filter(
    ([text, , from]) => from === module && !text.startsWith('import type '),
  )
  const names = imports.flatMap(([, what = '']) => {
    const inBraces = /^\{([^}]*)\}$/s.exec(what)?.[1]
    return inBraces === undefined ? [undefined] : valuesOf(inBraces).map(({ name }) => name)
  })
  return names.length === 0 || names.includes(undefined) ? undefined : [...new Set(names as string[])].sort()
}

function packageOf(path: string): string {
  return path.split('/', path.startsWith('@') ? 2 : 1).join('/')
}
