import {
  decryptExportBundle,
  encryptPrivateKeyToBundle,
  encryptWalletToBundle,
  generateP256KeyPair,
  getPublicKey,
} from '@turnkey/crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deriveAccount, translateMnemonic } from '../../../src/chain/index.ts'
import { randomBytes } from '../../../src/crypto/index.ts'
import { decodeHex, encodeBase58, encodeHex } from '../../../src/encoding/index.ts'
import {
  complete,
  fresh,
  invalid,
  invalidField,
  missing,
  newPrivateKey,
  type Refusal,
  refusalOf,
  taken,
} from '../handlers/steps.ts'
import {
  allowAlone,
  createTestClock,
  createTestUser,
  startTestService,
  type TestClient,
  type TestService,
} from '../harness.ts'
import { rowsOf, storedBytes } from '../rows.ts'
import { accountsOf, ETHEREUM, makeWallet, SOLANA } from './keys.ts'

const clock = createTestClock()
let service: TestService
let pinned: { readonly organizationId: string; readonly dangerouslyOverrideSignerPublicKey: string }
beforeAll(async () => {
  service = await startTestService({ clock })
  pinned = {
    organizationId: service.organizationId,
    dangerouslyOverrideSignerPublicKey: service.service.bootstrap.signerPublicKey,
  }
})
afterAll(() => service.close())

const WORDS = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'
const notAuthorized: Refusal = [403, 7, 'request not authorized', 'REQUEST_NOT_AUTHORIZED']
const notExported: Refusal = [400, 3, 'wallet account has not been exported', 'WALLET_ACCOUNT_NOT_EXPORTED']

const initWallet = async (client: TestClient = service.root, userId = service.rootUserId) =>
  (await complete(client, 'ACTIVITY_TYPE_INIT_IMPORT_WALLET', { userId })).importBundle
const initKey = async (userId = service.rootUserId) =>
  (await complete(service.root, 'ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY', { userId })).importBundle
const wrapWords = (mnemonic: string, importBundle: string, userId = service.rootUserId) =>
  encryptWalletToBundle({ mnemonic, importBundle, userId, ...pinned })
const wrapKey = (privateKey: string, importBundle: string, keyFormat = 'HEXADECIMAL') =>
  encryptPrivateKeyToBundle({ privateKey, keyFormat, importBundle, userId: service.rootUserId, ...pinned })

const importWallet = (encryptedBundle: string, overrides: object = {}) =>
  complete(service.root, 'ACTIVITY_TYPE_IMPORT_WALLET', {
    userId: service.rootUserId,
    walletName: fresh('imported'),
    encryptedBundle,
    accounts: accountsOf(ETHEREUM, SOLANA),
    ...overrides,
  })
const importKey = (encryptedBundle: string, overrides: object = {}) =>
  complete(service.root, 'ACTIVITY_TYPE_IMPORT_PRIVATE_KEY', {
    userId: service.rootUserId,
    privateKeyName: fresh('imported'),
    encryptedBundle,
    curve: 'CURVE_SECP256K1',
    addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
    ...overrides,
  })
const removeWallet = (walletId: string, deleteWithoutExport?: boolean) =>
  complete(service.root, 'ACTIVITY_TYPE_DELETE_WALLETS', { walletIds: [walletId], deleteWithoutExport })

/** A key to export to, and how the published library opens what comes. */
function newTarget() {
  const { privateKey, publicKey, publicKeyUncompressed } = generateP256KeyPair()
  const open = (exportBundle: string, options: { returnMnemonic: boolean; keyFormat?: 'SOLANA' | 'HEXADECIMAL' }) =>
    decryptExportBundle({ exportBundle, embeddedKey: privateKey, ...pinned, ...options })
  return { targetPublicKey: publicKeyUncompressed, compressed: publicKey, open }
}

