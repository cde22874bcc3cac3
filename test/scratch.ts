/**
 * The folders of a run are in memory, where there is plenty: on a disk, each commit of a service and of Temporal waits for the disk,
 * and a processor with it. No test takes the machine's power away, which is all that a disk is for.
 */
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statfsSync,
} from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'

/** A few times what a run keeps at once. */
const ROOM = 4 * 1024 ** 3

/** As Vitest's global setup, before those that make folders. A `TMPDIR` that is given stays. */
export default function setup(): void {
  if (process.env['TMPDIR'] || !hasRoom()) return
  removeLeft(MEMORY)
  // Short, for the sockets in it.
  const folder = mkdtempSync(join(MEMORY, `${nameFor(process.pid)}-`))
  // As `/tmp` is: tests start programs as other users.
  chmodSync(folder, 0o1777)
  process.env['TMPDIR'] = folder
  process.once('exit', () => {
    try {
      rmSync(folder, { recursive: true, force: true })
    } catch {
      // A process that is ending still writes: the next run removes it.
    }
  })
}

/** What tells a process where that is: what it makes there is then where a test looks for it. */
export function temporaryFolder(): Readonly<Record<string, string>> {
  const folder = process.env['TMPDIR']
  return folder ? { TMPDIR: folder } : {}
}

/** Whether programs can be started there, and as much memory is left for them. */
function hasRoom(): boolean {
  if (!existsSync('/proc/mounts')) return false
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
  const [, , type, options = ''] = mounts.map((line) => line.split(' ')).find(([, at]) => at === MEMORY) ?? []
  if (type !== 'tmpfs' || options.split(',').includes('noexec')) return false
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize > ROOM && freemem() > 2 * ROOM
}

/**
 * The beginning of the name of a process's folder. Processes of containers may share the memory, and not the numbers of processes: what
 * tells those that do is in the name. It is short, for the sockets within (unix(7): a path has 107 bytes at most).
 */
export function nameFor(pid: number): string {
  // As `pid:[4026531836]`, which is the number of the first one on every machine (proc_ns.h: `PROC_PID_INIT_INO`).
  const [number = 0] = /\d+/.exec(readlinkSync('/proc/self/ns/pid')) ?? []
  return `quorate-${(Number(number) - 0xef_ff_ff_fc).toString(36)}.${pid.toString(36)}`
}

/** Removes what runs left behind that were killed, of those whose processes have numbers here. */
export function removeLeft(memory: string): void {
  for (const name of readdirSync(memory)) {
    const pid = Number.parseInt(/^quorate-[0-9a-z-]+\.([0-9a-z]+)-/.exec(name)?.[1] ?? '', 36)
    const isOurs = !Number.isNaN(pid) && name.startsWith(`${nameFor(pid)}-`)
    if (isOurs && !existsSync(`/proc/${pid}`)) rmSync(join(memory, name), { recursive: true, force: true })
  }
}
