import { type ActivityFamily, type ActivityRow, type ActivityType, activities } from '../../protocol/index.ts'
import type { NotExecuted } from '../engine/index.ts'

const VOTE = 'votes are counted by the engine'
const ORIGINS = 'it is superseded, set the feature FEATURE_NAME_WEBAUTHN_ORIGINS instead'
const TREE = 'this version has parent organizations alone, made by their operator'
const INVITATIONS = 'this version mails no invitations, so nobody has one to accept, create the user instead'
const BILLING = 'there is nothing to pay for'
const ONRAMP = 'there is no on-ramp provider behind this service'
const MARKETS = 'there is no market or yield provider behind this service'
const ENCLAVES = 'there are no enclaves behind this service'

/** Why an activity is not carried out, by family: the reason is part of the refusal. */
export const notExecutedReasons = {
  APPROVE_ACTIVITY: VOTE,
  REJECT_ACTIVITY: VOTE,
  UPDATE_ALLOWED_ORIGINS: ORIGINS,
  CREATE_ORGANIZATION: TREE,
  DELETE_ORGANIZATION: TREE,
  ACCEPT_INVITATION: INVITATIONS,
  SET_PAYMENT_METHOD: BILLING,
  DELETE_PAYMENT_METHOD: BILLING,
  ACTIVATE_BILLING_TIER: BILLING,
  INIT_FIAT_ON_RAMP: ONRAMP,
  CREATE_FIAT_ON_RAMP_CREDENTIAL: ONRAMP,
  UPDATE_FIAT_ON_RAMP_CREDENTIAL: ONRAMP,
  DELETE_FIAT_ON_RAMP_CREDENTIAL: ONRAMP,
  CREATE_SWAP_QUOTE: MARKETS,
  EXECUTE_SWAP: MARKETS,
  UPSERT_SWAP_CONFIG: MARKETS,
  CLAIM_SWAP_FEES: MARKETS,
  EARN_DEPLOY_WRAPPER: MARKETS,
  EARN_DEPOSIT: MARKETS,
  EARN_WITHDRAW: MARKETS,
  EARN_SET_WRAPPER_STATE: MARKETS,
  CLAIM_EARN_FEES: MARKETS,
  CREATE_TVC_APP: ENCLAVES,
  CREATE_TVC_DEPLOYMENT: ENCLAVES,
  CREATE_TVC_MANIFEST_APPROVALS: ENCLAVES,
  CREATE_TVC_OPERATOR: ENCLAVES,
  CREATE_TVC_QUORUM_KEY: ENCLAVES,
  DELETE_TVC_APP_AND_DEPLOYMENTS: ENCLAVES,
  DELETE_TVC_DEPLOYMENT: ENCLAVES,
  POST_TVC_QUORUM_KEY_SHARE: ENCLAVES,
  RE_ENCRYPT_TVC_QUORUM_KEY_SHARE: ENCLAVES,
  RESTORE_TVC_DEPLOYMENT: ENCLAVES,
  UPDATE_TVC_APP_LIVE_DEPLOYMENT: ENCLAVES,
} as const satisfies Partial<Record<ActivityFamily, string>>

/** Makes the rows of every activity type whose family has a reason. */
export function notExecutedRows<Type extends ActivityType>(
  reasons: Partial<Record<ActivityFamily, string>>,
): Record<Type, NotExecuted> {
  const rows = Object.values(activities).flatMap(({ type, family }: ActivityRow) => {
    const reason = reasons[family]
    return reason === undefined ? [] : [[type, { notExecuted: reason }] as const]
  })
  return Object.fromEntries(rows) as Record<Type, NotExecuted>
}
