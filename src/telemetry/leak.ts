import { loadedKeys } from './secret.ts'

/** Whether a text holds a private key that this process has loaded: in hex, or anywhere in base64, PEM and base64url included. */
export function holdsLoadedKey(text: string): boolean {
  const keys = loadedKeys()
  if (keys.length === 0) return false
  const lower = text.toLowerCase()
  if (keys.some((key) => lower.includes(key.toString('hex')))) return true
  // A block of PEM is one run once its line breaks are gone, those that JSON writes as escapes too.
  const runs = text.replace(/\\n|[\r\n\t ]+/g, '').match(/[A-Za-z0-9+/_-]{42,}/g) ?? []
  // A run may begin with what belongs to the text before it, so each of the four beginnings is tried.
  return runs.some((run) =>
    [0, 1, 2, 3].some((from) => {
      const bytes = Buffer.from(run.slice(from), 'base64url')
      return keys.some((key) => bytes.includes(key))
    }),
  )
}
