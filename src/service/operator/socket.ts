import { createHash } from 'node:crypto'
import { chmodSync, realpathSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toErrorJson } from '../../diagnostics/index.ts'
import { ServiceError } from '../error.ts'
import { OWNER_ONLY } from '../files.ts'
import type { Operator, OperatorRequest, OperatorState } from './operator.ts'

/** One line of JSON each way. */
type Reply = { readonly state: OperatorState } | { readonly error: ReturnType<typeof toErrorJson> }

/**
 * The socket of a data folder's operator: never the public API's, and its owner's alone, who could read the folder's
 * keys as well. It stands in the system's folder for temporary files, because a socket's path may have only about a
 * hundred characters.
 */
function operatorSocket(dataDir: string): string {
  const name = createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 16)
  return process.platform === 'win32'
    ? `\\\\.\\pipe\\quorate-operator-${name}`
    : join(tmpdir(), `quorate-operator-${name}.sock`)
}

/** Answers the operator of a data folder until closed. Whoever calls this holds the folder's lock. */
export function listenForOperator(dataDir: string, operator: Operator): Promise<Server> {
  const path = operatorSocket(dataDir)
  rmSync(path, { force: true })
  const server = createServer((socket) => {
    let text = ''
    socket.setEncoding('utf8')
    socket.on('error', () => socket.destroy())
    socket.on('data', (part) => {
      text += part
      if (text.endsWith('\n')) socket.end(`${JSON.stringify(answer(operator, text))}\n`)
    })
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      if (process.platform !== 'win32') chmodSync(path, OWNER_ONLY)
      resolve(server)
    })
  })
}

function answer(operator: Operator, text: string): Reply {
  try {
    return { state: operator.answer(JSON.parse(text) as OperatorRequest) }
  } catch (error) {
    return { error: toErrorJson(error) }
  }
}

/**
 * Asks the service that serves a data folder. Throws `service/no-operator` when none listens, `service/operator-invalid`
 * when it refuses.
 */
export async function askOperator(dataDir: string, request: OperatorRequest): Promise<OperatorState> {
  const text = await exchange(dataDir, `${JSON.stringify(request)}\n`)
  if (text === undefined) {
    throw new ServiceError(
      'service/no-operator',
      `no service takes an operator's word for the data folder \`${dataDir}\``,
      {
        facts: { folder: dataDir },
        next: 'start it with `quorate up` or `quorate serve`; with NODE_ENV=production only `quorate serve --operator` listens',
      },
    )
  }
  const reply = JSON.parse(text) as Reply
  if ('state' in reply) return reply.state
  const { code, message, next } = reply.error
  throw new ServiceError(code as 'service/operator-invalid', message, next === undefined ? {} : { next })
}

function exchange(dataDir: string, line: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let socket: ReturnType<typeof createConnection>
    try {
      socket = createConnection(operatorSocket(dataDir))
    } catch {
      // The folder does not exist.
      return resolve(undefined)
    }
    let text = ''
    socket.setEncoding('utf8')
    socket.on('connect', () => socket.write(line))
    socket.on('data', (part) => {
      text += part
    })
    socket.on('error', () => resolve(undefined))
    socket.on('close', () => resolve(text.endsWith('\n') ? text : undefined))
  })
}
