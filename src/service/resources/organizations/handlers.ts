import { apiError, apiErrorAt, type Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { FEATURE_NAMES, thresholdTooHigh } from '../../readings.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { requireDistinct, requireUsers } from '../require.ts'
import { listUsers } from '../users/store.ts'
import { checkWaysIn } from '../users/ways-in.ts'
import { forgetWebhooksOfFeature } from '../webhook-endpoints/store.ts'
import { deleteFeatures, listFeatures, upsertFeature } from './features-store.ts'
import { replaceAllowedOrigins } from './origins-store.ts'
import { setQuorum } from './quorum-store.ts'
import { renameOrganization } from './store.ts'
import { toWireFeature } from './wire.ts'

const updateRootQuorum: TypedHandler<Wire.UpdateRootQuorumIntent, Wire.UpdateRootQuorumResult> = {
  async validate(context, { threshold, userIds }) {
    if (threshold < 1) throw apiErrorAt('threshold', 'quorumThresholdZero')
    if (userIds.length === 0) throw apiErrorAt('userIds', 'quorumUsersMissing')
    await requireUsers(context, 'userIds', userIds)
    if (threshold > userIds.length) throw thresholdTooHigh('threshold', threshold, userIds.length)
  },
  async execute({ tx, organizationId, now }, { threshold, userIds }) {
    await setQuorum(tx, organizationId, { userIds, threshold, now })
    return {}
  },
}

const updateOrganizationName: TypedHandler<Wire.UpdateOrganizationNameIntent, Wire.UpdateOrganizationNameResult> = {
  async execute({ tx, organizationId, now }, { organizationName }) {
    await renameOrganization(tx, organizationId, { name: organizationName, now })
    return { organizationId, organizationName }
  },
}

/** Unstated: how long a value may be. A URL may have 2048 characters (docs/protocol/webhooks.md#limits). */
const MAX_FEATURE_VALUE = 2048

/**
 * What the value of a feature must be, where it must be anything (docs/protocol/organizations.md#features). The others
 * are switches or belong to parts of the API that this service keeps and does not read: their value stays as it was
 * sent.
 */
const FEATURE_VALUES: Partial<Record<Wire.FeatureName, { rule: string; holds: (value: string) => boolean }>> = {
  FEATURE_NAME_WEBAUTHN_ORIGINS: {
    rule: 'must be an origin such as `https://app.example.com`',
    holds: isOrigin,
  },
}

const setOrganizationFeature: TypedHandler<Wire.SetOrganizationFeatureIntent, Wire.SetOrganizationFeatureResult> = {
  // The URL rules of webhook endpoints (docs/protocol/webhooks.md#the-feature-webhook).
  prepare: async ({ name, value = '' }, outside, organizationId) => {
    if (name === 'FEATURE_NAME_WEBHOOK') await outside.checkWebhookUrl(value, 'value', organizationId)
  },
  async validate(_, { name, value = '' }) {
    if (value.length > MAX_FEATURE_VALUE) {
      throw apiError('invalidField', 'value', `must have at most ${MAX_FEATURE_VALUE} characters`)
    }
    const check = FEATURE_VALUES[name]
    if (check && !check.holds(value)) throw apiError('invalidField', 'value', check.rule)
  },
  async execute(context, { name, value = '' }) {
    const { tx, organizationId } = context
    await deleteFeatures(tx, organizationId, namesOf(name))
    await upsertFeature(tx, { organization_id: organizationId, name, value })
    return { features: await readFeatures(context) }
  },
}

const removeOrganizationFeature: TypedHandler<
  Wire.RemoveOrganizationFeatureIntent,
  Wire.RemoveOrganizationFeatureResult
> = {
  async validate(context, { name }) {
    const names = namesOf(name)
    const features = await listFeatures(context.tx, context.organizationId)
    if (!features.some((feature) => names.includes(feature.name))) {
      throw apiError('notFound', 'organization feature', name)
    }
    const users = await listUsers(context.tx, context.organizationId)
    await checkWaysIn(context, users, { features: names })
  },
  async execute(context, { name }) {
    await deleteFeatures(context.tx, context.organizationId, namesOf(name))
    if (name === 'FEATURE_NAME_WEBHOOK') await forgetWebhooksOfFeature(context.tx, context.organizationId)
    return { features: await readFeatures(context) }
  },
}

/** Unstated: how the list is taken away, which must not be empty. One entry `*` stands for any origin, as with the proxy. */
const ANY_ORIGIN = '*'

/** Unstated: how many origins there may be. */
const MAX_ORIGINS = 100

const updateAllowedOrigins: TypedHandler<Wire.UpdateAllowedOriginsIntent, Wire.UpdateAllowedOriginsResult> = {
  async validate(_, { allowedOrigins }) {
    if (allowedOrigins.length > MAX_ORIGINS)
      throw apiError('invalidField', 'allowedOrigins', `must have at most ${MAX_ORIGINS} origins`)
    if (allowedOrigins.length === 1 && allowedOrigins[0] === ANY_ORIGIN) return
    requireDistinct('allowedOrigins', allowedOrigins)
    if (!allowedOrigins.every(isOrigin))
      throw apiError(
        'invalidField',
        'allowedOrigins',
        'must be origins such as `https://app.example.com`, or `*` alone',
      )
  },
  async execute({ tx, organizationId }, { allowedOrigins }) {
    await replaceAllowedOrigins(tx, organizationId, allowedOrigins[0] === ANY_ORIGIN ? [] : allowedOrigins)
    return {}
  },
}

function isOrigin(text: string): boolean {
  return URL.parse(text)?.origin === text
}

export const organizationHandlers = {
  ACTIVITY_TYPE_UPDATE_ROOT_QUORUM: updateRootQuorum,
  ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME: updateOrganizationName,
  ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS: updateAllowedOrigins,
  ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE: setOrganizationFeature,
  ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE: removeOrganizationFeature,
} satisfies HandlerRows

/** All names of the feature that this one names. */
function namesOf(name: string): readonly string[] {
  return FEATURE_NAMES.find((names) => names.includes(name)) ?? [name]
}

/** Both activities answer with the whole list as it is now. */
async function readFeatures({ tx, organizationId }: HandlerContext): Promise<Wire.Feature[]> {
  return (await listFeatures(tx, organizationId)).map(toWireFeature)
}
