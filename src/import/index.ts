/**
 * Import: a live organization becomes definitions, and definitions that exist follow what is live. It decides what is
 * written and where, edits text where it stands and leaves every other byte alone; what it wrote is loaded and planned
 * before anybody sees it. It reads no disk and asks no API: definitions and live state are given to it.
 */
export { codes } from './codes.ts'
export { type Imported, importDefinitions, type NotWritten } from './import-definitions.ts'
export type { ImportInput } from './input.ts'
export { HEAD, SCHEMA_FILE } from './layout.ts'
export { renewPublicKey } from './renew-key.ts'
