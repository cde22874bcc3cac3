/**
 * Definitions: YAML on disk → desired state, or diagnostics with exact places; and the lock file beside it. Knows YAML
 * and places; what a kind is and may say is in `resources`, what an expression means in `policy`. Reads files and
 * nothing else: environment and variables arrive as arguments.
 */
export { OWN_WALLET } from './address-book.ts'
export { addressFault } from './address-fault.ts'
export type { Asset, Assets } from './assets.ts'
export { codes } from './codes.ts'
export { type ComparedFinding, comparedCodes, comparedRules, lintRules, type RuleText } from './compared-rules.ts'
export { emptyFieldAt, expressionAt, nameAt } from './cursor.ts'
export type { FilledExpression, WrittenExpression } from './expressions.ts'
export {
  createDiskReader,
  type FolderEntry,
  type FolderReader,
  isTestFile,
  LINT_FILE,
  LOCK_FILE,
  readSources,
} from './folder.ts'
export { type Formatted, formatPolicies } from './format.ts'
export { formatDefinitions } from './format-definitions.ts'
export { withHelp } from './help.ts'
export { NotReadable, readInside } from './inside.ts'
export { type Fix, type Linted, lintDefinitions } from './lint.ts'
export { readLintFile } from './lint-file.ts'
export { type LoadedDefinitions, type LoadOptions, loadDefinitions } from './load.ts'
export { type LockFile, lockText, parseLock, type ReadLock, readLock, writeLock } from './lock.ts'
export { NOTICE_TOPICS, type NoticeSink, type NoticeTopic, type QuietHours } from './notify.ts'
export { renderSchema } from './render-schema.ts'
export { makeSchema } from './schema.ts'
export { type EntryOf, entryOf, type MapOf, type TreeOf } from './tree.ts'
export { checkUnknownIds } from './unknown-ids.ts'
export { parseDuration, readMode, WATCH_DEFAULTS, type WatchSettings } from './watch.ts'
