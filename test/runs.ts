/**
 * How many inputs a property is tried with: so many in the suite, and many times as many in `npm run soak -- properties`, which
 * says how many times.
 */
export function runs(inSuite: number): number {
  return inSuite * Number(process.env['QUORATE_TIMES'] ?? 1)
}
