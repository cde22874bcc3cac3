/** Each mistake of the table as a process, as people make it. */
import { describe, test } from 'vitest'
import { quorate } from './harness.ts'
import { MAY_BE_DENIED, MISTAKES, mistakeScene } from './mistake-table.ts'

describe.concurrent('mistakes, as processes', () => {
  const check = mistakeScene(quorate)

  // Every user may listen below 1024 in some places, and there is no setpriv in others.
  const rows = MISTAKES.filter(({ isUnprivileged }) => !isUnprivileged || MAY_BE_DENIED)
  test.each(rows)('$name', check)
})
