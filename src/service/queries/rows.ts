import type { QueryName } from '../../protocol/index.ts'
import type { NotExecuted } from '../engine/handler.ts'
import type { QueryHandler } from '../engine/query.ts'
import { getActivity, getPolicyEvaluations, listActivities } from './activities.ts'
import { assetQueries } from './assets.ts'
import { credentialQueries } from './credentials.ts'
import { answerEmpty, emptyLists } from './empty.ts'
import { gasUsageQueries } from './gas-usage.ts'
import { historyQueries } from './history.ts'
import { notAnswered } from './not-answered.ts'
import { oauth2CredentialQueries } from './oauth2-credentials.ts'
import { organizationQueries } from './organization.ts'
import { policyQueries } from './policies.ts'
import { privateKeyQueries } from './private-keys.ts'
import { sendQueries } from './sends.ts'
import { smartContractInterfaceQueries } from './smart-contract-interfaces.ts'
import { subOrganizationQueries } from './sub-organizations.ts'
import type { QueryRows } from './table.ts'
import { userQueries } from './users.ts'
import { walletQueries } from './wallets.ts'
import { webhookEndpointQueries } from './webhook-endpoints.ts'

const answered = {
  ...organizationQueries,
  ...userQueries,
  ...policyQueries,
  ...walletQueries,
  ...privateKeyQueries,
  ...smartContractInterfaceQueries,
  ...oauth2CredentialQueries,
  ...credentialQueries,
  ...subOrganizationQueries,
  ...webhookEndpointQueries,
  ...sendQueries,
  ...gasUsageQueries,
  ...assetQueries,
  ...historyQueries,
} satisfies QueryRows

/**
 * INVARIANT: the decoder has checked a request against its type before it is answered. So a query over the typed request
 * is one over the JSON, which the first cast below says.
 */
export const queryHandlers = {
  ...(answered as unknown as Readonly<Record<keyof typeof answered, QueryHandler>>),
  get_activity: getActivity,
  list_activities: listActivities,
  get_policy_evaluations: getPolicyEvaluations,
  ...answerEmptyLists(),
  ...notAnswered,
} satisfies Readonly<Record<QueryName, QueryHandler | NotExecuted>>

function answerEmptyLists(): Readonly<Record<keyof typeof emptyLists, QueryHandler>> {
  const rows = Object.entries(emptyLists).map(([name, list]) => [name, answerEmpty(list)])
  return Object.fromEntries(rows) // every row of the table, by its name
}
