/** Measures what each test file costs; `test/cost.ts` shows it. */
import { readFileSync } from 'node:fs'
import { afterAll } from 'vitest'
import { spent } from './spent.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** Processor seconds of a file's tests, of what it loads, of the processes that it starts and awaits, and of commands in shared ones. */
    cost?: number
  }
}

const before = processorSeconds()
// biome-ignore lint/correctness/noEmptyPattern: the first argument has to be a pattern, and the file is the second.
afterAll(({}, file) => {
  file.meta.cost = processorSeconds() - before
})

function processorSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6 + secondsOfChildren() + spent.seconds
}

/** Of children that have ended, with theirs; where the system does not say, none. */
function secondsOfChildren(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    // After the name, which ends with the last parenthesis, fields are counted from 3; these are 16 and 17, in hundredths.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[13]) + Number(fields[14])) / 100
  } catch {
    return 0
  }
}
