/** Works on all, so many at the same time: what comes of each, in their order. */
export async function inTurns<Given, Made>(
  all: readonly Given[],
  atOnce: number,
  work: (one: Given, index: number) => Promise<Made>,
): Promise<readonly Made[]> {
  const made: Made[] = []
  for (let from = 0; from < all.length; from += atOnce)
    made.push(...(await Promise.all(all.slice(from, from + atOnce).map((one, index) => work(one, from + index)))))
  return made
}
