import { join } from 'node:path'
import { QuorateError, unreadWords } from '../diagnostics/index.ts'
import { ensurePrivateFolder, readPrivate } from '../local/index.ts'
import { writePrivate } from './files.ts'
import { jsonText } from './io.ts'

/**
 * Values for `${env.…}` and `${var.…}` that `up` made for the embedded organization: its id and the public keys of
 * its demo approvers. They stand below the environment and `--var`, and are used with the embedded service alone.
 */
export interface Values {
  readonly env: Readonly<Record<string, string>>
  readonly vars: Readonly<Record<string, string>>
}

const none: Values = { env: {}, vars: {} }

/** Reads them; public keys of approvers among them, so the file must be this user's alone. Throws `local/exposed` and `cli/usage`. */
export function readValues(dataDir: string): Values {
  const text = readPrivate(file(dataDir))
  if (text === undefined) return none
  try {
    return JSON.parse(text) as Values
  } catch (error) {
    throw new QuorateError('cli/usage', `the values that \`up\` made cannot be read: ${unreadWords(error)}`, {
      facts: { file: file(dataDir) },
      next: 'remove the file and run `quorate up` again',
    })
  }
}

/** Adds values to those that are there. */
export function writeValues(dataDir: string, more: Values): Values {
  const old = readValues(dataDir)
  const values = { env: { ...old.env, ...more.env }, vars: { ...old.vars, ...more.vars } }
  ensurePrivateFolder(dataDir)
  writePrivate(file(dataDir), jsonText(values))
  return values
}

/** Reads `--var name=value` options. Throws `cli/usage`. */
export function parseVars(options: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    options.map((text) => {
      const at = text.indexOf('=')
      if (at < 1) {
        throw new QuorateError(
          'cli/usage',
          `expected --var name=value, got ${text.length} characters without a name and \`=\``,
          {
            next: 'write --var name=value',
          },
        )
      }
      return [text.slice(0, at), text.slice(at + 1)]
    }),
  )
}

function file(dataDir: string): string {
  return join(dataDir, 'values.json')
}
