/** What one request may ask for, and in what order it is looked at: its stamp, its size, its limits, and only then its meaning. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { REQUEST_LIMITS } from '../../src/protocol/index.ts'
import { createTestUser, startTestService, type TestService } from '../service/harness.ts'
import { solanaTransaction } from './solana-transaction.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const ethereum = (path: string) => ({
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path,
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
})
const accounts = (count: number, levels = 5) =>
  Array.from({ length: count }, (_, at) => ethereum(`m${`/${at}`}${'/0'.repeat(levels - 1)}`))
const payloads = (count: number) => Array.from({ length: count }, (_, at) => at.toString(16).padStart(64, '0'))
const raw = { encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', hashFunction: 'HASH_FUNCTION_NO_OP' }

describe('one request: what it may ask for', () => {
  test.each([
    [
      '900 accounts of 255 path levels',
      'ACTIVITY_TYPE_CREATE_WALLET',
      { walletName: 'w', accounts: accounts(900, 255) },
      'levels together',
    ],
    [
      '5,000 accounts',
      'ACTIVITY_TYPE_CREATE_WALLET',
      { walletName: 'w', accounts: accounts(5_000) },
      'must have at most 1000 elements',
    ],
    [
      '100,000 payloads',
      'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS',
      { signWith: 'x', ...raw, payloads: Array(100_000).fill('00') },
      'more than 100000 values',
    ],
    [
      '1,001 payloads',
      'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS',
      { signWith: 'x', ...raw, payloads: payloads(1_001) },
      'must have at most 1000 elements',
    ],
    [
      'a wallet with a name that would stand in every answer about it',
      'ACTIVITY_TYPE_CREATE_WALLET',
      { walletName: 'n'.repeat(1_025), accounts: [] },
      'field `walletName` must have at most 1024 characters',
    ],
    [
      '1,000 private keys with three addresses each',
      'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
      {
        privateKeys: Array.from({ length: 1_000 }, (_, at) => ({
          privateKeyName: `k${at}`,
          curve: 'CURVE_SECP256K1',
          privateKeyTags: [],
          addressFormats: ['ADDRESS_FORMAT_ETHEREUM', 'ADDRESS_FORMAT_TRON', 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR'],
        })),
      },
      'address formats together',
    ],
  ] as const)('one request: %s are refused before any of them is made', async (_, type, parameters, words) => {
    const { path, text } = service.body(type, parameters)
    expect(text.length).toBeLessThan(1_048_576)
    const answer = await service.root.raw(path, text)
    expect(answer).toMatchObject({ status: 400, body: { code: 3, turnkeyErrorCode: 'REQUEST_INVALID' } })
    expect(String(answer.body['message'])).toContain(words)
  })

  test('one request: a transaction of 20,000 instructions is refused, one of a thousand is read', async () => {
    const made = await service.root.submit('ACTIVITY_TYPE_CREATE_WALLET', {
      walletName: 'solana',
      accounts: [{ ...ethereum("m/44'/501'"), curve: 'CURVE_ED25519', addressFormat: 'ADDRESS_FORMAT_SOLANA' }],
    })
    const signWith = made.result.createWalletResult!.addresses[0]!
    const sign = async (instructions: number) => {
      const unsignedTransaction = solanaTransaction(instructions)
      const body = service.body('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', {
        signWith,
        type: 'TRANSACTION_TYPE_SOLANA',
        unsignedTransaction,
      })
      const { status, body: answer } = await service.root.raw(body.path, body.text)
      return `${status} ${answer['message']}`
    }
    expect(await sign(20_000)).toContain('there are 20000 instructions, at most 1000 are read')
    // Read: what is wrong with it is that another account signs it.
    expect(await sign(REQUEST_LIMITS.instructions)).not.toContain('instructions')
  })

  test('one request: as many accounts as there may be are made', async () => {
    const made = await service.root.submit('ACTIVITY_TYPE_CREATE_WALLET', {
      walletName: 'many',
      accounts: accounts(100, 20),
    })
    expect(new Set(made.result.createWalletResult!.addresses).size).toBe(100)
  })

  test.each([
    ['levels', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, 'nesting is deeper than 64'],
    ['levels that are never closed', '['.repeat(500_000), 'nesting is deeper than 64'],
    ['values', `[${'0,'.repeat(500_000)}0]`, 'more than 100000 values'],
    ['members', `{${Array.from({ length: 100_001 }, (_, at) => `"${at}":0`).join()}}`, 'more than 100000 values'],
  ])('one request: more %s than any request has are refused before they are read', async (_, text, words) => {
    const answer = await service.root.raw('/public/v1/query/whoami', text)
    expect(answer).toMatchObject({ status: 400, body: { code: 3 } })
    expect(String(answer.body['message'])).toContain(words)
  })
})

describe('one request: its stamp comes first', () => {
  const stranger = generateP256KeyPair()

  test.each([
    ['what is no JSON', '{'],
    ['a body without anything in it', '{}'],
    ['more values than a request has', `[${'0,'.repeat(100_000)}0]`],
  ])('one request: of %s nothing is said to somebody without a stamp', async (_, text) => {
    for (const path of ['/public/v1/query/whoami', '/public/v1/submit/create_wallet']) {
      const answer = await service.root.raw(path, text, { 'x-stamp': '' })
      expect(answer).toMatchObject({ status: 401, body: { turnkeyErrorCode: 'SIGNATURE_MISSING' } })
    }
  })

  test('one request: nor to somebody whose stamp signs other bytes', async () => {
    const other = service.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 't', userIds: [] })
    const { createApiKeyStamper } = await import('../../src/stamp/index.ts')
    const { Secret } = await import('../../src/telemetry/index.ts')
    const stamp = await createApiKeyStamper({ privateKey: new Secret(stranger.privateKey) }).stamp(
      Buffer.from(other.text),
    )
    const answer = await service.root.raw(other.path, '{', { 'x-stamp': stamp.value })
    expect(answer).toMatchObject({ status: 401, body: { turnkeyErrorCode: 'SIGNATURE_INVALID' } })
  })
})

describe('one request: what it is answered with', () => {
  const notes = 'x'.repeat(900_000)
  /** An approval of nothing, with a member that nobody reads. */
  const padded = (type: 'ACTIVITY_TYPE_APPROVE_ACTIVITY' | 'ACTIVITY_TYPE_REJECT_ACTIVITY', bytes: number) => {
    const { path, text } = service.body(type, { fingerprint: `sha256:${'0'.repeat(64)}` })
    return { path, text: text.replace('{', `{"padding":"${'x'.repeat(bytes)}",`) }
  }

  test('one request: a page of activities ends where an answer has no more room, and the next goes on there', async () => {
    const large: string[] = []
    for (let at = 0; at < 7; at++) {
      const policy = { policyName: `large ${at}`, effect: 'EFFECT_DENY', condition: 'false', notes }
      large.unshift((await service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', policy)).id)
    }
    const read: string[] = []
    for (let before = ''; ; before = read.at(-1)!) {
      const { activities } = await service.root.query('list_activities', {
        filterByStatus: [],
        filterByType: ['ACTIVITY_TYPE_CREATE_POLICY_V3'],
        paginationOptions: { limit: '100', before },
      })
      expect(JSON.stringify(activities).length).toBeLessThan(6_000_000)
      if (activities.length === 0) break
      read.push(...activities.map(({ id }) => id))
    }
    expect(read).toEqual(large)
  })

  test.each(['ACTIVITY_TYPE_APPROVE_ACTIVITY', 'ACTIVITY_TYPE_REJECT_ACTIVITY'] as const)(
    'one request: %s has no room for what it does not need',
    async (type) => {
      const few = padded(type, 1_000)
      expect((await service.root.raw(few.path, few.text)).status).toBe(404)
      const many = padded(type, 20_000)
      const answer = await service.root.raw(many.path, many.text)
      expect(answer).toMatchObject({ status: 400, body: { turnkeyErrorCode: 'REQUEST_INVALID' } })
      expect(String(answer.body['message'])).toContain('at most 16384 bytes')
    },
  )

  test('one request: submissions of a megabyte are repeated as votes until there is no room, and then approved by fingerprint', async () => {
    const keys = Array.from({ length: 6 }, () => generateP256KeyPair())
    const users = keys.map(({ publicKey }, at) => ({
      userName: `voter ${at}`,
      apiKeys: [{ apiKeyName: 'k', publicKey, curveType: 'API_KEY_CURVE_P256' }],
      authenticators: [],
      oauthProviders: [],
      userTags: [],
    }))
    const made = await service.root.submit('ACTIVITY_TYPE_CREATE_USERS_V3', { users })
    await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', {
      threshold: 6,
      userIds: [service.rootUserId, ...made.result.createUsersResult!.userIds],
    })
    const policy = { policyName: 'by all', effect: 'EFFECT_DENY', condition: 'false', notes }
    const { path, text } = service.body('ACTIVITY_TYPE_CREATE_POLICY_V3', policy)
    const first = (await service.root.raw(path, text)).body['activity'] as { fingerprint: string; status: string }
    expect(first.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    const statuses: number[] = []
    for (const { privateKey } of keys.slice(0, 4)) {
      const { status, body } = await service.client(privateKey).raw(path, text)
      statuses.push(status)
      if (status !== 200) expect(String(body['message'])).toContain('approve it by its fingerprint')
    }
    expect(statuses).toEqual([200, 200, 200, 400])
    const approved = await service.client(keys[4]!.privateKey).approve(first.fingerprint)
    expect(approved.votes).toHaveLength(5)
  })
})

