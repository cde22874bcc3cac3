import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AddressFormat,
  addressFormatRow,
  addressFormats,
  ChainError,
  checkAccount,
  curves,
  normalizePath,
  openWallet,
} from '../../src/chain/index.ts'

const GOOD = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
}
const check = (changed: Partial<typeof GOOD>) => checkAccount({ ...GOOD, ...changed })
const wallet = openWallet('legal winner thank year wave sausage worth useful legal winner thank yellow')

describe('check', () => {
  test('account: a good one has nothing against it', () => {
    expect(check({})).toBeUndefined()
  })

  for (const path of ['m/0', "m/0'", 'm/0h', 'm/0H/1', 'm/2147483647', `m${'/0'.repeat(255)}`, 'm/044']) {
    test(`account: path ${path.slice(0, 20)} of ${path.split('/').length - 1} steps is good`, () => {
      expect(check({ path })).toBeUndefined()
    })
  }

  for (const path of [
    '',
    'm',
    'm/',
    '/0',
    '0/1',
    'M/0',
    'm//0',
    'm/0/',
    "m/0''",
    'm/-1',
    'm/+1',
    'm/1.0',
    'm/1e3',
    'm/0x1',
    'm/ 1',
    ' m/0',
    "m/'",
    'm/2147483648',
    "m/2147483648'",
    'm/99999999999999999999',
    'm/١',
    `m${'/0'.repeat(256)}`,
  ]) {
    test(`account: path \`${path.slice(0, 30)}\` is \`invalid path\``, () => {
      expect(check({ path })).toBe('invalid path')
      const account = { ...GOOD, path }
      expect(() => wallet.derive(account)).toThrow(new ChainError('invalid path'))
    })
  }

  for (const { changed, text } of [
    { changed: { pathFormat: 'PATH_FORMAT_BIP44' }, text: 'invalid path format' },
    { changed: { pathFormat: '' }, text: 'invalid path format' },
    { changed: { curve: 'CURVE_BLS' }, text: 'invalid curve' },
    { changed: { curve: 'secp256k1' }, text: 'invalid curve' },
    { changed: { curve: 'toString' }, text: 'invalid curve' },
    { changed: { addressFormat: 'ADDRESS_FORMAT_NEAR' }, text: 'invalid address format' },
    { changed: { addressFormat: 'toString' }, text: 'invalid address format' },
  ]) {
    test(`account: ${JSON.stringify(changed)} is \`${text}\``, () => {
      expect(check(changed)).toBe(text)
    })
  }

  test('account: a curve fits exactly the formats that say so, and derives exactly where it fits', () => {
    for (const addressFormat of Object.keys(addressFormats) as AddressFormat[]) {
      for (const curve of Object.keys(curves) as (keyof typeof curves)[]) {
        const fits = addressFormatRow(addressFormat).curves.includes(curve)
        expect(check({ curve, addressFormat })).toBe(fits ? undefined : 'invalid address format')
        const derive = () => wallet.derive({ curve, path: 'm/0', addressFormat })
        if (fits) expect(derive().publicKey).toHaveLength(2 * curves[curve].publicKeyLength)
        else expect(derive).toThrow(new ChainError('invalid address format'))
      }
    }
  })
})

describe('path', () => {
  const step = fc.tuple(fc.nat({ max: 2 ** 31 - 1 }), fc.constantFrom('', "'", 'h', 'H'))

  test('path: two spellings of one path are one normal form, and one key', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 4 }), (steps) => {
        const spelled = `m/${steps.map(([index, mark]) => `${index}${mark}`).join('/')}`
        const normal = `m/${steps.map(([index, mark]) => `${index}${mark && "'"}`).join('/')}`
        expect(normalizePath(spelled)).toBe(normal)
        expect(wallet.derive({ ...GOOD, path: spelled })).toEqual(wallet.derive({ ...GOOD, path: normal }))
      }),
      { numRuns: 30 },
    )
  })

  test('path: leading zeros are no part of the normal form, and what is no path stays as it is', () => {
    expect(normalizePath("m/044h/00'/0")).toBe("m/44'/0'/0")
    expect(normalizePath('m/x')).toBe('m/x')
  })

  test('path: on Ed25519 every step counts as hardened, on the other curves only the marked ones', () => {
    const publicKey = (curve: string, path: string) =>
      wallet.derive({ curve, path, addressFormat: 'ADDRESS_FORMAT_COMPRESSED' }).publicKey
    expect(publicKey('CURVE_ED25519', 'm/44/0')).toBe(publicKey('CURVE_ED25519', "m/44'/0'"))
    expect(publicKey('CURVE_SECP256K1', 'm/44/0')).not.toBe(publicKey('CURVE_SECP256K1', "m/44'/0'"))
    expect(publicKey('CURVE_P256', 'm/44/0')).not.toBe(publicKey('CURVE_P256', "m/44'/0'"))
  })
})
