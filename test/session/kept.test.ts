import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSessions, type Session } from '../../src/session/kept.ts'
import type { Keychain } from '../../src/session/keychain.ts'
import { Secret } from '../../src/telemetry/index.ts'

const KEY = 'ab'.repeat(32)
const place = { baseUrl: 'http://127.0.0.1:4000', organizationId: '0b1c6a34-8f0e-4c5b-9a51-7c3a52a0a001' }
const session: Session = {
  ...place,
  userId: '0b1c6a34-8f0e-4c5b-9a51-7c3a52a0a002',
  userName: 'ada',
  publicKey: `02${'cd'.repeat(32)}`,
  privateKey: new Secret(KEY),
  expiresAt: 1_900_000_000_000,
}

let folder: string
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'quorate-kept-')), 'sessions')
})
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }))

/** A keychain of a system, and what is in it; one that is locked takes nothing and gives nothing. */
function keychainOf({ isLocked = false } = {}) {
  const kept = new Map<string, Secret>()
  const keychain: Keychain = {
    async write(account, secret) {
      if (!isLocked) kept.set(account, secret)
      return !isLocked
    },
    read: async (account) => kept.get(account),
    async delete(account) {
      kept.delete(account)
    },
  }
  return { kept, open: () => keychain }
}

const files = () => readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))

describe('sessions', () => {
  test('sessions: the key is in the keychain where there is one, under the API and the organization, and in no file', async () => {
    const { kept, open } = keychainOf()
    const sessions = openSessions({ folder, keychain: true }, open)
    expect(await sessions.keep(session)).toBe('keychain')
    expect([...kept].map(([account, secret]) => [account, secret.reveal()])).toEqual([
      [`${place.baseUrl} ${place.organizationId}`, KEY],
    ])
    expect(files().join('')).toContain('"userName": "ada"')
    expect(files().join('')).not.toContain(KEY)
    const found = await openSessions({ folder, keychain: true }, open).find(place)
    expect({ ...found, privateKey: found!.privateKey.reveal() }).toEqual({ ...session, privateKey: KEY })
    await sessions.forget(place)
    expect([kept.size, files()]).toEqual([0, []])
    expect(await sessions.find(place)).toBeUndefined()
  })

  test.each([
    { name: 'the keychain takes nothing', keychain: true },
    { name: 'no keychain is to be used', keychain: false },
  ])('sessions: where $name the key is in a file that its owner alone reads', async ({ keychain }) => {
    const { kept, open } = keychainOf({ isLocked: keychain })
    const sessions = openSessions({ folder, keychain }, open)
    expect(await sessions.keep(session)).toBe('file')
    expect(kept.size).toBe(0)
    const [name] = readdirSync(folder)
    expect([statSync(join(folder, name!)).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700])
    expect((await sessions.find(place))!.privateKey.reveal()).toBe(KEY)
  })

  test('sessions: one whose key the keychain has lost is said to be damaged, and can be ended', async () => {
    const { kept, open } = keychainOf()
    const sessions = openSessions({ folder, keychain: true }, open)
    await sessions.keep(session)
    kept.clear()
    await expect(sessions.find(place)).rejects.toMatchObject({
      code: 'session/damaged',
      message: expect.stringContaining('the keychain does not have its key'),
    })
    await sessions.forget(place)
    expect(await sessions.find(place)).toBeUndefined()
  })

  test('sessions: there is one of an organization at an API, and none of another', async () => {
    const { open } = keychainOf()
    const sessions = openSessions({ folder, keychain: true }, open)
    await sessions.keep(session)
    await sessions.keep({ ...session, userName: 'bob' })
    expect(files()).toHaveLength(1)
    expect((await sessions.find(place))!.userName).toBe('bob')
    expect(await sessions.find({ ...place, baseUrl: 'http://127.0.0.1:4001' })).toBeUndefined()
    expect(await sessions.find({ ...place, organizationId: crypto.randomUUID() })).toBeUndefined()
  })
})
