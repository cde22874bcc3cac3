import type { Style } from '../io.ts'
import { view } from '../screen.ts'

/** What is away of what would carry on what is open, and what to do about each. */
export const renderAway = view(
  (away: readonly { readonly found: string; readonly next: string }[], style: Style): string =>
    away
      .map(
        ({ found, next }) =>
          `  ${style.warning('away'.padEnd(10))} ${found}\n  ${style.dim('next'.padEnd(10))} ${next}\n`,
      )
      .join(''),
)
