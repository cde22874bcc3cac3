/**
 * The published Python, Go and Rust clients against this service: nothing is changed but the base URL. Each has one
 * small program beside this file, which is told its task, does it, and prints what it saw. Where a toolchain or the
 * client itself cannot be had, its test is skipped and says why.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { listWrittenMessages } from '../../src/service/messages/index.ts'
import {
  createTestUser,
  startTestService,
  type TestClient,
  type TestService,
  type TestUser,
} from '../service/harness.ts'
import { makePerson, nonceOf } from '../service/oauth/stage.ts'
import { startIssuer, type TestIssuer } from '../service/oidc/issuer.ts'
import { codeIn, encryptCode, loginBy } from '../service/one-time-passcodes/outbox.ts'
import { addressOf, phoneOf } from './flows/stage.ts'
import { type LanguageName, prepareProgram } from './languages.ts'
import { recordOperations } from './operations.ts'

vi.setConfig({ testTimeout: 400_000 })

interface Language {
  readonly name: LanguageName
  readonly notFound: string
  readonly stranger: RegExp
  readonly waiting: (activityId: string) => string
  /** Whether the program logs in too. @default true */
  readonly logsIn?: boolean
}

const languages: readonly Language[] = [
  {
    name: 'Python',
    notFound: 'unable to find user ID in organization ID',
    stranger: /^could not find public key in organization or its parent organization/,
    waiting: (activityId) => activityId,
  },
  {
    name: 'Go',
    notFound: 'turnkey: unable to find user ID in organization ID (status=404)',
    stranger: /^turnkey: could not find public key in organization or its parent organization.* \(status=401\)$/,
    logsIn: false,
    waiting: (activityId) => activityId,
  },
  {
    name: 'Rust',
    notFound:
      'HTTP response was not successful: 404 ({"code":5,"message":"unable to find user ID in organization ID","details":[],"turnkeyErrorCode":""})',
    stranger:
      /^HTTP response was not successful: 401 .*could not find public key in organization or its parent organization/,
    waiting: (activityId) => `This activity (${activityId}) requires extra approvals`,
  },
]

type Key = ReturnType<typeof generateP256KeyPair>
type Ask = (request: Record<string, string>) => Promise<unknown>

/** Runs a program that says JSON lines: what it asks for is answered, and the last is what it saw. */
async function converse([command, ...args]: readonly string[], task: object, answer: Ask) {
  const child = spawn(command!, args, { env: { TASK: JSON.stringify(task) }, stdio: ['pipe', 'pipe', 'pipe'] })
  let said = ''
  child.stderr.on('data', (text) => {
    said += text
  })
  try {
    for await (const line of createInterface(child.stdout)) {
      const { ask, ...seen } = JSON.parse(line)
      if (!ask) return seen
      child.stdin.write(`${JSON.stringify(await answer(ask))}\n`)
    }
    throw new Error(`the program ended: ${said}`)
  } finally {
    child.kill()
  }
}

/** What a program has done for it: a code read and encrypted, and a login signed with the key that the code was bound to. */
function answerTo({ codeSession }: { readonly codeSession: Key }, contact: string): Ask {
  const key = generateP256KeyPair()
  return async ({ otpId, otpEncryptionTargetBundle: bundle, verificationToken: token }) => {
    if (token !== undefined) return loginBy({ token, key }, codeSession.publicKey)
    const written = () => listWrittenMessages(service.dataDir).find(({ message }) => message.to === contact)
    await vi.waitUntil(written, { interval: 10 })
    const sent = { otpId: otpId!, bundle: bundle!, code: codeIn(written()!.message) }
    return encryptCode(service, sent, sent.code, key.publicKey)
  }
}

const prepared = await Promise.all(
  languages.map(async (language) => ({ ...language, program: await prepareProgram(language.name) })),
)

let issuer: TestIssuer
let service: TestService
let ada: TestUser
beforeAll(async () => {
  issuer = await startIssuer('ES256')
  service = await startTestService({ privateIssuers: [issuer.url] })
  ada = await createTestUser(service, 'ada')
  const bob = await createTestUser(service, 'bob')
  await service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
    policyName: 'two people',
    effect: 'EFFECT_ALLOW',
    consensus: `approvers.any(user, user.id == '${ada.userId}') && approvers.any(user, user.id == '${bob.userId}')`,
    condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'",
    notes: '',
  })
})
afterAll(async () => {
  await service.close()
  await issuer.close()
})

