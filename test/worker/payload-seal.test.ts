import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Payload } from '@temporalio/common'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readSettings } from '../../src/config/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { createPayloadSeal, loadPayloadSeal } from '../../src/worker/index.ts'
import { createSealedConverter } from '../../workflows/sealed.ts'

const folderOfTest = () => {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-payload-key-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
const key = (pair: string) => new Secret(pair.repeat(32))
const place = { type: 'workflow', namespace: 'default', workflowId: 'apply/x' } as const
const step = { type: 'activity', namespace: 'default', workflowId: 'apply/x', activityId: '1', isLocal: false } as const
const made = (value: unknown): Payload => createSealedConverter('outside').toPayload(value, place)!
const textOf = (payload: Payload) => Buffer.from(payload.data ?? []).toString()

describe('payloads: sealed', () => {
  test('opens for the place that it was sealed for, and for no other', async () => {
    const { codec } = createPayloadSeal([key('ab')])
    const sealed = await codec.encode([made({ secret: 'mouse' })], place)
    expect(textOf(sealed[0]!)).not.toContain('mouse')
    expect(textOf((await codec.decode(sealed, place))[0]!)).toContain('mouse')
    for (const other of [
      { ...place, workflowId: 'apply/y' },
      { ...place, namespace: 'other' },
      step,
      { ...step, activityId: '2' },
      undefined,
    ]) {
      expect(textOf((await codec.decode(sealed, other))[0]!)).toBe('')
    }
  })

  test('no bit of it can be changed, and nothing else is taken for it', async () => {
    const { codec } = createPayloadSeal([key('ab')])
    const [sealed] = await codec.encode([made('x')], place)
    await fc.assert(
      fc.asyncProperty(fc.nat(sealed!.data!.length * 8 - 1), async (bit) => {
        const data = Buffer.from(sealed!.data!)
        data[bit >> 3]! ^= 1 << (bit & 7)
        expect(textOf((await codec.decode([{ ...sealed!, data }], place))[0]!)).toBe('')
      }),
      { numRuns: 200 },
    )
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 80 }), async (data) => {
        expect(textOf((await codec.decode([{ ...sealed!, data }], place))[0]!)).toBe('')
        expect(textOf((await codec.decode([{ ...made('x'), data }], place))[0]!)).toBe('')
      }),
    )
  })

  test('a key can be changed: the first seals, the others still open', async () => {
    const old = createPayloadSeal([key('ab')])
    const both = createPayloadSeal([key('cd'), key('ab')])
    const sealed = await old.codec.encode([made('x')], place)
    expect(textOf((await both.codec.decode(sealed, place))[0]!)).toBe('"x"')
    const later = await both.codec.encode([made('y')], place)
    expect(textOf((await old.codec.decode(later, place))[0]!)).toBe('')
    expect([old.keyId === both.keyId, old.keyId.length]).toEqual([false, 16])
  })

  test('costs little: a payload near the largest stays below 256 KB', async () => {
    const { codec } = createPayloadSeal([key('ab')])
    const [sealed] = await codec.encode([made('x'.repeat(250_000))], place)
    expect(sealed!.data!.length).toBeLessThan(250_300)
  })

  test("a step's input is not read as its result, nor a question as its answer", () => {
    const [inside, outside] = [createSealedConverter('workflow'), createSealedConverter('outside')]
    expect(inside.fromPayload(outside.toPayload({ a: 1 }, step)!, step)).toEqual({ a: 1 })
    expect(inside.fromPayload(inside.toPayload({ a: 1 }, step)!, step)).not.toHaveProperty('a')
    expect(() => outside.fromPayload(outside.toPayload({ a: 1 }, step)!, step)).toThrow('was not sealed')
    expect(() => outside.fromPayload(outside.toPayload({ a: 1 }, place)!, place)).toThrow('was not sealed')
  })
})

describe('payloads: the key', () => {
  test('is made once by the first process that needs it, for its owner alone', async () => {
    const folder = join(folderOfTest(), 'data')
    const seals = await Promise.all(Array.from({ length: 20 }, () => loadPayloadSeal(folder)))
    expect(new Set(seals.map(({ keyId }) => keyId)).size).toBe(1)
    expect(readdirSync(folder)).toEqual(['payload.key'])
    expect(statSync(join(folder, 'payload.key')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(folder, 'payload.key'), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
  })

  test('is refused where others may read it, or where it is none; it is never shown', async () => {
    const folder = folderOfTest()
    await loadPayloadSeal(folder)
    chmodSync(join(folder, 'payload.key'), 0o644)
    await expect(loadPayloadSeal(folder)).rejects.toMatchObject({ code: 'stamp/key-exposed' })
    const file = join(folder, 'other.key')
    writeFileSync(file, `${'ab'.repeat(32)}\nnot-a-key\n`, { mode: 0o600 })
    const fault = loadPayloadSeal(folder, { kind: 'file', path: file })
    await expect(fault).rejects.toMatchObject({ code: 'worker/payload-key-unusable' })
    await expect(fault).rejects.not.toThrow(/abab|not-a-key/)
  })

  test('comes from a file, a command or a variable, as the API key does', async () => {
    const hex = 'cd'.repeat(32)
    const given = [
      readSettings({ QUORATE_PAYLOAD_KEY: hex }),
      readSettings({ QUORATE_PAYLOAD_KEY_COMMAND: `echo ${hex}` }),
      readSettings({ QUORATE_PAYLOAD_KEY: 'x' }, { payloadKeyCommand: `echo ${hex}` }),
    ]
    const { keyId } = createPayloadSeal([key('cd')])
    for (const { payloadKey } of given) expect(await loadPayloadSeal('/nowhere', payloadKey)).toMatchObject({ keyId })
    expect(() => readSettings({ QUORATE_PAYLOAD_KEY: hex, QUORATE_PAYLOAD_KEY_FILE: 'x' })).toThrow(
      'expected one payload key, got 2',
    )
  })
})
