/** Purchases at stand-ins of providers, which check what they are sent as the real ones document it. */
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { encryptOnRampSecret } from '@turnkey/crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decodeBase64 } from '../../../src/encoding/index.ts'
import { createTestClock, startTestService, type TestService } from '../harness.ts'
import { addTenants, complete, invalid, invalidField, missing, NOBODY, refusalOf, type Tenant } from './steps.ts'

const MOONPAY = 'FIAT_ON_RAMP_PROVIDER_MOONPAY'
const COINBASE = 'FIAT_ON_RAMP_PROVIDER_COINBASE'
const SECRET = 'sk_test_planted'
const WALLET = '0xde0b295669a9fd93d5f28d9ec85e40f4cb697bae'
const clock = createTestClock()
let provider: Server
/** What the stand-in was asked last, and what it answers. */
let asked: { method: string; url: string; body: string; authorization: string }
let answer: { status: number; body: unknown } = { status: 404, body: {} }
let service: TestService
let child: Tenant
let stranger: Tenant
let key: string
beforeAll(async () => {
  provider = createServer(async (request, response) => {
    const body = (await request.toArray()).map(String).join('')
    const { method = '', url = '', headers } = request
    asked = { method, url, body, authorization: headers.authorization ?? '' }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  })
  await new Promise<void>((done) => provider.listen(0, '127.0.0.1', done))
  const url = placeOf(provider)
  service = await startTestService({ clock, onRampUrls: { moonpay: url, coinbase: url } })
  const [one] = await addTenants(service, 1, { parentId: service.organizationId })
  const [other] = await addTenants(service, 1)
  child = one!
  stranger = other!
  key = service.service.bootstrap.onRampEncryptionPublicKey
})
afterAll(async () => {
  await service.close()
  await new Promise((done) => provider.close(done))
})

const placeOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const moonpay = (overrides: object = {}) => ({
  onrampProvider: MOONPAY,
  publishableApiKey: 'pk_test_key',
  encryptedSecretApiKey: encryptOnRampSecret(SECRET, key),
  sandboxMode: true,
  ...overrides,
})
const coinbase = (privateKey: string) => ({
  onrampProvider: COINBASE,
  projectId: 'project',
  publishableApiKey: 'client-key',
  encryptedSecretApiKey: encryptOnRampSecret('key-id', key),
  encryptedPrivateApiKey: encryptOnRampSecret(privateKey, key),
})
const create = async (credential: object) =>
  (await complete(service.root, 'ACTIVITY_TYPE_CREATE_FIAT_ON_RAMP_CREDENTIAL', credential)).fiatOnRampCredentialId
const list = async () => (await service.root.query('list_fiat_on_ramp_credentials')).fiatOnRampCredentials
const remove = (fiatOnrampCredentialId: string) =>
  complete(service.root, 'ACTIVITY_TYPE_DELETE_FIAT_ON_RAMP_CREDENTIAL', { fiatOnrampCredentialId })

const order = (overrides: object = {}) => ({
  onrampProvider: MOONPAY,
  walletAddress: WALLET,
  network: 'FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_ETHEREUM',
  cryptoCurrencyCode: 'FIAT_ON_RAMP_CRYPTO_CURRENCY_ETH',
  sandboxMode: true,
  ...overrides,
})
const init = (intent: object, client = service.root, organizationId = service.organizationId) =>
  complete(client, 'ACTIVITY_TYPE_INIT_FIAT_ON_RAMP', intent, organizationId)
const status = async (transactionId: string) =>
  (await service.root.query('get_onramp_transaction_status', { transactionId })).transactionStatus

/** MoonPay's own way to check a URL. */
function isSigned(url: string): boolean {
  const [unsigned = '', signature = ''] = url.split('&signature=')
  const expected = createHmac('sha256', SECRET).update(new URL(unsigned).search).digest('base64')
  return decodeURIComponent(signature) === expected
}

describe('fiat on-ramp credentials', () => {
  test('fiat on-ramp credentials: one is made, replaced and deleted, its secrets always as they were sent', async () => {
    const sent = moonpay()
    const id = await create(sent)
    const createdAt = { seconds: '1750000000', nanos: '0' }
    const record = { fiatOnrampCredentialId: id, organizationId: service.organizationId, ...sent, createdAt }
    expect(await list()).toEqual([{ ...record, updatedAt: createdAt }])
    clock.advance(1_000)
    const change = { onrampProvider: MOONPAY, publishableApiKey: 'pk_2', encryptedSecretApiKey: 'x', projectId: 'p' }
    const update = { fiatOnrampCredentialId: id, ...change }
    expect(await complete(service.root, 'ACTIVITY_TYPE_UPDATE_FIAT_ON_RAMP_CREDENTIAL', update)).toEqual({
      fiatOnRampCredentialId: id,
    })
    expect(await list()).toEqual([{ ...record, ...change, updatedAt: { seconds: '1750000001', nanos: '0' } }])
    expect(await remove(id)).toEqual({ fiatOnRampCredentialId: id })
    expect(await list()).toEqual([])
  })

  test('fiat on-ramp credentials: one that is not there, or is of another organization, is refused', async () => {
    const id = await create(moonpay())
    const { organizationId } = stranger
    const elsewhere = (fiatOnrampCredentialId: string) =>
      stranger.client.submit(
        'ACTIVITY_TYPE_DELETE_FIAT_ON_RAMP_CREDENTIAL',
        { fiatOnrampCredentialId },
        { organizationId },
      )
    for (const unknown of [id, NOBODY])
      expect(await refusalOf(elsewhere(unknown))).toEqual(missing(`fiat on-ramp credential not found: ${unknown}`))
    const { encryptedPrivateApiKey: _, ...half } = coinbase('x')
    expect(await refusalOf(create(half))).toEqual(
      invalid('invalid request body: missing field `encryptedPrivateApiKey`'),
    )
    await remove(id)
  })
})

