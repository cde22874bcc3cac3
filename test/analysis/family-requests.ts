/** Requests of activities that are said to give nobody power, as somebody makes them who may do nothing but one of them. */
import { generateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { PublicKey } from '@solana/web3.js'
import {
  encryptOauth2ClientSecret,
  encryptOnRampSecret,
  encryptPrivateKeyToBundle,
  encryptSecretToBundle,
  encryptWalletToBundle,
  generateP256KeyPair as generatePublished,
} from '@turnkey/crypto'
import { serializeTransaction } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { generateP256KeyPair, randomBytes, sealEnvelope } from '../../src/crypto/index.ts'
import { decodeHex, encodeHex } from '../../src/encoding/index.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import { timesG, writeScalar } from '../../src/spark/group.ts'
import { createEnclave, type EnclaveRoot } from '../service/handlers/enclave.ts'
import { complete, fresh, makePrivateKey, makeUser, newKey, newPrivateKey, newUser } from '../service/handlers/steps.ts'
import { createOperator, makeTvcDeployment, newApp, newDeployment, setOf } from '../service/handlers/tvc.ts'
import type { TestClient, TestService, TestUser } from '../service/harness.ts'
import { GRANT, type SocialProviders } from '../service/oauth/social.ts'
import { nonceOf } from '../service/oauth/stage.ts'
import type { TestIssuer } from '../service/oidc/issuer.ts'
import { encryptCode, requestCode } from '../service/one-time-passcodes/outbox.ts'
import { createPasskey } from '../service/passkey.ts'
import { draftOf, receiver, transferOf } from '../service/sends/solana-drafts.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { type AccountShape, makeWallet } from '../service/signing/keys.ts'
import { makeOperators, readPackage } from '../spark/operators.ts'

/** What requests are made of. */
export interface Things {
  readonly root: TestClient
  readonly rootUserId: string
  readonly me: TestUser
  /** A key that whoever asks has. */
  readonly ours: { readonly publicKey: string }
  readonly wallet: { readonly walletId: string; readonly addresses: readonly string[] }
  readonly keyId: string
  readonly hot: string
  /** A wallet whose account is an identity of Spark, with its public key. */
  readonly spark: { readonly address: string; readonly publicKey: string }
  readonly solana: string
  readonly outside: Outside
  /** Lets whoever asks do this too, until it is played. */
  readonly may: (type: ActivityType) => Promise<void>
}

/** What there is beside the service. */
export interface Outside {
  readonly service: TestService
  readonly issuer: TestIssuer
  readonly social: SocialProviders
  readonly enclaves: EnclaveRoot
}
export type Request = (things: Things) => object | Promise<object>

const account = (index = 0) => ({
  ...{ curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: `m/44'/60'/0'/0/${index}` },
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
})
export const makeOwnWallet = ({ root }: Pick<Things, 'root'>) =>
  complete(root, 'ACTIVITY_TYPE_CREATE_WALLET', { walletName: fresh('spare'), accounts: [account()] })
const makeKeyTag = async ({ root }: Things) =>
  (await complete(root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG', { privateKeyTagName: fresh('tag'), privateKeyIds: [] }))
    .privateKeyTagId
export const payload = (signWith: string) => ({
  ...{ signWith, payload: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex') },
  ...{ encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', hashFunction: 'HASH_FUNCTION_NO_OP' },
})
const target = () => ({ targetPublicKey: generateP256KeyPair().publicKey })
const accountOf = async ({ root }: Things, walletId: string) =>
  (await root.query('list_wallet_accounts', { walletId })).accounts[0]!.walletAccountId

export const sparkIdentity = (index: number): AccountShape => [
  'CURVE_SECP256K1',
  'ADDRESS_FORMAT_SPARK_REGTEST',
  `m/8797555'/${index}'/0'`,
]

export const DEVNET = 'solana:devnet'
const SUITE = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1'
const CODE = { otpType: 'OTP_TYPE_EMAIL', appName: 'Acme' }
const OAUTH2 = { provider: 'OAUTH2_PROVIDER_X', clientId: 'client', encryptedClientSecret: 'ab' }
const CARD = {
  ...{ number: '4242424242424242', cvv: '8765', expiryMonth: '06', expiryYear: '2099' },
  ...{ cardHolderName: 'Alice', cardHolderEmail: 'alice@acme.test' },
}
const TRANSACTION = {
  ...({ type: 'eip1559', chainId: 11_155_111, to: `0x${'1'.repeat(40)}`, gas: 21_000n, value: 0n } as const),
  ...{ maxFeePerGas: 9_000_000_000n, maxPriorityFeePerGas: 1n },
}
const sendOf = (from: string) => ({
  ...{ from, caip2: SEPOLIA, to: TRANSACTION.to, gasLimit: '21000', value: '0' },
  ...{ maxFeePerGas: '9000000000', maxPriorityFeePerGas: '1' },
})
/** The key of the second operator. */
const OPERATOR = 7n
const recipients = ({ publicKey }: Things['spark']) => ({
  threshold: 2,
  operatorRecipients: [publicKey, encodeHex(timesG(OPERATOR).toBytes(true))].map((encryptionPublicKey, at) => ({
    ...{ operatorId: encodeHex(writeScalar(BigInt(at + 1))), encryptionPublicKey },
  })),
})
const hook = () => ({ url: `http://${HOOK}/`, name: fresh('hook') })
/** Nothing is delivered there: no subscription asks for it. */
export const HOOK = '127.0.0.1:9'
const contract = (smartContractAddress: string) => ({
  ...{ smartContractAddress, label: fresh('contract'), type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM' },
  smartContractInterface:
    '[{"type":"function","name":"transfer","inputs":[{"name":"to","type":"address"}],"outputs":[]}]',
})
const mfaPolicy = (userId: string) => ({
  ...{ userId, mfaPolicyName: fresh('mfa'), condition: 'false', order: 0 },
  requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] }],
})
const makeMfaPolicy = async (root: TestClient) => {
  const policy = mfaPolicy(await makeUser(root))
  const { mfaPolicyId } = await complete(root, 'ACTIVITY_TYPE_CREATE_MFA_POLICY', policy)
  return { userId: policy.userId, mfaPolicyId }
}
const onRamp = ({ service }: Outside) => ({
  ...{ onrampProvider: 'FIAT_ON_RAMP_PROVIDER_MOONPAY', publishableApiKey: 'pk_test_key', sandboxMode: true },
  encryptedSecretApiKey: encryptOnRampSecret('sk_test_key', service.service.bootstrap.onRampEncryptionPublicKey),
})
const makeOnRamp = async (root: TestClient, outside: Outside) => {
  const made = await complete(root, 'ACTIVITY_TYPE_CREATE_FIAT_ON_RAMP_CREDENTIAL', onRamp(outside))
  return { fiatOnrampCredentialId: made.fiatOnRampCredentialId }
}
const pinned = ({ service }: Outside) => ({
  organizationId: service.organizationId,
  dangerouslyOverrideSignerPublicKey: service.service.bootstrap.signerPublicKey,
})
const newSecret = async ({ outside }: Things, client: TestClient) => {
  const wanted = { encryptionSuite: SUITE, numSecrets: 1 }
  const { enclaveTargetMessages } = await complete(client, 'ACTIVITY_TYPE_INIT_IMPORT_SECRETS', wanted)
  const bundle = { plaintext: 'a secret', ingressTargetBundle: enclaveTargetMessages[0]!, ...pinned(outside) }
  return { ...(await encryptSecretToBundle(bundle)), encryptionSuite: SUITE }
}
const importOf = async ({ me: { userId, client }, may, outside }: Things, what: 'WALLET' | 'PRIVATE_KEY') => {
  const init = `ACTIVITY_TYPE_INIT_IMPORT_${what}` as const
  await may(init)
  const { importBundle } = await complete(client, init, { userId })
  const sealed = { importBundle, userId, ...pinned(outside) }
  if (what === 'WALLET')
    return {
      ...{ userId, walletName: 'hot', accounts: [account()] },
      encryptedBundle: await encryptWalletToBundle({ mnemonic: generateMnemonic(wordlist), ...sealed }),
    }
  const { privateKey } = generateP256KeyPair()
  return {
    ...{ userId, privateKeyName: fresh('brought'), curve: 'CURVE_SECP256K1', addressFormats: [] },
    encryptedBundle: await encryptPrivateKeyToBundle({ privateKey, keyFormat: 'HEXADECIMAL', ...sealed }),
  }
}
/** A deployment, and approvals of its manifest by as many as it takes. */
const deployed = async (root: TestClient, app: object = {}) => {
  const operators = [createOperator(), createOperator()]
  const made = await makeTvcDeployment(root, newApp({ manifestSetParams: setOf(operators, 2), ...app }))
  const { deploymentId, manifestId, shareSetOperatorIds } = made
  const { manifest } = (await root.query('get_tvc_deployment', { deploymentId })).tvcDeployment.manifest
  const approvals = operators.map((operator, at) => ({
    operatorId: made.manifestSetOperatorIds[at]!,
    signature: operator.approve(manifest),
  }))
  return { deploymentId, approved: { manifestId, approvals }, manifest, shareSetOperatorIds }
}
/** As `deployed`, once it has been approved. */
const provisioned = async (root: TestClient, app: object) => {
  const made = await deployed(root, app)
  await complete(root, 'ACTIVITY_TYPE_CREATE_TVC_MANIFEST_APPROVALS', made.approved)
  return made
}
const hosted = () => ({ walletName: fresh('wallet'), path: "m/5527107'/0'/0'", operatorName: fresh('here') })

/** Requests of activities that give nobody power. */
export const GIVE_NOTHING: readonly (readonly [ActivityType, Request])[] = [
  // Before other origins are allowed than that of its passkey.
  [
    'ACTIVITY_TYPE_DELETE_AUTHENTICATORS',
    async ({ root }) => {
      const userId = await makeUser(root)
      const added = { userId, authenticators: [createPasskey().register()] }
      await complete(root, 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2', added)
      const { authenticators } = await root.query('get_authenticators', { userId })
      return { userId, authenticatorIds: [authenticators[0]!.authenticatorId] }
    },
  ],
  ['ACTIVITY_TYPE_DELETE_USERS', async ({ root }) => ({ userIds: [await makeUser(root)] })],
  [
    'ACTIVITY_TYPE_DELETE_API_KEYS',
    async ({ root }) => {
      const userId = await makeUser(root, { apiKeys: [newKey(), newKey()] })
      const { apiKeys } = await root.query('get_api_keys', { userId })
      return { userId, apiKeyIds: [apiKeys[0]!.apiKeyId] }
    },
  ],
  ['ACTIVITY_TYPE_CREATE_USER_TAG', ({ me }) => ({ userTagName: fresh('hot'), userIds: [me.userId] })],
  ['ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG', ({ keyId }) => ({ privateKeyTagName: fresh('t'), privateKeyIds: [keyId] })],
  [
    'ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG',
    async (things) => ({
      privateKeyTagId: await makeKeyTag(things),
      addPrivateKeyIds: [things.keyId],
      removePrivateKeyIds: [],
    }),
  ],
  ['ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS', async (things) => ({ privateKeyTagIds: [await makeKeyTag(things)] })],
  [
    'ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME',
    async (things) => ({
      walletAccountId: await accountOf(things, things.wallet.walletId),
      name: 'hot',
    }),
  ],
  ['ACTIVITY_TYPE_CREATE_WALLET', () => ({ walletName: 'hot', accounts: [account()] })],
  ['ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', ({ wallet }) => ({ walletId: wallet.walletId, accounts: [account(7)] })],
  ['ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', () => ({ privateKeys: [newPrivateKey()] })],
  ['ACTIVITY_TYPE_INIT_IMPORT_WALLET', ({ me }) => ({ userId: me.userId })],
  ['ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY', ({ me }) => ({ userId: me.userId })],
  ['ACTIVITY_TYPE_DISABLE_PRIVATE_KEY', async ({ root }) => ({ privateKeyId: await makePrivateKey(root) })],
  [
    'ACTIVITY_TYPE_DELETE_PRIVATE_KEYS',
    async ({ root }) => ({ privateKeyIds: [await makePrivateKey(root)], deleteWithoutExport: true }),
  ],
  [
    'ACTIVITY_TYPE_DELETE_WALLETS',
    async (things) => ({ walletIds: [(await makeOwnWallet(things)).walletId], deleteWithoutExport: true }),
  ],
  [
    'ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS',
    async (things) => ({
      walletAccountIds: [await accountOf(things, (await makeOwnWallet(things)).walletId)],
      deleteWithoutExport: true,
    }),
  ],
  [
    'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS',
    ({ wallet }) => {
      const { payload: one, ...rest } = payload(wallet.addresses[0]!)
      return { ...rest, payloads: [one] }
    },
  ],
  [
    'ACTIVITY_TYPE_EXPORT_WALLET',
    async (things) => ({ walletId: (await makeOwnWallet(things)).walletId, ...target() }),
  ],
  [
    'ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT',
    async (things) => ({ address: (await makeOwnWallet(things)).addresses[0]!, ...target() }),
  ],
  ['ACTIVITY_TYPE_EXPORT_PRIVATE_KEY', async ({ root }) => ({ privateKeyId: await makePrivateKey(root), ...target() })],
  ['ACTIVITY_TYPE_STAMP_LOGIN', ({ ours }) => ({ publicKey: ours.publicKey })],
  ['ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION', () => ({})],
  ['ACTIVITY_TYPE_CREATE_SESSION_PROFILE', () => ({ sessionProfileName: fresh('profile'), scope: 'true' })],
  [
    'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7',
    ({ ours }) => {
      const rootUsers = [newUser({ apiKeys: [newKey({ publicKey: ours.publicKey })] })]
      return { subOrganizationName: fresh('sub'), rootUsers, rootQuorumThreshold: 1 }
    },
  ],
  ['ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS', () => ({ allowedOrigins: ['https://acme.test'] })],
  ['ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST', () => ({})],
  ['ACTIVITY_TYPE_DISABLE_AUTH_PROXY', () => ({})],
  [
    'ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG',
    () => ({ orgWindowLimitUsd: '6', subOrgWindowLimitUsd: '6', windowDurationMinutes: '6' }),
  ],
  ['ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', () => ({ name: 'FEATURE_NAME_SMS_AUTH', value: '' })],
  ['ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', () => ({ name: 'FEATURE_NAME_SMS_AUTH' })],
  ['ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME', () => ({ organizationName: fresh('acme') })],
  [
    'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD',
    ({ keyId: privateKeyId }) => {
      const { signWith: _, ...rest } = payload(privateKeyId)
      return { privateKeyId, ...rest }
    },
  ],
  [
    'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    ({ wallet }) => ({
      ...{ signWith: wallet.addresses[0]!, type: 'TRANSACTION_TYPE_ETHEREUM' },
      unsignedTransaction: serializeTransaction({ ...TRANSACTION, nonce: 4 }),
    }),
  ],
  ['ACTIVITY_TYPE_ETH_SEND_TRANSACTION', ({ wallet }) => sendOf(wallet.addresses[0]!)],
  [
    'ACTIVITY_TYPE_ETH_SEND_RAW_TRANSACTION',
    async () => {
      const outsider = privateKeyToAccount(generatePrivateKey())
      const free = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, nonce: 0 }
      return { signedTransaction: await outsider.signTransaction({ ...TRANSACTION, ...free }), caip2: SEPOLIA }
    },
  ],
  ['ACTIVITY_TYPE_ETH_UNDELEGATE_7702', ({ wallet }) => ({ from: wallet.addresses[0]!, caip2: SEPOLIA })],
  [
    'ACTIVITY_TYPE_SOL_SEND_TRANSACTION',
    ({ solana }) => {
      const payer = new PublicKey(solana)
      const unsignedTransaction = draftOf([transferOf(payer, receiver(), 1)], { payer }).toString('hex')
      return { unsignedTransaction, signWith: solana, caip2: DEVNET }
    },
  ],
  [
    'ACTIVITY_TYPE_SPARK_SIGN_FROST',
    ({ spark }) => {
      const { request } = makeOperators(1, { userPublicKey: decodeHex(spark.publicKey) })
      const hex = (bytes: object) =>
        Object.fromEntries(Object.entries(bytes).map(([name, value]) => [name, encodeHex(value)]))
      const { operatorCommitments, message, verifyingKey } = request
      const asked = { ...hex({ message, verifyingKey }), operatorCommitments: operatorCommitments.map(hex) }
      return { signWith: spark.address, signatures: [{ derivation: { identity: {} }, ...asked }] }
    },
  ],
  [
    'ACTIVITY_TYPE_SPARK_PREPARE_TRANSFER',
    ({ spark }) => {
      const derivation = (leafId: string) => ({ signingLeaf: { leafId } })
      const leaf = { leafId: 'a', oldLeafDerivation: derivation('a'), newLeafDerivation: derivation('b') }
      const transfer = { transferId: crypto.randomUUID(), leaves: [leaf], receiverPublicKey: spark.publicKey }
      return { signWith: spark.address, transfer: { ...transfer, ...recipients(spark) } }
    },
  ],
  [
    'ACTIVITY_TYPE_SPARK_CLAIM_TRANSFER',
    async ({ root, spark }) => {
      const { accounts } = await makeWallet(root, sparkIdentity(4))
      const [sender] = accounts
      const derivation = (leafId: string) => ({ signingLeaf: { leafId } })
      const leaf = { leafId: 'a', oldLeafDerivation: derivation('a'), newLeafDerivation: derivation('b') }
      const transferId = crypto.randomUUID()
      const transfer = { transferId, leaves: [leaf], receiverPublicKey: spark.publicKey, ...recipients(spark) }
      const prepared = { signWith: sender!.address, transfer }
      const { operatorPackages } = await complete(root, 'ACTIVITY_TYPE_SPARK_PREPARE_TRANSFER', prepared)
      const [sent] = readPackage(writeScalar(OPERATOR), operatorPackages[1]!)
      const received = {
        leafId: 'a',
        ciphertext: encodeHex(sent!.bytes('secretCipher')),
        senderSignature: encodeHex(sent!.bytes('signature')),
      }
      const claim = { transferId, senderIdentityPublicKey: sender!.publicKey, leaves: [received], ...recipients(spark) }
      return { signWith: spark.address, claim }
    },
  ],
  [
    'ACTIVITY_TYPE_SPARK_PREPARE_LIGHTNING_RECEIVE',
    ({ spark }) => ({ signWith: spark.address, lightningReceive: recipients(spark) }),
  ],
  ['ACTIVITY_TYPE_IMPORT_WALLET', (things) => importOf(things, 'WALLET')],
  ['ACTIVITY_TYPE_IMPORT_PRIVATE_KEY', (things) => importOf(things, 'PRIVATE_KEY')],
  ['ACTIVITY_TYPE_INIT_IMPORT_SECRETS', () => ({ encryptionSuite: SUITE, numSecrets: 1 })],
  [
    'ACTIVITY_TYPE_IMPORT_SECRETS',
    async (things) => {
      await things.may('ACTIVITY_TYPE_INIT_IMPORT_SECRETS')
      return { secrets: [await newSecret(things, things.me.client)] }
    },
  ],
  [
    'ACTIVITY_TYPE_EXPORT_SECRETS',
    async (things) => {
      const secrets = [await newSecret(things, things.root)]
      const { secretIds } = await complete(things.root, 'ACTIVITY_TYPE_IMPORT_SECRETS', { secrets })
      const { publicKeyUncompressed: targetPublicKey } = generatePublished()
      return { secrets: [{ secretId: secretIds[0]!, targetPublicKey, encryptionSuite: SUITE }] }
    },
  ],
  [
    'ACTIVITY_TYPE_DELETE_INVITATION',
    async ({ root, rootUserId }) => {
      const invitation = { receiverUserName: 'gwen', receiverUserEmail: 'gwen@acme.test', receiverUserTags: [] }
      const sent = { ...invitation, accessType: 'ACCESS_TYPE_ALL', senderUserId: rootUserId }
      const made = await complete(root, 'ACTIVITY_TYPE_CREATE_INVITATIONS', { invitations: [sent] })
      return { invitationId: made.invitationIds[0]! }
    },
  ],
  [
    'ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS',
    async ({ root, outside: { issuer } }) => {
      const provider = { providerName: fresh('p'), oidcToken: await issuer.token({ sub: fresh('sub') }) }
      const userId = await makeUser(root, { oauthProviders: [provider] })
      const { oauthProviders } = await root.query('get_oauth_providers', { userId })
      return { userId, providerIds: [oauthProviders[0]!.providerId] }
    },
  ],
  [
    'ACTIVITY_TYPE_INIT_OTP_AUTH_V3',
    async ({ root }) => {
      const contact = `${fresh('ann')}@example.com`
      await makeUser(root, { userEmail: contact })
      return { ...CODE, contact }
    },
  ],
  ['ACTIVITY_TYPE_INIT_OTP_V3', () => ({ ...CODE, contact: `${fresh('ann')}@example.com` })],
  [
    'ACTIVITY_TYPE_VERIFY_OTP_V2',
    async ({ outside: { service }, ours }) => {
      const sent = await requestCode(service, { contact: `${fresh('ann')}@example.com` })
      return { otpId: sent.otpId, encryptedOtpBundle: await encryptCode(service, sent, sent.code, ours.publicKey) }
    },
  ],
  [
    'ACTIVITY_TYPE_OAUTH2_AUTHENTICATE',
    async ({ root, ours, outside: { service, social } }) => {
      const { tlsFetcherEncryptionPublicKey } = service.service.bootstrap
      const { clientId, clientSecret, redirectUri, codeVerifier } = GRANT
      const encryptedClientSecret = await encryptOauth2ClientSecret(clientSecret, tlsFetcherEncryptionPublicKey)
      const { oauth2CredentialId } = await complete(root, 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', {
        ...{ provider: 'OAUTH2_PROVIDER_X', clientId, encryptedClientSecret },
      })
      const code = { oauth2CredentialId, authCode: social.code({}), redirectUri, codeVerifier }
      return { ...code, nonce: nonceOf(ours.publicKey) }
    },
  ],
  ['ACTIVITY_TYPE_CREATE_MFA_POLICY', async ({ root }) => mfaPolicy(await makeUser(root))],
  ['ACTIVITY_TYPE_UPDATE_MFA_POLICY', async ({ root }) => ({ ...(await makeMfaPolicy(root)), condition: 'true' })],
  ['ACTIVITY_TYPE_DELETE_MFA_POLICY', ({ root }) => makeMfaPolicy(root)],
  ['ACTIVITY_TYPE_SET_IP_ALLOWLIST', () => ({ rules: [{ cidr: '127.0.0.1/32' }], enabled: true })],
  ['ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', () => OAUTH2],
  [
    'ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL',
    async ({ root }) => ({ ...(await complete(root, 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', OAUTH2)), ...OAUTH2 }),
  ],
  [
    'ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL',
    ({ root }) => complete(root, 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', OAUTH2),
  ],
  ['ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE', () => contract('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48')],
  [
    'ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE',
    ({ root }) => complete(root, 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE', contract(`0x${'2'.repeat(40)}`)),
  ],
  ['ACTIVITY_TYPE_CREATE_FIAT_ON_RAMP_CREDENTIAL', ({ outside }) => onRamp(outside)],
  [
    'ACTIVITY_TYPE_UPDATE_FIAT_ON_RAMP_CREDENTIAL',
    async ({ root, outside }) => ({ ...(await makeOnRamp(root, outside)), ...onRamp(outside) }),
  ],
  ['ACTIVITY_TYPE_DELETE_FIAT_ON_RAMP_CREDENTIAL', ({ root, outside }) => makeOnRamp(root, outside)],
  [
    'ACTIVITY_TYPE_INIT_FIAT_ON_RAMP',
    async ({ root, wallet, outside }) => {
      await makeOnRamp(root, outside)
      const bought = { network: 'FIAT_ON_RAMP_BLOCKCHAIN_NETWORK_ETHEREUM', sandboxMode: true }
      const { onrampProvider } = onRamp(outside)
      const crypto = { cryptoCurrencyCode: 'FIAT_ON_RAMP_CRYPTO_CURRENCY_ETH', walletAddress: wallet.addresses[0]! }
      return { ...bought, ...crypto, onrampProvider }
    },
  ],
  ['ACTIVITY_TYPE_SET_PAYMENT_METHOD', () => CARD],
  [
    'ACTIVITY_TYPE_DELETE_PAYMENT_METHOD',
    async ({ root }) => ({ paymentMethodId: (await root.submit('ACTIVITY_TYPE_SET_PAYMENT_METHOD', CARD)).id }),
  ],
  ['ACTIVITY_TYPE_ACTIVATE_BILLING_TIER', () => ({ productId: 'free' })],
  ['ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', () => hook()],
  [
    'ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT',
    async ({ root }) => {
      const { endpointId } = await complete(root, 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', hook())
      return { endpointId, isActive: false }
    },
  ],
  [
    'ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT',
    async ({ root }) => {
      const { endpointId } = await complete(root, 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', hook())
      return { endpointId }
    },
  ],
  ['ACTIVITY_TYPE_CREATE_TVC_APP', () => newApp()],
  [
    'ACTIVITY_TYPE_CREATE_TVC_DEPLOYMENT',
    async ({ root }) => newDeployment((await complete(root, 'ACTIVITY_TYPE_CREATE_TVC_APP', newApp())).appId),
  ],
  ['ACTIVITY_TYPE_CREATE_TVC_MANIFEST_APPROVALS', async ({ root }) => (await deployed(root)).approved],
  [
    'ACTIVITY_TYPE_UPDATE_TVC_APP_LIVE_DEPLOYMENT',
    async ({ root }) => {
      const { deploymentId, approved } = await deployed(root)
      await complete(root, 'ACTIVITY_TYPE_CREATE_TVC_MANIFEST_APPROVALS', approved)
      return { deploymentId }
    },
  ],
  [
    'ACTIVITY_TYPE_DELETE_TVC_DEPLOYMENT',
    async ({ root }) => ({ deploymentId: (await makeTvcDeployment(root)).deploymentId }),
  ],
  [
    'ACTIVITY_TYPE_RESTORE_TVC_DEPLOYMENT',
    async ({ root }) => {
      const { deploymentId } = await makeTvcDeployment(root)
      await complete(root, 'ACTIVITY_TYPE_DELETE_TVC_DEPLOYMENT', { deploymentId })
      return { deploymentId }
    },
  ],
  [
    'ACTIVITY_TYPE_DELETE_TVC_APP_AND_DEPLOYMENTS',
    async ({ root }) => ({ appId: (await makeTvcDeployment(root)).appId }),
  ],
  ['ACTIVITY_TYPE_CREATE_TVC_OPERATOR', hosted],
  [
    'ACTIVITY_TYPE_CREATE_TVC_QUORUM_KEY',
    () => ({ threshold: 2, operatorEncryptKeys: [createOperator(), createOperator()].map((one) => one.encryptKey) }),
  ],
  [
    'ACTIVITY_TYPE_POST_TVC_QUORUM_KEY_SHARE',
    async ({ root }) => {
      const holders = [createOperator(), createOperator()]
      const made = await provisioned(root, { shareSetParams: setOf(holders, 2) })
      const enclave = createOperator()
      const share = sealEnvelope(decodeHex(enclave.encryptKey), Uint8Array.of(1, ...randomBytes(32)), randomBytes)
      return {
        deploymentId: made.deploymentId,
        ephemeralPublicKeyHex: enclave.publicKey,
        shareApprovalBundle: {
          operatorId: made.shareSetOperatorIds[0]!,
          reEncryptedShareHex: encodeHex(share),
          signature: holders[0]!.approve(made.manifest),
        },
      }
    },
  ],
  [
    'ACTIVITY_TYPE_RE_ENCRYPT_TVC_QUORUM_KEY_SHARE',
    async ({ root, outside }) => {
      const create = () => complete(root, 'ACTIVITY_TYPE_CREATE_TVC_OPERATOR', hosted())
      const holders = [await create(), await create()] as const
      const key = await complete(root, 'ACTIVITY_TYPE_CREATE_TVC_QUORUM_KEY', {
        threshold: 2,
        operatorEncryptKeys: holders.map((one) => one.encryptPublicKey),
      })
      const existingOperatorIds = holders.map((one) => one.operatorId)
      const shareSetParams = { name: fresh('hosted'), threshold: 2, existingOperatorIds }
      const made = await provisioned(root, { quorumPublicKey: key.quorumPublicKey, shareSetParams })
      const manifest = Buffer.from(made.manifest, 'base64')
      const enclave = await createEnclave(outside.enclaves, { manifest, now: Date.now() })
      return {
        attestationDocB64: enclave.document,
        manifestB64: made.manifest,
        operatorEncryptKey: holders[0].encryptPublicKey,
        operatorSignKey: holders[0].signPublicKey,
        deploymentId: made.deploymentId,
        appQuorumKey: key.quorumPublicKey,
      }
    },
  ],
]
