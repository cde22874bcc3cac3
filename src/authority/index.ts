/**
 * Authority: who may decide. Users with their credentials of every sort, the root quorum, the approvals that count and the
 * window in which they do, and what the policy language sees of all this. Pure: no clock, no store, no network. The service,
 * forecasts, scenarios and the approver's view all read it; nowhere else is it said who could decide about something.
 */

export { type ActivityVotes, votesOn } from './activity-votes.ts'
export { contextOf, type Request } from './context.ts'
export {
  apiKeyFacts,
  attestedFacts,
  type Credential,
  expiresAt,
  isExpired,
  LOGIN_TYPES,
  loginFacts,
  passkeyFacts,
} from './credentials.ts'
export { type Instants, instantsOf, timeReader, whenActive } from './instants.ts'
export {
  type AuthenticationMethod,
  applyingMfaPolicy,
  type Factor,
  factorOf,
  type MfaPolicy,
  type MissingFactors,
  methodWord,
  missingFactors,
  missingMethods,
  openSteps,
  satisfiedMethods,
} from './mfa.ts'
export {
  actingVoter,
  approverOf,
  type Organization,
  type RootQuorum,
  standingCredentials,
  type User,
  usersByName,
  votersOf,
} from './organization.ts'
export { timedBy, timedTakingPart } from './timed-by.ts'
export {
  APPROVALS_NEED_STANDING_CREDENTIAL,
  type Ballot,
  countingVotes,
  type Vote,
  windowAfter,
  windowOf,
  withBallot,
} from './votes.ts'
