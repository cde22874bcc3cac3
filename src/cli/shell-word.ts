/** A word in single quotes: in bash, zsh and fish only a quote is special between them. */
export function inQuotes(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** A word of a command that a reader copies: a name that somebody else chose is one word there, and runs nothing. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./][A-Za-z0-9_@%+=:,./-]*$/.test(text) ? text : inQuotes(text)
}
