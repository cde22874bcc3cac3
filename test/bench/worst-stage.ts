/** What is there before the bench of worst bodies begins: organizations with and without many large policies, and what they keep. */
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { sparkPath } from '../../src/spark/index.ts'
import { complete, newKey, newPrivateKey, newUser } from '../service/handlers/steps.ts'
import { startTestService, type TestClient, type TestService } from '../service/harness.ts'
import { accountsOf } from '../service/signing/keys.ts'
import { ATOMS } from './worst-texts.ts'

/** Who sends bodies, where. */
export interface Caller {
  readonly name: string
  readonly organizationId: string
  readonly privateKey: string
  /** What is there to be named in a request, by the member that names it. */
  readonly known: Readonly<Record<string, readonly string[]>>
}

export interface Stage {
  readonly dataDir: string
  readonly callers: readonly Caller[]
  /** Another organization, whose submits are timed. */
  readonly neighbour: Caller
  readonly remove: () => void
}

const POLICIES = 98
const POLICY_BYTES = 15_000
const ACCOUNTS = 400
const WAITING = 40

/** Makes a data folder, which is to be served from copies. */
export async function makeStage(): Promise<Stage> {
  const service = await startTestService()
  const plain = { name: 'root', organizationId: service.organizationId, privateKey: service.root.privateKey }
  const rich = await makeSubOrganization(service, 'rich')
  const neighbour = await makeSubOrganization(service, 'neighbour')
  const callers: Caller[] = [{ ...plain, known: await furnish(service, plain) }]
  const known = await furnish(service, rich)
  callers.push({ ...rich, name: 'root, large policies', known })
  const root = service.client(rich.privateKey)
  const ids = { allowed: '', waits: '', denied: '' }
  for (const name of ['allowed', 'waits', 'denied'] as const) {
    const key = generateP256KeyPair()
    const users = [newUser({ apiKeys: [newKey({ publicKey: key.publicKey })] })]
    const made = await complete(root, 'ACTIVITY_TYPE_CREATE_USERS_V4', { users }, rich.organizationId)
    const caller = { ...rich, known, name: `${name}, large policies`, privateKey: key.privateKey }
    callers.push(caller)
    ids[name] = made.userIds[0]!
  }
  await addPolicies(root, rich.organizationId, ids)
  await addWaiting(service, callers.find(({ name }) => name.startsWith('waits'))!)
  await service.service.close()
  const { dataDir } = service
  return { dataDir, callers, neighbour: { ...neighbour, known: neighbour.known }, remove: () => void service.close() }
}

type Place = Pick<Caller, 'organizationId' | 'privateKey'>

async function makeSubOrganization(service: TestService, name: string): Promise<Caller> {
  const key = generateP256KeyPair()
  const { userTags: _, ...rootUser } = newUser({ apiKeys: [newKey({ publicKey: key.publicKey })] })
  const made = await complete(service.root, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', {
    subOrganizationName: name,
    rootUsers: [rootUser],
    rootQuorumThreshold: 1,
  })
  const { subOrganizationId: organizationId, rootUserIds } = made
  return { name, organizationId, privateKey: key.privateKey, known: { userId: rootUserIds! } }
}

