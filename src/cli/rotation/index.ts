/** What the commands that rotate keys share: where a new key goes, and what they change in definitions. */
export { assertRenewable, renew, rewrittenJson } from './renewal.ts'
export { readAway, readSink, sinksOfMany, textOf, usage } from './sink.ts'
