/** Figures as one line: `kills=20 lost=0 dup=0`. */
export function line(figures: object): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ')
}
