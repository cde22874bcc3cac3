/**
 * Key material does not leave the process by its streams. What is printed may hold what others wrote (notes, names, conditions),
 * and one of them must not be able to stop a list from being read: so the key is left out, the rest is printed, and where it
 * stood is said. A key that this process has loaded can only be there by a fault of ours: then nothing is printed.
 * Files that are passed on are refused as a whole (`files.ts`).
 */
import { keyPlaces, placeInWords, QuorateError, withoutKeyMaterial } from '../diagnostics/index.ts'
import { holdsLoadedKey } from '../telemetry/index.ts'

/** A text without key material, and a line for people about each place where some was; none where all of it may be seen. */
export function withhold(text: string): { readonly shown: string; readonly said: readonly string[] } {
  if (holdsLoadedKey(text)) {
    throw new QuorateError(
      'cli/key-in-output',
      'what would be printed holds the private key in use; nothing of it is',
      {
        facts: { printed: 'nothing' },
        next: 'find where it comes from (notes, names, values of variables, what is live), and make a new key in its place',
      },
    )
  }
  const places = keyPlaces(text)
  if (places.length === 0) return { shown: text, said: [] }
  const said = places.map((place) => `${placeInWords(text, place)}: ${place.name} is not printed\n`)
  return { shown: withoutKeyMaterial(text), said: [...new Set(said)] }
}
