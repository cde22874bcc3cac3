import type { Wire } from '../../../protocol/index.ts'
import type { ApiKeyIpAllowlistRow, IpAllowlistRow } from './store.ts'

/** Writes the organization's list as the API does; without one, an empty list that is not enabled. */
export function toWireIpAllowlist(organizationId: string, row: IpAllowlistRow | undefined): Wire.IpAllowlist {
  return { organizationId, ...listOf(row), enabled: row?.enabled === 1 }
}

/** Writes the list of one API key as the API does. */
export function toWireApiKeyIpAllowlist(
  organizationId: string,
  publicKey: string,
  row: ApiKeyIpAllowlistRow | undefined,
): Wire.IpAllowlist {
  return { organizationId, publicKey, ...listOf(row) }
}

function listOf(row: IpAllowlistRow | ApiKeyIpAllowlistRow | undefined) {
  const onError = row?.on_evaluation_error ?? undefined
  return {
    rules: row ? (JSON.parse(row.rules) as Wire.IpAllowlistRule[]) : [],
    ...(onError === undefined ? {} : { onEvaluationError: onError }),
  }
}
