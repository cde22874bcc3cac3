/** Speaks to a service over bare sockets, as nobody's HTTP library would. */
import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface RawConnection {
  readonly socket: Socket
  write(text: string): void
  /** Everything that came until the other side ended the connection. */
  ended: Promise<string>
  /** Waits for the next whole answers, in their order. */
  answers(count: number): Promise<readonly RawAnswer[]>
}

/** Connects from an address of this machine. @default 127.0.0.1 */
export function open(url: string, localAddress = '127.0.0.1'): Promise<RawConnection> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress })
  let got = ''
  let look = () => {}
  socket.setEncoding('latin1').on('data', (text) => {
    got += text
    look()
  })
  const ended = new Promise<string>((resolve) => socket.on('error', () => {}).on('close', () => resolve(got)))
  const connection: RawConnection = {
    socket,
    ended,
    write: (text) => void socket.write(text, 'latin1'),
    answers: (count) =>
      new Promise((resolve, reject) => {
        look = () => {
          const found = readAnswers(got)
          if (found.length >= count) resolve(found)
        }
        look()
        void ended.then(() => reject(new Error(`expected ${count} answers, got \`${got}\``)))
      }),
  }
  return new Promise((resolve) => socket.once('connect', () => resolve(connection)))
}

/** Cuts what came over a connection into answers; one that is not whole yet is left out. */
export function readAnswers(text: string): readonly RawAnswer[] {
  const answers: RawAnswer[] = []
  for (let rest = text; ; ) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) return answers
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n')
    const status = Number(first.split(' ')[1])
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const length = status === 100 ? 0 : Number(headers['content-length'] ?? 0)
    if (rest.length < end + 4 + length) return answers
    if (status !== 100) answers.push({ status, headers, body: rest.slice(end + 4, end + 4 + length) })
    rest = rest.slice(end + 4 + length)
  }
}

/** What makes a refusal one of the API: its type, its members, and their kinds. */
export function isApiRefusal({ headers, body }: RawAnswer): boolean {
  if (headers['content-type'] !== 'application/json') return false
  const { code, message, details, turnkeyErrorCode, ...rest } = JSON.parse(body) as Record<string, unknown>
  return (
    typeof code === 'number' &&
    typeof message === 'string' &&
    Array.isArray(details) &&
    typeof turnkeyErrorCode === 'string' &&
    Object.keys(rest).length === 0
  )
}
