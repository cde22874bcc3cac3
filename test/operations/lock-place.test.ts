/** Two folders of definitions of one embedded organization: each knows what it manages. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { writeText } from '../../src/cli/files.ts'
import { createRate } from '../../src/client/index.ts'
import { LOCK_FILE } from '../../src/definitions/index.ts'
import { importFolder, type Place, planFolder, reader } from '../../src/operations/index.ts'
import { shownFolder } from '../../src/operations/lock-place.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { testFolder } from '../cli/harness.ts'
import { startTestService } from '../service/harness.ts'

test('an import into a second folder leaves alone what the first does not define, and knows what it defines itself', async () => {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const folder = testFolder()
  const { publicKey, privateKey } = service.root
  const place: Place = {
    baseUrl: service.url,
    organizationId: service.organizationId,
    embedded: true,
    now: Date.now,
    key: { publicKey, privateKey: new Secret(privateKey) },
    subOrganizationKeys: undefined,
    rate: createRate(),
  }
  const [first, second, dataDir] = ['first', 'second', 'data'].map((name) => join(folder, name))
  mkdirSync(dataDir!)
  const given = { env: {}, vars: {} }
  const follow = (into: string) =>
    importFolder({ folder: into, place, given, dataDir: dataDir!, isWhole: false, write: writeText, check: () => {} })
  const planned = async (of: string) => {
    const request = { folder: of, place, given, dataDir: dataDir!, client: reader(place), allow: [], askAgain: false }
    const { plan } = (await planFolder(request, () => {}))!
    const changes = plan.changes.map(({ action, address }) => `${action} ${address}`)
    return { changes, unmanaged: plan.unmanaged.map(({ address }) => address) }
  }
  const tag = (userTagName: string) =>
    service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName, userIds: [] })

  await tag('treasury')
  expect(await follow(first!)).toMatchObject({ kind: 'written' })
  await tag('outside')
  const left = { changes: [], unmanaged: ['tag.outside'] }
  expect(await planned(first!)).toEqual(left)

  expect(await follow(second!)).toMatchObject({ kind: 'written' })
  expect(await planned(first!)).toEqual(left)
  expect(existsSync(join(first!, LOCK_FILE))).toBe(false)
  expect(await planned(second!)).toEqual({ changes: [], unmanaged: [] })
  expect(readFileSync(join(second!, LOCK_FILE), 'utf8')).toMatch(/^signature: /m)

  const path = join(second!, 'people.yaml')
  writeFileSync(path, readFileSync(path, 'utf8').replace(/^ *outside:.*\n/m, ''))
  expect(await planned(second!)).toEqual({ changes: ['delete tag.outside'], unmanaged: [] })
  expect(await planned(first!)).toEqual(left)
})

test('a plan names a lock by its way from the working folder, where it is below that', () => {
  expect(shownFolder('/home/ana/desk/.quorate', '/home/ana/desk')).toBe('.quorate')
  expect(shownFolder('/home/ana/desk', '/home/ana/desk')).toBe('.')
  expect(shownFolder('/var/lib/quorate', '/home/ana/desk')).toBe('/var/lib/quorate')
})
