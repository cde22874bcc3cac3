import type { Actual } from '../resources/index.ts'
import type { PowerName } from './power-table.ts'
import { type PowerLine, powersOf, waysOf } from './powers.ts'

/** A power in which somebody has a part. */
export interface HeldPower {
  readonly power: PowerName
  readonly over: readonly string[]
  readonly activities: readonly string[]
  readonly condition?: string
  /** Whether they have it without anybody else. */
  readonly alone: boolean
  readonly ways: ReturnType<typeof waysOf>
}

/** The powers in which a user, by name, has a part, and so the holder of any credential of theirs. */
export function heldPowers(
  actual: Actual,
  { user, nowMs }: { readonly user: string; readonly nowMs: number },
): readonly HeldPower[] {
  return powersOf(actual, { nowMs }).flatMap(({ power, over, activities, lines }) =>
    lines.flatMap((line): readonly HeldPower[] => {
      const part = partIn(line, user)
      if (part === 'none') return []
      const condition = line.condition === undefined ? {} : { condition: line.condition }
      return [{ power, over, activities, ...condition, alone: part === 'alone', ways: waysOf(line) }]
    }),
  )
}

/** Whether a user is enough, needs others, or has no part in the sets of a line. Where there are too many sets, a part is likely. */
function partIn({ people }: PowerLine, user: string): 'alone' | 'with others' | 'none' {
  if (people === 'unknown') return 'with others'
  const of = people.classes.findIndex((names) => names.includes(user))
  if (of === -1) return 'none'
  const counts = people.found.map((set) => ({ mine: set[of] ?? 0, all: set.reduce((sum, one) => sum + one, 0) }))
  if (counts.some(({ mine, all }) => mine === 1 && all === 1)) return 'alone'
  return counts.some(({ mine }) => mine > 0) ? 'with others' : 'none'
}
