import { activityName, int, list, string, struct, timestamp } from '../types.ts'
import { field, type StructTable } from './row.ts'

/** The request itself and the time (docs/protocol/policies.md#roots). */
export const activityStructs: StructTable = {
  Activity: {
    doc: 'the activity that is asked for',
    fields: [
      field('type', activityName, 'exact version, e.g. ACTIVITY_TYPE_SIGN_TRANSACTION_V2'),
      field('kind', activityName, 'all versions of one activity, e.g. SIGN_TRANSACTION'),
      field('resource', string, 'what it acts on, e.g. WALLET'),
      field('action', string, 'what it does: CREATE, UPDATE, DELETE, SIGN, EXPORT, IMPORT, VERIFY or ENCRYPT'),
      field('params', struct('ActivityParams'), 'the exposed parameters of the request'),
    ],
  },
  ActivityParams: {
    doc: 'the parameters that some activities expose; on any other activity they are missing',
    open: true,
    fields: [
      field('hash_function', string, 'SIGN_RAW_PAYLOAD(S)'),
      field('encoding', string, 'SIGN_RAW_PAYLOAD(S)'),
      field('type', string, 'SIGN_TRANSACTION_V2'),
      field('user_ids', list(string), 'DELETE_USERS'),
      field('user_id', string, 'CREATE_API_KEYS, DELETE_API_KEYS'),
      field('api_key_ids', list(string), 'DELETE_API_KEYS'),
      field('target_public_key', string, 'EXPORT_WALLET, EXPORT_WALLET_ACCOUNT, EXPORT_PRIVATE_KEY'),
      field('wallet_id', string, 'UPDATE_WALLET'),
      field('otp_length', int, 'INIT_OTP_AUTH_V2 and later'),
      field('session_profile_id', string, "OTP_LOGIN, STAMP_LOGIN, OAUTH_LOGIN; '' when omitted"),
      field('endpoint_id', string, 'UPDATE_WEBHOOK_ENDPOINT, DELETE_WEBHOOK_ENDPOINT'),
      field('sign_with', string, 'SPARK_…'),
      field('signatures', list(struct('SparkSignatureRequest')), 'SPARK_SIGN_FROST'),
      field('transfer', struct('SparkTransferPackage'), 'SPARK_PREPARE_TRANSFER'),
      field('claim', struct('SparkClaimPackage'), 'SPARK_CLAIM_TRANSFER'),
      field('lightning_receive', struct('SparkLightningReceivePackage'), 'SPARK_PREPARE_LIGHTNING_RECEIVE'),
    ],
  },
  Time: {
    doc: 'the time of the request',
    fields: [field('now', timestamp, "one trusted server instant for the whole request, never the client's")],
  },
}
