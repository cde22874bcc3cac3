/**
 * The published pages that `@turnkey/iframe-stamper` shows in an iframe, as anybody may serve them: github.com/tkhq/frames, static
 * files of one commit. They are in no registry: their tests run where somebody has put them into the user's cache folder.
 */
import { existsSync, readFileSync } from 'node:fs'
import { extname, join, normalize } from 'node:path'
import { cacheFolder } from '../cache.ts'

/** Folders of that repository. */
export type FrameName = 'auth' | 'export' | 'import/dist'

const COMMIT = '95c5c3beda3fb3b252a443ca9777b46cfe3249be'
const folder = join(cacheFolder(), `frames-${COMMIT.slice(0, 8)}`)

/** Why there are no frames; undefined where there are. */
export const noFrames: string | undefined = existsSync(join(folder, 'auth/index.html'))
  ? undefined
  : `github.com/tkhq/frames at ${COMMIT} is not in ${folder}`

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}
/** The signer's key of the public service, which the frames of exports and imports pin. */
const PINNED = /04cf288f[0-9a-f]{122}/g

/** Which of their pinned keys they take. */
const ENVIRONMENT = /\$\{TURNKEY_SIGNER_ENVIRONMENT\}|(?<=")__TURNKEY_SIGNER_ENVIRONMENT__(?=")/

/** A file of a frame, as its server gives it: with this service's key in the place of the one that it pins. */
export function frameFile(url: string, signerPublicKey: string) {
  const path = normalize(url)
  // The frame of imports names its files from the root of its origin.
  const places = [path, `${path}/index.html`, `${path}/index.template.html`, `import/dist/${path}`]
  const file = places.map((each) => join(folder, each)).find((each) => extname(each) !== '' && existsSync(each))
  if (file === undefined) return undefined
  const text = readFileSync(file, 'utf8')
  return {
    type: TYPES[extname(file)] ?? 'text/html',
    text: text.replace(ENVIRONMENT, 'prod').replaceAll(PINNED, signerPublicKey),
  }
}
