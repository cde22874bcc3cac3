import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { randomBytes } from '../../src/crypto/index.ts'
import { ServiceError } from '../../src/service/error.ts'
import { createSealing } from '../../src/service/keys/sealing.ts'
import { Secret } from '../../src/telemetry/index.ts'

const key = (byte: number) => new Secret(new Uint8Array(32).fill(byte))
const place = fc.record({ table: fc.string(), id: fc.string(), column: fc.string() })

describe('sealing', () => {
  test('sealing: what was sealed for a place opens there and nowhere else, and is wiped where it came from', () => {
    const sealing = createSealing(key(1), randomBytes)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), place, place, (plain, here, there) => {
        const given = plain.slice()
        const sealed = sealing.seal(given, here)
        expect([...sealing.unseal(sealed, here)]).toEqual([...plain])
        expect([...given]).toEqual([...new Uint8Array(plain.length)])
        fc.pre(JSON.stringify(here) !== JSON.stringify(there))
        expect(() => sealing.unseal(sealed, there)).toThrow(ServiceError)
      }),
      { numRuns: 300 },
    )
  })

  test('sealing: names that run together when joined are different places', () => {
    const sealing = createSealing(key(1), randomBytes)
    const sealed = sealing.seal(new Uint8Array(4), { table: 'a', id: 'b', column: 'c' })
    expect(() => sealing.unseal(sealed, { table: 'ab', id: '', column: 'c' })).toThrow(ServiceError)
  })

  test('sealing: another master key opens nothing, and the fault names the place and no secret', () => {
    const here = { table: 'wallets', id: '7', column: 'sealed_mnemonic' }
    const sealed = createSealing(key(1), randomBytes).seal(new TextEncoder().encode('planted secret'), here)
    const open = () => createSealing(key(2), randomBytes).unseal(sealed, here)
    expect(open).toThrow('the sealed value in wallets.sealed_mnemonic of 7 does not open with this master key')
    try {
      open()
    } catch (error) {
      expect(error).toMatchObject({ code: 'service/seal-broken', facts: here })
      expect(JSON.stringify(error)).not.toContain('planted')
    }
  })
})
