import type { Json, JsonObject } from '../encoding/index.ts'

export type { Json, JsonObject }

/** Whether a value is an object with members: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
