/** Shows control characters and direction marks as escapes: a name from outside must not move the cursor or forge a line. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (c) => `\\u${c.codePointAt(0)!.toString(16).padStart(4, '0')}`)
}
