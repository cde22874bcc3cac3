/** Keys that people make: the private half stays in its file, the public half is what definitions and the service take. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startTestService } from '../service/harness.ts'
import { environmentOf, quorate, quorateShared, testFolder, writeFiles } from './harness.ts'

test.each(['p256', 'secp256k1', 'ed25519'])(
  'key new, %s: definitions take what it prints, and a user of it acts',
  async (curve) => {
    const service = await startTestService()
    onTestFinished(() => service.close())
    const folder = testFolder()
    const file = join(folder, 'deploy.json')
    const made = await quorate(['key', 'new', 'deploy.json', '--curve', curve], { cwd: folder })
    const { privateKey } = JSON.parse(readFileSync(file, 'utf8')) as { privateKey: string }
    expect(made).toMatchObject({ exit: 0, stderr: expect.stringContaining(`The private key is in ${file}`) })
    expect(`${made.stdout}${made.stderr}`).not.toContain(privateKey)
    expect(statSync(file).mode & 0o777).toBe(0o600)

    const shown = await quorate(['key', 'show', '--json', '--key-file', file])
    const { publicKey } = JSON.parse(shown.stdout) as { publicKey: string }
    expect(made.stdout).toBe(`curve: ${curve.toUpperCase()}\npublicKey: ${publicKey}\n`)
    const key = made.stdout.replaceAll(/^/gm, '        ')
    const definitions = writeFiles(folder, {
      'acme.yaml': `organization: acme\nid: ${service.organizationId}\nusers:\n  dora:\n    apiKeys:\n      laptop:\n${key}`,
    })
    expect(await quorateShared(['validate', definitions])).toMatchObject({ exit: 0 })

    const apiKeys = [{ apiKeyName: 'laptop', publicKey, curveType: `API_KEY_CURVE_${curve.toUpperCase()}` }]
    const user = { userName: 'dora', apiKeys, authenticators: [], oauthProviders: [], userTags: [] }
    await service.root.submit('ACTIVITY_TYPE_CREATE_USERS_V3', { users: [user] })
    const env = environmentOf(service, testFolder(), privateKey)
    const { QUORATE_API_KEY: _, ...keyless } = env
    const who = await quorate(['whoami', '--json', '--key-file', file], { env: keyless })
    expect(JSON.parse(who.stdout)).toMatchObject({ username: 'dora', publicKey })
  },
)

test('a key is never overwritten, and no other curve is taken', async () => {
  const folder = testFolder()
  await quorate(['key', 'new', 'one.json'], { cwd: folder })
  const before = readFileSync(join(folder, 'one.json'), 'utf8')
  const again = await quorate(['key', 'new', 'one.json'], { cwd: folder })
  expect(again).toMatchObject({ exit: 1, stdout: '', stderr: expect.stringContaining('stamp/key-unwritable') })
  expect(readFileSync(join(folder, 'one.json'), 'utf8')).toBe(before)
  const curve = await quorate(['key', 'new', 'two.json', '--curve', 'p384'], { cwd: folder })
  expect(curve).toMatchObject({ exit: 1, stderr: expect.stringContaining('give one of p256, secp256k1, ed25519') })
  const none = await quorate(['key', 'show'], { cwd: folder })
  expect(none).toMatchObject({ exit: 1, stderr: expect.stringContaining('error cli/usage: no key is named') })
})
