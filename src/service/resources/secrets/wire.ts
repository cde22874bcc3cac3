import type { Wire } from '../../../protocol/index.ts'
import type { SecretFacts } from './store.ts'

/** Writes the metadata of a secret as the API does. */
export function toWireSecret(row: SecretFacts): Wire.SecretMetadata {
  return {
    secretId: row.id,
    ...(row.name === null ? {} : { name: row.name }),
    staticProperties: Object.entries(readProperties(row)).map(([key, value]) => ({ key, value })),
    createdAtUnixMs: String(row.created_at),
  }
}

/** The properties that a secret was imported with, by their keys. */
export function readProperties({ static_properties }: SecretFacts): Readonly<Record<string, string>> {
  return Object.fromEntries(JSON.parse(static_properties) as [string, string][])
}
