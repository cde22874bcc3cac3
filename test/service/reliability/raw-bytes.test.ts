/** What is signed and what is recognised is the body's bytes: never its meaning, never the stamp. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEip191Signer, createP256Signer, generateP256KeyPair } from '../../../src/crypto/index.ts'
import { encodeUtf8 } from '../../../src/encoding/index.ts'
import { ApiError, fingerprintOf, parseJson } from '../../../src/protocol/index.ts'
import { readProof } from '../../../src/service/engine/credential.ts'
import { createWorkPool } from '../../../src/service/work/pool.ts'
import { runs } from '../../runs.ts'
import { fresh, refusalOf } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'

const key = generateP256KeyPair()
const signer = createP256Signer(key.privateKey)

/** Bodies as odd clients write them: any text of JSON, spaced in any way, and what is hardly JSON at all. */
const bodies = fc.oneof(
  fc.json({ maxDepth: 3 }),
  fc.json({ maxDepth: 2, noUnicodeString: false }).map((text) => `  ${text}\n\t`),
  fc.tuple(fc.bigInt(), fc.string({ unit: 'binary' })).map(([n, s]) => `{"n": ${n}, "s":${JSON.stringify(s)} }`),
  fc.string({ unit: 'grapheme' }).map((s) => `{"\\u0061":"${encodeURIComponent(s)}","b":1.0e+02}`),
)

describe('fingerprints', () => {
  test('fingerprints: one changed byte, space, member order or escape is another body', () => {
    let cases = 0
    const members = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.oneof(fc.integer(), fc.string()), {
      minKeys: 2,
    })
    fc.assert(
      fc.property(members, fc.nat(), fc.constantFrom('byte', 'space', 'order', 'escape'), (object, at, kind) => {
        const text = JSON.stringify(object)
        const other = {
          byte: () => {
            const bytes = Buffer.from(text)
            bytes[at % bytes.length]! ^= 1
            return bytes
          },
          space: () => Buffer.from(`${text.slice(0, 1)} ${text.slice(1)}`),
          order: () => Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(object).reverse()))),
          escape: () => {
            const [name = ''] = Object.keys(object)
            const escaped = `\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}`
            return Buffer.from(text.replace(`"${name}"`, `"${escaped}"`))
          },
        }[kind]()
        cases++
        // The premise: another way to write it, or other data; `order` of equal bytes does not occur with two members.
        expect(fingerprintOf(other)).not.toBe(fingerprintOf(encodeUtf8(text)))
        expect(fingerprintOf(encodeUtf8(text))).toBe(fingerprintOf(Buffer.from(text)))
      }),
      { numRuns: runs(2_000) },
    )
    console.log(`cases=${cases}`)
    expect(cases).toBe(runs(2_000))
  })

  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service.close())

  /** The stamp with its signature's `s` negated: as good a signature of the same bytes. */
  function negate(signatureHex: string): string {
    const n = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
    const der = Buffer.from(signatureHex, 'hex')
    const r = der.subarray(4, 4 + der[3]!)
    const s = BigInt(`0x${der.subarray(6 + der[3]!).toString('hex')}`)
    const hex = (n - s).toString(16).padStart(64, '0')
    const bytes = Buffer.from(/^[89a-f]/.test(hex) ? `00${hex}` : hex.replace(/^(00)+(?=[0-7])/, ''), 'hex')
    const part = (value: Uint8Array) => Buffer.concat([Buffer.from([2, value.length]), value])
    const inner = Buffer.concat([part(r), part(bytes)])
    return Buffer.concat([Buffer.from([0x30, inner.length]), inner]).toString('hex')
  }

  test('fingerprints: other stamps of the same body are the same activity, other bytes another one', async () => {
    const root = createP256Signer(service.root.privateKey)
    const stampOf = (signature: string) => {
      const stamp = { publicKey: root.publicKey, scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature }
      return Buffer.from(JSON.stringify(stamp)).toString('base64url')
    }
    const ids = new Set<string>()
    for (let i = 0; i < 50; i++) {
      const { path, text } = service.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: fresh('t'), userIds: [] })
      const first = root.sign(encodeUtf8(text))
      const same = new Set<unknown>()
      for (const signature of [first, root.sign(encodeUtf8(text)), negate(first)]) {
        const answer = await service.root.raw(path, text, { 'x-stamp': stampOf(signature) })
        same.add((answer.body['activity'] as { id: string } | undefined)?.id)
      }
      expect([...same]).toEqual([expect.any(String)])
      ids.add([...same][0] as string)
    }
    expect(ids.size).toBe(50)
    const { path, text } = service.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: fresh('t'), userIds: [] })
    const spaced = text.replace('{', '{ ')
    const [one, two] = [await service.root.raw(path, text), await service.root.raw(path, spaced)]
    const [a, b] = [one, two].map(({ body }) => body['activity'] as { id: string; fingerprint: string })
    expect(a!.id).not.toBe(b!.id)
    expect(a!.fingerprint).not.toBe(b!.fingerprint)
  })

  test.each([
    ['{"organizationId":"A","organizationId":"B"}'],
    ['{"a":{"b":[{"c":1,"d":{"x":1,"x":2}}]}}'],
    ['{"a":1,"\\u0061":2}'],
    ['{"__proto__":{"organizationId":"A"}}'],
  ])('duplicate members: %s is refused over the socket', async (text) => {
    const sent = service.root.raw('/public/v1/query/whoami', text)
    expect(await sent).toMatchObject({ status: 400, body: { code: 3, turnkeyErrorCode: 'REQUEST_INVALID' } })
  })

  test('duplicate members: at whatever depth, and however written, nobody reads a body in two ways', () => {
    const bodies = runs(2_000)
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{1,8}$/), fc.nat(12), fc.boolean(), (name, depth, escaped) => {
        const again = escaped ? `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}` : name
        const inner = `{"${name}":1,"z":[],"${again}":1}`
        const text = '{"y":['.repeat(depth) + inner + ']}'.repeat(depth)
        if (name === 'z') return
        expect(() => parseJson(encodeUtf8(text))).toThrow(ApiError)
        expect(() => parseJson(encodeUtf8(text.replace(`"${again}":1}`, '"_":1}')))).not.toThrow()
      }),
      { numRuns: bodies },
    )
    console.log(`bodies=${bodies}`)
  })

  test('duplicate members: a refused body leaves nothing', async () => {
    const before = await service.root.query('list_user_tags')
    const { path, text } = service.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'a', userIds: [] })
    const sent = service.root.raw(path, text.replace('"userTagName":"a"', '"userTagName":"a","userTagName":"b"'))
    expect((await sent).status).toBe(400)
    expect(await service.root.query('list_user_tags')).toEqual(before)
    expect(await refusalOf(service.root.query('get_user', { userId: 'x' }))).toEqual(expect.any(Array))
  })
})