describe('import_wallet', () => {
  test('import_wallet: the words that the published library encrypts become a wallet with its accounts', async () => {
    const { walletId, addresses } = await importWallet(await wrapWords(WORDS, await initWallet()))
    expect(addresses).toEqual([
      '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
      'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
    ])
    const { wallet } = await service.root.query('get_wallet', { walletId })
    expect(wallet).toMatchObject({ imported: true, exported: false })
    const again = await wrapWords(WORDS, await initWallet())
    const seedTaken = taken(`seed for wallet ${walletId} already imported in this organization`)
    expect(await refusalOf(importWallet(again))).toEqual(seedTaken)
    await removeWallet(walletId, true)
    // A refused import leaves its target usable.
    expect((await importWallet(again)).walletId).toBe(walletId)
  })

  test('import_wallet: a passphrase stands behind the words, leads to other accounts and comes back', async () => {
    const words = `${translateMnemonic(WORDS, 'MNEMONIC_LANGUAGE_ENGLISH')}\nTREZOR`
    const { walletId, addresses } = await importWallet(await wrapWords(words, await initWallet()))
    expect(addresses[0]).toBe('0x9c32F71D4DB8Fb9e1A58B0a80dF79935e7256FA6')
    const { targetPublicKey, open } = newTarget()
    const { exportBundle } = await complete(service.root, 'ACTIVITY_TYPE_EXPORT_WALLET', { walletId, targetPublicKey })
    expect(await open(exportBundle, { returnMnemonic: true })).toBe(words)
  })

  test('import_wallet: a target serves once, and for its kind and user alone', async () => {
    const bundle = await wrapWords(
      'legal winner thank year wave sausage worth useful legal winner thank yellow',
      await initWallet(),
    )
    const { walletId } = await importWallet(bundle)
    await removeWallet(walletId, true)
    expect((await refusalOf(importWallet(bundle)))[0]).toBe(404)
    expect((await refusalOf(importKey(bundle)))[0]).toBe(404)
  })

  test('import_wallet: a target lapses after a day', async () => {
    const bundle = await wrapWords(WORDS, await initWallet())
    clock.advance(24 * 60 * 60 * 1000)
    const gone = missing('import target not found: it was used, or was never made')
    expect(await refusalOf(importWallet(bundle))).toEqual(gone)
  })

  test('import_wallet: nobody imports for somebody else', async () => {
    const { userId } = await createTestUser(service, fresh('user'))
    expect(await refusalOf(initWallet(service.root, userId))).toEqual(notAuthorized)
    const bundle = await wrapWords(WORDS, await initWallet())
    expect(await refusalOf(importWallet(bundle, { userId }))).toEqual(notAuthorized)
  })

  test.each([
    ['words with a wrong checksum', WORDS.replace('about', 'abandon'), invalid('invalid mnemonic')],
    ['words that are none', 'hello world', invalid('invalid mnemonic')],
  ])('import_wallet: %s are refused', async (_name, words, refusal) => {
    expect(await refusalOf(importWallet(await wrapWords(words, await initWallet())))).toEqual(refusal)
  })

  test.each([
    ['no JSON', () => 'x', 'must be JSON with `encappedPublic` and `ciphertext` in hex'],
    ['no key', () => '{"ciphertext":"00"}', 'must be JSON with `encappedPublic` and `ciphertext` in hex'],
    [
      'a message to somebody else',
      () =>
        JSON.stringify({ encappedPublic: generateP256KeyPair().publicKeyUncompressed, ciphertext: '00'.repeat(40) }),
      'does not open with any import target of this user',
    ],
  ])('import_wallet: a bundle with %s is refused', async (_name, bundle, rule) => {
    await initWallet()
    expect(await refusalOf(importWallet(bundle()))).toEqual(invalidField('encryptedBundle', rule))
  })
})

