/** What each activity is to somebody who wants more power over funds: a move and what it gains, none and why, or one that is not followed. */
import type { ActivityFamily } from '../protocol/index.ts'
import { loginFeaturesOf } from '../resources/index.ts'

/** What people can gain, in words. */
export const GAINS = {
  policies: 'writes any policy that allows',
  denials: 'takes policies away, those that deny among them',
  tags: 'gives itself any tag, or takes one off',
  untags: 'takes tags away, each from all who wear it',
  name: 'takes any name',
  email: 'takes any e-mail address',
  users: 'has users made, with any tags',
  own: 'adds credentials of its own',
  ownUnless: 'adds credentials of its own where a DENY of that does not hold',
  others: 'acts for any user, by a credential or login added to them',
  // Where policies read credentials, which they are matters.
  keys: 'acts for any user, by a key added to them',
  passkeys: 'acts for any user, by a passkey added to them',
  codes: 'acts for any user, by a code sent to a new contact of theirs',
  providers: 'acts for any user, by a provider added to them',
  sessions: 'acts for any user, by a session begun for them',
  quorum: 'changes the root quorum',
  walletNames: 'gives wallets any name',
} as const
export type Gain = keyof typeof GAINS

/** What decides what a move gains. */
export interface MoveInput {
  /** Names of those that are set. */
  readonly features: ReadonlySet<string>
  readonly hasPolicies: boolean
  /** Whether policies read credentials. */
  readonly readsCredentials: boolean
  /** Whether a tag that is taken away may give somebody something. */
  readonly tagsHoldBack: boolean
  /** Of the root quorum. */
  readonly threshold: number
  /** Whether policies ask for the names of wallets. */
  readonly readsWalletNames: boolean
}

/** A move that is not followed: where it may be made and may matter, more may be possible. */
export interface Unfollowed {
  readonly matters: (of: { readonly features: ReadonlySet<string>; readonly readsCredentials: boolean }) => boolean
  readonly says: string
}

export type FamilyRow =
  | {
      readonly gains: (of: MoveInput) => readonly Gain[]
      /** Whether a member of the root quorum has to submit it. @default false */
      readonly isMembers?: true
    }
  /** Why nobody has more power over what there is once it is done. */
  | { readonly nothing: string }
  | { readonly unfollowed: Unfollowed }

const acting =
  (gain: Gain) =>
  ({ readsCredentials }: Pick<MoveInput, 'readsCredentials'>): readonly Gain[] => [readsCredentials ? gain : 'others']
const logsIn = (contact: 'email' | 'phone', of: MoveInput) =>
  loginFeaturesOf({ [contact]: 'x' }).some((name) => of.features.has(name)) ? acting('codes')(of) : []

const WRITES: FamilyRow = { gains: () => ['policies'] }
const UNWRITES: FamilyRow = { gains: () => ['denials'] }
const MAKES_USERS: FamilyRow = { gains: () => ['users'] }
const USES: FamilyRow = { nothing: 'it uses a power over funds, which is told as that power, and changes nobody’s' }
const TAKES: FamilyRow = { nothing: 'it takes something away, and nobody’s power rests on its absence' }
const NEW: FamilyRow = {
  nothing: 'what it makes is new: nothing is held by it yet, and no policy can have named it',
}
const OPEN: FamilyRow = {
  nothing: 'policies that ask for what it changes are told as conditions, as if it might be anything',
}
const USED_HOW: FamilyRow = {
  nothing: 'it changes how people may use what credentials they have, which is told as if they always may',
}
const ROOT: FamilyRow = { nothing: 'the root quorum alone may do it, which may do everything' }
const VOTE: FamilyRow = { nothing: 'it is a vote, and everybody who may vote is part of every answer' }
const BESIDE: FamilyRow = { nothing: 'neither policies nor people nor keys that hold funds are changed by it' }
const PROVES: FamilyRow = {
  nothing: 'it leads to a login by a contact or a provider, which is told as a credential of the user who has it',
}
const ITSELF: FamilyRow = {
  nothing:
    'users log in by it for themselves alone; of which sort the key is that they get is followed as a credential of their own',
}
/** The sort of key that a login gives depends on the login; of a user who may log in one sort is known. */
const LOGIN: FamilyRow = {
  unfollowed: {
    matters: ({ readsCredentials }) => readsCredentials,
    says: 'logins give keys of several sorts, and policies ask for credentials: what somebody gains by a login that policies allow was not followed',
  },
}
const PROXY: FamilyRow = {
  unfollowed: {
    matters: () => true,
    says: 'the authentication proxy lets people log in by what they prove: what somebody gains by changing it was not followed',
  },
}