const pair = ({ publicKey, privateKey }: Pick<TestClient, 'publicKey' | 'privateKey'>) => ({ publicKey, privateKey })
const texts = { condition: " activity.type  ==\n'ACTIVITY_TYPE_CREATE_WALLET' ", consensus: 'true' }
const account = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
}

/** Where the people of each program get codes by SMS. */
const NUMBERS: Readonly<Record<string, string>> = { Python: '+4930555011', Rust: '+4930555012' }

describe('published clients', () => {
  for (const { name, program, ...expected } of prepared) {
    const why = 'missing' in program ? ` (skipped: ${program.missing})` : ''
    test.skipIf('missing' in program).each(expected.logsIn === false ? ['e-mail'] : ['e-mail', 'SMS'])(
      `${name} client: users, policies, wallets, approval, logins, with codes by %s, and errors${why}`,
      async (way) => {
        const label = `${name} ${way}`
        const home = await makePerson(service, [await issuer.token({ sub: label })])
        const { asked, user } =
          way === 'SMS' ? phoneOf(NUMBERS[name]!) : addressOf(`${name.toLowerCase()}@example.test`)
        const { contact } = asked
        const coded = await makePerson(service, [], user)
        const [session, oauthSession, codeSession, nextSession, factorKey] = Array.from({ length: 5 }, () =>
          generateP256KeyPair(),
        ) as [Key, Key, Key, Key, Key]
        const oidcToken = await issuer.token({ sub: label, nonce: nonceOf(oauthSession.publicKey) })
        const task = {
          baseUrl: service.url,
          organizationId: service.organizationId,
          root: pair(service.root),
          ada: pair(ada.client),
          stranger: pair(generateP256KeyPair()),
          session,
          oauthSession,
          oauth: { organizationId: home.organizationId, oidcToken },
          newPublicKey: generateP256KeyPair().publicKey,
          policy: { policyName: `exact ${label}`, effect: 'EFFECT_ALLOW', notes: '', ...texts },
          wallet: { walletName: label, accounts: [account] },
          coded,
          code: { ...asked, appName: 'Acme' },
          codeSession,
          nextSession,
          factorKey,
          factor: {
            userId: coded.userId,
            apiKeys: [{ apiKeyName: 'f', publicKey: factorKey.publicKey, curveType: 'API_KEY_CURVE_P256' }],
          },
          mfaPolicy: {
            userId: coded.userId,
            mfaPolicyName: 'tags take a key',
            condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'",
            requiredAuthenticationMethods: ['SESSION', 'API_KEY'].map((type) => ({
              any: [{ type: `AUTHENTICATION_TYPE_${type}` }],
            })),
            order: 0,
          },
        }
        const seen = await converse((program as { command: readonly string[] }).command, task, answerTo(task, contact))
        const { wallets } = await service.root.query('list_wallets')
        const { walletId } = wallets.find(({ walletName }) => walletName === label)!
        const { accounts } = await service.root.query('list_wallet_accounts', { walletId })
        const { activities } = await service.root.query('list_activities', {
          filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
        })
        expect(seen).toMatchObject({
          whoami: 'root',
          user: ['ann', 1],
          policy: [texts.condition, texts.consensus],
          addresses: accounts.map(({ address }) => address),
          waiting: expected.waiting(activities[0]!.id),
          stranger: expect.stringMatching(expected.stranger),
          ...(expected.logsIn !== false && {
            session: 'root',
            oauthSession: home.organizationId,
            coded: {
              signed: expect.stringMatching(/^[0-9a-f]{64}$/),
              approved: 'ACTIVITY_STATUS_COMPLETED',
              refreshed: coded.userId,
              loggedOut: expect.stringMatching(expected.stranger),
            },
          }),
        })
        expect(seen.notFound.replaceAll(service.organizationId, 'ID')).toBe(expected.notFound)
      },
    )
  }
})

recordOperations('languages', { skip: prepared.every(({ program }) => 'missing' in program) })
