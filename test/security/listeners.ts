/** Which ports a process and everything below it listen on, from Linux's own tables. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface Listener {
  readonly pid: number
  readonly program: string
  /** IPv4 in dotted form; IPv6 as the kernel writes it. */
  readonly host: string
  readonly port: number
}

const LISTEN = '0A'

export function listenersOf(root: number): readonly Listener[] {
  const sockets = new Map<string, Omit<Listener, 'pid' | 'program'>>()
  for (const table of ['tcp', 'tcp6']) {
    for (const line of readFileSync(`/proc/net/${table}`, 'utf8').trim().split('\n').slice(1)) {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
      const [host, port] = local!.split(':')
      if (state === LISTEN) sockets.set(inode!, { host: dotted(host!), port: Number.parseInt(port!, 16) })
    }
  }
  return processesBelow(root).flatMap((pid) => {
    const program = readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const inode = /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1]
      const socket = inode === undefined ? undefined : sockets.get(inode)
      return socket ? [{ pid, program, ...socket }] : []
    })
  })
}

/** A process and all that it started, however deep. */
export function processesBelow(root: number): readonly number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(Number(name))] as const)
  const below = [root]
  for (const pid of below) below.push(...parents.filter(([, parent]) => parent === pid).map(([child]) => child))
  return below
}

function parentOf(pid: number): number | undefined {
  try {
    // The name in parentheses may hold anything, blanks too.
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[1])
  } catch {
    return undefined
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function dotted(hex: string): string {
  if (hex.length > 8) return hex
  return hex
    .match(/../g)!
    .map((byte) => Number.parseInt(byte, 16))
    .reverse()
    .join('.')
}
