/** `a, b and c`; of a long list the first so many, and how many more: a name in place of `1 more`. */
export function listed(
  texts: readonly string[],
  { most = 5, word = 'and' }: { readonly most?: number; readonly word?: 'and' | 'or' } = {},
): string {
  const shown = texts.length <= most + 1 ? [...texts] : texts.slice(0, most)
  const more = texts.length - shown.length
  const last = more > 0 ? `${more} more` : shown.length > 1 ? shown.pop() : undefined
  return last === undefined ? shown.join(', ') : `${shown.join(', ')} ${word} ${last}`
}
