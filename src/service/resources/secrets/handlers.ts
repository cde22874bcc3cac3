/** Secrets of clients, which come and go encrypted from end to end (docs/protocol/bundles.md#secrets). */
import { decodeUtf8 } from '../../../encoding/index.ts'
import { apiError, type Wire } from '../../../protocol/index.ts'
import { makeExportBundle, makeImportTarget, openImportBundle, readTargetPublicKey } from '../../bundles/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { secretPlace } from '../../keys/index.ts'
import { SECRET_LIMITS, secretNameTaken } from '../../readings.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { requireDistinct, requireSecrets } from '../require.ts'
import { findTakenSecretName, markSecretsExported, readSealedSecret, secretTable } from './store.ts'
import { readProperties } from './wire.ts'

const initImport: TypedHandler<Wire.InitImportSecretsIntent, Wire.InitImportSecretsResult> = {
  async validate(_, { numSecrets }) {
    checkNumber('numSecrets', numSecrets)
  },
  async execute(context, { numSecrets }) {
    const enclaveTargetMessages: string[] = []
    for (let made = 0; made < numSecrets; made++) enclaveTargetMessages.push(await makeImportTarget(context, 'secret'))
    return { enclaveTargetMessages }
  },
}

const importSecrets: TypedHandler<Wire.ImportSecretsIntent, Wire.ImportSecretsResult> = {
  async validate(context, { secrets }) {
    checkNumber('secrets', secrets.length)
    requireDistinct('targetPublicKey', secrets.map(targetOf))
    const names = secrets.flatMap(({ name }) => (name ? [name] : []))
    requireDistinct('name', names)
    const taken = await findTakenSecretName(context.tx, context.organizationId, names)
    if (taken !== undefined) throw secretNameTaken(taken)
    const present = await secretTable.count(context.tx, context.organizationId)
    if (present + secrets.length > SECRET_LIMITS.secrets)
      throw apiError('maxReached', 'organization', 'secrets', SECRET_LIMITS.secrets)
    for (const secret of secrets) {
      propertiesOf(secret)
      const opened = await openSecret(context, secret)
      opened.secret.fill(0)
    }
  },
  async execute(context, { secrets }) {
    const { tx, organizationId, now } = context
    const secretIds: string[] = []
    for (const given of secrets) {
      const id = context.newId()
      const { secret, useUp } = await openSecret(context, given)
      const sealed_secret = context.seal(secret, secretPlace(id))
      await useUp()
      const static_properties = JSON.stringify(propertiesOf(given))
      const facts = {
        id,
        organization_id: organizationId,
        name: given.name || null,
        static_properties,
        created_at: now,
      }
      await secretTable.insert(tx, [{ ...facts, sealed_secret, exported: 0 }])
      secretIds.push(id)
    }
    return { secretIds }
  },
}

/** Each secret is judged by itself, and one that is not allowed refuses all (U-batch, U-secret). */
const exportSecrets: TypedHandler<Wire.ExportSecretsIntent, Wire.ExportSecretsResult> = {
  async validate(context, { secrets }) {
    checkNumber('secrets', secrets.length)
    for (const { targetPublicKey } of secrets) readTargetPublicKey(targetPublicKey)
    await requireSecrets(
      context,
      'secretId',
      secrets.map(({ secretId }) => secretId),
    )
  },
  async facts(context, { secrets }) {
    const rows = await requireSecrets(
      context,
      'secretId',
      secrets.map(({ secretId }) => secretId),
    )
    return { batch: rows.map((row) => ({ secret: { static_properties: readProperties(row) } })) }
  },
  async execute(context, { secrets }) {
    const { tx, organizationId } = context
    const secretPayloads: string[] = []
    for (const { secretId, targetPublicKey } of secrets) {
      const sealed = await readSealedSecret(tx, organizationId, secretId)
      const secret = context.unseal(sealed, secretPlace(secretId))
      secretPayloads.push(await makeExportBundle(context, { secret, targetPublicKey }))
    }
    await markSecretsExported(
      tx,
      organizationId,
      secrets.map(({ secretId }) => secretId),
    )
    return { secretPayloads }
  },
}

export const secretHandlers = {
  ACTIVITY_TYPE_INIT_IMPORT_SECRETS: initImport,
  ACTIVITY_TYPE_IMPORT_SECRETS: importSecrets,
  ACTIVITY_TYPE_EXPORT_SECRETS: exportSecrets,
} satisfies HandlerRows

function checkNumber(field: string, count: number): void {
  const { perActivity } = SECRET_LIMITS
  if (count < 1 || count > perActivity) throw apiError('invalidField', field, `must be from 1 to ${perActivity}`)
}

function targetOf({ targetPublicKey }: { readonly targetPublicKey: string }): string {
  return targetPublicKey.toLowerCase()
}

/** Opens what was encrypted to the target that it names; wipe it. */
async function openSecret(context: HandlerContext, given: Wire.ImportSecretParams) {
  const opened = await openImportBundle(context, 'secret', {
    field: 'secretPayload',
    text: given.secretPayload,
    target: targetOf(given),
  })
  const refusal = faultOf(opened.secret)
  if (refusal === undefined) return opened
  opened.secret.fill(0)
  throw apiError('invalidField', 'secretPayload', refusal)
}

function faultOf(secret: Uint8Array): string | undefined {
  const { bytes } = SECRET_LIMITS
  if (secret.length === 0) return 'must not be empty'
  if (secret.length > bytes) return `must hold at most ${bytes} bytes`
  try {
    decodeUtf8(secret)
    return undefined
  } catch {
    return 'must hold text in UTF-8'
  }
}

function propertiesOf({ staticProperties = [] }: Wire.ImportSecretParams): readonly (readonly [string, string])[] {
  const { properties, characters } = SECRET_LIMITS
  if (staticProperties.length > properties)
    throw apiError('invalidField', 'staticProperties', `must have at most ${properties} properties`)
  const pairs = staticProperties.map(({ key = '', value = '' }) => [key, value] as const)
  for (const [key, value] of pairs) {
    if (key === '') throw apiError('invalidField', 'staticProperties.key', 'must not be empty')
    if (key.length > characters || value.length > characters)
      throw apiError(
        'invalidField',
        'staticProperties',
        `must have at most ${characters} characters in a key or a value`,
      )
  }
  requireDistinct(
    'staticProperties.key',
    pairs.map(([key]) => key),
  )
  return pairs
}
