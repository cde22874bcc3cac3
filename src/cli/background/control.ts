import { createHash } from 'node:crypto'
import { chmodSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BackgroundStatus } from './model.ts'

/**
 * The socket on which the background process of one data folder answers `status` and `stop`. It stands in the
 * system's folder for temporary files, because a socket's path may have only about a hundred characters.
 */
export function controlSocket(dataDir: string): string {
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
  return process.platform === 'win32' ? `\\\\.\\pipe\\quorate-${name}` : join(tmpdir(), `quorate-${name}.sock`)
}

/** Answers on the control socket until closed. Only the same user can connect. */
export function listenForControl(dataDir: string, status: () => BackgroundStatus, stop: () => void): Promise<Server> {
  const path = controlSocket(dataDir)
  rmSync(path, { force: true })
  const server = createServer((socket) => {
    socket.setEncoding('utf8')
    socket.on('error', () => socket.destroy())
    socket.once('data', (line) => {
      socket.end(`${JSON.stringify(status())}\n`)
      if (String(line).trim() === 'stop') stop()
    })
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      if (process.platform !== 'win32') chmodSync(path, 0o600)
      resolve(server)
    })
  })
}

/** Asks the background process of a data folder; undefined when none answers. */
export function askBackground(dataDir: string, word: 'status' | 'stop'): Promise<BackgroundStatus | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(controlSocket(dataDir))
    let text = ''
    socket.setEncoding('utf8')
    socket.setTimeout(5_000, () => socket.destroy())
    socket.on('connect', () => socket.write(`${word}\n`))
    socket.on('data', (part) => {
      text += part
    })
    socket.on('error', () => resolve(undefined))
    socket.on('close', () => resolve(text.endsWith('\n') ? (JSON.parse(text) as BackgroundStatus) : undefined))
  })
}
