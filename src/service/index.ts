/**
 * Service: answers the signed-activity API from a folder of its own: stamps, policies, votes, execution and record in
 * one transaction. Not the toolkit's: the two meet in `protocol` and over a socket alone. Relies on the spine and on
 * SQLite; where mail, chains and clients are is told to it.
 */

export type { KeeperTools } from '../keepers/index.ts'
export type { ChainsSettings } from './chains/index.ts'
export { SERVICE_CODES, type ServiceCode } from './codes.ts'
export { ServiceError } from './error.ts'
export type { Bootstrap } from './folder/index.ts'
export {
  copyStore,
  type FolderLock,
  lockFolder,
  migrateStore,
  readFolder,
  readRotationOfFolder,
  readSnapshot,
  readWebhooksGivenUp,
  restoreSnapshot,
  rotateKeyOfFolder,
  saveSnapshot,
  wrapKeyOfFolder,
} from './folder/index.ts'
export { EDGE_LIMITS, type EdgeLimits } from './http/index.ts'
export {
  listWrittenMessages,
  type MessagesSettings,
  type SmsSettings,
  type SmtpSettings,
  type WrittenMessage,
} from './messages/index.ts'
export { type IssuerSettings, PROVIDER_NAMES, type ProviderUrls } from './oauth/index.ts'
export { ON_RAMP_NAMES, type OnRampUrls } from './on-ramp/index.ts'
export {
  askOperator,
  type FaultStatus,
  type InjectedFault,
  type NewFault,
  type OperatorRequest,
  type OperatorState,
} from './operator/index.ts'
export { type AuthProxyProcessOptions, type Captcha, createAuthProxy } from './proxy/index.ts'
export type { RatesSettings } from './rates.ts'
export type { DiskWatermark } from './readiness.ts'
export { listOperations, type OperationFacts } from './resources/index.ts'
export { createService, type Service } from './service.ts'
export type { ProxySettings, ServiceOptions } from './settings.ts'
export {
  type DatabaseFacts,
  type GivenUpWebhooks,
  POSTGRES_DEFAULTS,
  type PostgresSettings,
  type PostgresStanding,
  readPostgresStanding,
  StoreUnavailable,
} from './store/index.ts'
