/** Follows a guide of CONTRIBUTING.md in a copy of the sources, to see that its steps suffice and how many files they touch. */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** One change of a file that is there: a text that stands in it once, and what takes its place. */
export interface Replacement {
  readonly old: string
  readonly now: string
}

/** What the steps of a guide ask for, by file: the text of a new one, or changes of one that is there. */
export type GuideSteps = Readonly<Record<string, string | readonly Replacement[]>>

/** Puts a text before one that stands there. */
export const before = (old: string, added: string): Replacement => ({ old, now: added + old })

/** The files that the numbered steps of a section name, with `name` in the place of `<kind>` or `<resource>`. */
export function filesOfGuide(section: string, name: string): readonly string[] {
  const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  const [, text = ''] = page.split(`\n## ${section}\n`)
  const [, ...steps] = text.split('\n## ')[0]!.split(/\n(?=\d\. )/)
  const own = steps.map((step) => step.split('\n\n')[0]!)
  const files = own.flatMap((step) => [...step.matchAll(/`((?:src|test|definitions|activities|workflows)\/[^`]+)`/g)])
  return [...new Set(files.map(([, path]) => path!.replace(/<\w+>/, name)))]
}

/** Copies folders of sources to where they can be run. */
export function copySources(folder: string, names: readonly string[]): void {
  for (const name of [...names, 'package.json']) cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
}

/** Carries out the steps in a copy. Throws for a new file that is there already, and for a text that does not stand once. */
export function follow(steps: GuideSteps, folder: string): void {
  for (const [file, step] of Object.entries(steps)) {
    const path = join(folder, file)
    if (typeof step === 'string') {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, step, { flag: 'wx' })
      continue
    }
    for (const { old, now } of step) {
      const text = readFileSync(path, 'utf8')
      if (text.split(old).length !== 2) throw new Error(`${file} must have \`${old}\` once`)
      writeFileSync(
        path,
        text.replace(old, () => now),
      )
    }
  }
}
