/**
 * That secrets are wiped once they have served: whatever is opened, derived, sealed, encrypted or decrypted is watched, and is
 * zeros when the answer is there, also when that is a refusal. (Text cannot be wiped in this language; bytes can.)
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encryptPrivateKeyToBundle, encryptWalletToBundle, generateP256KeyPair } from '@turnkey/crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createMnemonic } from '../../../src/chain/index.ts'
import { randomBytes } from '../../../src/crypto/index.ts'
import { encodeHex } from '../../../src/encoding/index.ts'
import { insertOrganization } from '../../../src/service/resources/organizations/store.ts'
import { insertPrivateKeys } from '../../../src/service/resources/private-keys/store.ts'
import { signerOfPrivateKey, withSigningKey } from '../../../src/service/signing/signer.ts'
import { openDatabase } from '../../../src/service/store/index.ts'
import { complete, fresh, newPrivateKey, refusalOf } from '../handlers/steps.ts'
import { createOperator } from '../handlers/tvc.ts'
import { startTestService, type TestService } from '../harness.ts'
import { accountsOf, ETHEREUM, makeWallet, SOLANA } from './keys.ts'

type Watched = readonly [what: string, bytes: Uint8Array]
const watched = vi.hoisted((): Watched[] => [])

vi.mock(import('../../../src/crypto/seal.ts'), async (original) => {
  const { seal, unseal, ...rest } = await original()
  return {
    ...rest,
    seal(key, plain, aad, random) {
      watched.push([`sealed for ${aad}`, plain])
      return seal(key, plain, aad, random)
    },
    unseal(key, sealed, aad) {
      const plain = unseal(key, sealed, aad)
      watched.push([`opened from ${aad}`, plain])
      return plain
    },
  }
})
vi.mock(import('../../../src/crypto/hpke.ts'), async (original) => {
  const { hpkeOpen, hpkeSeal, ...rest } = await original()
  return {
    ...rest,
    async hpkeSeal(publicKey, plain, random) {
      watched.push(['encrypted to an export target', plain])
      return hpkeSeal(publicKey, plain, random)
    },
    async hpkeOpen(pair, message) {
      const plain = await hpkeOpen(pair, message)
      watched.push(['decrypted from an import', plain])
      return plain
    },
  }
})
vi.mock(import('../../../src/crypto/envelope.ts'), async (original) => {
  const { sealEnvelope, ...rest } = await original()
  return {
    ...rest,
    sealEnvelope(publicKey, message, random) {
      watched.push(['a share of a quorum key', message])
      return sealEnvelope(publicKey, message, random)
    },
  }
})
vi.mock(import('../../../src/crypto/shamir.ts'), async (original) => {
  const { splitSecret, ...rest } = await original()
  return {
    ...rest,
    splitSecret(secret, sharing, random) {
      watched.push(['the seed of a quorum key', secret])
      return splitSecret(secret, sharing, random)
    },
  }
})
vi.mock(import('../../../src/chain/derivation.ts'), async (original) => {
  const { deriveKey, ...rest } = await original()
  return {
    ...rest,
    deriveKey(seed, curve, steps) {
      const key = deriveKey(seed, curve, steps)
      watched.push(['a seed', seed], ['a derived key', key.privateKey])
      return key
    },
  }
})

let service: TestService
let wallet: Awaited<ReturnType<typeof makeWallet>>
let privateKeyId: string
beforeAll(async () => {
  service = await startTestService()
  wallet = await makeWallet(service.root, ETHEREUM, SOLANA)
  const privateKeys = [newPrivateKey({ addressFormats: ['ADDRESS_FORMAT_ETHEREUM'] })]
  const made = await complete(service.root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys })
  privateKeyId = made.privateKeys[0]!.privateKeyId!
})
afterAll(() => service.close())

/** What was watched meanwhile and is no zeros; at least `least` secrets must have been. */
async function leftOver(act: () => Promise<unknown>, least: number): Promise<readonly string[]> {
  watched.length = 0
  await act()
  expect(watched.length).toBeGreaterThanOrEqual(least)
  return watched.filter(([, bytes]) => bytes.some((byte) => byte !== 0)).map(([what]) => what)
}

const pinned = () => ({
  userId: service.rootUserId,
  organizationId: service.organizationId,
  dangerouslyOverrideSignerPublicKey: service.service.bootstrap.signerPublicKey,
})
const digest = {
  payload: 'c0'.repeat(32),
  encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
  hashFunction: 'HASH_FUNCTION_NO_OP',
}
const target = () => ({ targetPublicKey: generateP256KeyPair().publicKeyUncompressed })
const submit = (type: Parameters<typeof complete>[1], parameters: object) => complete(service.root, type, parameters)

