import type { Style } from '../io.ts'
import { view } from '../screen.ts'

/** What was away and is there again. */
export const renderBack = view(
  (back: readonly { readonly part: keyof typeof BACK; readonly node?: string }[], style: Style): string =>
    back.map(({ part, node = '' }) => `  ${style.good('back'.padEnd(10))} ${node}${BACK[part]}\n`).join(''),
)

const BACK = {
  background: 'the background process runs again',
  Temporal: 'Temporal answers again',
  worker: 'a worker polls its task queue again',
  API: 'the API answers again',
  node: ' answers again',
} as const

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