describe('import_private_key', () => {
  test('import_private_key: hex on secp256k1 and the Solana form on Ed25519', async () => {
    const hex = encodeHex(randomBytes(32))
    const made = await importKey(await wrapKey(hex, await initKey()))
    const { privateKey } = await service.root.query('get_private_key', { privateKeyId: made.privateKeyId })
    expect(privateKey).toMatchObject({ imported: true, exported: false, addresses: made.addresses })
    const again = await refusalOf(importKey(await wrapKey(hex, await initKey())))
    expect(again).toEqual(
      taken(`private key with ID ${made.privateKeyId} has already been imported in this organization`),
    )

    const seed = decodeHex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60')
    const publicKey = decodeHex('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a')
    const wrapped = await wrapKey(encodeBase58(Uint8Array.of(...seed, ...publicKey)), await initKey(), 'SOLANA')
    const solana = { curve: 'CURVE_ED25519', addressFormats: ['ADDRESS_FORMAT_SOLANA'] }
    expect((await importKey(wrapped, solana)).addresses).toEqual([
      { format: 'ADDRESS_FORMAT_SOLANA', address: encodeBase58(publicKey) },
    ])
  })

  test.each([
    ['a short key', '00'.repeat(31), 'expected a private key of 32 bytes, got 31'],
    ['zero', '00'.repeat(32), 'invalid private key'],
    ['a number beyond the curve', 'ff'.repeat(32), 'invalid private key'],
  ])('import_private_key: %s is refused', async (_name, key, message) => {
    expect(await refusalOf(importKey(await wrapKey(key, await initKey())))).toEqual(invalid(message))
  })

  test('import_private_key: an address format of another curve is refused', async () => {
    const wrapped = await wrapKey('01'.repeat(32), await initKey())
    const refusal = await refusalOf(importKey(wrapped, { addressFormats: ['ADDRESS_FORMAT_SOLANA'] }))
    expect(refusal).toEqual(invalid('invalid address format'))
  })
})

describe('at rest', () => {
  test('at rest: neither words, keys nor import targets stand in clear in any file of the service', async () => {
    const words = 'letter advice cage absurd amount doctor acoustic avoid letter advice cage above'
    const hex = encodeHex(randomBytes(32))
    await importWallet(await wrapWords(words, await initWallet()))
    await importKey(await wrapKey(hex, await initKey()))
    const stored = await storedBytes(service.dataDir)
    expect(stored.length).toBeGreaterThan(10_000)
    for (const secret of [Buffer.from(words), Buffer.from(hex, 'hex'), Buffer.from(hex)])
      expect(stored.includes(secret)).toBe(false)
  })
})

describe('keys of accounts', () => {
  test('keys of accounts: each is sealed by itself, goes with its account, and where there is none the words lead to it', async () => {
    const { walletId, accounts } = await makeWallet(service.root, ETHEREUM, SOLANA)
    const ids = accounts.map(({ walletAccountId }) => walletAccountId)
    const named = 'select account_id, sealed_private_key from wallet_account_keys where account_id in (?, ?)'
    const sealed = () => rowsOf(service.dataDir, named, ...ids)
    expect(new Set((await sealed()).map((row) => row['account_id']))).toEqual(new Set(ids))
    for (const row of await sealed()) expect((row['sealed_private_key'] as Uint8Array).length).toBe(32 + 1 + 12 + 16)
    const sign = () =>
      complete(service.root, 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', {
        signWith: accounts[0]!.address,
        payload: 'ab'.repeat(32),
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_NO_OP',
      })
    const signature = await sign()
    await rowsOf(service.dataDir, 'delete from wallet_account_keys where account_id = ?', ids[0]!)
    expect(await sign()).toEqual(signature)
    await removeWallet(walletId, true)
    expect(await sealed()).toEqual([])
  })
})

