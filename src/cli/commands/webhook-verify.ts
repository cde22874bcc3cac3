import { readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { EXIT, type ExitCode, QuorateError, unreadWords } from '../../diagnostics/index.ts'
import { type DeliveryHeaders, verifyDelivery } from '../../webhook/index.ts'
import { findApi } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'
import { MEANING_OF_FAULT } from '../views/webhooks.ts'
import { fetchWebhookKeys, readWebhookKeys } from '../webhook-keys.ts'

/** How far a delivery's time may be from this one: what receivers are told to take. */
const WINDOW_S = 300

/** Verifies one webhook: the bytes that came and the headers that came with them. */
export async function verifyWebhook(input: CommandInput): Promise<ExitCode> {
  const { io, json, options } = input
  const headers = readHeaders(options)
  const file = input.args[0] ?? '-'
  const body = file === '-' ? await buffer(process.stdin) : readFile(file)
  const { keys, now } = await readKeys(input)
  const mostAgeMs = options['anyAge'] === true ? Infinity : readAge(options['maxAge']) * 1_000
  const verdict = verifyDelivery({ headers, body }, { keys, now, mostAgeMs })
  if (json) writeJson(io, verdict)
  else if (verdict.ok) {
    const at = new Date(verdict.timestampMs).toISOString()
    io.out(line`Verified: event ${verdict.eventId}, signed at ${at} by the key ${verdict.keyId}.\n`)
  } else {
    const header = verdict.header === undefined ? '' : line` (${verdict.header})`
    io.out(line`Not verified: ${verdict.reason}` + header + line`. ${MEANING_OF_FAULT[verdict.reason]}\n`)
  }
  return verdict.ok ? EXIT.done : EXIT.error
}

async function readKeys(input: CommandInput) {
  const { keys } = input.options
  if (keys !== undefined) return { keys: readWebhookKeys(String(keys)), now: Date.now() }
  // The list is public and the same for all organizations: of a service that is named, nothing else is asked.
  const { baseUrl } = input.settings
  if (baseUrl !== undefined) return { keys: await fetchWebhookKeys(baseUrl), now: Date.now() }
  const api = await findApi(input)
  return { keys: await fetchWebhookKeys(api.baseUrl), now: api.now() }
}

/** Headers of `--header` go over those of `--headers`, a file with an object of JSON or lines such as `Name: value`. */
function readHeaders({ header = [], headers }: CommandInput['options']): DeliveryHeaders {
  const found: Record<string, string> = {}
  const text = headers === undefined ? '' : readFile(String(headers)).toString('utf8')
  const lines = text.trimStart().startsWith('{') ? [] : text.split(/\r?\n/)
  if (text.trimStart().startsWith('{')) {
    for (const [name, value] of Object.entries(parseObject(String(headers), text))) {
      found[name.toLowerCase()] = String(Array.isArray(value) ? value[0] : value)
    }
  }
  for (const one of [...lines.filter((each) => each.includes(':')), ...(header as readonly string[])]) {
    const at = one.indexOf(':')
    if (at < 1) throw usage(`expected a header such as \`X-Turnkey-Event-Id: …\`, got \`${one}\``)
    found[one.slice(0, at).trim().toLowerCase()] = one.slice(at + 1).trim()
  }
  if (Object.keys(found).length === 0) throw usage('no header was given; the signature is in headers')
  return found
}

function parseObject(file: string, text: string): object {
  try {
    return Object(JSON.parse(text))
  } catch (cause) {
    throw usage(`\`${file}\` is no JSON: ${(cause as Error).message}`)
  }
}

function readFile(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new QuorateError('cli/unreadable', `\`${path}\` cannot be read: ${unreadWords(cause)}`, {
      facts: { file: path },
      next: 'name a file that is there',
      cause,
    })
  }
}

function readAge(text: unknown): number {
  const seconds = text === undefined ? WINDOW_S : Number(text)
  if (Number.isFinite(seconds) && seconds >= 0) return seconds
  throw usage(`expected --max-age to be a number of seconds, got \`${text}\``)
}

function usage(message: string): QuorateError {
  return new QuorateError('cli/usage', message, {
    next: 'give the headers with --headers FILE, or each with --header `Name: value`',
  })
}
