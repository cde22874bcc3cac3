/** A function of what is never changed, which works out its answer once for each: for what many tests ask again. */
export function remembered<Given extends object, Found>(find: (given: Given) => Found): (given: Given) => Found {
  const known = new WeakMap<Given, { readonly found: Found }>()
  return (given) => {
    const one = known.get(given) ?? { found: find(given) }
    known.set(given, one)
    return one.found
  }
}
