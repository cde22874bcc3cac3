import type { Wire } from '../../../protocol/index.ts'
import { gasUsageOfParentsAlone } from '../../readings.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { findOrganization } from '../organizations/store.ts'
import { findGasUsageConfig, replaceGasUsageConfig } from './store.ts'

/**
 * Says what a parent pays for of its tree's sends (docs/protocol/sends.md#sponsorship-limits). An absent
 * `solanaConfig`, and an absent member of it, leaves what there was. Unstated: so does an absent `enabled`, for a
 * request about limits should not switch anything; the first config is enabled. The id is that of the first.
 */
const upsert: TypedHandler<Wire.UpsertGasUsageConfigIntent, Wire.UpsertGasUsageConfigResult> = {
  async validate({ tx, organizationId }) {
    const organization = await findOrganization(tx, organizationId)
    if (organization?.parent_id != null) throw gasUsageOfParentsAlone()
  },
  async execute(context, { enabled, solanaConfig, ...intent }) {
    const { tx, organizationId, now } = context
    const before = await findGasUsageConfig(tx, organizationId)
    const id = before?.id ?? context.newId()
    await replaceGasUsageConfig(tx, {
      organization_id: organizationId,
      id,
      org_window_limit_usd: intent.orgWindowLimitUsd,
      sub_org_window_limit_usd: intent.subOrgWindowLimitUsd,
      window_duration_minutes: Number(intent.windowDurationMinutes),
      enabled: (enabled ?? before?.enabled !== 0) ? 1 : 0,
      solana_config: JSON.stringify({ ...JSON.parse(before?.solana_config ?? '{}'), ...solanaConfig }),
      created_at: before?.created_at ?? now,
      updated_at: now,
    })
    return { gasUsageConfigId: id }
  },
}

export const gasUsageHandlers = { ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG: upsert } satisfies HandlerRows
