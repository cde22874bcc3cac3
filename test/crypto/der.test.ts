import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeDerSignature, parseDerSignature, strictDerSignature } from '../../src/crypto/der.ts'

describe('DER signatures', () => {
  test('DER: the strict form is the one that is written of what is read, whatever zeros stand there', () => {
    const integer = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 34 }),
      fc.tuple(fc.nat(33), fc.uint8Array({ maxLength: 33 })).map(([zeros, rest]) => {
        const bytes = Uint8Array.of(...new Uint8Array(zeros), ...rest).subarray(0, 33)
        return bytes.length === 0 ? Uint8Array.of(0) : bytes
      }),
    )
    let strict = 0
    let other = 0
    fc.assert(
      fc.property(integer, integer, (r, s) => {
        const inner = [2, r.length, ...r, 2, s.length, ...s]
        const der = Uint8Array.of(0x30, inner.length, ...inner)
        const read = parseDerSignature(der)
        const expected = read && encodeDerSignature(read)
        const found = strictDerSignature(der)
        expect(found && [...found]).toEqual(expected && [...expected])
        if (found === der) strict++
        else if (found) other++
      }),
      { numRuns: 5_000 },
    )
    expect(strict).toBeGreaterThan(100)
    expect(other).toBeGreaterThan(100)
  })
})
