/**
 * A socket between two processes of one user, found through a private folder that both know.
 *
 * The listener makes a secret at each start and writes it, with the socket's path, into `run/<name>.json` of the folder. The
 * socket stands in `run/` too; where its path would be too long for a socket, in a new folder of the system's temporary one,
 * with a random name and entered by its owner alone. Nothing is believed because of where it stands: each end proves that it
 * knows the secret (HMAC-SHA-256 over the nonces of both), before the request is said and before the answer is believed. Who
 * listens at the path without the secret learns a nonce, and cannot answer.
 *
 *     asker     {"nonce": a}
 *     listener  {"nonce": b, "proof": HMAC("listener" a b)}
 *     asker     {"text": request, "proof": HMAC("asker" a b request)}
 *     listener  {"text": answer, "proof": HMAC("answer" a b answer)}
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmodSync, lstatSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { QuorateError } from '../diagnostics/index.ts'
import { exposed, exposureOf } from './exposure.ts'
import { readPrivate, writePrivate } from './private-file.ts'
import { assertPrivateFolder, ensurePrivateFolder } from './private-folder.ts'

/** A socket's path has at most 103 bytes on macOS and 107 on Linux (unix(7): `sun_path`). */
const LONGEST_PATH = 103
/** Far above any request or answer: what says more is no peer of ours. */
const LONGEST_LINE = 1024 * 1024
const PATIENCE_MS = 5_000

/** The file that the listener writes for its owner's other processes. */
interface Note {
  readonly socket: string
  /** Hex, 32 bytes. */
  readonly secret: string
}

/** A socket that answers. */
export interface PrivateListener {
  close(): Promise<void>
}

type Word = Readonly<Record<'nonce' | 'proof' | 'text', string | undefined>>

/** Listens in a folder under a name until closed. The caller holds the folder's lock, so no other listens there. */
export async function listenPrivately(
  folder: string,
  name: string,
  answer: (request: string) => string | Promise<string>,
): Promise<PrivateListener> {
  const run = resolve(folder, 'run')
  ensurePrivateFolder(run)
  // A copy of a data folder may have lost the modes of its folders, and then nobody would ask here.
  if (process.platform !== 'win32') chmodSync(run, 0o700)
  const file = join(run, `${name}.json`)
  removeSocket(run, readNote(file))
  const note: Note = { socket: choosePath(run, name), secret: randomBytes(32).toString('hex') }
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    serve(socket, note.secret, answer).catch(() => socket.destroy())
  })
  try {
    await listen(server, note.socket)
    // A process that finds the note finds the listener ready.
    writePrivate(file, JSON.stringify(note))
  } catch (error) {
    server.close()
    removeSocket(run, note)
    throw error
  }
  return {
    close: () =>
      new Promise((resolve) => {
        rmSync(file, { force: true })
        server.close(() => {
          removeSocket(run, note)
          resolve()
        })
        for (const socket of open) socket.destroySoon()
      }),
  }
}

/**
 * Asks the listener of a folder and name; undefined when there is none, or it does not answer in time, which `onSilent` is told.
 * Throws `local/exposed` where others could have put something there, and `local/not-proved` for who listens without the secret
 * of the folder.
 */
export async function askPrivately(
  folder: string,
  name: string,
  request: string,
  {
    answerWithinMs = PATIENCE_MS,
    listensWithinMs = PATIENCE_MS,
    onSilent,
  }: { readonly answerWithinMs?: number; readonly listensWithinMs?: number; readonly onSilent?: () => void } = {},
): Promise<string | undefined> {
  const run = resolve(folder, 'run')
  if (!assertPrivateFolder(folder) || !assertPrivateFolder(run)) return undefined
  const note = readNote(join(run, `${name}.json`))
  if (!note || !assertPrivateSocket(note.socket)) return undefined
  const socket = await connect(note.socket)
  if (!socket) return undefined
  if (onSilent) socket.once('timeout', onSilent)
  try {
    return await ask(socket, note, { request, answerWithinMs, listensWithinMs })
  } finally {
    socket.destroy()
  }
}

async function serve(
  socket: Socket,
  secret: string,
  answer: (request: string) => string | Promise<string>,
): Promise<void> {
  const read = reader(socket)
  const { nonce: a } = await read()
  if (!isNonce(a)) return void socket.destroy()
  const b = randomBytes(32).toString('hex')
  say(socket, { nonce: b, proof: prove(secret, 'listener', a, b) })
  const { text, proof } = await read()
  if (text === undefined || !isProof(proof, prove(secret, 'asker', a, b, text))) return void socket.destroy()
  // Who asks has proved the secret, and says how long to wait.
  socket.setTimeout(0)
  const answered = await answer(text)
  socket.end(line({ text: answered, proof: prove(secret, 'answer', a, b, answered) }))
}

