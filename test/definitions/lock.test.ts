import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LOCK_FILE, readLock, writeLock } from '../../src/definitions/index.ts'
import { toFault } from './harness.ts'

const A = '0b1c6c7e-55a4-4f0a-9c54-3f8a4a1d2e3f'
const B = '1b1c6c7e-55a4-4f0a-9c54-3f8a4a1d2e3f'
const DIGEST = '3f9a0c1b2d4e5f603f9a0c1b'
const check = () => {}

describe('lock', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'quorate-lock-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))
  const text = () => readFileSync(join(folder, LOCK_FILE), 'utf8')

  test('lock: none is an empty one', async () => {
    expect(await readLock(folder)).toEqual({ lock: {}, places: {}, diagnostics: [] })
  })

  test('lock: what is written is read, whatever the names', async () => {
    const lock = {
      [A]: { 'user.alice': { id: B }, 'tag["Ops: team #1"]': { id: A }, 'user.__proto__': { id: 'x' } },
      [B]: {},
    }
    await writeLock(folder, lock, { check })
    expect(await readLock(folder)).toMatchObject({ lock, diagnostics: [] })
  })

  test('lock: the order in which things are found does not show', async () => {
    await writeLock(
      folder,
      { [B]: { 'user.b': { id: '2' }, 'tag.a': { id: '1', applied: DIGEST } }, [A]: {} },
      { check },
    )
    const first = text()
    await writeLock(
      folder,
      { [A]: {}, [B]: { 'tag.a': { id: '1', applied: DIGEST }, 'user.b': { id: '2' } } },
      { check },
    )
    expect(text()).toBe(first)
    expect(first).toMatchInlineSnapshot(`
      "# Which live thing each name means, and what was last applied to it. Written by quorate; review it, commit it, do not edit it.
      0b1c6c7e-55a4-4f0a-9c54-3f8a4a1d2e3f: {}
      1b1c6c7e-55a4-4f0a-9c54-3f8a4a1d2e3f:
        tag.a: 1 sha256:3f9a0c1b2d4e5f603f9a0c1b
        user.b: "2"
      "
    `)
    expect(readdirSync(folder)).toEqual([LOCK_FILE])
  })

  const malformed: { name: string; text: string; fault: object }[] = [
    {
      name: 'a list',
      text: '- a\n',
      fault: {
        at: '1:1',
        code: 'definitions/malformed-lock',
        message: 'expected a map of organization ids',
        marked: '- a',
      },
    },
    {
      name: 'half a file',
      text: `${A}:\n  user.alice: "0b1`,
      fault: {
        at: '2:19',
        code: 'definitions/syntax',
        message: 'this is not YAML: missing closing "quote',
        marked: '',
      },
    },
    {
      name: 'a name that is no address',
      text: `${A}:\n  alice: ${B}\n`,
      fault: {
        at: '2:3',
        code: 'definitions/malformed-lock',
        message: 'expected an address such as `policy.treasury`, got `alice`',
        marked: 'alice',
      },
    },
    {
      name: 'an id that is missing',
      text: `${A}:\n  user.alice:\n`,
      fault: {
        at: '2:3',
        code: 'definitions/malformed-lock',
        message: 'expected the id of `user.alice`, or that and `sha256:` with 24 hex digits',
        marked: 'user.alice',
      },
    },
    {
      name: 'one id for two names',
      text: `${A}:\n  user.alice: ${B}\n  user.bob: ${B}\n`,
      fault: {
        at: '3:13',
        code: 'definitions/malformed-lock',
        message: `\`${B}\` stands for two addresses`,
        marked: B,
      },
    },
    {
      name: 'a merge that was not resolved',
      text: `<<<<<<< ours\n${A}: {}\n`,
      fault: { code: 'definitions/syntax' },
    },
  ]
  for (const { name, text, fault } of malformed) {
    test(`lock: ${name} is a fault and never an empty lock`, async () => {
      writeFileSync(join(folder, LOCK_FILE), text)
      const { lock, diagnostics } = await readLock(folder)
      expect(lock).toEqual({})
      const [first] = diagnostics.map((one) => {
        const { at, help: _, ...rest } = toFault(one)
        return { ...rest, at: at.slice(at.indexOf('.yaml:') + '.yaml:'.length) }
      })
      expect(first).toMatchObject(fault)
    })
  }

  test('lock: one that cannot be written is an error, and no half of it is left', async () => {
    mkdirSync(join(folder, LOCK_FILE))
    await expect(writeLock(folder, { [A]: {} }, { check })).rejects.toMatchObject({
      code: 'definitions/unwritable-lock',
    })
    expect(readdirSync(folder)).toEqual([LOCK_FILE])
    const { diagnostics } = await readLock(folder)
    expect(diagnostics.map(({ code }) => code)).toEqual(['definitions/unreadable'])
  })
})
