/**
 * Sub-organizations (docs/protocol/organizations.md#sub-organizations). The latest version is carried out; older ones
 * are mapped onto it, and answered with the result of the version that was sent.
 */
import { apiError, apiErrorAt, type Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { FIRST_ROOT_USER_NAME, LOGIN_SWITCHES, notASubOrganization, thresholdTooHigh } from '../../readings.ts'
import { readRootQuorum } from '../../store/index.ts'
import { consumeVerificationToken } from '../../verification/index.ts'
import { isAuthProxyUser } from '../auth-proxy/store.ts'
import { toNewAuthenticator } from '../authenticators/new-authenticators.ts'
import { type HandlerRows, mapIntent, mapResult, type TypedHandler } from '../handler-table.ts'
import { checkLimit } from '../limits.ts'
import { upsertFeature } from '../organizations/features-store.ts'
import { setQuorum } from '../organizations/quorum-store.ts'
import { findOrganization, insertOrganization } from '../organizations/store.ts'
import { privateKeyHandlers } from '../private-keys/handlers.ts'
import { listPrivateKeys } from '../private-keys/store.ts'
import { keepGivenContacts, keepVerifiedContact } from '../users/contacts.ts'
import { addUsers, checkNewUsers, type NewUser, toNewUser } from '../users/new-users.ts'
import { walletHandlers } from '../wallets/handlers.ts'
import { listWallets } from '../wallets/store.ts'
import { readSignUp, type SignUp } from './sign-up.ts'
import { deleteOrganization } from './store.ts'

const createWallet = walletHandlers.ACTIVITY_TYPE_CREATE_WALLET
const createPrivateKeys = privateKeyHandlers.ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2

/** A sub-organization to be made, from any version of the intent. */
interface NewSubOrganization {
  readonly name: string | undefined
  readonly rootUsers: readonly NewUser[]
  readonly threshold: number
  readonly wallet: Wire.CreateWalletIntent | undefined
  readonly privateKeys: readonly Wire.PrivateKeyParams[]
  /** Login features that are on. */
  readonly features: readonly string[]
  readonly signUp: SignUp | undefined
}

interface MadeSubOrganization {
  readonly subOrganizationId: string
  readonly rootUserIds: readonly string[]
  readonly wallet?: Wire.CreateWalletResult
  readonly privateKeys: readonly Wire.PrivateKeyResult[]
}

const createSubOrganization: TypedHandler<NewSubOrganization, MadeSubOrganization> = {
  async validate(context, { rootUsers, threshold, wallet, privateKeys, features, signUp }) {
    await checkLimit(context, 'subOrganizations', { present: 0, added: 1 })
    if (threshold < 1) throw apiErrorAt('rootQuorumThreshold', 'quorumThresholdZero')
    if (rootUsers.length === 0) throw apiErrorAt('rootUsers', 'quorumUsersMissing')
    if (threshold > rootUsers.length) throw thresholdTooHigh('rootQuorumThreshold', threshold, rootUsers.length)
    const inside = insideOf(context, context.newId())
    await checkNewUsers(inside, rootUsers, { features: new Set(features), originsOf: context.organizationId })
    await checkLimit(inside, 'users', { present: 0, added: rootUsers.length })
    if (signUp) await readSignUp(context, signUp)
    if (wallet) await createWallet.validate?.(inside, wallet)
    await createPrivateKeys.validate?.(inside, { privateKeys })
  },
  async execute(context, { name, rootUsers, threshold, wallet, privateKeys, features, signUp }) {
    const { tx, now } = context
    const id = context.newId()
    const inside = insideOf(context, id)
    await insertOrganization(tx, {
      id,
      parent_id: context.organizationId,
      // Unstated: the name of one that was given none. Its id: a name must be there, and nobody else has this one.
      name: name || id,
      quorum_threshold: threshold,
      created_at: now,
      updated_at: now,
    })
    for (const feature of features) await upsertFeature(tx, { organization_id: id, name: feature, value: '' })
    const rootUserIds = await addUsers(inside, rootUsers)
    await setQuorum(tx, id, { userIds: rootUserIds, threshold, now })
    // What the proxy submits are the words of whoever signs up, and what a stolen key of it submits those of its thief.
    if (!(await isAuthProxyUser(tx, context.organizationId, context.submitterId)))
      await keepGivenContacts(inside, rootUserIds, rootUsers)
    if (signUp) {
      const { claims, userIndex } = await readSignUp(context, signUp)
      await consumeVerificationToken(context, claims, id)
      await keepVerifiedContact(inside, rootUserIds[userIndex]!, claims)
    }
    const made = { subOrganizationId: id, rootUserIds, ...(await createPrivateKeys.execute(inside, { privateKeys })) }
    return wallet ? { ...made, wallet: await createWallet.execute(inside, wallet) } : made
  },
}

/**
 * From a root user inside; with every key exported, unless that is declined
 * (docs/protocol/organizations.md#sub-organizations).
 */
const deleteSubOrganization: TypedHandler<Wire.DeleteSubOrganizationIntent, Wire.DeleteSubOrganizationResult> = {
  async validate(context, { deleteWithoutExport = false }) {
    const { tx, organizationId, submitterId } = context
    const organization = await findOrganization(tx, organizationId)
    if (organization?.parent_id == null) throw notASubOrganization(organizationId)
    const quorum = await readRootQuorum(tx, organizationId)
    if (!quorum.userIds.includes(submitterId)) throw apiError('notAuthorized')
    if (!deleteWithoutExport && (await hasUnexported(context))) throw apiError('walletAccountNotExported')
  },
  async execute({ tx, organizationId, now }) {
    await deleteOrganization(tx, organizationId, now)
    return { subOrganizationUuid: organizationId }
  },
}

type Params = Partial<Omit<Wire.CreateSubOrganizationIntentV8, 'rootUsers'>> & {
  readonly privateKeys?: readonly Wire.PrivateKeyParams[]
  readonly rootUsers: readonly Parameters<typeof toNewUser>[0][]
  readonly rootQuorumThreshold: number
}

/** Older versions lack some switches; those count as absent. */
function toNewSubOrganization(intent: Params): NewSubOrganization {
  const { wallet, privateKeys = [], verificationToken: _, clientSignature: __, ...switches } = intent
  return {
    name: intent.subOrganizationName,
    rootUsers: intent.rootUsers.map(toNewUser),
    threshold: intent.rootQuorumThreshold,
    wallet,
    privateKeys,
    features: LOGIN_SWITCHES.filter(({ disabledBy }) => !switches[disabledBy]).map(({ feature }) => feature),
    signUp: undefined,
  }
}

/** The newest versions may come with the proof of a contact; a signature without a token is no proof. */
function withSignUp({ takesPlain }: { readonly takesPlain: boolean }) {
  return (intent: Wire.CreateSubOrganizationIntentV7 | Wire.CreateSubOrganizationIntentV8): NewSubOrganization => {
    const { verificationToken: token = '', clientSignature, rootUsers } = intent
    const made = toNewSubOrganization(intent)
    return token === '' ? made : { ...made, signUp: { token, clientSignature, rootUsers, takesPlain } }
  }
}

/** The first version knows one root user, by a passkey alone. */
function fromFirstVersion({ name, rootAuthenticator }: Wire.CreateSubOrganizationIntent): NewSubOrganization {
  const user = { userName: FIRST_ROOT_USER_NAME, apiKeys: [], authenticators: [], oauthProviders: [] }
  const rootUser = { ...toNewUser(user), authenticators: [toNewAuthenticator(rootAuthenticator)] }
  const base = toNewSubOrganization({ rootUsers: [], rootQuorumThreshold: 1 })
  return { ...base, name, rootUsers: [rootUser] }
}

/** Wallets came after private keys, and replaced them. */
const withWallet = mapResult(createSubOrganization, ({ privateKeys: _, ...made }) => made)
const sinceWallets = mapIntent(withWallet, toNewSubOrganization)

export const subOrganizationHandlers = {
  ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION: mapIntent(withWallet, fromFirstVersion),
  ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V2: sinceWallets,
  ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3: mapIntent(createSubOrganization, toNewSubOrganization),
  ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V4: sinceWallets,
  ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V5: sinceWallets,
  ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V6: sinceWallets,
  ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7: mapIntent(withWallet, withSignUp({ takesPlain: true })),
  ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8: mapIntent(withWallet, withSignUp({ takesPlain: false })),
  ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION: deleteSubOrganization,
} satisfies HandlerRows

/** The same request, seen from inside the organization that it makes. */
function insideOf<Context extends HandlerContext>(context: Context, organizationId: string): Context {
  return { ...context, organizationId, homeId: organizationId }
}

async function hasUnexported({ tx, organizationId }: HandlerContext): Promise<boolean> {
  const held = [...(await listWallets(tx, organizationId)), ...(await listPrivateKeys(tx, organizationId))]
  return held.some(({ exported }) => exported === 0)
}
