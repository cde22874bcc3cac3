/**
 * Looks for secrets in what was written, in every form that they may have there, and opens what Temporal keeps so that nothing of it is
 * left unread. It shares nothing with what the program itself masks secrets by (`src/telemetry`, `src/diagnostics`): a fault of that is seen.
 */
import { gunzipSync, inflateSync } from 'node:zlib'
import type { Payload } from '@temporalio/common'
import { encodeBase58 } from '../../src/encoding/index.ts'
import type { PayloadSeal } from '../../src/worker/index.ts'

/** Forms within forms that are looked into: a secret in JSON in base64 in JSON is found. */
const MOST_DEPTH = 3

/** Of a key, a part of so many digits is as wrong in a place as the whole. */
const PART = 16

/** Gives the names of the values that a text (or bytes, as `latin1`) holds. */
export function createSearch(values: Readonly<Record<string, string>>): (text: string) => readonly string[] {
  const forms = Object.entries(values).map(([name, value]) => [name, [...new Set(formsOf(value))]] as const)
  return (text) => {
    const seen = readings(text)
    return forms.filter(([, all]) => seen.some((one) => all.some((form) => one.includes(form)))).map(([name]) => name)
  }
}

/** What may be made of a secret before it is written somewhere. */
function formsOf(secret: string): readonly string[] {
  if (!/^(?:[0-9a-f]{2}){16,}$/i.test(secret)) return formsOfText(secret)
  const parts = secret.toLowerCase().match(new RegExp(`.{${PART}}`, 'g')) ?? []
  const texts = [...parts, ...parts.map((part) => part.toUpperCase())]
  return [...formsOfBytes(Buffer.from(secret, 'hex')), ...[secret, ...texts].flatMap(formsOfText)]
}

function formsOfText(text: string): readonly string[] {
  const json = JSON.stringify(text).slice(1, -1)
  const ascii = json.replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const forms = [text, json, ascii, ...[json, ascii].map((one) => JSON.stringify(one).slice(1, -1))]
  const all = [
    ...forms,
    json.replaceAll('/', '\\/'),
    encodeURIComponent(text),
    new URLSearchParams({ text }).toString().slice(5),
  ]
  return [...all, ...all.map((form) => Buffer.from(form).toString('latin1')), ...formsOfBytes(Buffer.from(text))]
}

function formsOfBytes(bytes: Buffer): readonly string[] {
  return [
    ...[bytes.toString('latin1'), bytes.toString('hex'), bytes.toString('hex').toUpperCase(), encodeBase58(bytes)],
    [...bytes].join(','),
    ...(['base64', 'base64url'] as const).flatMap((form) =>
      // Where it begins in a group of three bytes decides its letters; those that it shares with its neighbours are left out.
      [0, 1, 2].map((at) => {
        const letters = Buffer.concat([Buffer.alloc(at), bytes])
          .toString(form)
          .replace(/=+$/, '')
        return letters.slice(at === 0 ? 0 : at + 1, (at + bytes.length) % 3 === 0 ? undefined : -1)
      }),
    ),
  ]
}

/** The text as it is, without its line breaks and the names of its bytes, and what its longer words say once they are decoded. */
function readings(text: string, depth = 0): readonly string[] {
  const unbroken = text.replace(/\s+|\\[nrt]|"\d+":/g, '')
  if (depth === MOST_DEPTH) return [text, unbroken]
  const words = new Set([text, unbroken].flatMap((one) => one.match(/[\w+/-]{24,}/g) ?? []))
  const said = [...words].flatMap(decoded).map((one) => inflated(one).toString('latin1'))
  return [text, unbroken, ...(said.length > 0 ? readings(said.join('\n'), depth + 1) : [])]
}

function decoded(word: string): readonly Buffer[] {
  return [Buffer.from(word, 'base64'), ...(/^[0-9a-f]+$/i.test(word) ? [Buffer.from(word, 'hex')] : [])]
}

function inflated(bytes: Buffer): Buffer {
  try {
    if (bytes.readUInt16BE(0) === 0x1f8b) return gunzipSync(bytes)
    return bytes[0] === 0x78 ? inflateSync(bytes) : bytes
  } catch {
    return bytes
  }
}

/**
 * Everything that Temporal tells of a workflow or a Schedule, as its client gives it (a history, a row of a list, a description): each
 * member with its name and the bytes of each, those of sealed payloads as they are and opened. Throws where one is not opened.
 */
export function openAll(told: unknown, seal: Pick<PayloadSeal, 'openAsNamed'>): string {
  const parts: string[] = []
  const walk = (name: string, value: unknown): void => {
    if (value instanceof Uint8Array) return void parts.push(`${name}: ${Buffer.from(value).toString('latin1')}`)
    if (typeof value !== 'object' || value === null) return void parts.push(`${name}: ${String(value)}`)
    const { metadata } = value as Payload
    const encoding = metadata?.['encoding']
    if (encoding instanceof Uint8Array && Buffer.from(encoding).toString() === SEALED) {
      const opened = seal.openAsNamed(value as Payload)
      if (!opened) throw new Error(`${name} is sealed and was not opened`)
      walk(`${name} opened`, { ...opened })
    }
    for (const [member, one] of Object.entries(value)) walk(member, one)
  }
  walk('told', told)
  return parts.join('\n')
}

const SEALED = 'binary/quorate-sealed'
