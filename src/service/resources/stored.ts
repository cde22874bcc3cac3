/**
 * How much an organization's lists may hold. Most are answered whole: there is no paging for them on the wire, so that what
 * one answer has room for is bounded where it is stored.
 */
import { type ActivityFamily, apiError, findActivity, STORED_BYTES } from '../../protocol/index.ts'
import type { Handler } from '../engine/index.ts'
import { countBytes, type StoredList } from '../store/index.ts'

const ofUsers = ['users', 'api_keys', 'authenticators', 'oauth_providers'] as const

/** The lists that an activity may add texts to. Those of a new sub-organization have room for any request. */
const GROWN: { readonly [Family in ActivityFamily]?: readonly StoredList[] } = {
  CREATE_POLICY: ['policies'],
  CREATE_POLICIES: ['policies'],
  UPDATE_POLICY: ['policies'],
  CREATE_MFA_POLICY: ['mfa_policies'],
  UPDATE_MFA_POLICY: ['mfa_policies'],
  CREATE_SESSION_PROFILE: ['session_profiles'],
  CREATE_SMART_CONTRACT_INTERFACE: ['smart_contract_interfaces'],
  CREATE_WALLET: ['wallets'],
  IMPORT_WALLET: ['wallets'],
  UPDATE_WALLET: ['wallets'],
  CREATE_PRIVATE_KEYS: ['private_keys'],
  IMPORT_PRIVATE_KEY: ['private_keys'],
  CREATE_USERS: ofUsers,
  CREATE_API_ONLY_USERS: ofUsers,
  UPDATE_USER: ['users'],
  UPDATE_USER_NAME: ['users'],
  CREATE_API_KEYS: ['api_keys'],
  CREATE_AUTHENTICATORS: ['authenticators'],
  CREATE_OAUTH_PROVIDERS: ['oauth_providers'],
  CREATE_USER_TAG: ['tags'],
  UPDATE_USER_TAG: ['tags'],
  CREATE_PRIVATE_KEY_TAG: ['tags'],
  UPDATE_PRIVATE_KEY_TAG: ['tags'],
  SET_ORGANIZATION_FEATURE: ['features'],
  CREATE_INVITATIONS: ['invitations'],
  CREATE_OAUTH2_CREDENTIAL: ['oauth2_credentials'],
  UPDATE_OAUTH2_CREDENTIAL: ['oauth2_credentials'],
  CREATE_WEBHOOK_ENDPOINT: ['webhook_endpoints'],
  UPDATE_WEBHOOK_ENDPOINT: ['webhook_endpoints'],
}

/** Has the handlers of such activities refuse, with code 8, what a list has no room for. */
export function boundLists<Rows extends Readonly<Record<string, object>>>(rows: Rows): Rows {
  const bounded = Object.entries(rows).map(([type, row]) => {
    const lists = GROWN[findActivity(type)!.row.family]
    return [type, lists && 'execute' in row ? bound(row as Handler, lists) : row]
  })
  return Object.fromEntries(bounded) as Rows
}

function bound(handler: Handler, lists: readonly StoredList[]): Handler {
  return {
    ...handler,
    async validate(context, intent) {
      await handler.validate?.(context, intent)
      const added = Buffer.byteLength(JSON.stringify(intent))
      for (const list of lists) {
        const most = STORED_BYTES[list === 'smart_contract_interfaces' ? 'interfaces' : 'list']
        const present = await countBytes(context.tx, list, context.organizationId)
        if (present + added > most)
          throw apiError('maxReached', 'organization', `bytes of ${list.replaceAll('_', ' ')}`, most)
      }
    },
  }
}
