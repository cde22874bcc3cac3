/**
 * Worker: a door. Connects workflows and Temporal activities to a Temporal server, and brings an embedded one up where
 * none is configured. Decides nothing about plans; holds no credential: `clientFor` of the activities does. Temporal's own
 * worker takes a second to load, so it is loaded by what works, not by what asks how work stands.
 */

export type { TemporalTls } from './certificate-files.ts'
export { loadCodecToken, startCodecServer } from './codec-server.ts'
export { workerCodes } from './codes.ts'
export { atTemporal, connectTemporal, type TemporalConnections, type TemporalSettings } from './connect.ts'
export { makeCurrent, VERSIONINGS, type Versioning, type WorkerVersion } from './deployment.ts'
export { WorkerError } from './error.ts'
export {
  type Announce,
  cacheFolder,
  type FindTemporalOptions,
  findTemporal,
  locateTemporal,
  TEMPORAL_VERSION,
} from './find-temporal.ts'
export { routeTemporalLogs } from './logs.ts'
export { type Monitor, openMonitor } from './monitor.ts'
export { loadPayloadSeal } from './payload-key.ts'
export { createPayloadSeal, type PayloadSeal } from './payload-seal.ts'
export { SERVER_FILES } from './server-config.ts'
export type { OnStep } from './step-count.ts'
export {
  startTemporalServer,
  type TemporalServer,
  type TemporalServerOptions,
  temporalServerTls,
} from './temporal-server.ts'
export {
  bundleWorkflows,
  createDataConverter,
  createWorker,
  WORKFLOWS_FILE,
  type WorkerOptions,
  workflowsPath,
} from './worker.ts'
