/** The oldest Node.js that runs this program, as `engines` of package.json says. */
const OLDEST = [22, 15] as const

const CODE = 'cli/old-node'

/**
 * What is said to somebody who starts this with an older Node.js, which `npm install` lets pass with a warning; undefined for one
 * that is new enough. `npm ci --ignore-scripts` in a clone leaves the pinned Node.js out without a word, and the system's runs
 * instead. An error of the code `cli/old-node`, written without anything that an older one may not know.
 */
export function oldNode(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined
  return [
    `error ${CODE}: expected Node.js ${OLDEST.join('.')} or newer, got ${version}`,
    '  next  install a newer Node.js; in a clone, `npm rebuild node` restores the pinned one, and npm scripts and npx use it',
    '',
  ].join('\n')
}
