import type { Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { oauth2CredentialNotFound } from '../../readings.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { oauth2CredentialTable } from './store.ts'

/**
 * The secret is sealed to the service's key by its sender and is kept, and answered, as it came
 * (docs/protocol/organizations.md#oauth-20-credentials).
 */
const create: TypedHandler<Wire.CreateOauth2CredentialIntent, Wire.CreateOauth2CredentialResult> = {
  async execute(context, { provider, clientId, encryptedClientSecret }) {
    const id = context.newId()
    await oauth2CredentialTable.insert(context.tx, [
      {
        id,
        organization_id: context.organizationId,
        provider,
        client_id: clientId,
        encrypted_client_secret: encryptedClientSecret,
        created_at: context.now,
        updated_at: context.now,
      },
    ])
    return { oauth2CredentialId: id }
  },
}

const update: TypedHandler<Wire.UpdateOauth2CredentialIntent, Wire.UpdateOauth2CredentialResult> = {
  validate: (context, { oauth2CredentialId }) => requireCredential(context, oauth2CredentialId),
  async execute({ tx, organizationId, now }, { oauth2CredentialId, provider, clientId, encryptedClientSecret }) {
    await oauth2CredentialTable.update(tx, organizationId, oauth2CredentialId, {
      provider,
      client_id: clientId,
      encrypted_client_secret: encryptedClientSecret,
      now,
    })
    return { oauth2CredentialId }
  },
}

const remove: TypedHandler<Wire.DeleteOauth2CredentialIntent, Wire.DeleteOauth2CredentialResult> = {
  validate: (context, { oauth2CredentialId }) => requireCredential(context, oauth2CredentialId),
  async execute({ tx, organizationId }, { oauth2CredentialId }) {
    await oauth2CredentialTable.delete(tx, organizationId, [oauth2CredentialId])
    return { oauth2CredentialId }
  },
}

export const oauth2CredentialHandlers = {
  ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL: create,
  ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL: update,
  ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL: remove,
} satisfies HandlerRows

async function requireCredential({ tx, organizationId }: HandlerContext, id: string): Promise<void> {
  if (!(await oauth2CredentialTable.find(tx, organizationId, id))) throw oauth2CredentialNotFound(id)
}