describe('init_fiat_on_ramp at MoonPay', () => {
  let credentialId: string
  beforeAll(async () => {
    credentialId = await create(moonpay())
  })
  afterAll(() => remove(credentialId))

  test('init_fiat_on_ramp at MoonPay: the URL says what is wanted and is signed as MoonPay checks it', async () => {
    const { onRampUrl, onRampTransactionId, ...rest } = await init(
      order({
        cryptoCurrencyCode: 'FIAT_ON_RAMP_CRYPTO_CURRENCY_USDC',
        fiatCurrencyCode: 'FIAT_ON_RAMP_CURRENCY_EUR',
        fiatCurrencyAmount: '100.50',
        paymentMethod: 'FIAT_ON_RAMP_PAYMENT_METHOD_SEPA_BANK_TRANSFER',
      }),
    )
    expect(rest).toEqual({})
    expect(isSigned(onRampUrl)).toBe(true)
    const { signature: _, ...said } = Object.fromEntries(new URL(onRampUrl).searchParams)
    expect(said).toEqual({
      apiKey: 'pk_test_key',
      currencyCode: 'usdc',
      walletAddress: WALLET,
      baseCurrencyCode: 'eur',
      baseCurrencyAmount: '100.50',
      paymentMethod: 'sepa_bank_transfer',
      externalTransactionId: onRampTransactionId,
    })
    answer = { status: 404, body: {} }
    expect(await status(onRampTransactionId)).toBe('NOT_STARTED')
    answer = { status: 200, body: [{ status: 'waitingPayment' }] }
    expect(await status(onRampTransactionId)).toBe('waitingPayment')
    expect(asked).toMatchObject({
      method: 'GET',
      url: `/v1/transactions/ext/${onRampTransactionId}?apiKey=pk_test_key`,
    })
    answer = { status: 500, body: {} }
    expect((await refusalOf(status(onRampTransactionId))).slice(0, 2)).toEqual([503, 14])
  })

  test("init_fiat_on_ramp at MoonPay: a client's URL is signed for this account's widget alone", async () => {
    const url = 'https://buy-sandbox.moonpay.com?apiKey=pk_test_key&currencyCode=eth'
    const { onRampUrlSignature } = await init(order({ urlForSignature: url }))
    expect(onRampUrlSignature).toBe(createHmac('sha256', SECRET).update(new URL(url).search).digest('base64'))
    for (const urlForSignature of [
      'https://buy.moonpay.com?apiKey=pk_other',
      'https://acme.test?apiKey=pk_test_key',
      'x',
    ])
      expect(await refusalOf(init(order({ urlForSignature })))).toEqual(
        invalidField('urlForSignature', "must be a URL of MoonPay's widget with the `apiKey` of the credential"),
      )
  })

  test("init_fiat_on_ramp at MoonPay: a sub-organization buys by its parent's account, a stranger by none", async () => {
    const { onRampUrl } = await init(order(), child.client, child.organizationId)
    expect(isSigned(onRampUrl)).toBe(true)
    const refused = await refusalOf(init(order(), stranger.client, stranger.organizationId))
    expect(refused.slice(0, 2)).toEqual([404, 5])
    expect((await refusalOf(init(order({ sandboxMode: false })))).slice(0, 2)).toEqual([404, 5])
  })

  test.each<{ name: string; overrides: object; field: string }>([
    {
      name: 'a currency of another chain',
      overrides: { network: 'FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_BITCOIN' },
      field: 'cryptoCurrencyCode',
    },
    {
      name: 'a way to pay of the other provider',
      overrides: { paymentMethod: 'FIAT_ON_RAMP_PAYMENT_METHOD_CRYPTO_ACCOUNT' },
      field: 'paymentMethod',
    },
    { name: 'too small an amount', overrides: { fiatCurrencyAmount: '20' }, field: 'fiatCurrencyAmount' },
    { name: 'an amount that is none', overrides: { fiatCurrencyAmount: '1e3' }, field: 'fiatCurrencyAmount' },
    { name: 'a country that is none', overrides: { countryCode: 'USA' }, field: 'countryCode' },
    { name: 'a state that is missing', overrides: { countryCode: 'US' }, field: 'countrySubdivisionCode' },
  ])('init_fiat_on_ramp at MoonPay: $name is refused', async ({ overrides, field }) => {
    const [code, number, message] = await refusalOf(init(order(overrides)))
    expect([code, number, message]).toEqual([400, 3, expect.stringContaining(`\`${field}\``)])
  })

  test('init_fiat_on_ramp at MoonPay: secrets that are not encrypted to the service are refused, and repeated nowhere', async () => {
    const id = await create(moonpay({ encryptedSecretApiKey: 'no-bundle' }))
    const refused = await refusalOf(init(order()))
    expect(refused).toEqual(
      invalid(
        `on-ramp provider not configured: of fiat on-ramp credential ${id}, its secrets are not encrypted to the on-ramp key of this service`,
      ),
    )
    await remove(id)
  })
})

