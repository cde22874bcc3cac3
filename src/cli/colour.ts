/** `NO_COLOR` wins (no-color.org); `FORCE_COLOR` colours what is no terminal too, unless it says 0 or false (force-color.org). */
export function isColoured(environment: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const { NO_COLOR: none, FORCE_COLOR: forced, TERM: term } = environment
  if (none) return false
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false'
  return isTerminal && term !== 'dumb'
}