/** A wallet with an account of each chain, another with many, a key, a tag, a large interface. */
async function furnish(service: TestService, { organizationId, privateKey }: Place): Promise<Caller['known']> {
  const client = service.client(privateKey)
  const wallet = (walletName: string, accounts: object[]) =>
    complete(client, 'ACTIVITY_TYPE_CREATE_WALLET', { walletName, accounts }, organizationId)
  const { walletId, addresses } = await wallet(
    'chains',
    accountsOf(
      ['CURVE_SECP256K1', 'ADDRESS_FORMAT_ETHEREUM', "m/44'/60'/0'/0/0"],
      ['CURVE_ED25519', 'ADDRESS_FORMAT_SOLANA', "m/44'/501'/0'/0'"],
      ['CURVE_SECP256K1', 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH', "m/84'/0'/0'/0/0"],
      ['CURVE_SECP256K1', 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR', "m/86'/0'/0'/0/0"],
      ['CURVE_SECP256K1', 'ADDRESS_FORMAT_TRON', "m/44'/195'/0'/0/0"],
      ['CURVE_SECP256K1', 'ADDRESS_FORMAT_SPARK_REGTEST', sparkPath(0, { kind: 'identity' })],
    ),
  )
  const paths = Array.from({ length: ACCOUNTS }, (_, at) => `m/44'/60'/1'/0/${at}`)
  const many = await wallet(
    'many',
    accountsOf(...paths.map((path) => ['CURVE_SECP256K1', 'ADDRESS_FORMAT_ETHEREUM', path] as const)),
  )
  const tag = await complete(client, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 't', userIds: [] }, organizationId)
  const keyTag = await complete(
    client,
    'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG',
    { privateKeyTagName: 't', privateKeyIds: [] },
    organizationId,
  )
  const keys = await complete(
    client,
    'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
    { privateKeys: [newPrivateKey()] },
    organizationId,
  )
  const contract = await complete(
    client,
    'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE',
    {
      smartContractAddress: '0x1111111111111111111111111111111111111111',
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      label: 'large',
      smartContractInterface: ATOMS['abi']!.make(300_000),
    },
    organizationId,
  )
  const { users } = await client.query('list_users', { organizationId })
  const accounts = await client.query('list_wallet_accounts', { organizationId, walletId })
  const publicKeys = accounts.accounts.flatMap(({ publicKey }) => (publicKey === undefined ? [] : [publicKey]))
  return {
    signWith: [...addresses, ...keys.privateKeys.map(({ privateKeyId }) => privateKeyId!)],
    from: addresses,
    address: addresses,
    walletId: [walletId, many.walletId],
    privateKeyId: keys.privateKeys.map(({ privateKeyId }) => privateKeyId!),
    userTags: [tag.userTagId],
    userTagId: [tag.userTagId],
    privateKeyTags: [keyTag.privateKeyTagId],
    smartContractInterfaceId: [contract.smartContractInterfaceId],
    userId: users.map(({ userId }) => userId),
    userIds: users.map(({ userId }) => userId),
    verifyingKey: publicKeys.filter((key) => key.length === 66),
    hiding: publicKeys.filter((key) => key.length === 66),
    binding: publicKeys.filter((key) => key.length === 66),
    publicKey: publicKeys,
    targetPublicKey: publicKeys,
    path: ["m/44'/60'/7'/0/#", `m${'/0'.repeat(8)}/#`],
  }
}

/** As large as they may be, and last one by which a user may do everything, and one by which another's transactions wait. */
async function addPolicies(
  root: TestClient,
  organizationId: string,
  { allowed, waits }: { readonly allowed: string; readonly waits: string },
): Promise<void> {
  const submit = (policies: object[]) => complete(root, 'ACTIVITY_TYPE_CREATE_POLICIES', { policies }, organizationId)
  const large = Array.from({ length: POLICIES }, (_, at) => ({
    policyName: `large ${at}`,
    effect: 'EFFECT_ALLOW',
    condition: ATOMS[['policy', 'quantifiers', 'slices'][at % 3]!]!.make(POLICY_BYTES).replaceAll('#', String(3 + at)),
    notes: '',
  }))
  while (large.length > 0) await submit(large.splice(0, 50))
  const by = (id: string) => `approvers.any(user, user.id == '${id}')`
  const pair = `${by(waits)} && approvers.count() >= 2`
  await submit([
    { policyName: 'allowed', effect: 'EFFECT_ALLOW', condition: 'true', consensus: by(allowed), notes: '' },
    {
      policyName: 'pair',
      effect: 'EFFECT_ALLOW',
      condition: "activity.kind == 'SIGN_TRANSACTION'",
      consensus: pair,
      notes: '',
    },
  ])
}

/** Transactions that wait for a second approval: a user who lists them is told whether it may vote. */
async function addWaiting(service: TestService, { organizationId, privateKey, known }: Caller): Promise<void> {
  const client = service.client(privateKey)
  for (let at = 0; at < WAITING; at++) {
    const activity = await client.submit(
      'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
      {
        signWith: known['signWith']![0],
        type: 'TRANSACTION_TYPE_ETHEREUM',
        unsignedTransaction: ATOMS['call']!.make(30_000),
      },
      { organizationId },
    )
    if (activity.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED')
      throw new Error(`expected it to wait: ${activity.status}`)
  }
}
