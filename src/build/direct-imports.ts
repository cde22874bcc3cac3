import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import type { Plugin } from 'rolldown'

/**
 * Imports of a room's `index.ts` become imports of the files that have the names: a bundler that splits puts whatever an index
 * names into the reach of whoever asks it for one name, and a command would load all of a room to use a function of it.
 */
export const directImports: Plugin = {
  name: 'direct-imports',
  load: {
    filter: { id: { include: /[\\/](src|activities|workflows)[\\/].*\.ts$/, exclude: /[\\/]node_modules[\\/]/ } },
    handler: (path) => ({ code: rewriteImports(readFileSync(path, 'utf8'), path), moduleType: 'ts' }),
  },
}

const indexes = new Map<string, ReadonlyMap<string, Home>>()

function homesOf(path: string): ReadonlyMap<string, Home> {
  const homes = indexes.get(path) ?? readIndex(path)
  indexes.set(path, homes)
  return homes
}

/** Where a name that an index exports comes from, and its name there. */
interface Home {
  readonly file: string
  readonly name: string
}

const FROM_INDEX = /^import \{([^}]*)\} from '(\.[^']*\/index\.ts)'$/gm
const EXPORT_FROM = /^export \{([^}]*)\} from '(\.[^']*)'$/gm

/** A name that an index does not take from elsewhere is still imported from the index. */
function rewriteImports(text: string, path: string): string {
  const folder = dirname(path)
  return text.replaceAll(FROM_INDEX, (_, names: string, from: string) => {
    const index = resolve(folder, from)
    const lines = valuesOf(names).map(({ name, as }) => {
      const home = homeOf({ file: index, name })
      return `import { ${home.name} as ${as} } from './${relative(folder, home.file).replaceAll('\\', '/')}'`
    })
    // On one line, so that lines keep their numbers in errors.
    return lines.join(';') + '\n'.repeat(names.split('\n').length - 1)
  })
}

function homeOf(asked: Home): Home {
  if (!asked.file.endsWith('index.ts')) return asked
  const home = homesOf(asked.file).get(asked.name)
  return home ? homeOf(home) : asked
}

function readIndex(path: string): ReadonlyMap<string, Home> {
  const homes = new Map<string, Home>()
  for (const [, names = '', from = ''] of readFileSync(path, 'utf8').matchAll(EXPORT_FROM)) {
    for (const { name, as } of valuesOf(names)) homes.set(as, { file: resolve(dirname(path), from), name })
  }
  return homes
}

/** The names between the braces of an import or export, without types. */
export function valuesOf(names: string): readonly { readonly name: string; readonly as: string }[] {
  return names
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && !one.startsWith('type '))
    .map((one) => {
      const [name = '', as = name] = one.split(' as ')
      return { name, as }
    })
}
