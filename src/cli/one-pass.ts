import { setFlagsFromString } from 'node:v8'

/** The commands that read a folder or an organization once and end. */
export const ONE_PASS = ['validate', 'fmt', 'plan', 'apply', 'import', 'unmanaged', 'show', 'status']

/** The commands that make and drop far more than they hold. */
const WASTEFUL = ['who-can']

const OF_A_FOLDER = ['node:crypto', 'node:fs/promises']

/**
 * The modules of Node.js that a command needs in any case. They come compiled with Node.js, but V8 takes what was compiled only under
 * the flags that it was compiled with: loaded after these flags are set, each is compiled anew, which takes as long as `node -e 0`.
 */
const LOADED_BEFORE: Readonly<Record<string, readonly string[]>> = {
  validate: OF_A_FOLDER,
  fmt: OF_A_FOLDER,
  plan: [...OF_A_FOLDER, 'node:http'],
  apply: [...OF_A_FOLDER, 'node:http'],
}

const FLAGS = [
  '--no-opt',
  // Its first compiler waits for sixteen times as much that has run often: that comes of a large folder, and of no small one.
  '--baseline-batch-compilation-threshold=65536',
  '--single-threaded-gc',
  '--semi-space-growth-factor=1',
  // Most of what is made stays until the end: the old generation may grow to five times what its first collection left before the next.
  '--heap-growing-percent=400',
]

/**
 * Tells V8 that this process ends soon: what runs once is not worth its second compiler, nor threads that collect beside it,
 * and a young generation that does not grow keeps planning 5,000 resources at half of the memory. For commands that stay, such
 * as `serve` and `worker`, nothing is changed. What wastes memory is collected sooner: half of it and less, for up to twice the CPU time.
 */
export function tuneForOnePass(command: string | undefined): void {
  for (const name of LOADED_BEFORE[command ?? ''] ?? []) process.getBuiltinModule(name)
  if (WASTEFUL.includes(command ?? '')) setFlagsFromString('--optimize-for-size')
  if (!ONE_PASS.includes(command ?? '')) return
  for (const flag of FLAGS) setFlagsFromString(flag)
}
