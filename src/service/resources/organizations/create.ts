/**
 * Parent organizations, made and deleted (docs/protocol/organizations.md#parent-organizations). A submitter with the enrolment secret
 * of the service makes one; the engine asks for the secret before anything here runs.
 */
import { apiError, type Wire } from '../../../protocol/index.ts'
import {
  FIRST_ROOT_USER_NAME,
  firstOrganizationStays,
  organizationHasApps,
  organizationHasChildren,
  organizationTaken,
  secretNotExported,
} from '../../readings.ts'
import { readSetting, SETTING_OF_FIRST_ORGANIZATION } from '../../store/index.ts'
import { addAuthenticators, checkNewAuthenticators, toNewAuthenticator } from '../authenticators/new-authenticators.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { listPrivateKeys } from '../private-keys/store.ts'
import { hasUnexportedSecret } from '../secrets/store.ts'
import { deleteOrganization as deleteContents, listSubOrganizationIds } from '../sub-organizations/store.ts'
import { tvcAppTable } from '../tvc-apps/store.ts'
import { insertUser, isUserIdTaken } from '../users/store.ts'
import { listWallets } from '../wallets/store.ts'
import { setQuorum } from './quorum-store.ts'
import { findOrganization, insertOrganization, isOrganizationIdTaken } from './store.ts'

type CreateOrganizationIntent = Omit<Wire.CreateOrganizationIntentV2, 'rootAuthenticator'> & {
  readonly rootAuthenticator: Parameters<typeof toNewAuthenticator>[0]
}

/**
 * Unstated: in which organization it is submitted, and by whom. In the one that it makes, under an id that the client has chosen,
 * stamped by the very passkey that it registers: so its maker has the passkey, and the activity is the first of the organization.
 */
const createOrganization: TypedHandler<
  CreateOrganizationIntent,
  Wire.CreateOrganizationResult,
  { readonly founded: true }
> = {
  async found(context, { organizationName, rootEmail, rootAuthenticator, rootUserId }) {
    const { tx, organizationId: id, now } = context
    if (await isOrganizationIdTaken(tx, id)) throw organizationTaken(id)
    const userId = rootUserId?.toLowerCase() || context.newId()
    if (await isUserIdTaken(tx, userId)) throw apiError('invalidField', 'rootUserId', 'must be the id of nobody')
    const passkey = toNewAuthenticator(rootAuthenticator)
    const made = { created_at: now, updated_at: now }
    await insertOrganization(tx, { id, parent_id: null, name: organizationName, quorum_threshold: 1, ...made })
    await checkNewAuthenticators(context, [passkey], { originsOf: id })
    const user = { id: userId, organization_id: id, name: FIRST_ROOT_USER_NAME, email: rootEmail, phone_number: null }
    await insertUser(tx, { ...user, ...made })
    await addAuthenticators(context, userId, [passkey])
    await setQuorum(tx, id, { userIds: [userId], threshold: 1, now })
  },
  async validate({ organizationId, answers }) {
    if (!answers?.founded) throw organizationTaken(organizationId)
  },
  execute: async ({ organizationId }) => ({ organizationId }),
}

/**
 * Unstated: what must be gone. Sub-organizations, what was never exported, and apps, since their quorum keys cannot be exported;
 * nothing in the request declines that.
 */
const deleteOrganization: TypedHandler<Wire.DeleteOrganizationIntent, Wire.DeleteOrganizationResult> = {
  async validate({ tx, organizationId }, { organizationId: named }) {
    if (named.toLowerCase() !== organizationId)
      throw apiError('invalidField', 'parameters.organizationId', 'must be the organization of the request')
    const organization = await findOrganization(tx, organizationId)
    if (organization?.parent_id != null)
      throw apiError('requestInvalid', 'a sub-organization is deleted by ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION')
    if ((await readSetting(tx, SETTING_OF_FIRST_ORGANIZATION)) === organizationId) throw firstOrganizationStays()
    if ((await listSubOrganizationIds(tx, organizationId, { limit: 1 })).length > 0) throw organizationHasChildren()
    const held = [...(await listWallets(tx, organizationId)), ...(await listPrivateKeys(tx, organizationId))]
    if (held.some(({ exported }) => exported === 0)) throw apiError('walletAccountNotExported')
    if (await hasUnexportedSecret(tx, organizationId)) throw secretNotExported()
    if ((await tvcAppTable.count(tx, organizationId)) > 0) throw organizationHasApps()
  },
  async execute({ tx, organizationId, now }) {
    await deleteContents(tx, organizationId, now)
    return { organizationId }
  },
}

export const parentHandlers = {
  ACTIVITY_TYPE_CREATE_ORGANIZATION: createOrganization,
  ACTIVITY_TYPE_CREATE_ORGANIZATION_V2: createOrganization,
  ACTIVITY_TYPE_DELETE_ORGANIZATION: deleteOrganization,
} satisfies HandlerRows
