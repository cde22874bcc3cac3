import type { QueryName } from '../../protocol/index.ts'
import type { NotExecuted, QueryHandler } from '../engine/index.ts'
import { getActivity, getPolicyEvaluations, listActivities } from './activities/queries.ts'
import { appProofQueries } from './app-proofs/queries.ts'
import { authenticatorQueries } from './authenticators/queries.ts'
import { assetQueries } from './balances/queries.ts'
import { answerEmpty, emptyLists } from './empty-queries.ts'
import { gasUsageQueries } from './gas-usage/queries.ts'
import { historyQueries } from './history/queries.ts'
import { messageQueries } from './messages/queries.ts'
import { mfaPolicyQueries } from './mfa-policies/queries.ts'
import { notAnswered } from './not-answered.ts'
import { oauthProviderQueries } from './oauth-providers/queries.ts'
import { oauth2CredentialQueries } from './oauth2-credentials/queries.ts'
import { organizationQueries } from './organizations/queries.ts'
import { policyQueries } from './policies/queries.ts'
import { privateKeyQueries } from './private-keys/queries.ts'
import type { QueryRows } from './query-table.ts'
import { secretQueries } from './secrets/queries.ts'
import { sendQueries } from './sends/queries.ts'
import { sessionProfileQueries } from './session-profiles/queries.ts'
import { smartContractInterfaceQueries } from './smart-contract-interfaces/queries.ts'
import { subOrganizationQueries } from './sub-organizations/queries.ts'
import { userQueries } from './users/queries.ts'
import { walletQueries } from './wallets/queries.ts'
import { webhookEndpointQueries } from './webhook-endpoints/queries.ts'

const answered = {
  ...organizationQueries,
  ...userQueries,
  ...policyQueries,
  ...sessionProfileQueries,
  ...mfaPolicyQueries,
  ...walletQueries,
  ...privateKeyQueries,
  ...secretQueries,
  ...smartContractInterfaceQueries,
  ...messageQueries,
  ...oauth2CredentialQueries,
  ...authenticatorQueries,
  ...oauthProviderQueries,
  ...subOrganizationQueries,
  ...webhookEndpointQueries,
  ...sendQueries,
  ...gasUsageQueries,
  ...assetQueries,
  ...appProofQueries,
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
