/**
 * The guides in CONTRIBUTING.md for a form of stamp, and for a login by it, are followed in a copy of the sources, with a made-up form:
 * the key and its signature in a header, without JSON. What the guides do not list is not touched.
 */
import { execFile } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { compileCache } from '../built.ts'
import { testFolder } from '../cli/harness.ts'
import { before, copySources, filesOfGuide, follow, type GuideSteps } from '../guide.ts'

const root = join(import.meta.dirname, '../..')
const MOST_FILES = 6

const SORT = `import { apiError } from '../../../protocol/index.ts'
import { type Stamp, type Stamps, verifyStampInPool } from '../../../stamp/index.ts'
import { apiKeySort } from './api-key.ts'
import type { CredentialSort } from './credential-sort.ts'

/** The key of a plain stamp is registered as an API key. */
function asApiKey({ publicKey, signature }: Stamps['plain']): Stamp {
  return { kind: 'api-key', scheme: 'SIGNATURE_SCHEME_TK_API_P256', publicKey, signature }
}

export const plainSort: CredentialSort<'plain'> = {
  async verify(stamp, { body }) {
    if (!(await verifyStampInPool(asApiKey(stamp), body))) throw apiError('apiKeyNotVerified')
  },
  find: (tx, { stamp, body }, target, now) => apiKeySort.find(tx, { stamp: asApiKey(stamp), body }, target, now),
}
`

const STEPS: GuideSteps = {
  'src/stamp/read.ts': [
    before(
      '/** The forms of stamp that are read, by kind. */\n',
      `export interface PlainStamp {
  readonly kind: 'plain'
  readonly publicKey: string
  readonly signature: string
}

function parsePlain(value: string): PlainStamp {
  const [publicKey = '', signature = ''] = value.split(':')
  if (!isHex(publicKey) || !isHex(signature)) throw new StampError('malformed', refusals.malformedStamp.message())
  return { kind: 'plain', publicKey, signature }
}

`,
    ),
    before('  readonly session: SessionStamp\n', '  readonly plain: PlainStamp\n'),
    before(
      "  'x-session': { kind",
      "  'x-stamp-plain': { kind: 'plain', shown: 'X-Stamp-Plain', plural: 'plain stamps', parse: parsePlain },\n",
    ),
  ],
  'src/service/engine/credentials/plain.ts': SORT,
  'src/service/engine/credential.ts': [
    before('import { readOnlySessionSort }', "import { plainSort } from './credentials/plain.ts'\n"),
    before('  session: readOnlySessionSort,\n', '  plain: plainSort,\n'),
  ],
}

/** The files of the sources in which an expression is found. */
function knowing(text: RegExp): readonly string[] {
  const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.gen.ts'))
  return files.filter((file) => text.test(readFileSync(join(root, file), 'utf8'))).sort()
}

const DRIVE = `import { createP256Signer, generateP256KeyPair } from './src/crypto/index.ts'
import { startTestService } from './test/service/harness.ts'
const service = await startTestService()
try {
  const { publicKey, privateKey, raw } = service.root
  const plain = (text, by = privateKey) => ({
    'x-stamp': '',
    'x-stamp-plain': publicKey + ':' + createP256Signer(by).sign(new TextEncoder().encode(text)),
  })
  const session = generateP256KeyPair()
  const { path, text } = service.body('ACTIVITY_TYPE_STAMP_LOGIN', { publicKey: session.publicKey })
  const refused = await raw(path, text, plain(text, session.privateKey))
  const answer = await raw(path, text, plain(text))
  const { userId } = await service.client(session.privateKey).query('whoami')
  console.log(JSON.stringify({ refused: refused.status, status: answer.body.activity?.status ?? answer.body, isRoot: userId === service.rootUserId }))
} finally {
  await service.close()
}
`

test('a login: the guides list few files, and they are those that know a form and a way that there are', () => {
  const ofStamp = filesOfGuide('Take a new form of stamp', 'passkey')
  const ofCommands = filesOfGuide('Add a way to log in', 'oidc')
  expect(ofStamp.length).toBeLessThanOrEqual(MOST_FILES)
  expect(ofCommands.length).toBeLessThanOrEqual(MOST_FILES)
  expect(knowing(/\bpasskeySort\b|'x-stamp-webauthn': \{/)).toEqual(ofStamp.toSorted())
  expect(knowing(/\bproveByOidc\b|--oidc </)).toEqual(ofCommands.toSorted())
})

test('a login: a person logs in by a made-up form of stamp after the steps of the guide and nothing else', async () => {
  expect(Object.keys(STEPS)).toEqual(filesOfGuide('Take a new form of stamp', 'plain'))
  const folder = testFolder()
  copySources(folder, ['src', 'test/service/harness.ts', 'test/service/published-alone.ts', 'test/postgres.ts'])
  follow(STEPS, folder)
  writeFileSync(join(folder, 'drive.ts'), DRIVE)
  const env = { PATH: process.env['PATH'], ...compileCache() }
  const { stdout } = await promisify(execFile)(process.execPath, ['drive.ts'], { cwd: folder, env })
  expect(JSON.parse(stdout)).toEqual({ refused: 401, status: 'ACTIVITY_STATUS_COMPLETED', isRoot: true })
})