describe('init_fiat_on_ramp at Coinbase', () => {
  const P256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const EDWARDS = generateKeyPairSync('ed25519')
  const halves = ['d', 'x'].map((name) => decodeBase64(EDWARDS.privateKey.export({ format: 'jwk' })[name] as string))

  test.each<{ name: string; text: string; publicKey: KeyObject; alg: string }>([
    {
      name: 'PEM on P-256',
      text: String(P256.privateKey.export({ type: 'sec1', format: 'pem' })),
      publicKey: createPublicKey(P256.privateKey),
      alg: 'ES256',
    },
    {
      name: 'base64 on Ed25519',
      text: Buffer.concat(halves).toString('base64'),
      publicKey: EDWARDS.publicKey,
      alg: 'EdDSA',
    },
  ])(
    'init_fiat_on_ramp at Coinbase: with a key in $name a token is asked for and stands in the URL',
    async ({ text, publicKey, alg }) => {
      const id = await create(coinbase(text))
      answer = { status: 200, body: { token: 'one/token', channel_id: '' } }
      const { onRampUrl, onRampTransactionId } = await init(
        order({ onrampProvider: COINBASE, sandboxMode: false, countryCode: 'US', countrySubdivisionCode: 'NY' }),
      )
      expect(JSON.parse(asked.body)).toEqual({
        addresses: [{ address: WALLET, blockchains: ['ethereum'] }],
        assets: ['ETH'],
      })
      const [head = '', claims = '', signature = ''] = asked.authorization.replace('Bearer ', '').split('.')
      const isP256 = alg === 'ES256'
      const signed = Buffer.from(`${head}.${claims}`)
      const how = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
      expect(verify(isP256 ? 'sha256' : null, signed, how, Buffer.from(signature, 'base64url'))).toBe(true)
      const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object
      expect(read(head)).toMatchObject({ alg, kid: 'key-id', typ: 'JWT' })
      const now = Math.floor(clock() / 1000)
      const uris = [`POST ${new URL(placeOf(provider)).host}/onramp/v1/token`]
      expect(read(claims)).toEqual({ iss: 'cdp', sub: 'key-id', nbf: now, exp: now + 120, uris })
      expect(Object.fromEntries(new URL(onRampUrl).searchParams)).toEqual({
        sessionToken: 'one/token',
        defaultAsset: 'ETH',
        defaultNetwork: 'ethereum',
        partnerUserRef: onRampTransactionId,
      })
      answer = { status: 200, body: { transactions: [{ status: 'ONRAMP_TRANSACTION_STATUS_SUCCESS' }] } }
      expect(await status(onRampTransactionId)).toBe('ONRAMP_TRANSACTION_STATUS_SUCCESS')
      expect(asked.url).toBe(`/onramp/v1/buy/user/${onRampTransactionId}/transactions`)
      await remove(id)
      expect((await refusalOf(status(onRampTransactionId)))[0]).toBe(404)
    },
  )

  test('init_fiat_on_ramp at Coinbase: a key that is none, one that is not taken, and an answer without a token', async () => {
    const intent = order({ onrampProvider: COINBASE, sandboxMode: false })
    const broken = await create(coinbase('no key'))
    expect(await refusalOf(init(intent))).toEqual(
      invalid(expect.stringContaining('its private API key is none') as unknown as string),
    )
    await remove(broken)
    const id = await create(coinbase(String(P256.privateKey.export({ type: 'pkcs8', format: 'pem' }))))
    answer = { status: 401, body: {} }
    expect((await refusalOf(init(intent)))[2]).toContain('coinbase does not take its API keys')
    answer = { status: 200, body: {} }
    expect((await refusalOf(init(intent))).slice(0, 2)).toEqual([503, 14])
    await remove(id)
    const signing = order({ onrampProvider: COINBASE, urlForSignature: 'https://buy.moonpay.com?apiKey=x' })
    expect((await refusalOf(init(signing)))[2]).toContain('MoonPay alone has signed URLs')
  })

  test('get_onramp_transaction_status: a purchase of another organization is not there', async () => {
    const id = await create(moonpay())
    const { onRampTransactionId: transactionId } = await init(order())
    const { organizationId } = stranger
    const elsewhere = stranger.client.query('get_onramp_transaction_status', { organizationId, transactionId })
    expect(await refusalOf(elsewhere)).toEqual(missing(`on-ramp transaction not found: ${transactionId}`))
    await remove(id)
  })
})
