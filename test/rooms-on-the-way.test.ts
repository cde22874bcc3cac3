/**
 * How many rooms somebody reads who follows a command to the line that starts its workflow. The way is read from the imports of
 * values, each led past `index.ts` to the file that defines it: the files on it are those that the command reaches and from which
 * that line is reached. A room is on the way if such a file stands in it, or calls it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const MOST_ROOMS = 10

const root = join(import.meta.dirname, '..')
const sources = new Map(
  ['src', 'activities', 'workflows'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => [join(folder, name), readFileSync(join(root, folder, name), 'utf8')] as const),
  ),
)

/** Names that are taken from another file, or passed on from it; of what is loaded late, and as a whole, no name is known. */
interface Taking {
  readonly passesOn: boolean
  readonly names: readonly string[]
  readonly from: string
}

function takingsOf(file: string): readonly Taking[] {
  const text = sources.get(file)!
  const place = (specifier: string) => normalize(join(dirname(file), specifier))
  const still = [...text.matchAll(/^(import|export) \{([^}]*)\} from '(\.[^']+)'/gm)].map(([, verb, names, from]) => ({
    passesOn: verb === 'export',
    names: names!.split(',').map((name) => name.trim()),
    from: place(from!),
  }))
  const whole = [...text.matchAll(/^import \* as \w+ from '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm)].map(
    ([, star, late]) => ({ passesOn: false, names: [], from: place((star ?? late)!) }),
  )
  return [...still, ...whole].map((taking) => ({
    ...taking,
    names: taking.names.filter((name) => name !== '' && !name.startsWith('type ')),
  }))
}

/** The file that defines what an index passes on under a name. */
function definitionOf(file: string, name: string): string {
  if (!file.endsWith('/index.ts')) return file
  for (const { passesOn, names, from } of takingsOf(file)) {
    const found = passesOn && names.map((each) => each.split(' as ')).find((each) => each.at(-1) === name)
    if (found) return definitionOf(from, found[0]!)
  }
  return file
}

const calls = new Map(
  [...sources.keys()].map((file) => {
    const taken = takingsOf(file).filter(({ passesOn, from }) => !passesOn && sources.has(from))
    const files = taken.flatMap(({ names, from }) =>
      names.length === 0 ? [from] : names.map((name) => definitionOf(from, name.split(' as ')[0]!)),
    )
    return [file, new Set(files)] as const
  }),
)

function reached(start: string, next: (file: string) => Iterable<string>): Set<string> {
  const seen = new Set([start])
  for (const file of seen) for (const other of next(file)) seen.add(other)
  return seen
}

const roomOf = (file: string) => file.replace(/^src\//, '').split('/')[0]!

test.each([
  { command: 'send', end: 'src/sending/running.ts' },
  { command: 'send', end: 'src/sending/batch-running.ts' },
  { command: 'apply', end: 'src/operations/apply.ts' },
])('rooms: $command passes few before Temporal has its workflow ($end)', ({ command, end }) => {
  expect(sources.get(end)).toMatch(/\bclient\.workflow\.start\b/)
  const callers = (file: string) => [...calls.keys()].filter((other) => calls.get(other)!.has(file))
  const before = reached(end, callers)
  const way = [...reached(`src/cli/commands/${command}.ts`, (file) => calls.get(file)!)].filter((file) =>
    before.has(file),
  )
  expect(way.length).toBeGreaterThan(1)
  const rooms = new Set(way.flatMap((file) => [file, ...calls.get(file)!]).map(roomOf))
  expect(rooms.size, [...rooms].join(', ')).toBeLessThanOrEqual(MOST_ROOMS)
})