async function walletBundle(mnemonic: string): Promise<string> {
  const { importBundle } = await complete(service.root, 'ACTIVITY_TYPE_INIT_IMPORT_WALLET', {
    userId: service.rootUserId,
  })
  return encryptWalletToBundle({ mnemonic, importBundle, ...pinned() })
}
async function keyBundle(privateKey: string): Promise<string> {
  const { importBundle } = await complete(service.root, 'ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY', {
    userId: service.rootUserId,
  })
  return encryptPrivateKeyToBundle({ privateKey, keyFormat: 'HEXADECIMAL', importBundle, ...pinned() })
}
const importWallet = async (mnemonic: string) => {
  const encryptedBundle = await walletBundle(mnemonic)
  const parameters = { walletName: fresh('imported'), encryptedBundle, accounts: accountsOf(ETHEREUM, SOLANA) }
  return submit('ACTIVITY_TYPE_IMPORT_WALLET', { userId: service.rootUserId, ...parameters })
}
const importKey = async (privateKey: string) => {
  const encryptedBundle = await keyBundle(privateKey)
  const parameters = {
    privateKeyName: fresh('imported'),
    encryptedBundle,
    curve: 'CURVE_SECP256K1',
    addressFormats: [],
  }
  return submit('ACTIVITY_TYPE_IMPORT_PRIVATE_KEY', { userId: service.rootUserId, ...parameters })
}

describe('wiping', () => {
  test.each<readonly [name: string, least: number, act: () => Promise<unknown>]>([
    ['making a wallet', 4, () => makeWallet(service.root, ETHEREUM, SOLANA)],
    [
      'adding an account',
      3,
      () =>
        submit('ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', {
          walletId: wallet.walletId,
          accounts: accountsOf(['CURVE_SECP256K1', 'ADDRESS_FORMAT_ETHEREUM', "m/44'/60'/0'/0/1"]),
        }),
    ],
    [
      'making a private key',
      1,
      () => submit('ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys: [newPrivateKey()] }),
    ],
    [
      'signing with an account',
      1,
      () => submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', { signWith: wallet.accounts[0]!.address, ...digest }),
    ],
    [
      'signing with a private key',
      1,
      () => submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', { signWith: privateKeyId, ...digest }),
    ],
    ['exporting a wallet', 2, () => submit('ACTIVITY_TYPE_EXPORT_WALLET', { walletId: wallet.walletId, ...target() })],
    [
      'exporting an account',
      2,
      () => submit('ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT', { address: wallet.accounts[0]!.address, ...target() }),
    ],
    ['exporting a private key', 2, () => submit('ACTIVITY_TYPE_EXPORT_PRIVATE_KEY', { privateKeyId, ...target() })],
    [
      'making a quorum key',
      4,
      () =>
        submit('ACTIVITY_TYPE_CREATE_TVC_QUORUM_KEY', {
          threshold: 2,
          operatorEncryptKeys: [0, 1, 2].map(() => createOperator().encryptKey),
        }),
    ],
    ['importing a wallet', 6, () => importWallet(createMnemonic(12, randomBytes))],
    ['importing a private key', 4, () => importKey(encodeHex(randomBytes(32)))],
  ])('wiping: after %s every secret is zeros', async (_name, least, act) => {
    expect(await leftOver(act, least)).toEqual([])
  })

  test.each<readonly [name: string, least: number, act: () => Promise<unknown>]>([
    ['words that are none', 3, () => importWallet('abandon '.repeat(12).trim())],
    ['a number that is no key', 3, () => importKey('ff'.repeat(32))],
    [
      'a wallet that is here already',
      3,
      async () => {
        const mnemonic = createMnemonic(12, randomBytes)
        await importWallet(mnemonic)
        return importWallet(mnemonic)
      },
    ],
    [
      'a key that is here already',
      3,
      async () => {
        const privateKey = encodeHex(randomBytes(32))
        await importKey(privateKey)
        return importKey(privateKey)
      },
    ],
  ])('wiping: after the refusal of %s every secret is zeros', async (_name, least, act) => {
    expect(await leftOver(() => refusalOf(act()), least)).toEqual([])
  })

  test('wiping: a key is zeros once its use is over, by a result or by an error, and not before', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quorate-wiping-'))
    const database = openDatabase(join(folder, 'a.db'), { now: 0 })
    const secret = randomBytes(32)
    const key = {
      id: 'k',
      organization_id: 'o',
      curve: 'CURVE_P256',
      public_key: '',
      disabled: 0,
      exported: 0,
      imported: 0,
    }
    const times = { created_at: 0, updated_at: 0 }
    const signer = signerOfPrivateKey({ ...key, name: 'k', ...times })
    await database.write(async (tx) => {
      await insertOrganization(tx, { id: 'o', parent_id: null, name: 'o', quorum_threshold: 1, ...times })
      const row = { ...key, name: 'k', sealed_private_key: new Uint8Array(1), ...times }
      await insertPrivateKeys(tx, [{ row, addresses: [] }])
      const endOf = async (use: () => unknown) => {
        const privateKey = secret.slice()
        const context = { tx, organizationId: 'o', unseal: () => privateKey }
        const ended = withSigningKey(context, signer, (opened) => {
          expect(opened.privateKey).toEqual(secret)
          return use()
        })
        return [await ended.then(String, String), encodeHex(privateKey)]
      }
      const fail = () => {
        throw new Error('no')
      }
      const zeros = '00'.repeat(32)
      expect(await endOf(() => 'signed')).toEqual(['signed', zeros])
      expect(await endOf(async () => 'signed later')).toEqual(['signed later', zeros])
      expect(await endOf(fail)).toEqual(['Error: no', zeros])
      expect(await endOf(async () => fail())).toEqual(['Error: no', zeros])
    })
    await database.close()
    rmSync(folder, { recursive: true })
  })
})
