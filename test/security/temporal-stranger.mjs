/**
 * What a stranger on this machine tries at a port, with nothing but Node.js: gRPC calls of Temporal's API in clear, over TLS
 * without a certificate, and with one of an authority of its own; the HTTP request of a web page; the greeting of the
 * servers' own gossip. Reads `{ ports, pair? }` as its argument, and prints what came of each.
 */
import { connect as http2 } from 'node:http2'
import { createConnection } from 'node:net'
import { connect as connectTls } from 'node:tls'

const { ports, pair, ca } = JSON.parse(process.argv[2])
const PATIENCE_MS = 3_000

/** A field of a protobuf message: a string or another message. */
const field = (number, value) => {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes])
}
const message = (...fields) => Buffer.concat(fields)
const namespace = field(1, 'default')
const execution = (number) => field(number, message(field(1, 'kept')))

const CALLS = {
  ListNamespaces: message(),
  ListWorkflowExecutions: message(namespace),
  GetWorkflowExecutionHistory: message(namespace, execution(2)),
  StartWorkflowExecution: message(
    namespace,
    field(2, 'stranger'),
    field(3, field(1, 'apply')),
    field(4, field(1, 'anything')),
  ),
  SignalWorkflowExecution: message(namespace, execution(2), field(3, 'nudge')),
  QueryWorkflow: message(namespace, execution(2), field(3, field(1, 'progress'))),
  TerminateWorkflowExecution: message(namespace, execution(2)),
}

/** Resolves with the gRPC status, e.g. `0`, or with why there is none. */
function call(port, name, tls) {
  return new Promise((resolve) => {
    const session = http2(`${tls ? 'https' : 'http'}://localhost:${port}`, {
      createConnection: () =>
        tls
          ? connectTls({ host: '127.0.0.1', port, servername: 'localhost', ALPNProtocols: ['h2'], ...tls })
          : createConnection({ host: '127.0.0.1', port }),
    })
    const end = (what) => {
      session.destroy()
      resolve(what)
    }
    setTimeout(() => end('no answer'), PATIENCE_MS).unref()
    session.on('error', ({ code, message: text }) => end(code ?? text))
    session.on('close', () => end('closed'))
    const stream = session.request({
      ':method': 'POST',
      ':path': `/temporal.api.workflowservice.v1.WorkflowService/${name}`,
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    const status = (headers) => headers['grpc-status'] !== undefined && end(`grpc ${headers['grpc-status']}`)
    stream.on('response', status)
    stream.on('trailers', status)
    stream.on('error', ({ code, message: text }) => end(code ?? text))
    stream.resume()
    const length = Buffer.alloc(5)
    length.writeUInt32BE(CALLS[name].length, 1)
    stream.end(Buffer.concat([length, CALLS[name]]))
  })
}

/** Resolves with what is heard after these bytes were said. */
function say(port, bytes, tls) {
  return new Promise((resolve) => {
    const socket = tls
      ? connectTls({ host: '127.0.0.1', port, servername: 'localhost', ...tls })
      : createConnection({ host: '127.0.0.1', port })
    const heard = []
    const end = () => {
      socket.destroy()
      resolve(Buffer.concat(heard).toString('latin1'))
    }
    setTimeout(end, PATIENCE_MS).unref()
    socket.on('data', (part) => heard.push(part))
    socket.on('error', end)
    socket.on('end', end)
    socket.write(bytes)
  })
}

const body = '{"workflowType":{"name":"apply"},"taskQueue":{"name":"anything"}}'
const WEB_PAGE =
  `POST /api/v1/namespaces/default/workflows/stranger HTTP/1.1\r\nHost: evil.example\r\nOrigin: https://evil.example\r\n` +
  `Content-Type: text/plain\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`

/** TChannel's init request, version 2: what a member says first (the protocol of uber/tchannel). */
function gossip() {
  const pairs = { host_port: '127.0.0.1:1', process_name: 'stranger', tchannel_language: 'go' }
  const text = (value) => Buffer.concat([Buffer.from([0, value.length]), Buffer.from(value)])
  const headers = Object.entries(pairs).flatMap(([name, value]) => [text(name), text(value)])
  const payload = Buffer.concat([Buffer.from([0, 2, 0, 3]), ...headers])
  const frame = Buffer.alloc(16)
  frame.writeUInt16BE(16 + payload.length, 0)
  frame.writeUInt8(1, 2)
  frame.writeUInt32BE(1, 4)
  return Buffer.concat([frame, payload])
}

const untrusting = { rejectUnauthorized: false }
const WAYS = {
  'in clear': undefined,
  'without a certificate': untrusting,
  ...(pair ? { 'with a certificate': { cert: pair.certificate, key: pair.key, ca, ...untrusting } } : {}),
}

/** All that is tried at one port in one way. */
async function attack(port, way, tls) {
  const calls = await Promise.all(Object.keys(CALLS).map(async (name) => [name, await call(port, name, tls)]))
  const [web, member] = await Promise.all([say(port, WEB_PAGE, tls), say(port, gossip(), tls)])
  return { port, way, calls: Object.fromEntries(calls), web, member }
}

const attempts = ports.flatMap((port) => Object.entries(WAYS).map(([way, tls]) => attack(port, way, tls)))
console.log(JSON.stringify(await Promise.all(attempts)))
process.exit(0)
