/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject
/** A JSON object. */
export type JsonObject = { readonly [member: string]: Json }

/** Whether a value is an object with members: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
