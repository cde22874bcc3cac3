import { existsSync, readFileSync } from 'node:fs'

/** The package's version, from the package.json that is nearest above this file (both `src` and `dist/src` have one above). */
export const version: string = findVersion(new URL('.', import.meta.url))

function findVersion(folder: URL): string {
  const file = new URL('package.json', folder)
  if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
  return findVersion(new URL('..', folder))
}