export const FAMILIES: Readonly<Record<ActivityFamily, FamilyRow>> = {
  // Policies and the root quorum
  CREATE_POLICY: WRITES,
  CREATE_POLICIES: WRITES,
  UPDATE_POLICY: { gains: ({ hasPolicies }) => (hasPolicies ? ['policies', 'denials'] : []) },
  DELETE_POLICY: UNWRITES,
  DELETE_POLICIES: UNWRITES,
  UPDATE_ROOT_QUORUM: { gains: () => ['quorum', 'policies', 'denials'] },
  SET_ORGANIZATION_FEATURE: ROOT,
  REMOVE_ORGANIZATION_FEATURE: ROOT,
  UPDATE_ORGANIZATION_NAME: ROOT,
  APPROVE_ACTIVITY: VOTE,
  REJECT_ACTIVITY: VOTE,

  // Users and their tags
  UPDATE_USER_TAG: { gains: () => ['tags'] },
  DELETE_USER_TAGS: { gains: ({ tagsHoldBack }) => (tagsHoldBack ? ['untags'] : []) },
  CREATE_USER_TAG: NEW,
  UPDATE_USER: { gains: (of) => ['tags', 'name', 'email', ...logsIn('email', of), ...logsIn('phone', of)] },
  UPDATE_USER_NAME: { gains: () => ['name'] },
  UPDATE_USER_EMAIL: { gains: (of) => ['email', ...logsIn('email', of)] },
  UPDATE_USER_PHONE_NUMBER: { gains: (of) => logsIn('phone', of) },
  CREATE_USERS: MAKES_USERS,
  CREATE_API_ONLY_USERS: MAKES_USERS,
  CREATE_INVITATIONS: MAKES_USERS,
  ACCEPT_INVITATION: { nothing: 'the user who was invited joins by it, which is told as what the invitation gains' },
  DELETE_INVITATION: TAKES,
  DELETE_USERS: TAKES,

  // Credentials and logins
  CREATE_API_KEYS: { gains: acting('keys') },
  CREATE_AUTHENTICATORS: { gains: acting('passkeys') },
  CREATE_OAUTH_PROVIDERS: { gains: acting('providers') },
  DELETE_API_KEYS: TAKES,
  DELETE_AUTHENTICATORS: TAKES,
  DELETE_OAUTH_PROVIDERS: TAKES,
  // Another user's is begun by a member of the root quorum alone (docs/protocol/sessions.md#read-write-sessions).
  CREATE_READ_WRITE_SESSION: { gains: (of) => (of.threshold > 1 ? acting('sessions')(of) : []), isMembers: true },
  CREATE_READ_ONLY_SESSION: { nothing: 'users get a token by it that may ask, and do nothing' },
  STAMP_LOGIN: ITSELF,
  EMAIL_AUTH: LOGIN,
  OTP_AUTH: LOGIN,
  OTP_LOGIN: LOGIN,
  OAUTH: LOGIN,
  OAUTH_LOGIN: LOGIN,
  INIT_USER_EMAIL_RECOVERY: {
    unfollowed: {
      matters: ({ features }) => features.has('EMAIL_RECOVERY') || features.has('ROOT_USER_EMAIL_RECOVERY'),
      says: '`INIT_USER_EMAIL_RECOVERY` sends a key of a user to the reader of this user’s e-mail: what somebody gains by it was not followed',
    },
  },
  RECOVER_USER: {
    nothing: 'users get a passkey by it with the key that was mailed to them, which is told of the mail',
  },
  INIT_OTP_AUTH: PROVES,
  INIT_OTP: PROVES,
  VERIFY_OTP: PROVES,
  OAUTH2_AUTHENTICATE: PROVES,
  CREATE_SESSION_PROFILE: NEW,
  CREATE_MFA_POLICY: USED_HOW,
  UPDATE_MFA_POLICY: USED_HOW,
  DELETE_MFA_POLICY: USED_HOW,
  UPDATE_ALLOWED_ORIGINS: USED_HOW,
  SET_IP_ALLOWLIST: USED_HOW,
  REMOVE_IP_ALLOWLIST: USED_HOW,
  ENABLE_AUTH_PROXY: PROXY,
  UPDATE_AUTH_PROXY_CONFIG: PROXY,
  DISABLE_AUTH_PROXY: TAKES,
  CREATE_OAUTH2_CREDENTIAL: PROVES,
  UPDATE_OAUTH2_CREDENTIAL: PROVES,
  DELETE_OAUTH2_CREDENTIAL: TAKES,

  // Wallets, private keys and secrets
  UPDATE_WALLET: { gains: ({ readsWalletNames }) => (readsWalletNames ? ['walletNames'] : []) },
  UPDATE_WALLET_ACCOUNT_NAME: OPEN,
  CREATE_PRIVATE_KEY_TAG: OPEN,
  UPDATE_PRIVATE_KEY_TAG: OPEN,
  DELETE_PRIVATE_KEY_TAGS: OPEN,
  CREATE_SMART_CONTRACT_INTERFACE: OPEN,
  DELETE_SMART_CONTRACT_INTERFACE: OPEN,
  CREATE_WALLET: NEW,
  CREATE_WALLET_ACCOUNTS: NEW,
  CREATE_PRIVATE_KEYS: NEW,
  INIT_IMPORT_WALLET: NEW,
  INIT_IMPORT_PRIVATE_KEY: NEW,
  INIT_IMPORT_SECRETS: NEW,
  IMPORT_WALLET: NEW,
  IMPORT_PRIVATE_KEY: NEW,
  IMPORT_SECRETS: NEW,
  DELETE_WALLETS: TAKES,
  DELETE_WALLET_ACCOUNTS: TAKES,
  DELETE_PRIVATE_KEYS: TAKES,
  DISABLE_PRIVATE_KEY: TAKES,

  // Powers over funds themselves
  EXPORT_PRIVATE_KEY: USES,
  EXPORT_WALLET: USES,
  EXPORT_WALLET_ACCOUNT: USES,
  EXPORT_SECRETS: USES,
  SIGN_RAW_PAYLOAD: USES,
  SIGN_RAW_PAYLOADS: USES,
  SIGN_TRANSACTION: USES,
  ETH_SEND_RAW_TRANSACTION: USES,
  ETH_SEND_TRANSACTION: USES,
  ETH_UNDELEGATE_7702: USES,
  SOL_SEND_TRANSACTION: USES,
  SPARK_SIGN_FROST: USES,
  SPARK_PREPARE_TRANSFER: USES,
  SPARK_CLAIM_TRANSFER: USES,
  SPARK_PREPARE_LIGHTNING_RECEIVE: USES,
  EARN_DEPLOY_WRAPPER: USES,
  EARN_DEPOSIT: USES,
  EARN_WITHDRAW: USES,
  EARN_SET_WRAPPER_STATE: USES,
  CLAIM_EARN_FEES: USES,
  EXECUTE_SWAP: USES,
  CLAIM_SWAP_FEES: USES,

  // Organizations
  CREATE_ORGANIZATION: NEW,
  CREATE_SUB_ORGANIZATION: NEW,
  DELETE_ORGANIZATION: TAKES,
  DELETE_SUB_ORGANIZATION: TAKES,

  // What stands beside
  CREATE_SWAP_QUOTE: BESIDE,
  UPSERT_SWAP_CONFIG: BESIDE,
  INIT_FIAT_ON_RAMP: BESIDE,
  CREATE_FIAT_ON_RAMP_CREDENTIAL: BESIDE,
  UPDATE_FIAT_ON_RAMP_CREDENTIAL: BESIDE,
  DELETE_FIAT_ON_RAMP_CREDENTIAL: BESIDE,
  UPSERT_GAS_USAGE_CONFIG: BESIDE,
  SET_PAYMENT_METHOD: BESIDE,
  DELETE_PAYMENT_METHOD: BESIDE,
  ACTIVATE_BILLING_TIER: BESIDE,
  CREATE_WEBHOOK_ENDPOINT: BESIDE,
  UPDATE_WEBHOOK_ENDPOINT: BESIDE,
  DELETE_WEBHOOK_ENDPOINT: BESIDE,
  CREATE_TVC_APP: BESIDE,
  CREATE_TVC_DEPLOYMENT: BESIDE,
  CREATE_TVC_MANIFEST_APPROVALS: BESIDE,
  UPDATE_TVC_APP_LIVE_DEPLOYMENT: BESIDE,
  DELETE_TVC_DEPLOYMENT: BESIDE,
  DELETE_TVC_APP_AND_DEPLOYMENTS: BESIDE,
  RESTORE_TVC_DEPLOYMENT: BESIDE,
  POST_TVC_QUORUM_KEY_SHARE: BESIDE,
  CREATE_TVC_OPERATOR: BESIDE,
  CREATE_TVC_QUORUM_KEY: BESIDE,
  RE_ENCRYPT_TVC_QUORUM_KEY_SHARE: BESIDE,
}
