import { apiError, type Wire } from '../../../protocol/index.ts'
import type { BegunOnRamp, HandlerContext } from '../../engine/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { fiatOnRampCredentialTable, insertOnRampTransaction } from './store.ts'

/** The secrets are sealed to the service's key by their sender and are kept, and answered, as they came (docs/protocol/on-ramp.md). */
const create: TypedHandler<Wire.CreateFiatOnRampCredentialIntent, Wire.CreateFiatOnRampCredentialResult> = {
  async validate(_, intent) {
    checkKeys(intent)
  },
  async execute(context, intent) {
    const id = context.newId()
    await fiatOnRampCredentialTable.insert(context.tx, [
      {
        id,
        organization_id: context.organizationId,
        ...columnsOf(intent),
        sandbox_mode: intent.sandboxMode ? 1 : 0,
        created_at: context.now,
        updated_at: context.now,
      },
    ])
    return { fiatOnRampCredentialId: id }
  },
}

/** Whether it is for tests stays as it was: the request has no word for it. */
const update: TypedHandler<Wire.UpdateFiatOnRampCredentialIntent, Wire.UpdateFiatOnRampCredentialResult> = {
  async validate(context, intent) {
    checkKeys(intent)
    await requireCredential(context, intent.fiatOnrampCredentialId)
  },
  async execute({ tx, organizationId, now }, intent) {
    const { fiatOnrampCredentialId: id } = intent
    await fiatOnRampCredentialTable.update(tx, organizationId, id, { ...columnsOf(intent), now })
    return { fiatOnRampCredentialId: id }
  },
}

const remove: TypedHandler<Wire.DeleteFiatOnRampCredentialIntent, Wire.DeleteFiatOnRampCredentialResult> = {
  validate: (context, { fiatOnrampCredentialId }) => requireCredential(context, fiatOnrampCredentialId),
  async execute({ tx, organizationId }, { fiatOnrampCredentialId: id }) {
    await fiatOnRampCredentialTable.delete(tx, organizationId, [id])
    return { fiatOnRampCredentialId: id }
  },
}

const init: TypedHandler<Wire.InitFiatOnRampIntent, Wire.InitFiatOnRampResult, BegunOnRamp> = {
  prepare: (intent, { onRamp }, organizationId) => onRamp.begin(intent, organizationId),
  async execute({ tx, organizationId, now, answers }, { onrampProvider, sandboxMode }) {
    const { transactionId, credentialId, url, urlSignature } = answers!
    await insertOnRampTransaction(tx, {
      id: transactionId,
      organization_id: organizationId,
      credential_id: credentialId,
      provider: onrampProvider,
      sandbox_mode: sandboxMode ? 1 : 0,
      created_at: now,
    })
    const begun = { onRampUrl: url, onRampTransactionId: transactionId }
    return urlSignature === undefined ? begun : { ...begun, onRampUrlSignature: urlSignature }
  },
}

export const fiatOnRampHandlers = {
  ACTIVITY_TYPE_CREATE_FIAT_ON_RAMP_CREDENTIAL: create,
  ACTIVITY_TYPE_UPDATE_FIAT_ON_RAMP_CREDENTIAL: update,
  ACTIVITY_TYPE_DELETE_FIAT_ON_RAMP_CREDENTIAL: remove,
  ACTIVITY_TYPE_INIT_FIAT_ON_RAMP: init,
} satisfies HandlerRows

function columnsOf(intent: Omit<Wire.UpdateFiatOnRampCredentialIntent, 'fiatOnrampCredentialId'>) {
  return {
    provider: intent.onrampProvider,
    project_id: intent.projectId || null,
    publishable_api_key: intent.publishableApiKey,
    encrypted_secret_api_key: intent.encryptedSecretApiKey,
    encrypted_private_api_key: intent.encryptedPrivateApiKey || null,
  }
}

/** Unstated: an account at Coinbase without the private half of its key could begin nothing. */
function checkKeys({
  onrampProvider,
  encryptedPrivateApiKey,
}: Pick<Wire.CreateFiatOnRampCredentialIntent, 'onrampProvider' | 'encryptedPrivateApiKey'>): void {
  if (onrampProvider === 'FIAT_ON_RAMP_PROVIDER_COINBASE' && !encryptedPrivateApiKey)
    throw apiError('missingField', 'encryptedPrivateApiKey')
}

async function requireCredential({ tx, organizationId }: HandlerContext, id: string): Promise<void> {
  if (!(await fiatOnRampCredentialTable.find(tx, organizationId, id)))
    throw apiError('notFound', 'fiat on-ramp credential', id)
}
