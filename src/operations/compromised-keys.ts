/** Public keys that an incident has marked: no plan made from this data folder may name one, nor may a reconciler put one back. */
import { join } from 'node:path'
import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import { ensurePrivateFolder, readPrivate, writePrivate } from '../local/index.ts'
import type { Desired, SubOrganization } from '../resources/index.ts'

/** A mark; keys are lower-case hex. */
interface Compromised {
  readonly publicKey: string
  /** ISO 8601. */
  readonly markedAt: string
  /** Whose it was, where a user was cut off: by then the user may have it no more. */
  readonly userId?: string
}

const fileOf = (dataDir: string) => join(dataDir, 'compromised.json')

function readMarks(dataDir: string): readonly Compromised[] {
  const text = readPrivate(fileOf(dataDir))
  return text === undefined ? [] : (JSON.parse(text) as readonly Compromised[])
}

/** The marked keys of a user who was cut off before. */
export function compromisedOf(dataDir: string, userId: string): readonly string[] {
  return readMarks(dataDir).flatMap((one) => (one.userId === userId ? [one.publicKey] : []))
}

/** Marks a key, once. */
export function markCompromised(dataDir: string, publicKey: string, nowMs: number, userId?: string): void {
  const marks = readMarks(dataDir)
  const key = publicKey.toLowerCase()
  if (marks.some((one) => one.publicKey === key)) return
  ensurePrivateFolder(dataDir)
  const all = [...marks, { publicKey: key, markedAt: new Date(nowMs).toISOString(), ...(userId ? { userId } : {}) }]
  writePrivate(fileOf(dataDir), `${JSON.stringify(all, undefined, 2)}\n`)
}

/** An error for each definition that names a marked key, at its place. */
export function compromisedIn(desired: Desired | SubOrganization, dataDir: string): readonly Diagnostic[] {
  const marks = new Map(readMarks(dataDir).map((one) => [one.publicKey, one.markedAt]))
  if (marks.size === 0) return []
  const own = desired.resources.flatMap(({ kind, address, fields, span }) => {
    const { publicKey } = fields
    const markedAt = kind === 'apiKey' && typeof publicKey === 'string' ? marks.get(publicKey.toLowerCase()) : undefined
    if (markedAt === undefined || span === undefined) return []
    const message = `the public key of \`${address}\` was marked compromised at ${markedAt}`
    return [diagnostic('cli/compromised-key', message, span, { help: 'put a new key in its place, or take it out' })]
  })
  const inside = 'subOrganizations' in desired ? (desired.subOrganizations ?? []) : []
  return [...own, ...inside.flatMap((one) => compromisedIn(one, dataDir))]
}