async function ask(
  socket: Socket,
  { secret, socket: path }: Note,
  {
    request,
    answerWithinMs,
    listensWithinMs,
  }: { readonly request: string; readonly answerWithinMs: number; readonly listensWithinMs: number },
): Promise<string | undefined> {
  const read = reader(socket, listensWithinMs)
  const a = randomBytes(32).toString('hex')
  say(socket, { nonce: a })
  const { nonce: b, proof } = await read()
  // It has closed: it is about to end.
  if (b === undefined) return undefined
  if (!isNonce(b) || !isProof(proof, prove(secret, 'listener', a, b))) throw notProved(path)
  say(socket, { text: request, proof: prove(secret, 'asker', a, b, request) })
  socket.setTimeout(answerWithinMs)
  const last = await read()
  if (last.text === undefined) return undefined
  if (!isProof(last.proof, prove(secret, 'answer', a, b, last.text))) throw notProved(path)
  return last.text
}

/** HMAC over a JSON list, so that no two lists of parts have the same bytes. */
function prove(secret: string, ...parts: readonly string[]): string {
  return createHmac('sha256', Buffer.from(secret, 'hex')).update(JSON.stringify(parts)).digest('hex')
}

function isProof(given: string | undefined, expected: string): boolean {
  return given?.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected))
}

function isNonce(text: string | undefined): text is string {
  return text !== undefined && /^[0-9a-f]{64}$/.test(text)
}

const line = (word: Partial<Word>) => `${JSON.stringify(word)}\n`
const say = (socket: Socket, word: Partial<Word>) => void socket.write(line(word))
const NOTHING: Word = { nonce: undefined, proof: undefined, text: undefined }

/** Reads a line at a time; nothing at the end, and of who says too much, too slowly, or no JSON. */
function reader(socket: Socket, patienceMs = PATIENCE_MS): () => Promise<Word> {
  socket.on('error', () => socket.destroy())
  socket.setTimeout(patienceMs, () => socket.destroy())
  const lines = readLines(socket)
  return async () => {
    try {
      const { value, done } = await lines.next()
      return done ? NOTHING : parse(value)
    } catch {
      // It was closed before its end.
      return NOTHING
    }
  }
}

async function* readLines(socket: Socket): AsyncGenerator<string, void> {
  let text = ''
  for await (const part of socket.setEncoding('utf8')) {
    text += part
    if (text.length > LONGEST_LINE) return
    const lines = text.split('\n')
    text = lines.pop()!
    yield* lines
  }
}

function parse(text: string): Word {
  try {
    const { nonce, proof, text: said } = Object(JSON.parse(text)) as Record<string, unknown>
    const only = (value: unknown) => (typeof value === 'string' ? value : undefined)
    return { nonce: only(nonce), proof: only(proof), text: only(said) }
  } catch {
    return NOTHING
  }
}

function connect(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(path)
    socket.once('connect', () => resolve(socket))
    // Nobody listens any more: a killed process leaves its socket.
    socket.once('error', () => resolve(undefined))
  })
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      if (process.platform !== 'win32') chmodSync(path, 0o600)
      resolve()
    })
  })
}

function choosePath(run: string, name: string): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\quorate-${randomBytes(16).toString('hex')}`
  const path = join(run, `${name}.sock`)
  if (Buffer.byteLength(path) <= LONGEST_PATH) return path
  return join(mkdtempSync(join(tmpdir(), 'quorate-')), `${name}.sock`)
}

/** Whether there is a socket of this user's own, in a folder that nobody else can enter. */
function assertPrivateSocket(path: string): boolean {
  if (process.platform === 'win32') return true
  const folder = lstatSync(dirname(path), { throwIfNoEntry: false })
  const socket = lstatSync(path, { throwIfNoEntry: false })
  if (!folder || !socket) return false
  for (const [where, stats] of [
    [dirname(path), folder],
    [path, socket],
  ] as const) {
    const exposure = exposureOf(where, stats)
    if (exposure) throw exposed(where, exposure)
  }
  const mode = folder.mode & 0o7777
  if ((mode & 0o077) !== 0) {
    const reason = `its mode is 0${mode.toString(8)}, so others than its owner may enter it`
    throw exposed(dirname(path), { reason, next: `close it: \`chmod 700 ${dirname(path)}\`` })
  }
  if (socket.isSocket()) return true
  throw notProved(path)
}

function readNote(file: string): Note | undefined {
  const text = readPrivate(file)
  if (text === undefined) return undefined
  try {
    const note = JSON.parse(text) as Note
    if (typeof note.socket === 'string' && isNonce(note.secret)) return note
  } catch {
    // Below.
  }
  throw new QuorateError('local/not-proved', `\`${file}\` is no note of a listener`, {
    facts: { path: file },
    next: `remove it: \`rm ${file}\``,
  })
}

/** Removes a socket, and the folder that was made for it alone. */
function removeSocket(run: string, note: Note | undefined): void {
  if (!note || process.platform === 'win32') return
  const folder = dirname(note.socket)
  try {
    rmSync(note.socket, { force: true })
    if (folder !== run) rmdirSync(folder)
  } catch {
    // It was cleaned away, or is somebody else's by now.
  }
}

function notProved(path: string): QuorateError {
  return new QuorateError(
    'local/not-proved',
    `what listens at \`${path}\` does not know the secret of the data folder`,
    {
      facts: { socket: path },
      next: `look who it is (\`lsof ${path}\`), end it, and run the command again; it was told nothing`,
    },
  )
}
