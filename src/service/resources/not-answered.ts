import type { QueryName } from '../../protocol/index.ts'
import type { NotExecuted } from '../engine/index.ts'

const MARKETS = { notExecuted: 'there is no market or yield provider behind this service' }
const ENCLAVES = { notExecuted: 'there are no enclaves behind this service' }
const ONRAMP = { notExecuted: 'there is no on-ramp provider behind this service' }

/** The queries that are not answered, and why: the reason is part of the refusal. */
export const notAnswered = {
  get_swap_status: MARKETS,
  get_claim_earn_fees_status: MARKETS,
  get_earn_deploy_status: MARKETS,
  get_earn_deposit_status: MARKETS,
  get_earn_withdraw_status: MARKETS,
  list_earn_enabled_vaults: MARKETS,
  list_earn_positions: MARKETS,
  list_earn_vaults: MARKETS,
  get_onramp_transaction_status: ONRAMP,
  get_app_status: ENCLAVES,
  get_tvc_app: ENCLAVES,
  get_tvc_deployment: ENCLAVES,
  get_tvc_deployment_debug_logs: ENCLAVES,
  get_tvc_qos_versions: ENCLAVES,
  list_tvc_app_deployments: ENCLAVES,
  validate_tvc_image: ENCLAVES,
} as const satisfies Partial<Record<QueryName, NotExecuted>>
