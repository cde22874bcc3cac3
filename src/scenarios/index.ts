/**
 * Scenarios: policies tried out on paper. Reads scenarios and cases from YAML, decides them with the same policy engine
 * as the service, over definitions as they are proposed or an organization as it was read, and says what differs from
 * what was expected, and where. It asks no network and keeps nothing.
 */
export { factsOfActivity } from './activity-facts.ts'
export type { CaseResult, PolicyCase } from './cases/model.ts'
export { readCases } from './cases/read-cases.ts'
export { runCase } from './cases/run-case.ts'
export { codes } from './codes.ts'
export { type Coverage, type CoveredClause, coverageOf } from './coverage.ts'
export { explainRequest, type WhyNot, whyNot } from './decide.ts'
export { decisiveLeaves } from './describe.ts'
export type { ScenarioResult, UnmetExpectation } from './model.ts'
export { type FileResult, readTransaction } from './play-file.ts'
export { playSuite, type SuiteOptions, type SuiteResult } from './play-suite.ts'
export { DEFAULT_TIME } from './read-request.ts'
export { readRequestFile } from './read-scenarios.ts'
export { makeRequestSchema, makeScenariosSchema } from './schema.ts'
export { interfacesOf, type World, worldOfActual, worldOfDefinitions } from './world.ts'
export { type WrittenScenario, writeScenario } from './write-scenario.ts'
