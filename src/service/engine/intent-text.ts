import type { JsonObject } from '../../protocol/index.ts'

const texts = new WeakMap<JsonObject, string>()

/** An intent as JSON, written once for each request: of a body at its limit that takes some milliseconds. */
export function textOfIntent(intent: JsonObject): string {
  let text = texts.get(intent)
  if (text === undefined) {
    text = JSON.stringify(intent)
    texts.set(intent, text)
  }
  return text
}
