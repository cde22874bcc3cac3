/**
 * Another user of the machine plants a folder or a link where secrets or executables are to be made: nothing is made in it, and
 * nothing that stands there is believed or run. Folders that cannot be made are refused in words.
 */
import { chmodSync, chownSync, lchownSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { ensureFolder } from '../../src/local/index.ts'
import { ensureCertificates } from '../../src/worker/certificate-files.ts'
import { findTemporal, startTemporalServer, TEMPORAL_VERSION } from '../../src/worker/index.ts'
import { testFolder } from '../cli/harness.ts'
import { noOtherUser, otherUid } from './other-user.ts'

const work = testFolder((end) => afterAll(end))
const announce = () => {}
const exposed = { code: 'local/exposed' }
let count = 0
const room = () => {
  const folder = join(work, `room-${count++}`)
  mkdirSync(folder, { mode: 0o755 })
  return folder
}

/** Each puts something of the other user where a folder will be made. */
const PLANTED: readonly [string, (path: string) => string][] = [
  [
    'a folder of their own',
    (path) => {
      mkdirSync(path, { mode: 0o755 })
      chownSync(path, otherUid, otherUid)
      return path
    },
  ],
  [
    'a link of theirs to a folder of ours',
    (path) => {
      const ours = room()
      symlinkSync(ours, path)
      lchownSync(path, otherUid, otherUid)
      return ours
    },
  ],
  [
    'a folder of ours that they may write',
    (path) => {
      mkdirSync(path)
      chmodSync(path, 0o777)
      return path
    },
  ],
]

describe.skipIf(noOtherUser !== undefined).each(PLANTED)('%s', (_, plant) => {
  test('gets no certificates, nor is one believed that lies there', async () => {
    const place = join(room(), 'certificates')
    const behind = plant(place)
    await expect(ensureCertificates(place)).rejects.toMatchObject(exposed)
    expect(readdirSync(behind)).toEqual([])
  })

  test('gets no new certificates where they are drafted', async () => {
    const place = join(room(), 'certificates')
    const behind = plant(`${place}.new`)
    await ensureCertificates(place)
    expect(behind === `${place}.new` ? [] : readdirSync(behind)).toEqual([])
  })

  test('gets no state, key or config of a Temporal server, which is not started', async () => {
    for (const name of ['temporal', 'temporal/config', 'temporal/certificates']) {
      const at = room()
      if (name !== 'temporal') mkdirSync(join(at, 'temporal'), { mode: 0o700 })
      const behind = plant(join(at, name))
      const started = startTemporalServer({ binary: '/bin/false', folder: join(at, 'temporal'), announce })
      await expect(started).rejects.toMatchObject(exposed)
      expect(readdirSync(behind)).toEqual([])
    }
  })

  test.each(['', `temporal-server-${TEMPORAL_VERSION}`])(
    'gets no server built into the cache at `%s`',
    async (name) => {
      const home = room()
      const go = join(home, 'go')
      writeFileSync(go, '#!/bin/sh\ntouch "$HOME/built"\nexit 1\n', { mode: 0o755 })
      mkdirSync(join(home, '.cache', ...(name === '' ? [] : ['quorate'])), { recursive: true, mode: 0o700 })
      const behind = plant(join(home, '.cache/quorate', name))
      const environment = { HOME: home, PATH: `${home}:/usr/bin:/bin` }
      await expect(findTemporal({ announce, environment })).rejects.toMatchObject({
        code: 'worker/temporal-missing',
        facts: { 'go install': expect.stringMatching(/^refusing `/) },
      })
      expect([readdirSync(behind), readdirSync(home).includes('built')]).toEqual([[], false])
    },
  )

  test('does not have a server run that stands in it', async () => {
    const home = room()
    mkdirSync(join(home, '.cache'), { mode: 0o700 })
    const behind = plant(join(home, '.cache/quorate'))
    const inside = join(behind, `temporal-server-${TEMPORAL_VERSION}`)
    mkdirSync(inside, { mode: 0o755 })
    writeFileSync(join(inside, 'temporal-server'), '#!/bin/sh\n', { mode: 0o755 })
    await expect(findTemporal({ announce, environment: { HOME: home, PATH: '' } })).rejects.toMatchObject({
      facts: { cache: `${join(home, '.cache/quorate')} can be written by another user` },
    })
    rmSync(inside, { recursive: true })
  })
})

describe('a folder that cannot be made', () => {
  // Node's own recursive form does not end there.
  test.skipIf(process.platform !== 'linux')('is refused where the system has no such place', () => {
    expect(() => ensureFolder('/proc/x/definitions')).toThrow(expect.objectContaining({ code: 'local/no-folder' }))
  })

  test('is refused where a file has its name, or that of one above it', () => {
    const file = join(room(), 'file')
    writeFileSync(file, '')
    for (const path of [file, join(file, 'below')]) {
      expect(() => ensureFolder(path)).toThrow(expect.objectContaining({ code: 'local/no-folder' }))
    }
  })
})
