const HARDENED = 2 ** 31
/** A depth is one byte in BIP-32. */
const MOST_STEPS = 255

/** One step of a derivation path. */
export interface PathStep {
  /** Below 2^31. */
  readonly index: number
  readonly hardened: boolean
}

/**
 * Parses a BIP-32 path `m/44'/60'/0'/0/0` (a hardened step is marked by `'`, `h` or `H`), or gives `undefined`: no
 * step, more than 255, or one of 2^31 and above (docs/protocol/keys.md#accounts).
 */
export function parsePath(path: string): readonly PathStep[] | undefined {
  const [root, ...parts] = path.split('/')
  if (root !== 'm' || parts.length === 0 || parts.length > MOST_STEPS) return undefined
  const steps = parts.map((part) => {
    const match = /^(\d{1,10})(['hH]?)$/.exec(part)
    return { index: match ? Number(match[1]) : Number.NaN, hardened: match?.[2] !== '' }
  })
  return steps.every(({ index }) => index < HARDENED) ? steps : undefined
}

/** Writes a path in its one normal form, by which two spellings of it compare: `'` for hardened, no leading zeros. */
export function normalizePath(path: string): string {
  const steps = parsePath(path)
  return steps ? ['m', ...steps.map(({ index, hardened }) => `${index}${hardened ? "'" : ''}`)].join('/') : path
}

/** The number by which BIP-32 names a child: hardened ones count from 2^31. */
export function childNumber({ index, hardened }: PathStep): number {
  return hardened ? index + HARDENED : index
}
