import { describe, expect, test } from 'vitest'
import { KEY_CURVES } from '../../src/crypto/index.ts'
import { encodeUtf8 } from '../../src/encoding/index.ts'

describe('verifying in the pool', () => {
  test.each(Object.entries(KEY_CURVES))(
    'crypto: on %s it comes to what verifying at once comes to',
    async (_, curve) => {
      const { privateKey, publicKey } = curve.generateKeyPair()
      const body = encodeUtf8('a body')
      const signatureHex = curve.createSigner(privateKey).sign(body)
      const claims = [
        { publicKey, body, signatureHex },
        { publicKey: publicKey.toUpperCase(), body, signatureHex },
        { publicKey, body: encodeUtf8('another body'), signatureHex },
        { publicKey: curve.generateKeyPair().publicKey, body, signatureHex },
        { publicKey, body, signatureHex: signatureHex.slice(2) },
        { publicKey, body, signatureHex: 'no hex' },
        { publicKey: 'no key', body, signatureHex },
      ]
      const pooled = await Promise.all(claims.map(curve.verifyInPool))
      expect(pooled).toEqual(claims.map(curve.verify))
      expect(pooled).toEqual([true, true, false, false, false, false, false])
    },
  )
})
