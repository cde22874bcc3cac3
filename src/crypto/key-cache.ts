/** Enough for a busy service's credentials, about 4 MB. */
const CAPACITY = 4096

/**
 * Creates a memo of parsed public keys by their hex, the ones used last kept: parsing costs more than verifying. Nothing
 * that it keeps can be observed, so one may live beside a pure function. What cannot be parsed is not kept.
 * @default capacity 4096 keys
 */
export function createKeyCache<Key>(
  parse: (hex: string) => Key | undefined,
  { capacity = CAPACITY }: { readonly capacity?: number } = {},
): (hex: string) => Key | undefined {
  // A `Map` keeps its order of insertion: the first is the one not used for longest.
  const keys = new Map<string, Key>()
  // Most requests in a row have the same one, which is then the last already.
  let last: { readonly hex: string; readonly key: Key } | undefined
  return (hex) => {
    if (last?.hex === hex) return last.key
    const key = keys.get(hex) ?? parse(hex)
    if (!key) return undefined
    keys.delete(hex)
    keys.set(hex, key)
    last = { hex, key }
    if (keys.size > capacity) keys.delete(keys.keys().next().value!)
    return key
  }
}
