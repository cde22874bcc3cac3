import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname } from 'node:path'
import type { Plugin } from 'esbuild'
import { valuesOf } from './direct-imports.ts'

/**
 * What our files import by name from Node.js, and from the packages that are bundled, is loaded when one of the names is first
 * used: what stands for the module has a getter for each name, and a bundler reads the name anew at each use. A command that
 * hashes nothing then loads no `node:crypto`, and one that signs by no Ed25519 makes none of its curve.
 *
 * A module of Node.js is asked for as CommonJS would, also where it is imported as a whole: to import it as a module loads all
 * that it exports, for `node:crypto` a hundred files more.
 */
export const lazyImports = (bundled: ReadonlySet<string>): Plugin => ({
  name: 'lazy-imports',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, namespace, pluginData }) => {
      if (pluginData === FOUND) return undefined
      const builtin = isBuiltin(path)
      if (!(builtin || bundled.has(packageOf(path)))) return undefined
      // What is loaded only when it is needed is loaded as a module, with its exports by name.
      if (kind === 'dynamic-import') return builtin ? { path, external: true } : undefined
      const names = kind === 'import-statement' && namespace === 'file' ? namesFrom(path, importer) : undefined
      if (names === undefined && !builtin) return undefined
      // Found as an import finds it: some packages have other files for those who require them.
      const name = builtin
        ? `node:${path.replace('node:', '')}`
        : (await resolve(path, { kind, resolveDir: dirname(importer), pluginData: FOUND })).path
      return {
        path: names === undefined ? name : `${name} ${names.join(',')}`,
        namespace: builtin ? 'builtin' : 'bundled',
        pluginData: { name, names } satisfies Asked,
      }
    })
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ pluginData }) => {
      const { name, names } = pluginData as Asked
      const load = `process.getBuiltinModule('${name}')`
      return { contents: getters(names ?? keysOf(name), load) ?? `module.exports = ${load}` }
    })
    onLoad({ filter: /.*/, namespace: 'bundled' }, ({ pluginData }) => {
      const { name, names } = pluginData as Asked
      return { contents: getters(names, `require(${JSON.stringify(name)})`)!, resolveDir: dirname(name) }
    })
  },
})

/** Marks a look-up of this plugin's own. */
const FOUND = Symbol('found')

interface Asked {
  /** Of a module of Node.js its name, of a package the file. */
  readonly name: string
  /** What is imported of it; undefined where that is the whole. */
  readonly names: readonly string[] | undefined
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