describe('one request: what it may leave', () => {
  test('one request: what a list is answered with is bounded where it is stored', async () => {
    const own = await startTestService()
    try {
      const make = (policyName: string) =>
        own.root.raw(
          ...(Object.values(
            own.body('ACTIVITY_TYPE_CREATE_POLICY_V3', {
              policyName,
              effect: 'EFFECT_DENY',
              condition: 'false',
              notes: 'x'.repeat(1_000_000),
            }),
          ) as [string, string]),
        )
      const statuses: number[] = []
      for (let at = 0; at < 9; at++) statuses.push((await make(`large ${at}`)).status)
      expect(statuses).toEqual([...Array<number>(8).fill(200), 429])
      expect((await make('one more')).body['message']).toBe(
        'organization has exceeded maximum bytes of policies (8388608)',
      )
      expect(JSON.stringify(await own.root.query('list_policies')).length).toBeLessThan(8_500_000)
    } finally {
      await own.close()
    }
  })
})

describe('one request: what is dear in it is done beside everybody else', () => {
  let own: TestService
  beforeAll(async () => {
    own = await startTestService()
  })
  afterAll(() => own.close())

  /** How often somebody else was answered before this was. */
  async function answeredMeanwhile<T>(work: Promise<T>): Promise<{ readonly value: T; readonly others: number }> {
    let others = 0
    let isOver = false
    const value = work.finally(() => {
      isOver = true
    })
    while (!isOver) {
      await (await fetch(`${own.url}/healthz`)).text()
      if (!isOver) others++
    }
    return { value: await value, others }
  }

  test('one request: three hundred accounts, and others are answered meanwhile', async () => {
    const walletName = 'deep'
    const { value, others } = await answeredMeanwhile(
      own.root.submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName, accounts: accounts(300) }),
    )
    const { walletId, addresses } = value.result.createWalletResult!
    expect(new Set(addresses).size).toBe(300)
    expect(others).toBeGreaterThan(10)
    // They are those of the wallet that is kept, once, and sign.
    const [again] = (
      await own.root.submit('ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', {
        walletId,
        accounts: accounts(300).slice(299),
        persist: false,
      })
    ).result.createWalletAccountsResult!.addresses
    expect(again).toBe(addresses[299])
    const [one, many] = [
      await own.root.submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOADS', {
        signWith: addresses[7],
        ...raw,
        payloads: payloads(1),
      }),
      await own.root.submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOADS', {
        signWith: addresses[7],
        ...raw,
        payloads: payloads(300),
      }),
    ].map(({ result }) => result.signRawPayloadsResult!.signatures!)
    expect(many).toHaveLength(300)
    expect(many![0]).toEqual(one![0])
    expect(new Set(many!.map(({ r }) => r)).size).toBe(300)
  })

  test('one request: three hundred signatures, and others are answered meanwhile', async () => {
    const made = await own.root.submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'signs', accounts: accounts(1) })
    const signWith = made.result.createWalletResult!.addresses[0]!
    const { value, others } = await answeredMeanwhile(
      own.root.submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOADS', { signWith, ...raw, payloads: payloads(300) }),
    )
    expect(value.result.signRawPayloadsResult!.signatures).toHaveLength(300)
    expect(others).toBeGreaterThan(5)
  })

  test('one request: one that nobody allows costs none of it', async () => {
    const { client } = await createTestUser(own, 'nobody')
    const { path, text } = own.body('ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'w', accounts: accounts(300) })
    expect((await client.raw(path, text)).status).toBe(403)
    const { wallets } = await own.root.query('list_wallets', {})
    expect(wallets.map(({ walletName }) => walletName).sort()).toEqual(['deep', 'signs'])
  })

  test('one request: sent twice at once, it is carried out once', async () => {
    const body = own.body('ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'twice', accounts: accounts(200, 5) })
    const [one, two] = await Promise.all([own.root.send(body), own.root.send(body)])
    expect(two.id).toBe(one.id)
    expect(two.result).toEqual(one.result)
    const { wallets } = await own.root.query('list_wallets', {})
    expect(wallets.filter(({ walletName }) => walletName === 'twice')).toHaveLength(1)
  })
})