describe('stamps over raw bytes', () => {
  const pool = createWorkPool()
  afterAll(() => pool.close())
  const nobody = () => Promise.reject(new Error('expected an API key to ask nobody'))
  const tools = { pool, database: { read: nobody }, oidc: { verify: nobody } }

  test('stamps over raw bytes: a long personal message is hashed in a thread, a short one at once', async () => {
    const secret = '46'.repeat(32)
    const { publicKey, sign } = createEip191Signer(secret)
    const scheme = 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191'
    for (const [length, jobs] of [
      [100, 0],
      [900_000, 2],
    ] as const) {
      const body = encodeUtf8('x'.repeat(length))
      const stamp = { publicKey, scheme, signature: sign(body) }
      expect(await readProof({ headers: { 'x-stamp': header(stamp) }, body }, tools)).toMatchObject({
        stamp: { publicKey },
      })
      const other = encodeUtf8(`y${'x'.repeat(length - 1)}`)
      const refused = readProof({ headers: { 'x-stamp': header(stamp) }, body: other }, tools)
      await expect(refused).rejects.toMatchObject({ httpStatus: 401 })
      expect(pool.done()).toBe(jobs)
    }
  })

  test('stamps over raw bytes: every original is accepted, and nothing that is one bit away', async () => {
    const figures = { accepted: 0, refused: 0 }
    const parts = fc.constantFrom('body', 'signature', 'publicKey', 'scheme')
    await fc.assert(
      fc.asyncProperty(bodies, parts, fc.nat(), fc.integer({ min: 0, max: 7 }), async (text, part, at, bit) => {
        const body = encodeUtf8(text.isWellFormed() ? text : text.toWellFormed())
        const stamp = { publicKey: key.publicKey, scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature: signer.sign(body) }
        await readProof({ headers: { 'x-stamp': header(stamp) }, body }, tools)
        figures.accepted++
        const [mutant, bytes] = mutate(stamp, body, { part, at, bit })
        try {
          await readProof({ headers: { 'x-stamp': header(mutant) }, body: bytes }, tools)
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError)
          expect((error as ApiError).httpStatus).toBe(401)
          figures.refused++
          return
        }
        throw new Error(`accepted: ${JSON.stringify({ part, at, bit, text, mutant })}`)
      }),
      { numRuns: runs(2_000) },
    )
    console.log(`accepted=${figures.accepted} refused=${figures.refused}`)
    expect(figures).toEqual({ accepted: runs(2_000), refused: runs(2_000) })
  })

  type TestStamp = { readonly publicKey: string; readonly scheme: string; readonly signature: string }

  function header(stamp: TestStamp): string {
    return Buffer.from(JSON.stringify(stamp)).toString('base64url')
  }

  /** One bit away: in the hex texts a bit of what they stand for, so that upper case is no mutant. */
  function mutate(
    stamp: TestStamp,
    body: Uint8Array,
    { part, at, bit }: { readonly part: string; readonly at: number; readonly bit: number },
  ): readonly [TestStamp, Uint8Array] {
    const flip = (bytes: Uint8Array) => {
      const copy = Buffer.from(bytes)
      copy[at % copy.length]! ^= 1 << bit
      return copy
    }
    if (part === 'body') return [stamp, flip(body)]
    if (part === 'scheme') return [{ ...stamp, scheme: flip(Buffer.from(stamp.scheme)).toString('latin1') }, body]
    const name = part as 'signature' | 'publicKey'
    return [{ ...stamp, [name]: flip(Buffer.from(stamp[name], 'hex')).toString('hex') }, body]
  }
})