describe('export', () => {
  test('export_wallet: the published library opens the words, in any language; the wallet is then exported', async () => {
    const { walletId, accounts } = await makeWallet(service.root, ETHEREUM)
    const { targetPublicKey, compressed, open } = newTarget()
    const exportWords = (overrides: object = {}) =>
      complete(service.root, 'ACTIVITY_TYPE_EXPORT_WALLET', { walletId, targetPublicKey, ...overrides })
    expect(await refusalOf(removeWallet(walletId))).toEqual(notExported)
    const made = await exportWords()
    expect(made.walletId).toBe(walletId)
    const words = await open(made.exportBundle, { returnMnemonic: true })
    expect(words.split(' ')).toHaveLength(12)
    const [curve, addressFormat, path] = ETHEREUM
    expect(deriveAccount(words, { curve, addressFormat, path }).address).toBe(accounts[0]!.address)
    const czech = await exportWords({ language: 'MNEMONIC_LANGUAGE_CZECH', targetPublicKey: compressed })
    expect(await open(czech.exportBundle, { returnMnemonic: true })).toBe(
      translateMnemonic(words, 'MNEMONIC_LANGUAGE_CZECH'),
    )
    expect((await service.root.query('get_wallet', { walletId })).wallet.exported).toBe(true)
    expect(await removeWallet(walletId)).toEqual({ walletIds: [walletId] })
  })

  test('export_wallet_account: the key of the account alone; the wallet does not count as exported', async () => {
    const { walletId, accounts } = await makeWallet(service.root, ETHEREUM, SOLANA)
    const { targetPublicKey, open } = newTarget()
    const [ethereum, solana] = accounts
    const exportAccount = (address: string) =>
      complete(service.root, 'ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT', { address, targetPublicKey })
    const remove = (walletAccountIds: readonly string[]) =>
      complete(service.root, 'ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS', { walletAccountIds })
    const first = await exportAccount(ethereum!.address.toLowerCase())
    const key = await open(first.exportBundle, { returnMnemonic: false })
    const imported = await importKey(await wrapKey(key, await initKey()))
    expect(imported.addresses[0]!.address).toBe(ethereum!.address)
    const both = accounts.map(({ walletAccountId }) => walletAccountId)
    expect(await refusalOf(remove(both))).toEqual(notExported)
    const second = await exportAccount(solana!.address)
    const secret = await open(second.exportBundle, { returnMnemonic: false, keyFormat: 'SOLANA' })
    expect(secret.length).toBeGreaterThan(80)
    expect((await service.root.query('get_wallet', { walletId })).wallet.exported).toBe(false)
    expect(await remove(both)).toEqual({ walletAccountIds: both })
  })

  test('export_wallet_account: an unknown address', async () => {
    const { targetPublicKey } = newTarget()
    const sent = complete(service.root, 'ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT', { address: 'nobody', targetPublicKey })
    expect(await refusalOf(sent)).toEqual(missing('Could not find wallet account with address: nobody'))
  })

  test('export_private_key: the published library opens the key; it is then exported and may be deleted', async () => {
    const made = await complete(service.root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', {
      privateKeys: [newPrivateKey({ curve: 'CURVE_P256', addressFormats: [] })],
    })
    const privateKeyId = made.privateKeys[0]!.privateKeyId!
    const { targetPublicKey, open } = newTarget()
    const parameters = { privateKeyId, targetPublicKey }
    const { exportBundle } = await complete(service.root, 'ACTIVITY_TYPE_EXPORT_PRIVATE_KEY', parameters)
    const { privateKey } = await service.root.query('get_private_key', { privateKeyId })
    expect(privateKey.exported).toBe(true)
    const key = await open(exportBundle, { returnMnemonic: false })
    expect(encodeHex(getPublicKey(decodeHex(key)))).toBe(privateKey.publicKey)
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_PRIVATE_KEYS', { privateKeyIds: [privateKeyId] })
  })

  test.each(['00', `05${'11'.repeat(64)}`, `02${'ff'.repeat(32)}`])(
    'export: %s is no key to export to',
    async (targetPublicKey) => {
      const { walletId } = await makeWallet(service.root)
      const sent = complete(service.root, 'ACTIVITY_TYPE_EXPORT_WALLET', { walletId, targetPublicKey })
      expect(await refusalOf(sent)).toEqual(invalidField('targetPublicKey', 'must be a P-256 public key in hex'))
    },
  )

  test('export: policies know the wallet and who it goes to', async () => {
    const { userId, client } = await createTestUser(service, fresh('exporter'))
    const { walletId, accounts } = await makeWallet(service.root, ETHEREUM)
    const { targetPublicKey } = newTarget()
    const condition = `wallet.id == '${walletId}' && activity.params.target_public_key == '${targetPublicKey}'`
    await allowAlone(service, { userId }, condition)
    await complete(client, 'ACTIVITY_TYPE_EXPORT_WALLET', { walletId, targetPublicKey })
    await complete(client, 'ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT', { address: accounts[0]!.address, targetPublicKey })
    const other = client.submit('ACTIVITY_TYPE_EXPORT_WALLET', {
      walletId,
      targetPublicKey: newTarget().targetPublicKey,
    })
    expect((await refusalOf(other)).slice(0, 2)).toEqual([403, 7])
  })
})
