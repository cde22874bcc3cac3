import type { Plugin } from 'rolldown'

/** Puts compiled schemas in place of the modules that compile them, so that a command needs no compiler. */
export const precompile: Plugin = {
  name: 'precompile',
  load: {
    filter: { id: /[\\/]compiled\.ts$/ },
    handler: async (path) => {
      const { default: standalone } = await import('ajv/dist/standalone/index.js')
      const { compileSchema } = await import(path)
      const { ajv, validate } = compileSchema({ source: true, esm: true })
      // What the code requires of its compiler's package at run time; in a module, that is imported, by which `default` is the
      // function itself or, as Node.js has it, what the file exports.
      const required: string[] = []
      const code = standalone.default(ajv, validate).replaceAll(/\brequire\("([^"]+)"\)/g, (_, name: string) => {
        if (!required.includes(name)) required.push(name)
        return `required${required.indexOf(name)}`
      })
      const imports = required.map(
        (name, i) =>
          `import * as imported${i} from '${name}.js'\nconst required${i} = typeof imported${i}.default === 'function' ? imported${i} : imported${i}.default\n`,
      )
      return {
        code: `${imports.join('')}${code}\nexport function compileSchema() { return { validate } }\n`,
        moduleType: 'js',
      }
    },
  },
}
